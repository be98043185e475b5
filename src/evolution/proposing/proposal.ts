/** Builds the proposal that a proposer returns: the change with notes, or a note why there is none. */
import type { Brief, JsonObject, Proposal, Json, Model, Mutation } from '../../contract/index.ts'
import { fence, firstCodePoints, wordsOf } from '../../kit/index.ts'
import { DATA_REMINDER, FENCE_NOTE } from './briefing.ts'
import { objectIn } from './reply.ts'
import { declaredBy, undeclaredEnv, type Needs } from './requires.ts'

const DESIGN_CHARACTERS_MAX = 4000
const DROPPED_SHOWN_MAX = 20

/** A change that was admitted. */
export interface Drafted extends Reviewed {
  readonly refused: Needs['refused']
  /** One sentence per dropped item. */
  readonly dropped: readonly string[]
}
export interface Proposed extends Drafted {
  /** A text says why the review failed; null where none was needed. */
  readonly review: Review | string | null
  /** How many replies the model wrote. */
  readonly attempts: number
}

export function proposalOf(brief: Pick<Brief, 'request'>, proposed: Proposed): Proposal {
  const { mutations, requires, refused, dropped, attempts } = proposed
  const undeclared = undeclaredEnv(mutations, declaredBy(brief, requires))
  const notes: JsonObject = {
    ...(proposed.design.trim() !== '' && { design: designOf(proposed.design) }),
    ...(typeof proposed.review === 'string'
      ? { review_failure: proposed.review }
      : proposed.review !== null && { review: proposed.review }),
    ...(refused.length > 0 && { refused_requires: refused }),
    ...(undeclared.length > 0 && { undeclared_env: undeclared }),
    ...(dropped.length > 0 && { dropped: dropped.slice(0, DROPPED_SHOWN_MAX) }),
    attempts,
  }
  return { mutations, ...(requires.length > 0 && { requires }), notes }
}

/** A proposal without a change, with the reason for the row. */
export const failureOf = (failure: string): Proposal => ({ mutations: [], notes: { failure } })

/** A request is never retried, so its row holds the error; a step on traffic throws and is retried. */
export function lostModel({ request }: Pick<Brief, 'request'>, error: unknown): Proposal {
  if (request === null) throw error
  return failureOf(`the model call failed: ${wordsOf(error)}`)
}

/** Cuts the middle: the last paragraph says how to use the change. */
function designOf(design: string): string {
  const text = design.trim()
  if (firstCodePoints(text, DESIGN_CHARACTERS_MAX) === text) return text
  const last = text.slice(text.lastIndexOf('\n\n') + 1).trim()
  const room = DESIGN_CHARACTERS_MAX - last.length - GAP.length
  return room > 0 ? `${firstCodePoints(text, room)}${GAP}${last}` : firstCodePoints(text, DESIGN_CHARACTERS_MAX)
}
const GAP = '…\n\n'

const TOKENS_MAX = 16_384
const TIMEOUT_SECONDS = 120
const POINTS_MAX = 20
const POINT_CHARACTERS_MAX = 300
const CHANGE_CHARACTERS_MAX = 100_000
/** Invalid JSON is retried once. */
const ANSWERS_MAX = 2

interface Review {
  readonly result: 'complete' | 'partial'
  readonly covered: readonly string[]
  readonly uncovered: readonly string[]
  readonly [key: string]: Json
}
interface Reviewed {
  readonly mutations: readonly Mutation[]
  readonly requires: readonly JsonObject[]
  readonly design: string
}

/** The review, or why it failed; a failed review does not discard the change. Null where nobody asked for the change. */
export async function review(model: Model, brief: Brief, change: Reviewed): Promise<Review | string | null> {
  if (brief.request === null) return null
  const messages = messagesOf(brief.request.text, { ...change, requires: declaredBy(brief, change.requires) })
  try {
    for (let asked = 1; ; asked += 1) {
      const answer = objectIn(await model.chat(messages, { tokensMax: TOKENS_MAX, timeoutSeconds: TIMEOUT_SECONDS }))
      const found = typeof answer === 'string' ? answer : reviewIn(answer)
      if (typeof found !== 'string' || asked === ANSWERS_MAX) return found
    }
  } catch (error) {
    brief.signal.throwIfAborted()
    return wordsOf(error)
  }
}

const SYSTEM = [
  'You review a change of a harness, the entries around a coding agent, against what a person asked for.',
  'Take the request apart into its points. A point is covered when the entries, as they are written, make the agent do it; words that only promise it cover nothing. What only the person can provide counts as covered when requires names it.',
  'Answer with one JSON object and nothing else: {"result": "complete" or "partial", "covered": [points], "uncovered": [points]}. Each point is one short sentence.',
  FENCE_NOTE,
].join('\n\n')

function messagesOf(asked: string, { mutations, requires, design }: Reviewed): Parameters<Model['chat']>[0] {
  const change = firstCodePoints(JSON.stringify({ changes: mutations, requires }, null, 1), CHANGE_CHARACTERS_MAX)
  const content = [fence('request', `Request: ${asked}`), fence('design', design), fence('change', change), DATA_REMINDER].join('\n\n')
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
