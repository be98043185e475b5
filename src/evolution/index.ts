/**
 * Evolution: a trainer that proposes changes of a harness, plays both sides of every task, and selects on evidence.
 * It does not publish or serve, and does not know where its steps run.
 */
export { openEvolution } from './open.ts'
export * from './proposing/index.ts'
