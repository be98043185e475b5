/** Builds the proposal that a proposer returns: the change with notes, or a note why there is none. */
import type { Brief, JsonObject, Proposal } from '../../contract/index.ts'
import { firstCodePoints, wordsOf } from '../../kit/index.ts'
import { undeclaredEnv, type Needs } from './requires.ts'
import type { Review, Reviewed } from './review.ts'

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

export function proposalOf(proposed: Proposed): Proposal {
  const { mutations, requires, refused, dropped, attempts } = proposed
  const undeclared = undeclaredEnv(mutations, requires)
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
