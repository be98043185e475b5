/**
 * Training: takes the next batch, has it trained, lands one commit, and tells anyone who asks how far it is.
 * Does not know what training means, serve, or decide whether a candidate is good.
 */
export type { TrainingContext, StepDraft } from './context.ts'
export { scopeOf, type StepLimits, type TrainerAddress, type TrainerHost } from './hosts/host.ts'
export * from './processors/index.ts'
export { progressOf, type RequestProgress, type StepTrace } from './progress.ts'
export { makeThreadHost } from './hosts/thread-pool.ts'
export { serveTrainer } from './hosts/thread-inside.ts'
export { makeWeightLane, type WeightLane } from './hosts/weight-lane.ts'
export { errorIn, NO_STEPS, SKIPPED, tallied, type Budgets, type Tally } from './rows.ts'
export { Worker, type WorkerParts } from './worker.ts'
