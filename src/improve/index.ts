/**
 * Improve: from a repository to a better agent, in stages that a second run continues.
 * Does not start the service, talk to a person, or decide what is better: it is given a service, and reads that service's rows.
 */
export { AGENTS, findAgents, layoutOf, NATIVE, type AgentLayout } from './agents.ts'
export { branchProblem, gitPlaceOf, makeBranch, patchOf, uncommitted, writePatch, type GitPlace } from './change.ts'
export type { Estimate, ImproveEvent, ImproveResult } from './events.ts'
export { changesOf, readHarness, type HarnessRead } from './harness-files.ts'
export { messageOf, scoreText, summaryLines } from './message.ts'
export { improve, readResult, type OpenedService, type RoundLimits } from './run.ts'
export { makeSample, makeSampleTasks } from './sample.ts'
export { call, type ServiceAddress } from './service.ts'
export { openState, type ImproveState } from './state.ts'
export { copyTasks } from './tasks.ts'
