/**
 * The process of the trainers, outer side. In the service's own process a busy trainer that is kept from its core may hold a lock that the
 * threads which answer requests wait for: those of V8's helpers, of memory, of the address space. And a heap that grows too fast would end
 * the service.
 */
import { fork, type ChildProcess } from 'node:child_process'
import { Socket } from 'node:net'
import type { Reporter, StepResult } from '../../contract/index.ts'
import { knownSecrets, orAborted, Slots, wordsOf } from '../../kit/index.ts'
import { keyOf, StepFailure, stopping, timeoutMs, type DocumentsOf, type TrainerHost } from './host.ts'
import type { FromTrainers, ToTrainers } from './process-wire.ts'
import { answerCall, type DocumentCall } from './thread-documents.ts'
import { inTurnsOf, type StartedStep, type StartStep } from './turns.ts'
import { tellReport, type Report } from './wire.ts'

export interface ProcessHostSettings {
  /** How many turns, and how many threads in the process. */
  readonly threads: number
  /** The process's file, which calls serveTrainers. */
  readonly entry: URL
  /** A process without a step ends after this time. */
  readonly idleSeconds?: number
  /** A process that has not ended a step so long after the step's time is ended itself. */
  readonly lateSeconds?: number
  /** Documents that all gateways share. Absent: trainers use files of this machine. */
  readonly documents?: DocumentsOf | undefined
}

/** Longer than a thread is kept. */
const IDLE_SECONDS = 60
const LATE_SECONDS = 60
/** How long a process that was asked to end may take. A thread that stands back may never hear of it. */
const END_MS_MAX = 1000

/** Started with the first step, and again after it ended for whatever reason. */
export function makeProcessHost(settings: ProcessHostSettings): TrainerHost {
  const turns = new Slots(settings.threads)
  const alive = new Set<TrainersProcess>()
  let isClosed = false

  /** Trainers whose step ran, beside others, in a process that ended. Each runs alone until a step of it succeeds, so that it can be blamed. */
  const suspects = new Set<string>()
  let shared: TrainersProcess | null = null

  const open = (): TrainersProcess => {
    const opened = new TrainersProcess(settings, (key) => suspects.add(key))
    alive.add(opened)
    void opened.gone.then(() => alive.delete(opened))
    return opened
  }
  const sharedOne = (): TrainersProcess => {
    if (shared === null || shared.isSpent) shared = open()
    return shared
  }
  const startAlone: StartStep = (trainer, ...asked) => {
    const own = open()
    const { answer, ended } = own.start(trainer, ...asked)
    void answer.then(
      () => suspects.delete(keyOf(trainer)),
      () => undefined,
    )
    return { answer, ended: ended.then(() => own.end(stopping())) }
  }
  const start: StartStep = (...asked) => {
    if (isClosed || asked[3].aborted) return refused(isClosed ? stopping() : asked[3].reason)
    return suspects.has(keyOf(asked[0])) ? startAlone(...asked) : sharedOne().start(...asked)
  }
  return {
    inTurn: inTurnsOf(turns, start),
    async close() {
      isClosed = true
      turns.close(stopping())
      await Promise.all([...alive].map((each) => each.end(stopping())))
    },
  }
}

function refused(reason: unknown): StartedStep {
  const answer = Promise.reject(reason)
  answer.catch(() => undefined)
  return { answer, ended: Promise.resolve() }
}

interface Running {
  readonly key: string
  readonly report: Reporter
  readonly signal: AbortSignal
  readonly resolve: (result: StepResult) => void
  readonly reject: (error: unknown) => void
  readonly end: () => void
  hasBegun: boolean
}

class TrainersProcess {
  readonly #child: ChildProcess
  readonly #documents: DocumentsOf | undefined
  readonly #idleMs: number
  readonly #lateSeconds: number
  readonly #suspect: (key: string) => void
  readonly #running = new Map<number, Running>()
  /** Resolves once the process has exited, or never was. */
  readonly gone: Promise<void>
  readonly #leave: () => void
  #steps = 0
  #idle: NodeJS.Timeout | null = null
  #isSpent = false

  constructor(
    { entry, threads, documents, idleSeconds = IDLE_SECONDS, lateSeconds = LATE_SECONDS }: ProcessHostSettings,
    suspect: (key: string) => void,
  ) {
    this.#documents = documents
    this.#idleMs = idleSeconds * 1000
    this.#lateSeconds = lateSeconds
    this.#suspect = suspect
    const { promise, resolve } = Promise.withResolvers<void>()
    this.gone = promise
    this.#leave = resolve
    this.#child = fork(entry, { serialization: 'advanced', stdio: ['ignore', 'pipe', 'pipe', 'ipc'] })
      .on('message', (message: FromTrainers) => this.#hear(message))
      .on('error', (error) => this.#lose(`the process of the trainers cannot be reached: ${wordsOf(error)}`))
      .on('exit', (code, signal) => this.#lose(`the process of the trainers ended (${signal ?? `exit code ${code}`})`))
    // Missing, whatever their type says, where there are no file descriptors left.
    for (const stream of [this.#child.stdout, this.#child.stderr]) passOn(stream ?? null)
    this.#ask({ ask: 'open', threads, hasDocuments: documents !== undefined })
    this.#rest()
  }

  /** It ended, or was asked to. */
  get isSpent(): boolean {
    return this.#isSpent
  }

  readonly start: StartStep = (trainer, order, report, signal) => {
    this.#steps += 1
    const step = this.#steps
    const { promise: result, resolve, reject } = Promise.withResolvers<StepResult>()
    const { promise: ended, resolve: end } = Promise.withResolvers<void>()
    const abort = (): void => this.#ask({ ask: 'abort', step })
    this.#wake()
    const running: Running = { key: keyOf(trainer), report, signal, resolve, reject, end, hasBegun: false }
    this.#running.set(step, running)
    signal.addEventListener('abort', abort)
    const late = setTimeout(() => this.#child.kill('SIGKILL'), timeoutMs(trainer.limits, this.#lateSeconds))
    void ended.then(() => signal.removeEventListener('abort', abort))
    void ended.then(() => clearTimeout(late))
    try {
      this.#ask({ ask: 'step', step, trainer, order, secrets: knownSecrets() })
    } catch (error) {
      reject(error)
      this.#settle(step, running)
    }
    return { answer: orAborted(result, signal), ended }
  }

  async end(reason: Error): Promise<void> {
    this.#isSpent = true
    for (const { reject } of this.#running.values()) reject(reason)
    this.#ask({ ask: 'close' })
    const timer = setTimeout(() => this.#child.kill('SIGKILL'), END_MS_MAX)
    await this.gone
    clearTimeout(timer)
  }

  /** A process that is gone reads nothing: its exit is told apart. */
  #ask(message: ToTrainers): void {
    if (this.#child.connected) this.#child.send(message, () => undefined)
  }

  #hear(message: FromTrainers): void {
    if (message.said === 'documents') return void this.#answer(message)
    const running = this.#running.get(message.step)
    if (running === undefined) return
    if (message.said === 'begun') running.hasBegun = true
    else if (message.said === 'done') running.resolve(message.result)
    else if (message.said === 'failed') running.reject(message.isTrainers ? new StepFailure(message.words) : new Error(message.words))
    else if (message.said === 'ended') this.#settle(message.step, running)
    else if (!running.signal.aborted) pass(message.report, running)
  }

  /** Also between two steps, since a trainer may still write then. */
  async #answer(call: DocumentCall): Promise<void> {
    const { place } = call
    if (this.#documents !== undefined && place !== undefined) this.#ask(await answerCall(call, this.#documents(place)))
  }

  #settle(step: number, { end }: Running): void {
    this.#running.delete(step)
    end()
    if (this.#running.size === 0) this.#rest()
  }

  /** A step that ran alone is to blame. Of several nobody knows which one it was: they are tried again, apart. One that waits for a thread is none. */
  #lose(words: string): void {
    this.#isSpent = true
    const isAlone = this.#running.size === 1
    for (const [step, running] of this.#running) {
      if (!isAlone && running.hasBegun) this.#suspect(running.key)
      running.reject(isAlone && running.hasBegun ? new StepFailure(words) : new Error(words))
      this.#settle(step, running)
    }
    this.#leave()
  }

  /** Does not keep the service alive. */
  #rest(): void {
    this.#child.unref()
    this.#child.channel?.unref()
    this.#idle = setTimeout(() => void this.end(stopping()), this.#idleMs).unref()
  }

  #wake(): void {
    if (this.#idle !== null) clearTimeout(this.#idle)
    this.#child.ref()
    this.#child.channel?.ref()
  }
}

/** To standard error, like the log: standard output is for the start message. Through this process, which takes its secrets out. */
function passOn(stream: ChildProcess['stdout']): void {
  if (stream === null) return
  stream.setEncoding('utf8').on('data', (text: string) => process.stderr.write(text))
  stream.on('error', () => undefined)
  if (stream instanceof Socket) stream.unref()
}

function pass(report: Report, { report: to, reject }: Running): void {
  try {
    tellReport(to, report)
  } catch (error) {
    reject(error)
  }
}
