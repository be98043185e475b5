/** The public exports of the package: the typed client, its inputs, results and errors. */
export { connect, type Address, type Svc } from './api.ts'
export { ServiceFailure } from './failure.ts'
export type { PageOfRecords, RecordQuery, ReleasePage, ReleaseQuery, CatalogQuery, StatusReport } from './nouns.ts'
export type {
  CatalogRow,
  CreatedScenario,
  FullRecord,
  Head,
  ImportBody,
  ListedTask,
  Manifest,
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
  TrainBody,
  TrainReceipt,
} from './wire.generated.ts'
