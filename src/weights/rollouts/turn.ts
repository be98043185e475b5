/** The numbers of one stored exchange: ids in and out, loss mask, log-probabilities, loads. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { isList } from '../../dialects/index.ts'

export interface RolloutTurn {
  readonly prompt: readonly number[]
  readonly answer: readonly number[]
  /** Of the answer, like everything below. */
  readonly lossMask: readonly (0 | 1)[]
  /** Empty where it was not sampled here. */
  readonly logProbs: readonly number[]
  /** Empty where the weights that made it are unknown. */
  readonly spans: readonly LoadSpan[]
}
export interface LoadSpan {
  readonly start: number
  /** Not included. */
  readonly end: number
  readonly runtime_load_id: string
}

export type TurnProblem =
  | 'missing_tensors'
  | 'tensor_lengths'
  | 'bad_token'
  | 'bad_mask'
  | 'bad_log_prob'
  | 'not_finite'
  | 'bad_load_spans'
  | 'load_id_disagrees'

/** A likelihood above 1 is a mistake; a little above is what rounding makes of 1. */
const LOG_PROB_MAX = 0.01

/** Reads the block that the service stored with the answer; without one, the fields of an import. Ids are never made from text again. */
export function readTurn(exchange: JsonObject, vocabulary: number): RolloutTurn | TurnProblem {
  const { response } = exchange
  const kept = isObject(response) ? response['training'] : undefined
  if (!isObject(kept)) return turnOf(exchange, vocabulary)
  const { runtime_load_id: own } = kept
  const { runtime_load_id: given } = exchange
  return typeof given === 'string' && typeof own === 'string' && given !== own ? 'load_id_disagrees' : turnOf(kept, vocabulary)
}

function turnOf(block: JsonObject, vocabulary: number): RolloutTurn | TurnProblem {
  const { tokens, loss_mask: lossMask, rollout_log_probs: sampled } = block
  if (!isList(tokens) || !isList(lossMask)) return 'missing_tensors'
  const logProbs = sampled ?? []
  if (!isList(logProbs)) return 'missing_tensors'
  // There must be a prompt token to predict the first generated one from, and a generated token to learn from.
  if (lossMask.length === 0 || lossMask.length >= tokens.length) return 'tensor_lengths'
  if (logProbs.length > 0 && logProbs.length !== lossMask.length) return 'tensor_lengths'
  if (!tokens.every((token) => isToken(token, vocabulary))) return 'bad_token'
  if (!lossMask.every((mark) => mark === 0 || mark === 1)) return 'bad_mask'
  if (!logProbs.every(isFiniteNumber)) return 'not_finite'
  if (logProbs.some((value) => value > LOG_PROB_MAX)) return 'bad_log_prob'
  const spans = spansOf(block, lossMask.length)
  if (typeof spans === 'string') return spans
  const cut = tokens.length - lossMask.length
  return { prompt: tokens.slice(0, cut), answer: tokens.slice(cut), lossMask, logProbs, spans }
}

const isToken = (value: Json, vocabulary: number): value is number =>
  typeof value === 'number' && Number.isSafeInteger(value) && value >= 0 && value < vocabulary

const isFiniteNumber = (value: Json): value is number => typeof value === 'number' && Number.isFinite(value)

/** Spans must cover every generated token, and agree with the single load id where there is one. */
function spansOf({ runtime_load_id: id = null, runtime_load_spans: given }: JsonObject, length: number): readonly LoadSpan[] | TurnProblem {
  if (id !== null && typeof id !== 'string') return 'bad_load_spans'
  if (given === undefined || given === null) return id === null ? [] : [{ start: 0, end: length, runtime_load_id: id }]
  if (!isList(given)) return 'bad_load_spans'
  const spans = given.flatMap((span) => readSpan(span) ?? [])
  const ends = [0, ...spans.map(({ end }) => end)]
  const addUp = spans.length === given.length && spans.every(({ start, end }, at) => start === ends[at] && end > start)
  if (!addUp || ends.at(-1) !== length) return 'bad_load_spans'
  return id === null || spans.every(({ runtime_load_id }) => runtime_load_id === id) ? spans : 'load_id_disagrees'
}

function readSpan(span: Json): LoadSpan | null {
  if (!isObject(span)) return null
  const { start, end, runtime_load_id } = span
  return typeof start === 'number' && typeof end === 'number' && typeof runtime_load_id === 'string'
    ? { start, end, runtime_load_id }
    : null
}
