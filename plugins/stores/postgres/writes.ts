/**
 * What waits to be written. The calls of one scenario run in the order they came; appends that wait are written together, those of many
 * scenarios in one statement. Where that pays, they are written as two groups that are sent one behind the other: the server writes one while
 * Node answers those of the other and takes the next.
 */
import type { Appended, NewRecord } from '../../../src/contract/index.ts'
import type { Pipe } from './pipe.ts'
import { overloaded } from './refusals.ts'

const WAITING_BYTES_MAX = 256 * 1024 * 1024
const GROUP_BYTES_MAX = 8 * 1024 * 1024
const GROUP_RECORDS_MAX = 2000
const GROUPS_PER_PIPE_MAX = 2
/** About what a server takes for a record, and what one call of a second group saves: Node's time for it and for one of the first group. */
const [RECORD_MS, CALL_SAVES_MS] = [0.03, 0.05]
/** So much of the newest answer goes into what a commit is thought to take. */
const NEWEST_SHARE = 1 / 8

export interface AppendCall {
  readonly scenario: string
  readonly records: readonly NewRecord[]
  readonly bytes: number
  readonly settle: PromiseWithResolvers<Appended>
}

export interface Writer {
  pipe(): Pipe
  /** Settles every call; never rejects. What it writes one by one it writes after the group before it. */
  write(calls: readonly AppendCall[], pipe: Pipe, before: Promise<void>): Promise<void>
}

type Task = { readonly append: AppendCall } | { readonly run: () => Promise<void> }

/** Groups that are sent one behind the other. */
interface Line {
  readonly pipe: Pipe
  groups: number
  /** The newest one of them. */
  last: Promise<void>
  answeredAt: number
}

/** A scenario that is written to: by groups of one line, or by a task that runs alone. */
interface Busy {
  readonly line: Line | null
  tasks: number
}

export class Writes {
  readonly #writer: Writer
  readonly #slotsMax: number
  /** By scenario. */
  readonly #waiting = new Map<string, Task[]>()
  readonly #busy = new Map<string, Busy>()
  readonly #lines = new Set<Line>()
  #slots = 0
  #waitingBytes = 0
  #isTurnSet = false
  #idle: PromiseWithResolvers<void> | null = null
  /** What an answer takes beside the work on its records: the disk, and the way there. Unknown before the first one. */
  #commitMs = Number.POSITIVE_INFINITY

  constructor(slots: number, writer: Writer) {
    this.#slotsMax = slots
    this.#writer = writer
  }

  append(scenario: string, records: readonly NewRecord[]): Promise<Appended> {
    const bytes = payloadBytes(records)
    if (this.#waitingBytes > 0 && this.#waitingBytes + bytes > WAITING_BYTES_MAX) return Promise.reject(overloaded())
    const settle = Promise.withResolvers<Appended>()
    this.#waitingBytes += bytes
    this.#add(scenario, { append: { scenario, records, bytes, settle } })
    return settle.promise
  }

  /** Alone among the calls of its scenario. */
  alone<T>(scenario: string, work: () => Promise<T>): Promise<T> {
    const { promise, resolve, reject } = Promise.withResolvers<T>()
    this.#add(scenario, { run: () => work().then(resolve, reject) })
    return promise
  }

  /** Resolves when nothing waits and nothing runs. */
  idle(): Promise<void> {
    if (this.#slots === 0 && this.#waiting.size === 0) return Promise.resolve()
    this.#idle ??= Promise.withResolvers()
    return this.#idle.promise
  }

  #add(scenario: string, task: Task): void {
    const tasks = this.#waiting.get(scenario)
    if (tasks === undefined) this.#waiting.set(scenario, [task])
    else tasks.push(task)
    this.#soon()
  }

  /** After what came in with the same turn of the loop, so that it is written together. */
  #soon(): void {
    if (this.#isTurnSet) return
    this.#isTurnSet = true
    setImmediate(() => {
      this.#isTurnSet = false
      this.#start()
    })
  }

  #start(): void {
    for (const [scenario, tasks] of this.#waiting) {
      if (this.#slots >= this.#slotsMax) break
      if (this.#busy.has(scenario)) continue
      const [first] = tasks
      if (first !== undefined && 'run' in first) {
        this.#drop(scenario, 1)
        this.#slots += 1
        this.#hold([scenario], null)
        void first.run().finally(() => this.#free([scenario]))
      }
    }
    while (this.#slots < this.#slotsMax && this.#hasOneWaitingForSlot()) {
      const line: Line = { pipe: this.#writer.pipe(), groups: 0, last: Promise.resolve(), answeredAt: 0 }
      const waiting = this.#countFor(line)
      this.#slots += 1
      this.#lines.add(line)
      const second = Math.floor(waiting / GROUPS_PER_PIPE_MAX)
      const isSplit = this.#pays(second)
      this.#send(line, this.#take(line, isSplit ? waiting - second : waiting))
      if (isSplit) this.#send(line, this.#take(line, second))
    }
    // A line that always has a group on the way would keep its slot from those who wait for one.
    if (this.#hasOneWaitingForSlot()) return
    for (const line of this.#lines) {
      const waiting = this.#countFor(line)
      if (line.groups < GROUPS_PER_PIPE_MAX && this.#pays(waiting)) this.#send(line, this.#take(line, waiting))
    }
  }

  #hasOneWaitingForSlot(): boolean {
    for (const scenario of this.#waiting.keys()) if (!this.#busy.has(scenario)) return true
    return false
  }

  /** A second group costs the server one more commit. */
  #pays(calls: number): boolean {
    return calls * CALL_SAVES_MS > this.#commitMs
  }

  #send(line: Line, calls: readonly AppendCall[]): void {
    const scenarios = new Set(calls.map(({ scenario }) => scenario))
    const sentAt = performance.now()
    line.groups += 1
    this.#hold(scenarios, line)
    line.last = this.#writer.write(calls, line.pipe, line.last)
    void line.last.finally(() => {
      const now = performance.now()
      const records = calls.reduce((sum, call) => sum + call.records.length, 0)
      this.#answered(now - Math.max(sentAt, line.answeredAt) - records * RECORD_MS)
      line.answeredAt = now
      line.groups -= 1
      for (const { bytes } of calls) this.#waitingBytes -= bytes
      if (line.groups === 0) this.#lines.delete(line)
      this.#free(scenarios, line.groups === 0)
    })
  }

  #answered(commitMs: number): void {
    const known = this.#commitMs
    this.#commitMs = Math.max(0, Number.isFinite(known) ? known + (commitMs - known) * NEWEST_SHARE : commitMs)
  }

  /** Appends that the line may send now: to its own scenarios, and to those that nothing is written to. */
  #countFor(line: Line): number {
    let count = 0
    for (const [scenario, tasks] of this.#waiting) if (this.#isFor(line, scenario)) count += appendsOf(tasks).length
    return count
  }

  #isFor(line: Line, scenario: string): boolean {
    const busy = this.#busy.get(scenario)
    return busy === undefined || busy.line === line
  }

  #take(line: Line, count: number): readonly AppendCall[] {
    const calls: AppendCall[] = []
    let [bytes, records] = [0, 0]
    for (const [scenario, tasks] of this.#waiting) {
      if (!this.#isFor(line, scenario)) continue
      let taken = 0
      for (const append of appendsOf(tasks)) {
        const isOver = bytes + append.bytes > GROUP_BYTES_MAX || records + append.records.length > GROUP_RECORDS_MAX
        if (calls.length === count || (calls.length > 0 && isOver)) break
        calls.push(append)
        bytes += append.bytes
        records += append.records.length
        taken += 1
      }
      this.#drop(scenario, taken)
    }
    return calls
  }

  #drop(scenario: string, count: number): void {
    const tasks = this.#waiting.get(scenario)
    if (tasks === undefined) return
    tasks.splice(0, count)
    if (tasks.length === 0) this.#waiting.delete(scenario)
  }

  #hold(scenarios: Iterable<string>, line: Line | null): void {
    for (const scenario of scenarios) {
      const busy = this.#busy.get(scenario) ?? { line, tasks: 0 }
      busy.tasks += 1
      this.#busy.set(scenario, busy)
    }
  }

  #free(scenarios: Iterable<string>, isSlotFree = true): void {
    if (isSlotFree) this.#slots -= 1
    for (const scenario of scenarios) {
      const busy = this.#busy.get(scenario)
      if (busy === undefined) continue
      busy.tasks -= 1
      if (busy.tasks === 0) this.#busy.delete(scenario)
    }
    if (this.#waiting.size > 0) return this.#soon()
    if (this.#slots > 0) return
    this.#idle?.resolve()
    this.#idle = null
  }
}

/** Up to the first task that runs alone. */
function appendsOf(tasks: readonly Task[]): readonly AppendCall[] {
  const calls: AppendCall[] = []
  for (const task of tasks) {
    if ('run' in task) break
    calls.push(task.append)
  }
  return calls
}

const payloadBytes = (records: readonly NewRecord[]): number =>
  records.reduce((sum, { pieces, payload }) => sum + (pieces ?? [payload]).reduce((length, piece) => length + piece.byteLength, 0), 0)
