/** The processors that recipes use: what the package exports as `@svc-ai/svc/training`. */
export { gridProcessor, type GridPlace } from './grid.ts'
export { byComparisonSet, type GroupOf } from './groups.ts'
export { keepOnly, processorOf } from './processor-of.ts'
export { datasetProcessor, recordsProcessor } from './records.ts'
export { reportedProcessor } from './reported.ts'
