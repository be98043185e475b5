/** Tasks: what candidates are measured by, which of it got out, and what of a failure becomes a task. */
export { exposedBy } from './exposed.ts'
export { promote, type Promoted } from './promote.ts'
export { readTasks } from './read.ts'
