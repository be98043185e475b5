/** What the gateways of a deployment know together of the episodes that workers play. */
import type { JsonObject } from './json.ts'
import type { Dialect } from './nouns.ts'

/** Of what workers and services say to each other; raised when one of another version would not understand it. */
export const FLEET_PROTOCOL = 1

/** Kept where every gateway sees it. Every promise resolves once its change is durable. */
export interface FleetBoard {
  /** Runs the work on what is there now, alone among all gateways, and keeps what it changed. The work may run twice; then the last one counts. */
  change<T>(work: (rows: FleetRows) => T): Promise<T>
  /** Renews a lease of that worker; false where it has no such lease. */
  beat(worker: string, lease: string): Promise<boolean>
  /** The lease whose key has that digest. */
  leaseWith(keyDigest: string): Promise<EpisodeLease | null>
  /** A model call of an episode; of one that is gone it is kept under `left`. */
  called(episode: string, left: string, call: CountedCall): Promise<void>
  calls(episode: string): Promise<readonly CountedCall[]>
  /** Removes them: each call is given to one step. Those of an episode whose row goes before are found under the row's `left`. */
  takeCalls(episodes: readonly string[]): Promise<readonly CountedCall[]>
  payload(episode: string, kind: PayloadKind): Promise<JsonObject | null>
  /** Called after a change that another gateway made. One may go untold, so look from time to time. Must not throw. */
  onChange(listener: () => void): void
}

/** What a key opens: the model, for one episode, as often as an episode may ask. */
export interface EpisodeLease {
  readonly episode: string
  readonly scenario: string
  /** Of all its plays so far. Absent: no limit. */
  readonly callsMax?: number
  readonly tokensMax?: number
  /** Of the step that offered it. Absent: nothing caps it. */
  readonly budget?: StepBudget
}

/** What the calls of a step may take together, wherever they are made: in its own words, which are those of the configuration. 0: no limit. */
export interface StepBudget {
  readonly step: number
  /** As it is configured; null where the answer will name it. */
  readonly model: string | null
  readonly max_tokens_per_step: number
  readonly max_cost_per_step: number
  readonly max_tokens_per_day: number
  readonly max_cost_per_day: number
}

/** Holds the model calls that workers make to the budget of their step, together with all others of it. */
export interface StepBudgets {
  /** Resolves once the call may be sent. Throws Refusal 'limited' (STEP_CAP) where it could pass a cap. */
  hold(budget: StepBudget, call: EpisodeCall, signal: AbortSignal): Promise<HeldEpisodeCall>
}
export const STEP_CAP = 'step_cap'

export interface EpisodeCall {
  readonly episode: string
  readonly dialect: Dialect
  readonly body: Uint8Array
}

export interface HeldEpisodeCall {
  /** Notes what it took, and answers that; `kept` resolves once it is durable. */
  settle(end: EpisodeCallEnd): { readonly counted: Omit<CountedCall, 'cost'>; readonly kept: Promise<void> }
}

/** `refused`: the upstream did not answer it, and it took nothing. `broken`: it was left, so that nobody says what it took. */
export interface EpisodeCallEnd {
  readonly how: 'whole' | 'broken' | 'refused'
  /** As far as the answer says it. */
  readonly model: string | null
  readonly input: number | null
  readonly output: number | null
  readonly answeredBytes: number
}

/** What an episode takes of the machine that plays it. */
export interface EpisodeNeeds {
  /** For people: the digest of what is played decides. */
  readonly adapter: string
  readonly memoryBytes: number
}

export type PayloadKind = 'order' | 'result'

export interface CountedCall {
  readonly model: string | null
  readonly input: number
  readonly output: number
  /** Null: the model has no price. */
  readonly cost: number | null
}

/** By their ids. `at` of each row is in milliseconds, by the board's clock. */
export interface FleetRows {
  readonly now: number
  readonly episodes: Map<string, EpisodeRow>
  readonly leases: Map<string, LeaseRow>
  readonly workers: Map<string, WorkerRow>
  readonly gateways: Map<string, GatewayRow>
  readonly checks: Map<string, CheckRow>
  readonly hours: Map<string, HourRow>
  /** Keeps what an episode carries until its row is gone. */
  keep(episode: string, kind: PayloadKind, value: JsonObject): void
}

export const noFleetRows = (): Omit<FleetRows, 'now' | 'keep'> => ({
  episodes: new Map(),
  leases: new Map(),
  workers: new Map(),
  gateways: new Map(),
  checks: new Map(),
  hours: new Map(),
})
export const FLEET_KINDS = ['episodes', 'leases', 'workers', 'gateways', 'checks', 'hours'] as const

export interface EpisodeRow {
  /** Since when it waits. */
  at: number
  readonly scenario: string
  readonly plays: string
  readonly priority: 'request' | 'traffic'
  /** The digest of all that it is: the same one, offered by a gateway that took over, is this one. */
  readonly key: string
  /** The gateway that waits for it. */
  owner: string
  /** The other play of the same episode, for a check. */
  readonly twin: string | null
  /** Whether another play of it counts, and this one is only compared. */
  readonly isSpare: boolean
  /** How long a worker may have it, in milliseconds. */
  readonly playMsMax: number
  readonly needs?: EpisodeNeeds
  /** Of one play. Absent: no limit. */
  readonly callsMax?: number
  readonly tokensMax?: number
  /** Of the step that offered it. Absent: nothing caps it. */
  readonly budget?: StepBudget
  /** The cap that one of its calls could have passed, in words. */
  cap?: string
  /** Under which its calls are kept that no step was told of. */
  readonly left?: string
  tries: number
  /** Whose workers lost it or gave it back. */
  losers: readonly string[]
  lease: string | null
  /** Who played it. */
  by: string | null
  /** Why nobody plays it any more; null while somebody may, or where it was played. */
  problem: string | null
}
/** `at`: its newest beat. */
export interface LeaseRow extends EpisodeLease {
  at: number
  readonly since: number
  readonly worker: string
  /** SHA-256 of the key that opens the model. */
  readonly key: string
}
/** `at`: when it was heard of. */
export interface WorkerRow {
  at: number
  slots: number
  plays: readonly string[]
  /** Null: of all scenarios. */
  scenarios: readonly string[] | null
  /** For all that it plays at once. Absent: it did not say. */
  memoryBytes?: number
  played: number
  lost: number
  isSetAside: boolean
  /** All workers of its token are. */
  isHolderSetAside?: boolean
}
/** `at`: when it was heard of. */
export interface GatewayRow {
  at: number
}
/** Of two workers: how many episodes both played, and how many of those had another score. */
export interface CheckRow {
  at: number
  readonly workers: readonly [string, string]
  checked: number
  differed: number
}
/** What was played in a part of an hour. */
export interface HourRow {
  at: number
  played: number
  waitedMs: number
  calls: number
  input: number
  output: number
  cost: number
  /** Calls whose model has no price. */
  unpriced: number
}
