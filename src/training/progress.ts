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
  isObject,
  type ActivityKind,
  type ActivityLine,
  type Commit,
  type Reporter,
  type RequestProgress,
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
  #out: OutJob | null = null

  constructor(requestId: string | null, clock: () => number, trace?: StepTrace) {
    this.requestId = requestId
    this.#clock = clock
    this.#trace = trace
    this.startedAt = clock()
  }

  phase(name: Exclude<Phase, 'running'>, more: { readonly episodes_total?: number; readonly step_record?: string } = {}): void {
    this.#phase = name
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

  get out(): OutJob | null {
    return this.#out
  }

  /** What the trainer waits for, when its latest line is a failure. */
  get trouble(): string | null {
    const last = this.#activity.at(-1)
    return last?.failed === true ? last.text : null
  }

  view(): Pick<RequestProgress, 'state' | 'started_at' | 'episodes_total' | 'step_record' | 'activity'> {
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
