/**
 * What an exchange seems to have come to, where no one said so: tests that ran in it, the same asked again, what the next turn says, tools that
 * failed, work that was left. It chooses what is worked on first.
 */
import type { Json, JsonObject } from '../contract/index.ts'
import { compact, shinglesOf } from '../kit/index.ts'
import type { SessionStep } from './steps.ts'
import { testRunsIn } from './test-runs.ts'
import { Threads, type Thread } from './threads.ts'
import { judgementIn } from './words.ts'

interface Sign {
  /** From 0, it failed, to 1, it went well. */
  readonly weak: number
  /** From 0 to 1. */
  readonly confidence: number
  readonly reason: string
  /** The person's words that it goes by. */
  readonly said?: string
}

const FAILED_BELOW = 0.4
const CONFIDENCE_MIN = 0.2

/** No score, and none can be made of it in code: the number is private, and shown to people alone. */
export class WeakOutcome {
  readonly #weak: number
  readonly #confidence: number
  readonly reason: string
  /** The person's words that it goes by; null where it goes by none. */
  readonly said: string | null

  constructor({ weak, confidence, reason, said }: Sign) {
    this.#weak = weak
    this.#confidence = confidence
    this.reason = reason
    this.said = said ?? null
  }

  get seemsFailed(): boolean {
    return this.#weak < FAILED_BELOW && this.#confidence >= CONFIDENCE_MIN
  }
  get seemsFine(): boolean {
    return this.#weak > 1 - FAILED_BELOW && this.#confidence >= CONFIDENCE_MIN
  }

  /** Sorts what seems to have failed first, the surer the earlier. */
  static compare(one: WeakOutcome, other: WeakOutcome): number {
    return one.#leaning - other.#leaning
  }

  /** For people. */
  toJSON(): JsonObject {
    return { weak_score: rounded(this.#weak), confidence: rounded(this.#confidence), reason: this.reason }
  }

  get #leaning(): number {
    return (this.#weak - 0.5) * this.#confidence
  }
}

const rounded = (value: number): number => Math.round(value * 100) / 100

/** What a report or a record brings. */
interface Unscored {
  readonly record_ids: readonly string[]
  /** In their order. */
  readonly exchanges: readonly JsonObject[]
  /** What a report says without a score. */
  readonly feedback: Json
}

/** One for each, in their order, from all of them together: a later exchange may judge an earlier one. */
export function weakOutcomes(samples: readonly Unscored[]): readonly WeakOutcome[] {
  const threads = new Threads()
  samples.forEach(({ exchanges }, sample) => exchanges.forEach((exchange, at) => threads.add(`${sample} ${at}`, exchange)))
  const placed = new Map(threads.all().flatMap((thread) => thread.exchanges.map(({ id }, at) => [id, { thread, at }] as const)))
  return samples.map(({ exchanges, feedback }, sample) => {
    const found = placed.get(`${sample} ${exchanges.length - 1}`)
    const signs = found === undefined ? [] : signsOf(found.thread, found.at)
    return outcomeOf([...signs, ...(typeof feedback === 'string' ? wordSigns(feedback) : [])])
  })
}

function outcomeOf(signs: readonly Sign[]): WeakOutcome {
  const [strongest] = signs.toSorted((one, other) => other.confidence - one.confidence)
  if (strongest === undefined) return new WeakOutcome({ weak: 0.5, confidence: 0, reason: 'nothing shows what it came to' })
  const total = signs.reduce((sum, { confidence }) => sum + confidence, 0)
  const weak = signs.reduce((sum, sign) => sum + sign.weak * sign.confidence, 0) / total
  const agree = new Set(signs.map((sign) => sign.weak > 0.5)).size === 1
  const said = signs.find((sign) => sign.said !== undefined)?.said
  return new WeakOutcome({ ...strongest, weak, confidence: agree ? strongest.confidence : strongest.confidence / 2, ...(said && { said }) })
}

/** Of the first request of a conversation. */
export const outcomeOfThread = (thread: Thread): WeakOutcome =>
  outcomeOf(
    requestSigns(
      thread,
      thread.steps.findIndex(({ by }) => by === 'person'),
    ),
  )

/** Of the person's request that an exchange of a conversation answers. */
function signsOf(thread: Thread, at: number): readonly Sign[] {
  const { steps, exchanges } = thread
  const begin = steps.slice(0, exchanges[at]?.asked ?? 0).findLastIndex(({ by }) => by === 'person')
  const next = nextRequest(steps, begin)
  // Another exchange answers the same request after this one.
  return (exchanges[at + 1]?.asked ?? Infinity) <= (next ?? steps.length) ? [GOES_ON] : requestSigns(thread, begin)
}

/** Undefined where the person said nothing more. */
function nextRequest(steps: readonly SessionStep[], begin: number): number | undefined {
  const next = steps.findIndex(({ by }, at) => by === 'person' && at > begin)
  return next === -1 ? undefined : next
}

function requestSigns({ steps, session, isBegunAgain }: Thread, begin: number): readonly Sign[] {
  const next = nextRequest(steps, begin)
  const [request, answer] = [steps[begin], next === undefined ? undefined : steps[next]]
  const work = steps.slice(begin + 1, next)
  return [
    ...testSigns(work),
    ...toolSigns(work),
    ...(answer?.by === 'person' && request?.by === 'person' ? nextSigns(request.text, answer.text) : []),
    ...(next === undefined ? endSigns(work, isBegunAgain, session !== null) : []),
  ]
}

const GOES_ON: Sign = { weak: 0.5, confidence: 0, reason: 'a later exchange goes on with it' }

function testSigns(work: readonly SessionStep[]): readonly Sign[] {
  const last = testRunsIn(work).findLast(({ ended }) => ended !== null)
  if (last === undefined) return []
  return last.ended === 'well'
    ? [{ weak: 0.75, confidence: 0.3, reason: 'the last tests that ran in it passed' }]
    : [{ weak: 0.1, confidence: 0.7, reason: 'the last tests that ran in it failed' }]
}

const RESULTS_LOOKED_AT = 3

function toolSigns(work: readonly SessionStep[]): readonly Sign[] {
  const failed = work
    .filter((step) => step.by === 'result')
    .slice(-RESULTS_LOOKED_AT)
    .filter(({ isError }) => isError).length
  return failed * 2 > RESULTS_LOOKED_AT ? [{ weak: 0.25, confidence: 0.3, reason: 'the last tools that it called failed' }] : []
}

function nextSigns(request: string, next: string): readonly Sign[] {
  if (areAlike(request, next)) return [{ weak: 0.15, confidence: 0.6, reason: 'the same was asked again in the next turn', said: next }]
  const signs = wordSigns(next)
  return signs.length > 0 ? signs : [{ weak: 0.6, confidence: 0.1, reason: 'the person went on' }]
}

function wordSigns(text: string): readonly Sign[] {
  const judgement = judgementIn(text)
  if (judgement === 'corrects') return [{ weak: 0.15, confidence: 0.5, reason: 'the person says that it is wrong', said: text }]
  if (judgement === 'interrupts') return [{ weak: 0.3, confidence: 0.4, reason: 'the person interrupted it' }]
  return judgement === 'thanks' ? [{ weak: 0.9, confidence: 0.4, reason: 'the person says thanks', said: text }] : []
}

function endSigns(work: readonly SessionStep[], isBegunAgain: boolean, isTagged: boolean): readonly Sign[] {
  const again = { weak: 0.2, confidence: isTagged ? 0.5 : 0.2, reason: 'the same was asked again later' }
  return [
    ...(isBegunAgain ? [again] : []),
    ...(work.at(-1)?.by === 'agent' ? [] : [{ weak: 0.3, confidence: 0.25, reason: 'it ended without an answer' }]),
  ]
}

const ALIKE_SHARE = 0.6

/** In any language: by what both texts share. */
function areAlike(one: string, other: string): boolean {
  const [a, b] = [compact(one), compact(other)]
  if (a === '' || a === b) return a !== ''
  const [first, second] = [shinglesOf(a).hashes, shinglesOf(b).hashes]
  const shared = [...first].filter((each) => second.has(each)).length
  return shared > 0 && shared / (first.size + second.size - shared) >= ALIKE_SHARE
}
