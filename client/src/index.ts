/** The public door of the package: the typed client, and what it takes, answers and throws. */
export { connect, type Address, type Svc } from './api.ts'
export { ServiceFailure } from './failure.ts'
export type {
  CatalogRow,
  Envelope,
  Head,
  Manifest,
  Progress,
  Receipt,
  ReleaseRow,
  Report,
  ScenarioRow,
  ScenarioStatus,
  Status,
  TrainReceipt,
  TrainRequest,
} from './nouns.ts'
