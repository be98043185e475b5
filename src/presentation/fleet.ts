/** What workers on other machines did, in words. */
import type { Fleet } from '../contract/index.ts'
import { counted, duration } from './numbers.ts'

export function fleetHour({ episodes, mean_wait_seconds, model_calls, cost, unpriced_calls }: Fleet['last_hour']): string {
  if (episodes === 0 && model_calls === 0) return 'nothing was played'
  const money = unpriced_calls === model_calls ? 'no prices are known' : `cost ${cost.toFixed(2)}${unpriced_calls > 0 ? ' and more' : ''}`
  return `${counted(episodes, 'episode')}, waited ${duration(mean_wait_seconds)} on average, ${counted(model_calls, 'model call')}, ${money}`
}

/** In one line. */
export function fleetLine({ workers, running, waiting, unplayable, last_hour }: Fleet): string {
  const aside = workers.filter(({ is_set_aside }) => is_set_aside).length
  const names = `${counted(workers.length, 'worker')}${aside > 0 ? ` (${aside} set aside)` : ''}`
  const stuck = unplayable.map(({ scenario, episodes, reason }) => `; nobody can play ${episodes} of ${scenario}: ${reason}`).join('')
  return `${names}: ${counted(running, 'episode')} played now, ${waiting} waiting${stuck}; in the last hour ${fleetHour(last_hour)}`
}
