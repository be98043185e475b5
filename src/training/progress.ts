/**
 * The progress of a request, derived from its row, or until then from the step that holds it.
 *
 * queued      no step has taken it
 * running     a step has taken it
 * proposing   the change is being written
 * evaluating  its episodes run
 * settling    its row is landing
 * settled     the row exists: its result is the state
 */
import {
  ACTIVITY_LINES_SHOWN_MAX,
  EPISODES_SHOWN_MAX,
  isObject,
  type ActivityKind,
  type ActivityLine,
  type Commit,
  type EpisodeProgress,
  type EpisodeReport,
  type EpisodesSoFar,
  type Reporter,
  type RequestProgress,
  type StepProgress,
} from '../contract/index.ts'

type Phase = 'running' | 'proposing' | 'evaluating' | 'settling'

/** Traces one step. */
export interface StepTrace {
  phase(name: string): void
  /** The step is over. Without a row, another component published first or the service failed. `failure` says why nothing was published. */
  end(commit: Commit | null, failure: string | null): void
}

/** A weight job in progress at its trainer. */
export interface OutJob {
  readonly id: string
  readonly status: string
}

/** The running step, as its followers see it. */
export class LiveStep implements Reporter {
  readonly requestId: string | null
  readonly startedAt: number
  readonly #clock: () => number
  readonly #trace: StepTrace | undefined
  readonly #activity: ActivityLine[] = []
  #phase: Phase = 'running'
  #more: { readonly episodes_total?: number; readonly step_record?: string } = {}
  readonly #episodes: EpisodeProgress[] = []
  #soFar: EpisodesSoFar = { episodes: 0, input_tokens: 0, output_tokens: 0, cost: 0 }
  /** When the episodes of both sides began, and how many trials were played before. */
  #evaluating: { readonly since: number; readonly before: number } | null = null
  #out: OutJob | null = null

  constructor(requestId: string | null, clock: () => number, trace?: StepTrace) {
    this.requestId = requestId
    this.#clock = clock
    this.#trace = trace
    this.startedAt = clock()
  }

  phase(name: Exclude<Phase, 'running'>, more: { readonly episodes_total?: number; readonly step_record?: string } = {}): void {
    this.#phase = name
    if (name === 'evaluating') this.#evaluating ??= { since: this.#clock(), before: this.#soFar.episodes }
    this.#more = { ...this.#more, ...more }
    this.#trace?.phase(name)
  }

  /** Keeps the latest lines; the step's own record has all. */
  line(kind: ActivityKind, text: string, failed = false): void {
    this.#activity.push({ at: this.#clock(), kind, text, ...(failed && { failed }) })
    if (this.#activity.length > ACTIVITY_LINES_SHOWN_MAX) this.#activity.shift()
  }

  job(id: string, status: string): void {
    this.#out = { id, status }
  }

  /** Keeps the latest. */
  episode({ so_far: soFar, ...episode }: EpisodeReport): void {
    this.#soFar = soFar
    this.#episodes.push({ at: this.#clock(), ...episode })
    if (this.#episodes.length > EPISODES_SHOWN_MAX) this.#episodes.shift()
  }

  get out(): OutJob | null {
    return this.#out
  }

  /** What the trainer waits for, when its latest line is a failure. */
  get trouble(): string | null {
    const last = this.#activity.at(-1)
    return last?.failed === true ? last.text : null
  }

  episodes(): Pick<StepProgress, 'episodes' | 'episodes_played' | 'seconds_left' | 'input_tokens' | 'output_tokens' | 'cost'> {
    const { episodes: played, ...spent } = this.#soFar
    return { episodes: [...this.#episodes], episodes_played: played, ...spent, seconds_left: this.#secondsLeft() }
  }

  /** At the pace of the episodes so far; a step that can decide earlier ends earlier. */
  #secondsLeft(): number | null {
    const { episodes_total: total } = this.#more
    if (total === undefined || this.#evaluating === null) return null
    const { since, before } = this.#evaluating
    const played = this.#soFar.episodes - before
    return played === 0 ? null : Math.max(0, Math.round((Math.max(0, total - played) * (this.#clock() - since)) / played))
  }

  view(): Pick<StepProgress, 'state' | 'started_at' | 'episodes_total' | 'step_record' | 'activity'> {
    const { episodes_total = null, step_record = null } = this.#more
    return { state: this.#phase, started_at: this.startedAt, episodes_total, step_record, activity: [...this.#activity] }
  }
}

const MEANING: Readonly<Record<string, string>> = {
  queued: 'No step has taken the request yet.',
  proposing: 'The served model writes the change.',
  evaluating: "The candidate's episodes run.",
  running: 'A step holds the request.',
  settling: 'The row that consumes the request is landing.',
}

/** A step while it runs, on a request or on traffic. */
export function runningStep(component: string, live: LiveStep): StepProgress {
  const { state, ...rest } = live.view()
  const meaning = (live.requestId === null ? ON_TRAFFIC[state] : undefined) ?? MEANING[state] ?? null
  return { component, request_id: live.requestId, state, meaning, ...rest, ...live.episodes() }
}

const ON_TRAFFIC: Readonly<Record<string, string>> = {
  proposing: 'The proposer writes a change from the reports.',
  running: 'A step on traffic runs.',
  settling: 'The row of the step is landing.',
}

/** `failed`: instructions whose step failed for an internal reason, with that reason. */
export function progressOf(
  requestId: string,
  commits: readonly Commit[],
  live: readonly LiveStep[],
  failed: ReadonlyMap<string, string> = new Map(),
): RequestProgress {
  const idle = { started_at: null, episodes_total: null, step_record: null, activity: [] }
  const row = commits.findLast(({ metrics }) => isObject(metrics['training_request']) && metrics['training_request']['id'] === requestId)
  if (row !== undefined) return { request_id: requestId, settled: true, step: row.step, state: row.outcome, meaning: null, ...idle }
  const step = live.find((running) => running.requestId === requestId)
  const { state, ...rest } = step?.view() ?? { state: 'queued' as const, ...idle }
  const reason = failed.get(requestId)
  const meaning = reason === undefined ? (MEANING[state] ?? null) : `A step could not be taken here, and is tried again: ${reason}`
  return { request_id: requestId, settled: false, step: null, state, meaning, ...rest }
}
