/** What may be taken, by whom, as the configuration says it. 0: no limit. */

export interface SubjectLimits {
  readonly requests_per_minute: number
  readonly tokens_per_minute: number
  readonly cost_per_day: number
  readonly concurrent_requests: number
}

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

export function hasLimits({ token, tokens, scenario, scenarios, upstream }: LimitSettings): boolean {
  if (hasTurns(upstream)) return true
  return [token, scenario, ...Object.values(tokens), ...Object.values(scenarios)].some(isLimiting)
}

export const hasTurns = (upstream: UpstreamLimits): boolean => upstream.concurrent_requests > 0 || upstream.requests_per_minute > 0

/** Whether money is limited, which must outlive a restart. */
export const limitsMoney = ({ token, tokens, scenario, scenarios }: LimitSettings): boolean =>
  [token, scenario, ...Object.values(tokens), ...Object.values(scenarios)].some(({ cost_per_day }) => cost_per_day > 0)

export const isLimiting = (limits: SubjectLimits): boolean => Object.values(limits).some((limit) => limit > 0)
