/** Proposals of agents: taken, kept in the order they came, and handed to one step at a time. */
export { Inbox, type SettledProposal } from './inbox.ts'
export { openProposals } from './open.ts'
