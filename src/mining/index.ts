/**
 * Mining: tries what a miner found, groups what is alike, gives each task a family and a role, and keeps it in a folder until a person decides.
 * Does not know where tasks come from, and plays no agent.
 */
export { listedTask, openTaskBook } from './book.ts'
export { checkTask, REFERENCE_FAILS, type CheckResult, type Judge } from './check.ts'
export { decide, makeTrialFolder, readMined, readMinedTask, recordCheck, type TaskStatus } from './folder.ts'
export { countReasons, mineTasks, type CountedReason, type MiningResult } from './mine.ts'
