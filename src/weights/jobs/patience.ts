/** A trainer or an engine that is away is waited for inside the step, and a trainer that came back without its memory is told everything again. */
import { setTimeout as rest } from 'node:timers/promises'
import { ENGINE_UNREACHABLE, isRefusal, type Reporter } from '../../contract/index.ts'

const REST_FIRST_SECONDS = 1
const REST_MAX_SECONDS = 30
/** Who forgets this often in a row is not restarting: then its own words are the failure. */
const FORGOTTEN_MAX = 3
const AWAY: ReadonlySet<string> = new Set(['trainer_unreachable', ENGINE_UNREACHABLE])

export async function whileAway<T>(
  report: Reporter,
  signal: AbortSignal,
  work: () => Promise<T>,
  restFirstSeconds = REST_FIRST_SECONDS,
): Promise<T> {
  let forgotten = 0
  for (let seconds = restFirstSeconds; ; seconds = Math.min(seconds * 2, REST_MAX_SECONDS)) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!isRefusal(error)) throw error
      forgotten = error.code === 'trainer_forgot' ? forgotten + 1 : 0
      if (!AWAY.has(error.code) && (forgotten === 0 || forgotten === FORGOTTEN_MAX)) throw error
      report.line('check', `${error.message}; trying again in ${seconds} s`, true)
    }
    await rest(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
