/** The public door of the package: the typed client, and what it takes, answers and throws. */
export { connect, type Address, type Svc } from './api.ts'
export { ServiceFailure } from './failure.ts'
export type {
  CatalogRow,
  Created,
  Envelope,
  Head,
  Manifest,
  Progress,
  Receipt,
  RecordPage,
  RecordQuery,
  ReleasePage,
  ReleaseQuery,
  CatalogQuery,
  RecordRow,
  ReleaseRow,
  Report,
  RequiredItem,
  ScenarioRow,
  ScenarioStatus,
  Status,
  StoredRecord,
  TrainReceipt,
  TrainRequest,
} from './nouns.ts'
