/** Several upstreams as one: each call goes to one of them, and to the next where there was no answer. What was answered is never sent again. */
import { setTimeout as pause } from 'node:timers/promises'
import { isDeepStrictEqual } from 'node:util'
import {
  isObject,
  unavailable,
  unknown,
  unsupported,
  upstream as refusal,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Format,
  type JsonObject,
  type ModelAddress,
  type ModelsCall,
  type Refusal,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { dialects, type DialectSpec } from '../../../src/dialects/index.ts'
import type { AnswerWatch } from './answer.ts'
import { ask } from './ask.ts'
import { SentBody } from './body.ts'
import { hasModel, inTurn } from './choose.ts'
import { Leaving } from './leaving.ts'
import { listTogether } from './model-list.ts'
import { renamed } from './rename.ts'
import { isFault, mayResend, restAfter, retryAfter } from './resend.ts'
import { loadOf } from './load.ts'
import { SharedHealth } from './sharing.ts'
import { keyFor, NamedUpstream, numberIn, textsIn } from './upstreams.ts'

/** Providers answer with it while they are overloaded. */
const OVERLOADED = 529

/** A round over all upstreams is repeated after a pause, which doubles. A longer one is the client's to wait. */
const PAUSE_FIRST_SECONDS = 0.25
const PAUSE_SECONDS_MAX = 10

/** Given by tests. */
export interface Chances {
  /** In seconds. */
  readonly clock: () => number
  readonly random: () => number
  readonly sleep: (seconds: number, signal: AbortSignal) => Promise<unknown>
}

const REAL: Chances = {
  clock: () => Date.now() / 1000,
  random: Math.random,
  sleep: (seconds, signal) => pause(seconds * 1000, undefined, { signal }),
}

/** An attempt's place in its call. */
interface Place {
  readonly isFirst: boolean
  /** Whether another could be chosen. Where none can, nothing is gained by leaving the only one alone. */
  readonly isGuarded: boolean
  /** Upstreams against which a failure of this call is counted already. */
  readonly failed: Set<NamedUpstream>
  /** Whether it was asked with the client's own key, whose refusals and limits say nothing of the upstream. */
  readonly isClients: boolean
}

/** What an attempt that may be repeated came to. */
interface Missed {
  readonly answer: RuntimeAnswer | null
  readonly error: unknown
  readonly restSeconds: number
}

export class SeveralUpstreams implements Pick<Runtime, 'infer' | 'models'> {
  #upstreams: ReadonlyMap<string, NamedUpstream>
  /** Null where this thread answers alone. */
  readonly #shared: SharedHealth | null
  #retries: number
  #clientKeyOrigins: readonly string[]
  readonly #chances: Chances
  /** Calls that have no answer yet, which may still be sent to another upstream. */
  readonly #asking = new Set<Promise<unknown>>()
  readonly #leaving = new Leaving()

  constructor(config: JsonObject, chances: Chances = REAL) {
    this.#chances = chances
    this.#upstreams = namedOf(this.#made(config))
    this.#shared = typeof config['group'] === 'string' ? new SharedHealth(config['group'], () => this.#upstreams) : null
    this.#retries = numberIn(config['upstream_retries'], 2)
    this.#clientKeyOrigins = textsIn(config['client_key_origins'])
  }

  /** An upstream whose settings are as before keeps its connections and its breaker. Calls under way end with the upstreams they began with. */
  configure(config: JsonObject): void {
    const made = this.#made(config)
    const before = this.#upstreams
    const used = made.map((upstream) => {
      const known = before.get(upstream.name)
      return known !== undefined && isDeepStrictEqual(known.madeOf, upstream.madeOf) ? known : upstream
    })
    this.#upstreams = namedOf(used)
    this.#retries = numberIn(config['upstream_retries'], 2)
    this.#clientKeyOrigins = textsIn(config['client_key_origins'])
    const left = [...before.values(), ...made].filter((upstream) => !used.includes(upstream))
    this.#leaving.take(
      left.map(({ connections }) => connections),
      [...this.#asking],
    )
  }

  #made(config: JsonObject): readonly NamedUpstream[] {
    const breaker = isObject(config['breaker']) ? config['breaker'] : {}
    const rules = { failures: numberIn(breaker['failures'], 5), restSeconds: numberIn(breaker['rest_s'], 30) }
    const given = isObject(config['upstreams']) ? Object.entries(config['upstreams']) : []
    const rests = (...rest: Parameters<SharedHealth['rests']>): void => this.#shared?.rests(...rest)
    const options = { rules, clock: this.#chances.clock, rests }
    return given.map(([name, settings]) => new NamedUpstream(name, isObject(settings) ? settings : {}, config, options))
  }

  infer(call: RuntimeCall): Promise<RuntimeAnswer> {
    return this.#noted(this.#infer(call))
  }

  async #noted<T>(asking: Promise<T>): Promise<T> {
    this.#asking.add(asking)
    try {
      return await asking
    } finally {
      this.#asking.delete(asking)
    }
  }

  async #infer(call: RuntimeCall): Promise<RuntimeAnswer> {
    const dialect = dialects[call.dialect]
    const retries = this.#retries
    const candidates = this.#candidates(call, dialect)
    const asked = call.askedModel ?? ''
    const tried = new Set<NamedUpstream>()
    const failed = new Set<NamedUpstream>()
    let missed: Missed | null = null
    for (let sent = 0, round = 0; sent <= retries; sent++) {
      let next = this.#next(candidates, tried, asked)
      if (next === undefined && missed !== null) {
        tried.clear()
        if (!(await this.#pauses(round++, missed, call.signal))) break
        next = this.#next(candidates, tried, asked)
      }
      if (next === undefined) break
      tried.add(next)
      const come = await this.#attempt(next, call, dialect, { isFirst: sent === 0, isGuarded: candidates.length > 1, failed })
      if (!('restSeconds' in come)) return come
      missed = come
    }
    if (missed === null) throw allRest(candidates, asked, this.#chances.clock())
    if (missed.answer !== null) return missed.answer
    throw missed.error
  }

  models(call: ModelsCall): Promise<WholeAnswer> {
    return this.#noted(listTogether(this.#listed(call.model), call, this.#clientKeyOrigins))
  }

  formats({ model, askedModel = '' }: Pick<RuntimeCall, 'model' | 'askedModel'>): readonly Format[] {
    return [...new Set(this.#listed(model).flatMap((upstream) => (hasModel(upstream, askedModel) ? upstream.formats : [])))]
  }

  /** Of all threads together, but for the connections: those are this thread's. */
  status(): readonly JsonObject[] {
    return [...this.#upstreams.values()].map(({ name, url, breakers, counts, connections }) => {
      const resting = breakers.resting
      const states = new Set([...resting.values()].map(({ state }) => state))
      const all = [counts, ...(this.#shared?.countsOf(name) ?? [])]
      const last = all.flatMap(({ lastFailure }) => lastFailure ?? []).toSorted((one, other) => other.at - one.at)[0]
      return {
        name,
        url,
        breaker: states.has('open') ? 'open' : states.has('trying') ? 'trying' : 'closed',
        rests_until: resting.size === 0 ? null : Math.max(...[...resting.values()].map(({ restsUntil }) => restsUntil ?? 0)),
        resting_models: [...resting.keys()],
        calls: all.reduce((sum, { calls }) => sum + calls, 0),
        failures: all.reduce((sum, { failures }) => sum + failures, 0),
        last_failure: last === undefined ? null : { ...last },
        ...loadOf(connections.dispatcher),
      }
    })
  }

  async close(): Promise<void> {
    this.#shared?.close()
    const connected = [...this.#upstreams.values()].map(({ connections }) => connections.dispatcher.destroy())
    await Promise.all([this.#leaving.close(), ...connected])
  }

  /** Those that a scenario may use, the first choice first. A name that is not configured any more is passed over. */
  #listed({ upstreams = [] }: ModelAddress): readonly NamedUpstream[] {
    const known = upstreams.flatMap((name) => this.#upstreams.get(name) ?? [])
    return known.toSorted((one, other) => one.priority - other.priority || other.weight - one.weight)
  }

  #candidates({ model, askedModel = '' }: RuntimeCall, { format }: DialectSpec): readonly NamedUpstream[] {
    const listed = this.#listed(model)
    if (listed.length === 0) throw noUpstream()
    const able = listed.filter((upstream) => hasModel(upstream, askedModel))
    if (able.length === 0) throw noModel()
    const speaking = able.filter(({ formats }) => formats.includes(format))
    if (speaking.length === 0) throw notSpoken(format, [...new Set(able.flatMap(({ formats }) => formats))])
    return speaking
  }

  /** An upstream that asked to be left alone, or is the only one, is asked where there is no other: its own words are the best answer then. */
  #next(candidates: readonly NamedUpstream[], tried: ReadonlySet<NamedUpstream>, asked: string): NamedUpstream | undefined {
    const left = candidates.filter(
      (upstream) => !tried.has(upstream) && (candidates.length === 1 || breakerOf(upstream, asked)?.admits() !== false),
    )
    const rested = left.filter((upstream) => !upstream.isResting(upstream.nameOf(asked)))
    return inTurn(rested.length > 0 ? rested : left, this.#chances.random)[0]
  }

  /** False where the wait is too long for this service. */
  async #pauses(round: number, { restSeconds }: Missed, signal: AbortSignal): Promise<boolean> {
    const { random, sleep } = this.#chances
    const seconds = Math.max(restSeconds, PAUSE_FIRST_SECONDS * 2 ** round * (0.5 + random() / 2))
    if (seconds > PAUSE_SECONDS_MAX) return false
    await sleep(seconds, signal).catch(() => undefined)
    return !signal.aborted
  }

  async #attempt(
    upstream: NamedUpstream,
    call: RuntimeCall,
    dialect: DialectSpec,
    place: Omit<Place, 'isClients'>,
  ): Promise<RuntimeAnswer | Missed> {
    const { headers, signal, answerBytesMax: bytesMax = UPSTREAM_ANSWER_BYTES_MAX, askedModel = '' } = call
    const model = upstream.nameOf(askedModel)
    const { path, pieces } = sentUnder(call, dialect, model)
    const key = keyFor(upstream, dialect, call, this.#clientKeyOrigins)
    const watch = new Attempt(upstream, model, this.#chances.clock, { ...place, isClients: key.isClients }, () => this.#shared?.counted())
    const whom = { name: `the upstream ${upstream.name}`, setting: `inference.upstreams.${upstream.name}` }
    const request = { dialect, path, headers, signal, bytesMax, key, body: new SentBody(pieces), whom, watch }
    try {
      const answer = await ask(upstream.connections, request)
      if (answer.kind !== 'whole' || !mayResend(answer.status, key.isClients)) return answer
      return { answer, error: null, restSeconds: watch.restSeconds }
    } catch (error) {
      if (watch.isAnswered || signal.aborted) throw error
      return { answer: null, error, restSeconds: watch.restSeconds }
    }
  }
}

const breakerOf = (upstream: NamedUpstream, asked: string) => upstream.breakers.of(upstream.nameOf(asked))

const namedOf = (upstreams: readonly NamedUpstream[]): ReadonlyMap<string, NamedUpstream> =>
  new Map(upstreams.map((upstream) => [upstream.name, upstream]))

function sentUnder(call: RuntimeCall, dialect: DialectSpec, model: string) {
  const asSent = { path: call.path, pieces: call.pieces ?? [call.body] }
  if (model === (call.askedModel ?? '')) return asSent
  const under = call.under?.(model)
  return under === undefined ? renamed(asSent, dialect, model) : { path: under.path, pieces: [under.body] }
}

/** One attempt, and what it says of its upstream. */
class Attempt implements AnswerWatch {
  readonly name: string
  readonly isFirst: boolean
  readonly #upstream: NamedUpstream
  readonly #model: string
  readonly #clock: () => number
  readonly #place: Place
  #isTrial: boolean
  readonly #counted: () => void
  #status = 0
  restSeconds = 0

  constructor(upstream: NamedUpstream, model: string, clock: () => number, place: Place, counted: () => void) {
    this.#counted = counted
    this.name = upstream.name
    this.isFirst = place.isFirst
    this.#place = place
    this.#upstream = upstream
    this.#model = model
    this.#clock = clock
    this.#isTrial = place.isGuarded && upstream.breakers.of(model)?.begin() === true
    upstream.counts.calls += 1
  }

  /** A success began, and perhaps some of it was passed on. */
  get isAnswered(): boolean {
    return this.#status >= 200 && this.#status < 300
  }

  begun(status: number, headers: Readonly<Record<string, string>>): void {
    this.#status = status
    const asked = retryAfter(headers, this.#clock())
    const rest = restAfter(status, asked, this.#place.isClients)
    this.restSeconds = asked ?? 0
    if (rest !== null) this.#upstream.rest(this.#model, rest)
    if (this.#isTrial && this.isAnswered) this.#endTrial()
  }

  /** It answers again: the other calls need not wait until a long stream is over. */
  #endTrial(): void {
    this.#upstream.breakers.worked(this.#model, true)
    this.#isTrial = false
  }

  ended(how: 'whole' | 'broken' | 'left'): void {
    const { breakers } = this.#upstream
    this.#counted()
    const hasFailed = how === 'broken' || (how === 'whole' && isFault(this.#status, this.#place.isClients))
    if (hasFailed)
      this.#upstream.failed(how === 'whole' ? `status ${this.#status}` : this.#status === 0 ? 'no answer' : 'the answer broke off')
    if (!this.#place.isGuarded) return
    if (how === 'left') breakers.of(this.#model)?.left(this.#isTrial)
    else if (!hasFailed) breakers.worked(this.#model, this.#isTrial)
    else if (this.#isTrial || !this.#isRepeated()) breakers.failed(this.#model, this.#isTrial, this.#status)
  }

  /** A call counts once, however often it was sent. */
  #isRepeated(): boolean {
    const { failed } = this.#place
    if (failed.has(this.#upstream)) return true
    failed.add(this.#upstream)
    return false
  }
}

const noUpstream = (): Refusal =>
  unavailable('no_upstream', "none of the scenario's upstreams is configured any more; set its model.upstreams, or null for all")

const noModel = (): Refusal => unknown('model_not_found', 'no upstream has this model; GET /v1/models lists those there are')

export const notSpoken = (format: Format, spoken: readonly Format[]): Refusal =>
  unsupported('format_not_spoken', `no upstream of this model speaks the format ${format}; ask in one of ${spoken.join(', ')}`)

/** Nothing was sent: each upstream failed a moment ago. Clients wait out an overload, and say what is wrong with a key, only where they see that status. */
function allRest(candidates: readonly NamedUpstream[], asked: string, now: number): Refusal {
  const resting = candidates.flatMap((upstream) => breakerOf(upstream, asked) ?? [])
  const [first] = resting.toSorted((one, other) => (one.restsUntil ?? now) - (other.restsUntil ?? now))
  const status = first?.lastStatus ?? 0
  const retryAfterSeconds = Math.max(1, Math.ceil((first?.restsUntil ?? now) - now))
  const words = 'every upstream of this model failed again and again and is left alone; try again later'
  if (status !== OVERLOADED && (status === 0 || status >= 500)) return unavailable('upstreams_resting', words, { retryAfterSeconds })
  return refusal('upstreams_resting', words, { retryAfterSeconds, upstreamStatus: status, isOverload: status === OVERLOADED })
}
