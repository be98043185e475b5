/** Asks a model which points of a person's request a change covers. */
import type { Json, JsonObject, Model, Mutation, TrainRequest } from '../../contract/index.ts'
import { firstCodePoints, wordsOf } from '../../kit/index.ts'
import { fence, FENCE_NOTE } from './fence.ts'
import { objectIn } from './reply.ts'

const TOKENS_MAX = 16_384
const TIMEOUT_SECONDS = 120
const POINTS_MAX = 20
const POINT_CHARACTERS_MAX = 300
const CHANGE_CHARACTERS_MAX = 100_000
/** Invalid JSON is retried once. */
const ANSWERS_MAX = 2

export interface Review {
  readonly result: 'complete' | 'partial'
  readonly covered: readonly string[]
  readonly uncovered: readonly string[]
  readonly [key: string]: Json
}
export interface Reviewed {
  readonly mutations: readonly Mutation[]
  readonly requires: readonly JsonObject[]
  readonly design: string
}

/** The review, or why it failed; a failed review does not discard the change. */
export async function review(model: Model, request: TrainRequest, change: Reviewed, signal: AbortSignal): Promise<Review | string> {
  try {
    for (let asked = 1; ; asked += 1) {
      const answer = objectIn(await model.chat(messagesOf(request, change), { tokensMax: TOKENS_MAX, timeoutSeconds: TIMEOUT_SECONDS }))
      const found = typeof answer === 'string' ? answer : reviewIn(answer)
      if (typeof found !== 'string' || asked === ANSWERS_MAX) return found
    }
  } catch (error) {
    signal.throwIfAborted()
    return wordsOf(error)
  }
}

const SYSTEM = [
  'You review a change of a harness, the entries around a coding agent, against what a person asked for.',
  'Take the request apart into its points. A point is covered when the entries, as they are written, make the agent do it; words that only promise it cover nothing. What only the person can provide counts as covered when requires names it.',
  'Answer with one JSON object and nothing else: {"result": "complete" or "partial", "covered": [points], "uncovered": [points]}. Each point is one short sentence.',
  FENCE_NOTE,
].join('\n\n')

function messagesOf(request: TrainRequest, { mutations, requires, design }: Reviewed): Parameters<Model['chat']>[0] {
  const change = firstCodePoints(JSON.stringify({ changes: mutations, requires }, null, 1), CHANGE_CHARACTERS_MAX)
  const content = [fence('request', `Request: ${request.text}`), fence('design', design), fence('change', change)].join('\n\n')
  return [
    { role: 'system', content: SYSTEM },
    { role: 'user', content },
  ]
}

function reviewIn(answer: JsonObject): Review | string {
  const { result, covered, uncovered } = answer
  if (result !== 'complete' && result !== 'partial') return 'the review must say complete or partial'
  const open = pointsOf(uncovered)
  // A review with uncovered points is partial, whatever it says.
  return { result: open.length > 0 ? 'partial' : result, covered: pointsOf(covered), uncovered: open }
}

function pointsOf(value: Json | undefined): readonly string[] {
  const points = Array.isArray(value) ? value.filter((point) => typeof point === 'string' && point.trim() !== '') : []
  return points.slice(0, POINTS_MAX).map((point) => firstCodePoints(String(point).replaceAll(/\s+/g, ' ').trim(), POINT_CHARACTERS_MAX))
}
