/** What a step leaves for the next one in its row: counts for the gate, what was exposed, what was turned down, what the proposer remembers. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import type { JsonObject, Rejected, Task } from '../contract/index.ts'
import type { SettledProposal } from './inbox/index.ts'

/** The rows are the truth about settled proposals; so many of the latest are enough for the inbox to catch up. */
const SETTLED_PROPOSALS_MAX = 32

/** What did not make it, and where the gate would say the same again. */
interface TurnedDown extends Rejected {
  readonly case?: string
}

const count = z.number().int().nonnegative().catch(0)
const list = <T>() => z.array(z.custom<T>()).catch([])

const isRecord = (value: unknown): boolean => typeof value === 'object' && value !== null && !Array.isArray(value)

/** A state of another shape is read as far as it fits: it is our own, but it may be older than this code. */
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
  /** Every step counts, whatever came of it. */
  readonly steps: number
  /** Decides by lot which failing reports join the gate. Nobody outside may know it: a client who did could choose its side. */
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

/** What was turned down may be as large as a proposal can be, and every row holds all of it: of more than so much JSON the oldest is forgotten. */
const REJECTED_BYTES_MAX = 1024 * 1024

/** As plain data, and no longer than it has to be. */
export function printState(state: EvolutionState, rejectedMax: number): JsonObject {
  const rejected = newest(state.rejected.slice(-rejectedMax), REJECTED_BYTES_MAX)
  const printed: JsonObject = JSON.parse(JSON.stringify({ ...state, rejected, proposals: state.proposals.slice(-SETTLED_PROPOSALS_MAX) }))
  return printed
}

/** As many as fit, from the newest on; one that is too large leaves its place to others. */
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
