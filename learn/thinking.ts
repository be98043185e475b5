/** The real text proposer, with the mock model. */
import type { Kinds, Proposer } from '../src/contract/index.ts'
import { practiceModel } from './model.ts'

export async function thinkingProposer(plugin: Kinds['proposer']): Promise<Proposer> {
  const proposer = 'make' in plugin ? await plugin.make({}) : plugin
  const models = { served: practiceModel() }
  return { ...proposer, propose: (brief) => proposer.propose({ ...brief, models }) }
}
