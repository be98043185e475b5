/** What a proposer hands back: the change with its notes, or the note why there is none. */
import type { Brief, JsonObject, Proposal } from '../../contract/index.ts'
import { firstCodePoints, wordsOf } from '../../kit/index.ts'
import { undeclaredEnv, type Needs } from './requires.ts'
import type { Review, Reviewed } from './review.ts'

const DESIGN_CHARACTERS_MAX = 4000
const DROPPED_SHOWN_MAX = 20

/** A change that was admitted. */
export interface Drafted extends Reviewed {
  readonly refused: Needs['refused']
  /** What was left out, a sentence each. */
  readonly dropped: readonly string[]
}
export interface Proposed extends Drafted {
  /** Why nobody looked at it, as a text. Null where nobody had to. */
  readonly review: Review | string | null
  /** How many answers it took. */
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

/** No change, and the reason for the row. The one proposal that holds no mutation. */
export const failureOf = (failure: string): Proposal => ({ mutations: [], notes: { failure } })

/** A person's request is never tried twice, so its row says what went wrong; traffic is tried again when the model is back. */
export function lostModel({ request }: Pick<Brief, 'request'>, error: unknown): Proposal {
  if (request === null) throw error
  return failureOf(`the model call failed: ${wordsOf(error)}`)
}

/** The last paragraph says how the change is used, and stays whole where it can. */
function designOf(design: string): string {
  const text = design.trim()
  if (firstCodePoints(text, DESIGN_CHARACTERS_MAX) === text) return text
  const last = text.slice(text.lastIndexOf('\n\n') + 1).trim()
  const room = DESIGN_CHARACTERS_MAX - last.length - GAP.length
  return room > 0 ? `${firstCodePoints(text, room)}${GAP}${last}` : firstCodePoints(text, DESIGN_CHARACTERS_MAX)
}
const GAP = '…\n\n'
