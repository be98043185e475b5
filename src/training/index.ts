/**
 * Training: takes the next batch, runs its trainer, lands one commit row, and reports progress.
 * Does not know what is trained, serve, or judge candidates.
 */
export type { TrainingContext, StepDraft } from './context.ts'
export { documentsOf, scopeOf, type StepLimits, type TrainerSpec, type TrainerHost } from './hosts/host.ts'
export * from './processors/index.ts'
export { progressOf, runningStep, type StepTrace } from './progress.ts'
export { makeProcessHost } from './hosts/process-outside.ts'
export { serveTrainers } from './hosts/process-inside.ts'
export { makeThreadHost } from './hosts/thread-pool.ts'
export { serveTrainer } from './hosts/thread-inside.ts'
export { makeWeightLane, type WeightLane } from './hosts/weight-lane.ts'
export { errorIn, exhausted, NO_STEPS, SKIPPED, tallied, type Budgets, type TrainerTally } from './rows.ts'
export { Worker, type WorkerParts } from './worker.ts'
