/** The processors that recipes are made with: what the package offers as `@svc-ai/svc/training`. */
export { byComparisonSet } from './comparison-set.ts'
export { datasetProcessor } from './dataset.ts'
export { gridProcessor, type GridPlace } from './grid.ts'
export { keepOnly } from './keep-only.ts'
export { processorOf } from './processor-of.ts'
export { recordsProcessor } from './records.ts'
export { reportedProcessor, type GroupOf } from './reported.ts'
