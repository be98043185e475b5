/** Takes proposals for a scenario: checks each like any other change, and keeps the admitted ones. */
import type { Adapter, Admission, Files, Mutation, Proposals, Release } from '../../contract/index.ts'
import { admitBeside, entriesIn, parseProposal, type NewProposal } from '../../harness/index.ts'
import { newId, screenText } from '../../kit/index.ts'
import type { Inbox } from './inbox.ts'

export interface ProposalParts {
  readonly inbox: Inbox
  readonly adapter: Adapter
  /** Why all proposals are refused, or null. */
  readonly problem: string | null
  readonly read: (release: Release) => Promise<Files>
}

export function openProposals({ inbox, adapter, problem, read }: ProposalParts): Proposals {
  return {
    async offer(body, head): Promise<Admission> {
      const proposal = parseProposal(body)
      const { release_id } = head
      const refused = (reason: string): Admission => ({ proposal_id: newId(), admitted: false, reason, release_id })
      if (problem !== null) return refused(problem)
      const leak = leakIn(proposal)
      if (leak !== null) return refused(`${leak} holds what looks like a credential; take it out, and rotate it if it is real`)
      const tree = await admitBeside(adapter, entriesIn(adapter, await read(head)), proposal.mutations)
      if (!tree.admitted) return refused(tree.reason)
      const kept = await inbox.offer({ ...proposal, mutations: proposal.mutations.map(plainMutation) }, release_id)
      return kept === 'full' ? refused('inbox full') : { ...kept, admitted: true, reason: null, release_id }
    },
  }
}

/** These fields are shown in rows and pages. */
const leakIn = (proposal: NewProposal): string | null =>
  (['reason', 'session', 'release_id'] as const).find((field) => screenText(proposal[field]) === 'credential_in_text') ?? null

/** Drops fields that admission does not check. */
function plainMutation(mutation: Mutation): Mutation {
  const { id } = mutation
  if (mutation.op === 'remove') return { op: 'remove', id }
  if (mutation.op === 'create') return { op: 'create', id, options: mutation.options }
  return { op: 'update', id, options: mutation.options }
}
