/** The public exports of the package: the typed client, its inputs, results and errors. */
export { connect, type Address, type Svc } from './api.ts'
export { ServiceFailure } from './failure.ts'
export type { PageOfAudit, AuditQuery, PageOfRecords, RecordQuery, ReleasePage, ReleaseQuery, CatalogQuery, StatusReport } from './nouns.ts'
export type {
  AuditRow,
  CatalogRow,
  CreatedScenario,
  CreateTokenBody,
  FullRecord,
  Head,
  ImportBody,
  ListedTask,
  Manifest,
  NewToken,
  Receipt,
  RecordRow,
  ReleaseRow,
  ReportBody,
  RequestProgress,
  Requires,
  ScenarioRow,
  ScenarioStatus,
  ShownTask,
  StepProgress,
  TaskChange,
  TokenRow,
  TrainBody,
  TrainReceipt,
} from './wire.generated.ts'
