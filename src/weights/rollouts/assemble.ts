/** Joins the exchanges of a sample into one trajectory: each must continue where the one before it ended. */
import { isObject, type Encoded, type JsonObject, type Rollout, type Sample } from '../../contract/index.ts'
import { isList, listOf, objectOf } from '../../dialects/index.ts'
import { readTurn, type LoadSpan, type RolloutTurn, type TurnProblem } from './turn.ts'

export interface AssembleOptions {
  readonly acceptMultiTurn?: boolean
  /** How many tokens at the end of an answer a client may have sent back in other ids, as tokenizing its text again does. */
  readonly realignThresholdTokens?: number
  /** How many ids the model has; absent: not checked. */
  readonly vocabulary?: number
  /** How many tokens it reads; absent: not checked. */
  readonly contextTokens?: number
}

export type Assembled =
  | {
      readonly kind: 'rollout'
      readonly rollout: Rollout
      /** Over the generated tokens; tokens between answers belong to none. Empty where the loads are unknown. */
      readonly spans: readonly LoadSpan[]
    }
  | Unusable
interface Unusable {
  readonly kind: 'unusable'
  readonly sample: Sample
  readonly reason: UnusableReason
}
export type UnusableReason = TurnProblem | 'multi_turn_off' | 'mixed_log_probs' | 'mixed_load_ids' | 'fork' | 'too_long' | 'not_encodable'

const REALIGN_THRESHOLD_TOKENS = 1024

export function assembleRollout(sample: Sample, options: AssembleOptions = {}): Assembled {
  const turns: RolloutTurn[] = []
  for (const exchange of sample.exchanges) {
    const turn = readTurn(exchange, options.vocabulary ?? Infinity)
    if (typeof turn === 'string') return { kind: 'unusable', sample, reason: turn }
    turns.push(turn)
  }
  return joinTurns(sample, turns, options)
}

type Encode = (body: JsonObject, answer: JsonObject) => Promise<Encoded | null>

/** From exchanges that were not sampled here, by the model's own template. Only a loss without a ratio can learn from them. */
export async function encodeRollout(sample: Sample, encode: Encode, options: AssembleOptions = {}): Promise<Assembled> {
  const turns: RolloutTurn[] = []
  for (const exchange of sample.exchanges) {
    const turn = await encodeTurn(exchange, encode)
    if (turn === null) return { kind: 'unusable', sample, reason: 'not_encodable' }
    turns.push(turn)
  }
  return joinTurns(sample, turns, options)
}

async function encodeTurn({ response, ...body }: JsonObject, encode: Encode): Promise<RolloutTurn | null> {
  const { message } = objectOf(listOf(objectOf(response)['choices'])[0])
  if (!isObject(message) || !isList(body['messages'])) return null
  const encoded = await encode(body, message)
  if (encoded === null || encoded.prompt.length === 0 || encoded.answer.length === 0) return null
  return { ...encoded, lossMask: encoded.answer.map(() => 1), logProbs: [], spans: [] }
}

function joinTurns(
  sample: Sample,
  turns: readonly RolloutTurn[],
  { acceptMultiTurn = true, realignThresholdTokens = REALIGN_THRESHOLD_TOKENS, contextTokens = Infinity }: AssembleOptions,
): Assembled {
  const unusable = (reason: UnusableReason): Unusable => ({ kind: 'unusable', sample, reason })
  const [first] = turns
  if (first === undefined) return unusable('missing_tensors')
  if (turns.length > 1 && !acceptMultiTurn) return unusable('multi_turn_off')
  if (!areAlike(turns.map(({ logProbs }) => logProbs.length > 0))) return unusable('mixed_log_probs')
  if (!areAlike(turns.map(({ spans }) => spans.length > 0))) return unusable('mixed_load_ids')
  const episode = new Episode(first.prompt)
  for (const turn of turns) {
    if (!episode.goOn(turn.prompt, realignThresholdTokens)) return unusable('fork')
    episode.say(turn)
  }
  const { tokens, lossMask, logProbs, spans } = episode
  if (tokens.length > contextTokens) return unusable('too_long')
  const { record_ids, group = null, score } = sample
  return { kind: 'rollout', rollout: { record_ids, group, score, tokens, lossMask, logProbs, sample }, spans }
}

const areAlike = (marks: readonly boolean[]): boolean => marks.every((mark) => mark === marks[0])

/** A transcript that grows; everything but the tokens is counted from where the first answer begins. */
class Episode {
  readonly tokens: number[]
  readonly lossMask: (0 | 1)[] = []
  readonly logProbs: number[] = []
  spans: LoadSpan[] = []
  readonly #begin: number
  /** Where the latest answer begins: the prefix before it is immutable. */
  #latest: number

  constructor(prompt: readonly number[]) {
    this.tokens = [...prompt]
    this.#begin = prompt.length
    this.#latest = prompt.length
  }

  /** Appends what a prompt adds, with mask 0. False when the prompt differs from the transcript so far, or ends before it. */
  goOn(prompt: readonly number[], realignMax: number): boolean {
    const same = commonLength(this.tokens, prompt)
    const differing = this.tokens.length - same
    if (differing > 0 && (same < this.#latest || same === prompt.length || differing > realignMax)) return false
    const hasLogProbs = this.logProbs.length > 0
    this.#forgetFrom(same)
    for (let at = same; at < prompt.length; at++) {
      this.tokens.push(prompt[at] ?? 0)
      this.lossMask.push(0)
      if (hasLogProbs) this.logProbs.push(0)
    }
    return true
  }

  say({ answer, lossMask, logProbs, spans }: RolloutTurn): void {
    const offset = this.tokens.length - this.#begin
    this.#latest = this.tokens.length
    for (const token of answer) this.tokens.push(token)
    for (const mark of lossMask) this.lossMask.push(mark)
    for (const value of logProbs) this.logProbs.push(value)
    for (const { start, end, runtime_load_id } of spans) this.spans.push({ start: start + offset, end: end + offset, runtime_load_id })
  }

  #forgetFrom(length: number): void {
    const kept = length - this.#begin
    this.tokens.length = length
    this.lossMask.length = kept
    this.logProbs.length = Math.min(this.logProbs.length, kept)
    this.spans = this.spans.filter(({ start }) => start < kept).map((span) => ({ ...span, end: Math.min(span.end, kept) }))
  }
}

function commonLength(one: readonly number[], other: readonly number[]): number {
  const most = Math.min(one.length, other.length)
  let length = 0
  while (length < most && one[length] === other[length]) length += 1
  return length
}
