/**
 * What waits to be written. The calls of one scenario run in the order they came, one at a time; appends that wait are written together,
 * those of many scenarios in one statement.
 */
import type { Appended, NewRecord } from '../../../src/contract/index.ts'
import { overloaded } from './refusals.ts'

const WAITING_BYTES_MAX = 256 * 1024 * 1024
const GROUP_BYTES_MAX = 8 * 1024 * 1024
const GROUP_RECORDS_MAX = 2000

export interface AppendCall {
  readonly scenario: string
  readonly records: readonly NewRecord[]
  readonly bytes: number
  readonly settle: PromiseWithResolvers<Appended>
}

/** Settles every call; never rejects. */
export type WriteGroup = (calls: readonly AppendCall[]) => Promise<void>

type Task = { readonly append: AppendCall } | { readonly run: () => Promise<void> }

export class Writes {
  readonly #writeGroup: WriteGroup
  readonly #slotsMax: number
  /** By scenario. */
  readonly #waiting = new Map<string, Task[]>()
  readonly #busy = new Set<string>()
  #slots = 0
  #waitingBytes = 0
  #isTurnSet = false
  #idle: PromiseWithResolvers<void> | null = null

  constructor(slots: number, writeGroup: WriteGroup) {
    this.#slotsMax = slots
    this.#writeGroup = writeGroup
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
      if (this.#slots >= this.#slotsMax) return
      if (this.#busy.has(scenario)) continue
      const [first] = tasks
      if (first !== undefined && 'run' in first) {
        this.#drop(scenario, 1)
        this.#hold([scenario], first.run())
      }
    }
    while (this.#slots < this.#slotsMax) {
      const calls = this.#nextGroup()
      if (calls.length === 0) return
      const writing = this.#writeGroup(calls).finally(() => {
        for (const { bytes } of calls) this.#waitingBytes -= bytes
      })
      this.#hold(new Set(calls.map(({ scenario }) => scenario)), writing)
    }
  }

  #nextGroup(): readonly AppendCall[] {
    const calls: AppendCall[] = []
    let [bytes, records] = [0, 0]
    for (const [scenario, tasks] of this.#waiting) {
      if (this.#busy.has(scenario)) continue
      let taken = 0
      for (const task of tasks) {
        if ('run' in task) break
        const { append } = task
        if (calls.length > 0 && (bytes + append.bytes > GROUP_BYTES_MAX || records + append.records.length > GROUP_RECORDS_MAX)) break
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

  #hold(scenarios: Iterable<string>, work: Promise<void>): void {
    this.#slots += 1
    for (const scenario of scenarios) this.#busy.add(scenario)
    void work.finally(() => {
      this.#slots -= 1
      for (const scenario of scenarios) this.#busy.delete(scenario)
      if (this.#waiting.size > 0) return this.#soon()
      if (this.#slots > 0) return
      this.#idle?.resolve()
      this.#idle = null
    })
  }
}

const payloadBytes = (records: readonly NewRecord[]): number =>
  records.reduce((sum, { pieces, payload }) => sum + (pieces ?? [payload]).reduce((length, piece) => length + piece.byteLength, 0), 0)
