import { expect, it } from 'vitest'
import type { Fleet } from '../contract/index.ts'
import { fleetLine } from './fleet.ts'

const FLEET: Fleet = {
  workers: [],
  waiting: 0,
  running: 0,
  unplayable: [],
  waited_seconds: 0,
  last_hour: { episodes: 0, mean_wait_seconds: 0, model_calls: 0, input_tokens: 0, output_tokens: 0, cost: 0, unpriced_calls: 0 },
}

it('the line of the fleet names what nobody can play, and why', () => {
  const unplayable = [{ scenario: 'shop', episodes: 3, reason: 'no worker is there: start svc worker' }]
  expect(fleetLine({ ...FLEET, waiting: 3, unplayable })).toBe(
    '0 workers: 0 episodes played now, 3 waiting; nobody can play 3 of shop: no worker is there: start svc worker; in the last hour nothing was played',
  )
})

it('the line of the fleet has workers, what waits, and the last hour with its cost', () => {
  const worker = { slots: 2, running: 1, played: 5, lost: 0, checked: 1, differed: 1, is_set_aside: true, seen_seconds_ago: 1 }
  const last_hour = { ...FLEET.last_hour, episodes: 4, mean_wait_seconds: 2, model_calls: 8, cost: 1.5 }
  expect(fleetLine({ ...FLEET, workers: [{ name: 'w', ...worker }], running: 1, last_hour })).toBe(
    '1 worker (1 set aside): 1 episode played now, 0 waiting; in the last hour 4 episodes, waited 2 s on average, 8 model calls, cost 1.50',
  )
})
