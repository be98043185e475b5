/** Whose limits a request counts in: its token and its scenario, each with what it may take. */
import { limited, type Refusal } from '../contract/index.ts'
import { isLimiting, type LimitSettings, type SubjectLimits } from './settings.ts'
import type { CellHandle } from './cells.ts'
import type { CallUsage } from './taken.ts'

const SUBJECTS_MAX = 100_000

/** Whose request it is. */
export interface LimitedToken {
  readonly name: string
  /** Differs where names are alike. */
  readonly key: string
  /** Of its own. What is left out is as the configuration says. */
  readonly limits: Partial<SubjectLimits> | null
}

export interface LimitSubject {
  /** Where it is counted in this thread, once that was looked for. */
  handle?: CellHandle
  /** For people: `token ci`. */
  readonly called: string
  readonly key: string
  readonly limits: SubjectLimits
}

/** A request that was let in. */
export interface LimitAdmission {
  /**
   * Its body is there: from here on it is in flight. Throws where as many are in flight already; then nothing is counted. A client that is
   * slow to send, or stops, takes no place of others until then. A promise where other services have to be asked.
   */
  begin(): Promise<void> | undefined
  /** Counts what its answer took. Without this it took nothing beside itself. */
  settle(taken: CallUsage): void
  /** To be called once, when its answer is over. */
  leave(): void
}

export class LimitSubjects {
  readonly #settings: LimitSettings
  /** Null: without a limit. A token whose limits were changed is another object. */
  readonly #tokens = new WeakMap<LimitedToken, LimitSubject | null>()
  readonly #scenarios = new Map<string, LimitSubject | null>()

  constructor(settings: LimitSettings) {
    this.#settings = settings
  }

  /** Those that have a limit. */
  of(token: LimitedToken | null, scenario: string): readonly LimitSubject[] {
    const found: LimitSubject[] = []
    const byToken = token === null ? null : this.ofToken(token)
    const byScenario = this.ofScenario(scenario)
    if (byToken !== null) found.push(byToken)
    if (byScenario !== null) found.push(byScenario)
    return found
  }

  ofToken(token: LimitedToken): LimitSubject | null {
    const found = this.#tokens.get(token)
    if (found !== undefined) return found
    const { name, key, limits } = token
    const made = subjectOf('token', name, key, { ...(limitsOf(this.#settings.tokens, name) ?? this.#settings.token), ...limits })
    this.#tokens.set(token, made)
    return made
  }

  ofScenario(name: string): LimitSubject | null {
    const found = this.#scenarios.get(name)
    if (found !== undefined) return found
    if (this.#scenarios.size >= SUBJECTS_MAX) this.#scenarios.clear()
    const { scenarios, scenario } = this.#settings
    const made = subjectOf('scenario', name, name, limitsOf(scenarios, name) ?? scenario)
    this.#scenarios.set(name, made)
    return made
  }
}

/** Callers choose names: every object has a `constructor`. */
const limitsOf = (table: Readonly<Record<string, SubjectLimits>>, name: string): SubjectLimits | undefined =>
  Object.hasOwn(table, name) ? table[name] : undefined

function subjectOf(kind: 'token' | 'scenario', name: string, key: string, limits: SubjectLimits): LimitSubject | null {
  return isLimiting(limits) ? { called: `${kind} ${name}`, key: `${kind} ${key}`, limits } : null
}

const SPENT: Readonly<Record<keyof SubjectLimits, (limit: number) => readonly [code: string, said: string]>> = {
  requests_per_minute: (limit) => ['requests_limit', `made the ${limit} requests that it may make in a minute`],
  tokens_per_minute: (limit) => ['tokens_limit', `took the ${limit} tokens that it may take in a minute`],
  cost_per_day: (limit) => ['cost_limit', `spent the ${limit} that it may spend in a day`],
  concurrent_requests: (limit) => ['concurrency_limit', `has ${limit} requests in flight, as many as it may have at once`],
}

export function limitRefusal({ called, limits }: LimitSubject, full: keyof SubjectLimits, waitSeconds: number): Refusal {
  const [code, said] = SPENT[full](limits[full])
  const seconds = Math.max(1, Math.ceil(waitSeconds))
  return limited(code, `the ${called} ${said}; send the request again in ${seconds} s, or ask whoever runs the service for more`, seconds)
}
