/** Parses a proposal: mutations of a tree, with a reason, a session and a release. */
import type { z } from 'zod'
import { invalid, PROPOSAL_BYTES_MAX, type Json, type JsonObject, type Mutation } from '../contract/index.ts'
import { proposalAccount, proposedMutations } from '../contract/wire/index.ts'
import { parseMutations } from './admission.ts'
import { brokenRule } from './fields.ts'

export interface NewProposal {
  readonly mutations: readonly Mutation[]
  readonly reason: string
  readonly session: string
  readonly release_id: string
}

/** Throws Refusal 'invalid' for what is no proposal; fields of others are dropped. */
export function parseProposal(body: JsonObject): NewProposal {
  if (Buffer.byteLength(JSON.stringify(body)) > PROPOSAL_BYTES_MAX)
    throw bad(`a proposal must be at most ${PROPOSAL_BYTES_MAX} bytes of JSON; propose less at once`)
  return { mutations: mutationsIn(body['mutations'] ?? null), ...accountIn(body) }
}

const bad = (message: string): Error => invalid('bad_proposal', message)

function mutationsIn(value: Json): readonly Mutation[] {
  const problem = brokenRule(proposedMutations, value, 'mutations')
  if (problem !== null) throw bad(problem)
  return parseMutations(value)
}

function accountIn(body: JsonObject): z.infer<typeof proposalAccount> {
  const { success, data, error } = proposalAccount.safeParse(body)
  if (success) return data
  const [issue] = error.issues
  throw bad(`${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'not acceptable'}`)
}
