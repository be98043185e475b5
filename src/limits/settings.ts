/** What may be taken, by whom, as the configuration says it. 0: no limit. */

export interface SubjectLimits {
  readonly requests_per_minute: number
  readonly tokens_per_minute: number
  readonly cost_per_day: number
  readonly concurrent_requests: number
}

/** What was used of each limit that there is. */
export type SubjectUse = Readonly<Partial<Record<keyof SubjectLimits, { readonly used: number; readonly limit: number }>>>

export const LIMIT_KINDS: readonly (keyof SubjectLimits)[] = [
  'concurrent_requests',
  'requests_per_minute',
  'tokens_per_minute',
  'cost_per_day',
]

export interface LimitSettings {
  /** Of every token that has none of its own. */
  readonly token: SubjectLimits
  readonly tokens: Readonly<Record<string, SubjectLimits>>
  readonly scenario: SubjectLimits
  readonly scenarios: Readonly<Record<string, SubjectLimits>>
  readonly prices: Readonly<Record<string, ModelPrice>>
  readonly upstream: UpstreamLimits
}

/** What all scenarios together may ask of the upstream. */
export interface UpstreamLimits {
  readonly concurrent_requests: number
  readonly requests_per_minute: number
  /** How long a request waits for its turn. */
  readonly wait_s: number
}

/** Of a million tokens. */
export interface ModelPrice {
  readonly input: number
  readonly output: number
}

export const hasTurns = (upstream: UpstreamLimits): boolean => upstream.concurrent_requests > 0 || upstream.requests_per_minute > 0

export const isLimiting = (limits: SubjectLimits): boolean => Object.values(limits).some((limit) => limit > 0)
