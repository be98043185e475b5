/** A proposal as it comes, and as the inbox keeps it. */
import { z } from 'zod'
import { invalid, isRefusal, RECORD_ID_CHARACTERS_MAX, type Json, type JsonObject, type Mutation } from '../../contract/index.ts'
import { parseMutations } from '../../harness/index.ts'
import { countCodePoints } from '../../kit/index.ts'

/** A proposal printed as JSON. */
const PROPOSAL_BYTES_MAX = 1024 * 1024
/** Its author's account is shown on pages and kept in a row: an account, not an essay. */
const REASON_CHARACTERS_MAX = 4000

export interface NewProposal {
  readonly mutations: readonly Mutation[]
  readonly reason: string
  readonly session: string
  readonly release_id: string
}
export interface KeptProposal extends NewProposal {
  readonly proposal_id: string
  /** Seconds since the epoch. */
  readonly received_at: number
  /** The head it was admitted against. */
  readonly head_release_id: string
  /** How many steps took it and never came to a row. */
  readonly attempts: number
}

/** Throws Refusal 'invalid' for what is no proposal. Whether it may be made is for the admission to say; fields of others are dropped. */
export function parseProposal(body: JsonObject): NewProposal {
  if (Buffer.byteLength(JSON.stringify(body)) > PROPOSAL_BYTES_MAX)
    throw bad(`a proposal must be at most ${PROPOSAL_BYTES_MAX} bytes of JSON; propose less at once`)
  return {
    mutations: mutationsIn(body['mutations'] ?? null),
    reason: textIn(body, 'reason', 'say in words what the change is for', REASON_CHARACTERS_MAX),
    session: textIn(body, 'session', 'name the session that proposes', RECORD_ID_CHARACTERS_MAX),
    release_id: textIn(body, 'release_id', 'name the release the session runs', RECORD_ID_CHARACTERS_MAX),
  }
}

const bad = (message: string): Error => invalid('bad_proposal', message)

function mutationsIn(value: Json): readonly Mutation[] {
  try {
    return parseMutations(value)
  } catch (error) {
    throw isRefusal(error) ? bad(error.message) : error
  }
}

/** Empty only where nothing hangs on it: an author need not give a reason. */
function textIn(body: JsonObject, field: string, cure: string, charactersMax: number): string {
  const value = body[field]
  if (typeof value !== 'string' || (field !== 'reason' && value.trim() === '')) throw bad(`${field}: must be text; ${cure}`)
  if (countCodePoints(value) > charactersMax) throw bad(`${field}: must be at most ${charactersMax} characters`)
  return value
}

const kept = z.object({
  mutations: z.json(),
  reason: z.string(),
  session: z.string(),
  release_id: z.string(),
  proposal_id: z.string(),
  received_at: z.number(),
  head_release_id: z.string(),
  attempts: z.number().int().nonnegative(),
})

/** What a file of the inbox holds, or null when that is no proposal of this name: a person may have been at it, or a failing disk. */
export function readProposal(id: string, text: string): KeptProposal | null {
  try {
    const { mutations, ...rest } = kept.parse(JSON.parse(text))
    return rest.proposal_id === id ? { ...rest, mutations: parseMutations(mutations) } : null
  } catch {
    return null
  }
}
