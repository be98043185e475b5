/** Takes proposals for a scenario: looks at each as strictly as at any other change, and keeps those that may be made. */
import type { Adapter, Admission, Files, Mutation, Proposals, Release } from '../../contract/index.ts'
import { admitBeside, entriesIn, parseProposal, type NewProposal } from '../../harness/index.ts'
import { newId, screenText } from '../../kit/index.ts'
import type { Inbox } from './inbox.ts'

export interface ProposalParts {
  readonly inbox: Inbox
  readonly adapter: Adapter
  /** Why none is taken at all, or null. */
  readonly problem: string | null
  /** The content that the tree of a release was published as. */
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

/** These three end up in a row and on a page, as the words of the tree do. */
const leakIn = (proposal: NewProposal): string | null =>
  (['reason', 'session', 'release_id'] as const).find((field) => screenText(proposal[field]) === 'credential_in_text') ?? null

/** Without what the admission does not look at: nobody has screened it. */
function plainMutation(mutation: Mutation): Mutation {
  const { id } = mutation
  if (mutation.op === 'remove') return { op: 'remove', id }
  if (mutation.op === 'create') return { op: 'create', id, options: mutation.options }
  return { op: 'update', id, options: mutation.options }
}
