/** Evaluates a transcript and reads what may come after it, in pieces between which a call can be aborted. */
import { BATCH_TOKENS } from './base.ts'
import type { Held } from './contexts.ts'
import type { TokenPlace } from './place.ts'

export interface Ask {
  readonly held: Held
  readonly transcript: readonly number[]
  /** Whether the numbers must be the same to the last bit, whatever else is asked for at the time. */
  readonly isExact: boolean
  readonly signal: AbortSignal
}

/** Asked of every position whose token is scored; the logits of all of them are in memory at once. */
const SCORED_AT_ONCE = 32

/** Reads what may come after the transcript. */
export async function readAfter<T extends object>(ask: Ask, read: (place: TokenPlace) => Promise<T>): Promise<T> {
  const { sequence } = ask.held
  const { transcript } = ask
  // A second question about the same place: the last token is evaluated again.
  if (sequence.tokens.length === transcript.length) await sequence.cut(transcript.length - 1)
  const pieceEnd = (): number => sequence.tokens.length - (sequence.tokens.length % BATCH_TOKENS) + BATCH_TOKENS
  while (pieceEnd() < transcript.length) {
    const piece = transcript.slice(sequence.tokens.length, pieceEnd())
    await evaluate(ask, piece, piece.length, read)
  }
  const last = transcript.slice(sequence.tokens.length)
  const [value] = await evaluate(ask, last, last.length - 1, read)
  if (value === undefined) throw new Error('nothing was read after a transcript')
  return value
}

export async function scoresOf(ask: Ask): Promise<readonly number[]> {
  const { transcript } = ask
  await ask.held.sequence.cut(0)
  const scores: number[] = []
  while (scores.length < transcript.length - 1) {
    const from = scores.length
    const piece = transcript.slice(from, Math.min(from + SCORED_AT_ONCE, transcript.length - 1))
    scores.push(...(await evaluate(ask, piece, 0, (place, at) => place.scoreOf(transcript[from + at + 1] ?? -1))))
  }
  return scores
}

/** Only single tokens are evaluated together with those of others: whole batches stay the same to the last bit. */
function evaluate<T>(
  { held, isExact, signal }: Ask,
  piece: readonly number[],
  readFrom: number,
  read: (place: TokenPlace, at: number) => Promise<T>,
): Promise<readonly T[]> {
  return held.rounds.evaluate(() => held.sequence.evaluate(piece, readFrom, read), isExact || piece.length > 1, signal)
}
