/**
 * Evolution: a trainer that proposes changes of a harness, plays both sides of every task, and selects on evidence.
 * Does not publish, serve, or know where its steps run.
 */
export { openEvolution } from './open.ts'
export { userTexts } from './exchanges.ts'
export { joined } from './families/join.ts'
export { movesWith, NO_MOVES, type Moves } from './families/moves.ts'
export { shortageOf, type TaskShortage } from './families/shortage.ts'
export { estimate, type PlayEstimate } from './money/estimate.ts'
export { NOTHING_SPENT, spentBoth, type Spent } from './money/spent.ts'
export { openEpisodePlayer, type EpisodePlayer } from './hosts/worker.ts'
export { openPlayer, type PlayedTask, type Player } from './play.ts'
export { readFolder as readTaskFolder, readTask, taskFile } from './tasks/folder.ts'
export { evaluatorOf, TASKS_MAX } from './tasks/read.ts'
export { bytesOf, taskFrom } from './tasks/task.ts'
export { DATA_REMINDER, DESIGN_BRIEF, groundRules, REQUIRES_GUIDE, situation, SMALL_CHANGE } from './proposing/briefing.ts'
export { describeMachine, describeRejected, describeReply, describeSamples } from './proposing/describe.ts'
export { describeKinds, kindProblem } from './proposing/kinds.ts'
export { mutationsOf } from './proposing/mutations.ts'
export { failureOf, lostModel, proposalOf, review, type Drafted, type Proposed } from './proposing/proposal.ts'
export { objectIn, replyIn } from './proposing/reply.ts'
export { needsIn } from './proposing/requires.ts'
