/** A proposal as the inbox keeps it. */
import { z } from 'zod'
import { parseMutations, type NewProposal } from '../../harness/index.ts'

export interface KeptProposal extends NewProposal {
  readonly proposal_id: string
  /** Seconds since the epoch. */
  readonly received_at: number
  /** The head it was admitted against. */
  readonly head_release_id: string
  /** How many steps took it and wrote no row. */
  readonly attempts: number
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

/** Null when the file is damaged, or a person edited it into something else. */
export function readProposal(id: string, text: string): KeptProposal | null {
  try {
    const { mutations, ...rest } = kept.parse(JSON.parse(text))
    return rest.proposal_id === id ? { ...rest, mutations: parseMutations(mutations) } : null
  } catch {
    return null
  }
}
