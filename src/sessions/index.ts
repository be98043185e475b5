/**
 * Sessions: recorded exchanges as conversations of a person, an agent and its tools, and what each seems to have come to where no report says so.
 * Does not score: a weak outcome chooses what is worked on, and no number leaves it that could stand for a score.
 */
export { outcomeOfThread, WeakOutcome, weakOutcomes } from './outcome.ts'
export type { SessionStep } from './steps.ts'
export { isTestCommand, testRunsIn } from './test-runs.ts'
export { Threads, type Thread } from './threads.ts'
export { judgementIn } from './words.ts'
