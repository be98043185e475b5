/** Evaluates a transcript in a context and returns the likely next tokens, in pieces between which a call can be aborted. */
import { upstream, type Refusal } from '../../../src/contract/index.ts'
import { BATCH_TOKENS } from './base.ts'
import type { EvaluateItem, EvaluateOutput } from './library.ts'
import { isGreedy, type Outlook } from './sample.ts'
import type { ModelContext } from './contexts.ts'
import type { Slots } from '../../../src/kit/index.ts'

export interface Ask {
  readonly context: ModelContext
  readonly transcript: readonly number[]
  /** The gate that `pause` shuts, and the limit on native threads that work at once. */
  readonly turns: Slots
  readonly signal: AbortSignal
}

/** Asked of every position whose token is scored; the logits of all of them are in memory at once. */
const SCORED_AT_ONCE = 32

/**
 * What may come after the transcript: so many of the likeliest, with log-probabilities after temperature and before any filter. At
 * temperature 0 they are those of temperature 1.
 */
export async function outlookOf(ask: Ask, temperature: number, count: number, vocabulary: number): Promise<Outlook> {
  const { context, transcript } = ask
  // A second question about the same place: the last token is evaluated again.
  if (context.tokens.length === transcript.length) await context.cut(transcript.length - 1)
  let output: EvaluateOutput | undefined
  while (context.tokens.length < transcript.length) {
    const from = context.tokens.length
    const piece = transcript.slice(from, from - (from % BATCH_TOKENS) + BATCH_TOKENS)
    const isLast = from + piece.length === transcript.length
    const filter = { tokens: [], includeTop: count }
    output = (await evaluate(ask, piece, (at) => (isLast && at === piece.length - 1 ? { filter, temperature } : null))).at(-1)
  }
  const { logits, logWeight } = readingOf(output)
  const entries = [...logits]
  return {
    tokens: entries.map(([token]) => token),
    logProbs: entries.map(([, logit]) => logit - logWeight),
    isWhole: entries.length >= vocabulary,
  }
}

export async function scoresOf(ask: Ask): Promise<readonly number[]> {
  const { context, transcript } = ask
  await context.cut(0)
  const scores: number[] = []
  while (scores.length < transcript.length - 1) {
    const from = scores.length
    const piece = transcript.slice(from, Math.min(from + SCORED_AT_ONCE, transcript.length - 1))
    // The selected one is the likeliest, whose logit the others are measured against.
    const nextOf = (at: number): number[] => transcript.slice(from + at + 1, from + at + 2)
    const outputs = await evaluate(ask, piece, (at) => ({ filter: { tokens: nextOf(at), includeSelected: true }, temperature: 0 }))
    for (const [at, output] of outputs.entries()) {
      const { logits, logWeight } = readingOf(output)
      for (const token of nextOf(at)) scores.push((logits.get(token) ?? Number.NaN) - logWeight)
    }
  }
  if (!scores.every(Number.isFinite)) throw noNumbers()
  return scores
}

interface Wanted {
  readonly filter: { readonly tokens: readonly number[]; readonly includeTop?: number; readonly includeSelected?: boolean }
  readonly temperature: number
}

async function evaluate(
  ask: Ask,
  piece: readonly number[],
  wantedAt: (at: number) => Wanted | null,
): Promise<readonly (EvaluateOutput | undefined)[]> {
  const items = piece.map((token, at): EvaluateItem => {
    const wanted = wantedAt(at)
    if (wanted === null) return token
    const temperature = isGreedy(wanted.temperature) ? 0 : wanted.temperature
    const options = { temperature, topK: 0, topP: 1, minP: 0 } as const
    return [token, { generateNext: { logits: { filter: wanted.filter }, totalLogitWeight: true, options } }]
  })
  return ask.turns.run(() => ask.context.evaluate(piece, items), ask.signal)
}

/** The weight is the sum over all tokens, measured against the greatest logit. */
function readingOf(output: EvaluateOutput | undefined): { readonly logits: ReadonlyMap<number, number>; readonly logWeight: number } {
  const { logits, totalLogitWeight } = output?.next ?? {}
  if (logits === undefined || totalLogitWeight === undefined) throw noNumbers()
  const logWeight = greatest(logits.values()) + Math.log(totalLogitWeight)
  if (!Number.isFinite(logWeight)) throw noNumbers()
  return { logits, logWeight }
}

/** A vocabulary is too long for the arguments of one call. */
function greatest(numbers: Iterable<number>): number {
  let most = -Infinity
  for (const number of numbers) if (!(number <= most)) most = number
  return most
}

const noNumbers = (): Refusal =>
  upstream('engine_failed', 'the model gave no finite numbers; its adapter may be broken: serve an earlier release')
