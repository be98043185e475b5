/**
 * Turns at the upstream, which answers so many requests at once or in a minute. Requests beyond that wait, and the scenario that had the
 * fewest turns is next: each turn of a scenario has a tag behind its last one, and the lowest tag of all threads goes first.
 */
import { limited, unavailable, type Refusal } from '../contract/index.ts'
import type { Cells } from './cells.ts'
import type { UpstreamLimits } from './settings.ts'
import type { LimitTime } from './windows.ts'

const UPSTREAM = 'upstream'
/** Of the upstream: the tag of the last turn, and when the next request is due. None of these is where other cells have what was spent. */
const LAST_TAG = 4
const DUE = 7
/** Of a scenario: the tag of its last turn. Of a thread: its lowest tag, and when it was said. */
const TAG = 7
const SAID_AT = 4
/** Requests may come so much ahead of their pace. */
const BURST_SECONDS = 1
/** A slot that another thread freed is found after this long. */
const LOOK_AGAIN_MS = 5
/** A thread that said nothing for so long does not hold the others up. */
const STALE_SECONDS = 0.5
const WAITING_PER_SCENARIO_MAX = 256
/** One scenario takes at most this share of what the upstream answers at once, so that another finds room when it comes. */
const SHARE_MAX = 0.9
const RETRY_SECONDS = 1

interface Waiting {
  readonly scenario: string
  tag: number
  readonly endsAt: number
  readonly go: () => void
  readonly refuse: (reason: Refusal) => void
}

export interface QueueNeeds {
  readonly limits: UpstreamLimits
  readonly cells: Cells
  readonly slot: number
  readonly threads: number
  readonly time: LimitTime
}

export class UpstreamQueue {
  readonly #needs: QueueNeeds
  readonly #shareMax: number
  /** By tag. */
  #waiting: Waiting[] = []
  readonly #byScenario = new Map<string, number>()
  #timer: NodeJS.Timeout | null = null

  constructor(needs: QueueNeeds) {
    this.#needs = needs
    const { concurrent_requests: atOnce } = needs.limits
    this.#shareMax = atOnce === 0 ? Number.POSITIVE_INFINITY : Math.max(1, Math.floor(atOnce * SHARE_MAX))
  }

  /** Answers what gives the turn back, at once where there is room; a promise where the request waits. */
  enter(scenario: string, signal: () => AbortSignal): (() => void) | Promise<() => void> {
    if ((this.#byScenario.get(scenario) ?? 0) >= WAITING_PER_SCENARIO_MAX) return Promise.reject(busy())
    const tag = this.#nextTag(scenario)
    const leave = (): void => this.#leave(scenario)
    if (this.#waiting.length === 0 && this.#isNext(tag) && this.#take(scenario, tag)) return leave
    return this.#wait(scenario, tag, signal()).then(() => leave)
  }

  async #wait(scenario: string, tag: number, signal: AbortSignal): Promise<void> {
    const { promise, resolve, reject } = Promise.withResolvers<void>()
    const { time, limits } = this.#needs
    const one: Waiting = { scenario, tag, endsAt: time.passed() + limits.wait_s, go: resolve, refuse: reject }
    const leave = (): void => {
      if (this.#giveUp(one)) reject(gone())
    }
    this.#byScenario.set(scenario, (this.#byScenario.get(scenario) ?? 0) + 1)
    this.#waiting.push(one)
    this.#waiting.sort((a, b) => a.tag - b.tag)
    if (signal.aborted) leave()
    else signal.addEventListener('abort', leave)
    this.pump()
    try {
      await promise
    } finally {
      signal.removeEventListener('abort', leave)
      const left = (this.#byScenario.get(scenario) ?? 1) - 1
      if (left === 0) this.#byScenario.delete(scenario)
      else this.#byScenario.set(scenario, left)
    }
  }

  /** Lets in those whose turn it is, and refuses those that waited long enough. */
  pump(): void {
    const now = this.#needs.time.passed()
    for (const one of this.#waiting.filter(({ endsAt }) => endsAt <= now)) if (this.#giveUp(one)) one.refuse(busy())
    const full = new Set<string>()
    for (const one of this.#waiting.slice()) {
      if (full.has(one.scenario)) continue
      if (!this.#isNext(one.tag)) break
      if (this.#take(one.scenario, one.tag)) {
        this.#remove(one)
        one.go()
      } else if (this.#isFull()) break
      else full.add(one.scenario)
    }
    this.#say(this.#waiting.find(({ scenario }) => !full.has(scenario))?.tag ?? 0)
    if (this.#timer !== null) clearTimeout(this.#timer)
    this.#timer = this.#waiting.length === 0 ? null : setTimeout(() => this.pump(), LOOK_AGAIN_MS)
  }

  #remove(one: Waiting): boolean {
    const at = this.#waiting.indexOf(one)
    if (at === -1) return false
    this.#waiting.splice(at, 1)
    return true
  }

  /** Those behind it move up: a turn that a scenario did not have puts none of its others off. */
  #giveUp(one: Waiting): boolean {
    if (!this.#remove(one)) return false
    const { scenario, tag } = one
    for (const other of this.#waiting) if (other.scenario === scenario && other.tag > tag) other.tag -= 1
    this.#waiting.sort((a, b) => a.tag - b.tag)
    this.#needs.cells.change(turnOf(scenario), ({ numbers, at }) => {
      numbers[at + TAG] = Math.max(0, (numbers[at + TAG] ?? 0) - 1)
    })
    return true
  }

  /** A scenario that had no turn for a while begins where the others are: it is not owed the turns that it did not want. */
  #nextTag(scenario: string): number {
    const { cells } = this.#needs
    const last = cells.change(UPSTREAM, ({ numbers, at }) => numbers[at + LAST_TAG] ?? 0)
    return cells.change(turnOf(scenario), ({ numbers, at }) => {
      const tag = Math.max(last, numbers[at + TAG] ?? 0) + 1
      numbers[at + TAG] = tag
      return tag
    })
  }

  /** Whether no other thread has a lower tag waiting. */
  #isNext(tag: number): boolean {
    const { cells, slot, threads, time } = this.#needs
    if (threads === 1) return true
    const now = time.passed()
    for (let other = 0; other < threads; other += 1) {
      if (other === slot) continue
      const lower = cells.change(threadOf(other), ({ numbers, at }) => {
        const said = numbers[at + TAG] ?? 0
        return said > 0 && said < tag && now - (numbers[at + SAID_AT] ?? 0) < STALE_SECONDS
      })
      if (lower) return false
    }
    return true
  }

  #say(tag: number): void {
    const { cells, slot, threads, time } = this.#needs
    if (threads === 1) return
    cells.change(threadOf(slot), ({ numbers, at }) => {
      numbers[at + TAG] = tag
      numbers[at + SAID_AT] = time.passed()
    })
  }

  #isFull(): boolean {
    const { cells, limits, time } = this.#needs
    return cells.change(UPSTREAM, ({ numbers, at, inside }) => !hasRoom(limits, inside, numbers[at + DUE] ?? 0, time.passed()))
  }

  #take(scenario: string, tag: number): boolean {
    const { cells, limits, time } = this.#needs
    const mayHave = cells.change(turnOf(scenario), (cell) => {
      if (cell.inside >= this.#shareMax) return false
      cells.enter(cell, 1)
      return true
    })
    if (!mayHave) return false
    const isTaken = cells.change(UPSTREAM, (cell) => {
      const { numbers, at, inside } = cell
      const now = time.passed()
      if (!hasRoom(limits, inside, numbers[at + DUE] ?? 0, now)) return false
      if (limits.requests_per_minute > 0) numbers[at + DUE] = Math.max(now, numbers[at + DUE] ?? 0) + 60 / limits.requests_per_minute
      numbers[at + LAST_TAG] = Math.max(tag - 1, numbers[at + LAST_TAG] ?? 0)
      cells.enter(cell, 1)
      return true
    })
    if (!isTaken) cells.change(turnOf(scenario), (cell) => cells.enter(cell, -1))
    return isTaken
  }

  #leave(scenario: string): void {
    const { cells } = this.#needs
    for (const key of [UPSTREAM, turnOf(scenario)]) cells.change(key, (cell) => cells.enter(cell, -1))
    if (this.#waiting.length > 0) this.pump()
  }
}

const turnOf = (scenario: string): string => `turn ${scenario}`
const threadOf = (slot: number): string => `thread ${slot}`

const hasRoom = (
  { concurrent_requests: atOnce, requests_per_minute: pace }: UpstreamLimits,
  inside: number,
  due: number,
  now: number,
): boolean => (atOnce === 0 || inside < atOnce) && (pace === 0 || due - now < BURST_SECONDS)

const gone = (): Refusal => unavailable('client_gone', 'the client closed the connection')

const busy = (): Refusal =>
  limited('upstream_queue', 'the upstream is busy with other requests, and this one waited as long as it may; send it again', RETRY_SECONDS)
