/**
 * Agent: the served model edits the harness as files, checks and tries its changes, and returns the admitted change.
 * Does not run anything it writes, except in trials, which the step plays.
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

/** No change: null for traffic, a note for a person's request. */
function nothing(brief: Brief, problem: string | null, failure: unknown): Proposal | null {
  if (failure !== undefined) return lostModel(brief, failure)
  if (problem === null && brief.request === null) return null
  return failureOf(problem ?? 'the agent changed nothing')
}
