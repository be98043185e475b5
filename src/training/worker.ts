/** One loop per trainer: sleeps until woken, reads what a step needs, and takes steps while there is work. */
import {
  ENGINE_AWAY_RETRY_MAX_SECONDS,
  isEngineAway,
  STEP_OVERTAKEN_MAX,
  STEP_OVERTAKEN_REST_SECONDS,
  STEP_RETRY_FIRST_SECONDS,
  STEP_RETRY_MAX_SECONDS,
  type Commit,
  type JsonObject,
  type Processor,
  type RequestType,
  type TrainerPlan,
} from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import type { TrainingContext } from './context.ts'
import type { Reserved } from './draft.ts'
import { Feed } from './feed.ts'
import type { RunStep, TrainerSpec, TrainerHost } from './hosts/host.ts'
import { takeNext } from './modes.ts'
import { LiveStep, type OutJob, type StepTrace } from './progress.ts'
import { errorIn, exhausted, isOnTraffic, mayRide, memoryOf, restSeconds, type TrainerTally } from './rows.ts'
import { takeStep, type StepEnd, type StepTask } from './step.ts'

export interface WorkerParts {
  readonly context: TrainingContext
  readonly address: TrainerSpec
  readonly host: TrainerHost
  readonly processor: Processor
  readonly plan: Pick<TrainerPlan, 'lane' | 'stale' | 'judgesCommands'>
  readonly takesInstructions: boolean
  /** When this process started. Failures of an earlier process cause no rest: the restart may have fixed them. */
  readonly since: number
  /** Called at the start of every step where tracing is on. */
  readonly trace?: ((component: string, requestId: string | null) => StepTrace) | undefined
  /** The worker ran out of work. */
  readonly onRest: () => void
  readonly onStep: (commit: Commit) => void
  /** The service itself failed: no row landed, and the step is tried again. */
  readonly onInternalFailure: (error: unknown) => void
}

/** What the loop does next: look again, sleep until woken, or sleep for a time. */
type Next = 'again' | 'rest' | { readonly afterSeconds: number }

/**
 * working  reading, stepping, or pausing after a failure
 * waiting  has work, waits for a turn
 * resting  has no work until something is appended
 */
type State = 'working' | 'waiting' | 'resting'

export class Worker {
  readonly #parts: WorkerParts
  readonly #feed: Feed
  readonly #stopping = new AbortController()
  #loop: Promise<void> = Promise.resolve()
  #alarm = Promise.withResolvers<void>()
  /** The reserved batch; the trainer gets it again until a row settles it. */
  #task: StepTask | null = null
  /** How often in a row another component published first. */
  #overtaken = 0
  /** Consecutive failures of the service itself; they leave no row. */
  #internalFailures = 0
  /** After a failed step: when the next step on traffic may start. Instructions do not wait for it. */
  #trafficRestsUntil = 0
  /** After an internal failure, or after too many overtaken steps: when to try anything again. */
  #allRestsUntil = 0
  #state: State = 'working'
  #isWoken = false
  #live: LiveStep | null = null
  #error: string | null = null

  constructor(parts: WorkerParts) {
    this.#parts = parts
    const { context, processor, takesInstructions } = parts
    this.#feed = new Feed(
      { store: context.store, component: this.component, processor, takesInstructions },
      memoryOf(context.latest(this.component)),
    )
    const last = context.latest(this.component)?.recorded_at ?? 0
    if (last >= parts.since) this.#restTraffic()
  }

  /** An exception of a plug-in ends only its own scenario's loop. */
  start(): void {
    this.#loop = this.#run().catch((error: unknown) => {
      this.#error = wordsOf(error)
    })
  }

  /** A record of that type was appended. Returns at once, and is cheap when this trainer does not read the type. */
  announce(type: RequestType): void {
    if (this.#feed.announce(type)) this.#wake()
  }

  /** An operator changed something, so failed work may be tried again at once. */
  retry(): void {
    this.#trafficRestsUntil = 0
    this.#allRestsUntil = 0
    this.#wake()
  }

  /** The state changes here, not when the loop runs next. */
  #wake(): void {
    this.#isWoken = true
    if (this.#state === 'resting') this.#state = 'working'
    this.#alarm.resolve()
  }

  /** A step in flight ends without a row; nothing lands from here on. */
  abort(): void {
    this.#stopping.abort(new Error('the training worker was stopped'))
    this.#wake()
  }

  async stop(): Promise<void> {
    this.abort()
    await this.#loop
  }

  get component(): string {
    return this.#parts.address.component
  }
  get lane(): TrainerPlan['lane'] {
    return this.#parts.plan.lane
  }
  get processor(): Processor {
    return this.#parts.processor
  }
  get live(): LiveStep | null {
    return this.#live
  }
  /** A weight trainer may wait inside its step; the error says for what, until it continues. */
  get error(): string | null {
    return (this.lane === 'weights' ? this.#live?.trouble : null) ?? this.#error
  }
  /** The instruction whose step failed for an internal reason, with that reason. It waits to be tried again. */
  get failedInstruction(): { readonly requestId: string; readonly error: string } | null {
    const requestId = this.#task?.reserved.batch.request?.id
    if (requestId === undefined || this.#internalFailures === 0 || this.#live !== null) return null
    return { requestId, error: this.#error ?? '' }
  }
  get isWaiting(): boolean {
    return this.#state === 'waiting'
  }
  get isResting(): boolean {
    return this.#state === 'resting'
  }
  /** The weight job in progress. It has the batch's id until its trainer names it. */
  get job(): OutJob | null {
    if (this.lane !== 'weights' || this.#live === null) return null
    return this.#live.out ?? { id: this.#task?.reserved.batch.id ?? '', status: 'PREPARING' }
  }
  get isReady(): boolean {
    return this.#task !== null || this.#next() !== null
  }

  get pendingInstructions(): number {
    return this.#feed.pendingInstructions
  }

  status(): JsonObject {
    const spent = exhausted(this.#tally, this.#parts.context.budgets)
    return { ...this.#feed.status(), ...(spent !== null && { automatic_steps_stopped: spent }) }
  }

  get #tally(): TrainerTally {
    return this.#parts.context.trained(this.component)
  }

  async #run(): Promise<void> {
    while (!this.#stopping.signal.aborted) {
      this.#alarm = Promise.withResolvers()
      this.#isWoken = false
      const next = await this.#look().catch((error: unknown) => this.#noteInternalFailure(error))
      // Something was appended meanwhile: look again before resting.
      if (next === 'again' || this.#isWoken) continue
      if (next === 'rest') {
        this.#state = 'resting'
        this.#parts.onRest()
      }
      await this.#sleep(next)
    }
  }

  async #sleep(next: Exclude<Next, 'again'>): Promise<void> {
    const timer = next === 'rest' ? null : setTimeout(this.#alarm.resolve, next.afterSeconds * 1000)
    await this.#alarm.promise
    if (timer !== null) clearTimeout(timer)
  }

  async #look(): Promise<Next> {
    const { context, host, address } = this.#parts
    const restLeft = secondsUntil(this.#allRestsUntil, context.clock())
    if (restLeft > 0) return { afterSeconds: restLeft }
    await this.#feed.fill(context.mode)
    const pause = this.#pauseSeconds()
    if (pause === null) return 'rest'
    if (pause > 0) return { afterSeconds: pause }
    this.#state = 'waiting'
    try {
      return await host.inTurn(address, this.#stopping.signal, (run) => context.busy(() => this.#step(run)))
    } finally {
      this.#state = 'working'
    }
  }

  /** How long the next step must wait; null when there is none. */
  #pauseSeconds(): number | null {
    const next = this.#task?.reserved ?? this.#next()
    if (next === null) return null
    return next.batch.request === null ? secondsUntil(this.#trafficRestsUntil, this.#parts.context.clock()) : 0
  }

  /** Looks again at what may have changed while waiting for a turn. A reserved batch stays as it is. */
  async #step(run: RunStep): Promise<Next> {
    this.#state = 'working'
    if (this.#task === null) await this.#feed.fill(this.#parts.context.mode)
    const reserved = this.#task?.reserved ?? this.#next()
    // The mode changed meanwhile, or the processor withdrew its batch.
    if (reserved === null) return { afterSeconds: STEP_RETRY_FIRST_SECONDS }
    const task = (this.#task ??= { reserved, candidate: null })
    const { context, plan } = this.#parts
    const { stale = 'merge', judgesCommands = false } = plan
    const place = { context, component: this.component, stale, judgesCommands, feed: this.#feed }
    const requestId = reserved.batch.request?.id ?? null
    const trace = this.#parts.trace?.(this.component, requestId)
    this.#live = new LiveStep(requestId, context.clock, trace)
    try {
      return this.#after(task, await followed(takeStep(place, task, run, this.#live, this.#stopping.signal), trace))
    } finally {
      this.#live = null
    }
  }

  #next(): Reserved | null {
    const { instruction: first, units } = this.#feed.waiting()
    const isSpent = exhausted(this.#tally, this.#parts.context.budgets) !== null
    const ready = units.ready && !isSpent
    const taken = takeNext(this.#parts.context.mode, { instruction: first, units: { samples: units.samples, ready } })
    if (taken === null) return null
    const { instruction } = taken
    const samples = instruction === null || mayRide(this.#tally) ? taken.samples : []
    const label = instruction === null ? `batch:${samples[0]?.record_ids.at(-1) ?? ''}` : `instruction:${instruction.request.id}`
    const batch = { id: `${this.#parts.context.name}:${label}`, samples, request: instruction?.request ?? null }
    return { batch, problem: instruction?.problem ?? null }
  }

  #after({ reserved }: StepTask, end: StepEnd): Next {
    this.#internalFailures = 0
    if (end.kind === 'landed') return this.#afterRow(end.commit)
    this.#task = { reserved, candidate: end.candidate }
    if (end.by === 'people') return 'again'
    this.#overtaken += 1
    if (this.#overtaken < STEP_OVERTAKEN_MAX) return 'again'
    this.#overtaken = 0
    this.#error = `Overtaken: other components published ${STEP_OVERTAKEN_MAX} times before this one could; it goes on after a rest`
    this.#allRestsUntil = this.#parts.context.clock() + STEP_OVERTAKEN_REST_SECONDS
    return 'again'
  }

  /** A failed step on traffic consumes nothing: its units form the next batch again, after a growing rest. */
  #afterRow(commit: Commit): Next {
    this.#parts.onStep(commit)
    const error = errorIn(commit)
    this.#overtaken = 0
    this.#error = error === null ? null : `StepFailure: ${error}`
    this.#task = null
    // A step on an instruction alone says nothing about traffic and leaves its rest alone.
    if (isOnTraffic(commit)) this.#restTraffic()
    return 'again'
  }

  #restTraffic(): void {
    const { failures, triedAt } = this.#tally
    this.#trafficRestsUntil = failures === 0 ? 0 : triedAt + restSeconds(failures)
  }

  /** The service itself failed (a disk, the artifact store). No row landed; the batch stays reserved and is tried again later. */
  #noteInternalFailure(error: unknown): Next {
    if (this.#stopping.signal.aborted) return 'again'
    this.#internalFailures += 1
    this.#error = wordsOf(error)
    const { context, onInternalFailure } = this.#parts
    onInternalFailure(error)
    this.#allRestsUntil =
      context.clock() + (isEngineAway(error) ? awaySeconds(this.#internalFailures) : restSeconds(this.#internalFailures))
    return 'again'
  }
}

/** Reports the end of a step to its trace. */
async function followed(step: Promise<StepEnd>, trace: StepTrace | undefined): Promise<StepEnd> {
  if (trace === undefined) return step
  try {
    const end = await step
    if (end.kind === 'landed') trace.end(end.commit, errorIn(end.commit))
    else trace.end(null, null)
    return end
  } catch (error) {
    trace.end(null, wordsOf(error))
    throw error
  }
}

/** A restarted engine is back within seconds or minutes, so it is tried more often than a full disk. */
function awaySeconds(looks: number): number {
  return Math.min(ENGINE_AWAY_RETRY_MAX_SECONDS, STEP_RETRY_FIRST_SECONDS * 2 ** (looks - 1))
}

/** A rest longer than the maximum means that the clock was set back: then it is over. */
function secondsUntil(until: number, now: number): number {
  return until - now > STEP_RETRY_MAX_SECONDS ? 0 : until - now
}
