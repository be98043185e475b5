/** Why weights are not served, and what helps. */
import { ENGINE_UNREACHABLE, conflict, unavailable, type Refusal } from '../../contract/index.ts'

export const nothingServed = (): Refusal => unavailable('nothing_served', 'the scenario has no weights to answer with yet; try again')

export const adapterLost = (): Refusal =>
  unavailable('adapter_lost', 'the engine lost the adapter and could not load it again; try again later', { retryAfterSeconds: 1 })

export const engineUnreachable = (cause: unknown): Refusal =>
  unavailable(ENGINE_UNREACHABLE, 'the engine does not answer; try again later', { retryAfterSeconds: 1, cause })

export const engineStuck = (): Refusal =>
  unavailable('engine_stuck', 'the engine does not let go of an adapter; start it anew, what is served is loaded again by itself')

export const engineFull = (capacity: number): Refusal =>
  conflict(
    'engine_full',
    `the engine holds ${capacity} at most, and each is what a scenario is served by; raise its capacity, or give the scenario a service of its own`,
  )

export const engineBusy = (): Refusal =>
  unavailable('engine_busy', 'no adapter of the engine could be let go of in time; try again', { retryAfterSeconds: 1 })
