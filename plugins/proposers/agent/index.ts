/**
 * Agent: the served model works on the harness as on a folder of files, has its changes checked and tried, and hands back what was admitted.
 * Does not run anything it writes, but for trials, which the step plays.
 */
import { define, unavailable, type Brief, type Proposal } from '../../../src/contract/index.ts'
import { failureOf, lostModel, proposalOf, review } from '../../../src/evolution/index.ts'
import { work } from './session.ts'

const LIMITS = { turnsMax: 40, seconds: 1800 }

export default define('proposer', {
  acceptsRequests: true,

  async propose(brief) {
    if (brief.request === null && brief.samples.length === 0) return null
    const { served } = brief.models
    if (served === undefined) throw unavailable('no_model', 'the agent proposer asks the model `served`, and the step has none')
    brief.report.line('proposer', `the agent starts, with ${LIMITS.turnsMax} turns and ${LIMITS.seconds} s`)
    const { checked, problem, failure } = await work(brief, served, LIMITS)
    brief.report.line('proposer', `the agent ended: ${problem ?? 'done'}`, problem !== null)
    if (checked === null) return nothing(brief, problem, failure)
    const seen = brief.request === null ? null : await review(served, brief.request, checked, brief.signal)
    return proposalOf({ ...checked, review: seen, attempts: 1 })
  },
})

/** An agent that looked and left everything as it was has nothing to offer; a person who asked is told so. */
function nothing(brief: Brief, problem: string | null, failure: unknown): Proposal | null {
  if (failure !== undefined) return lostModel(brief, failure)
  if (problem === null && brief.request === null) return null
  return failureOf(problem ?? 'the agent changed nothing')
}
