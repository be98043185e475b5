/** The state that a step passes to the next in its row: counts for the gate, exposed tasks, rejected changes, the proposer's memory. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject, Rejected, Task } from '../contract/index.ts'
import type { SettledProposal } from './inbox/inbox.ts'

/** How many settled proposals the inbox needs to reconcile. */
const SETTLED_PROPOSALS_MAX = 32

/** A rejected change, with the case in which the gate would decide the same again. */
interface TurnedDown extends Rejected {
  readonly case?: string
}

const count = z.number().int().nonnegative().catch(0)
const list = <T>() => z.array(z.custom<T>()).catch([])

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** The state may be older than this code: fields that do not fit get their default. */
const shape = z.object({
  steps: count,
  key: z
    .string()
    .min(1)
    .catch(() => randomBytes(16).toString('hex')),
  decided: count,
  selected: count,
  exposed: z.array(z.string()).catch([]),
  promoted: list<Task>(),
  promoted_clients: z.record(z.string(), z.number()).catch({}),
  rejected: list<TurnedDown>(),
  proposals: list<SettledProposal>(),
  memory: z.custom<JsonObject>(isRecord).catch({}),
})

export interface EvolutionState {
  readonly steps: number
  /** Seeds the choice of failing reports that join the gate. Secret: a client that knew it could choose the role of its report. */
  readonly key: string
  /** Candidates from traffic that the gate decided on, and how many of them it selected. */
  readonly decided: number
  readonly selected: number
  /** Names of tasks whose text reached a proposer. */
  readonly exposed: readonly string[]
  readonly promoted: readonly Task[]
  readonly promoted_clients: Readonly<Record<string, number>>
  readonly rejected: readonly TurnedDown[]
  readonly proposals: readonly SettledProposal[]
  readonly memory: JsonObject
}

export const readState = (state: JsonObject): EvolutionState => shape.parse(state)

/** Every row holds all rejected changes; beyond this size the oldest are dropped. */
const REJECTED_BYTES_MAX = 1024 * 1024

export function printState(state: EvolutionState, rejectedMax: number): JsonObject {
  const rejected = newest(state.rejected.slice(-rejectedMax), REJECTED_BYTES_MAX)
  const printed: JsonObject = JSON.parse(JSON.stringify({ ...state, rejected, proposals: state.proposals.slice(-SETTLED_PROPOSALS_MAX) }))
  return printed
}

/** As many as fit, newest first; one that is too large is skipped. */
function newest(rejected: readonly TurnedDown[], bytesMax: number): readonly TurnedDown[] {
  let left = bytesMax
  const fits = (each: TurnedDown): boolean => {
    const bytes = Buffer.byteLength(JSON.stringify(each))
    if (bytes > left) return false
    left -= bytes
    return true
  }
  return rejected.toReversed().filter(fits).toReversed()
}
