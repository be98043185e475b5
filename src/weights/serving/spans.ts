/** Checks the spans that an engine reports against the weights a request was frozen on, and makes the `training` block of its record. */
import { conflict, type AdapterSpan, type Capture, type JsonObject, type Refusal } from '../../contract/index.ts'
import { adapterName, parseAdapterName, printLoadId, type LoadId } from '../load-id.ts'

/** A load of the scenario, and whether the base alone is what it serves. */
export interface ServedLoad extends LoadId {
  readonly isBase: boolean
}
export interface Bounds {
  readonly scenario: string
  readonly frozen: LoadId
  /** The load of the base that a request of the same release was made on; null: none was. */
  readonly base: LoadId | null
  readonly newest: ServedLoad
  readonly vocabulary: number
}

/** Rounding puts a certain token slightly above 0. */
const LOG_PROB_MAX = 1e-3

/** The `training` block of the record. Throws Refusal 409 naming the rule that does not hold. */
export function trainingOf(capture: Capture, bounds: Bounds): JsonObject {
  const { prompt, tokens, logProbs, spans } = capture
  checkNumbers(capture, bounds.vocabulary)
  checkCover(spans, tokens.length)
  const loads = spans.map((span) => loadOfSpan(span, bounds))
  checkOrder(loads, bounds)
  const ids = loads.map(printLoadId)
  return {
    tokens: [...prompt, ...tokens],
    loss_mask: tokens.map(() => 1),
    rollout_log_probs: [...logProbs],
    runtime_load_id: ids.length > 1 ? null : (ids[0] ?? printLoadId(bounds.frozen)),
    runtime_load_spans: spans.map(({ start, end }, at) => ({ start, end, runtime_load_id: ids[at] ?? null })),
  }
}

function checkNumbers({ prompt, tokens, logProbs }: Capture, vocabulary: number): void {
  if (prompt.length === 0) throw broken('the prompt has no tokens')
  if (![...prompt, ...tokens].every((id) => Number.isInteger(id) && id >= 0 && id < vocabulary))
    throw broken('a token id is not of the vocabulary')
  if (logProbs.length !== tokens.length) throw broken('there is not one log-probability for each generated token')
  if (!logProbs.every((logProb) => Number.isFinite(logProb) && logProb <= LOG_PROB_MAX)) throw broken('a log-probability is no such number')
}

/** One after the other, from the first generated token to the last, each with a token of its own. */
function checkCover(spans: readonly AdapterSpan[], tokens: number): void {
  let at = 0
  for (const [index, { start, end, adapter }] of spans.entries()) {
    if (adapter === spans[index - 1]?.adapter) throw broken('two spans in a row are of one adapter')
    if (start !== at) throw broken('a span does not begin where the one before it ends')
    if (!Number.isInteger(end) || end <= start) throw broken('a span does not hold a token')
    at = end
  }
  if (at !== tokens) throw broken('the spans do not account for every generated token')
}

function loadOfSpan({ adapter }: AdapterSpan, bounds: Bounds): LoadId {
  if (adapter === null) return baseLoad(bounds)
  const own = parseAdapterName(adapter)
  if (own === null || own.scenario !== bounds.scenario || adapterName(own.scenario, own) !== adapter)
    throw broken("a span names an adapter that is not the scenario's")
  return own
}

/** The base has no name that distinguishes its loads: it is the load that requests were made on, or the newest. */
function baseLoad({ base, newest }: Bounds): LoadId {
  if (base !== null) return base
  if (newest.isBase) return newest
  throw broken('a span is of the base, which no request was made on')
}

function checkOrder(loads: readonly LoadId[], { frozen, newest }: Bounds): void {
  const all = [{ ...frozen, sequence: frozen.sequence - 1 }, ...loads]
  if (!all.every(({ incarnation }) => incarnation === newest.incarnation)) throw broken('the loads are not of one life of the scenario')
  if (!loads.every(({ sequence }, at) => sequence > (all[at]?.sequence ?? sequence)))
    throw broken('the loads do not ascend from the one the request was frozen on')
  if (loads.some(({ sequence }) => sequence > newest.sequence)) throw broken('a load is newer than any that was served')
}

function broken(rule: string): Refusal {
  return conflict(
    'spans_do_not_add_up',
    `the engine's account of its tokens does not add up: ${rule}; nothing was recorded, send the request again`,
  )
}
