/**
 * Evolution: a trainer that proposes changes of a harness, plays both sides of every task, and selects on evidence.
 * Does not publish, serve, or know where its steps run.
 */
export { openEvolution } from './open.ts'
export * from './proposing/index.ts'
