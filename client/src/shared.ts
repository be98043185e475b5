/** What the packages `agent` and `native` use of this one, beside its public index. Nothing here is promised to others. */
export { isAlive } from './alive.ts'
export { type Svc, connect } from './api.ts'
export { PACKAGE_SOURCES, childEnvironment } from './environment.ts'
export { Failure, ServiceFailure, UsageError } from './failure.ts'
export { forgetRelease, homeOf, keepRelease, keptRelease } from './kept-tree.ts'
export {
  INSECURE_VARIABLE,
  INSTALL_ROUTE,
  KEY_VARIABLE,
  NO_TOKEN,
  PROVIDER_KEY_VARIABLE,
  RECEIPT_FIELD,
  RECEIPT_HEADER,
  FORMER_RELEASE_FILE,
  RELEASE_FILE,
  RELEASE_HEADER,
  RELEASE_TAG_HEADER,
  SCENARIO_HEADER,
  SESSION_TAG_HEADER,
  TOKEN_VARIABLE,
  TRIAL_TAG_HEADER,
} from './names.ts'
export type { CatalogRow, Manifest, RequestProgress, Requires, TrainReceipt } from './wire.generated.ts'
export {
  noArgument,
  onlyArgument,
  readArguments,
  readOptions,
  scenarioName,
  scoreOf,
  serviceUrl,
  tokenIn,
  wholeNumber,
  withNegativeScore,
} from './options.ts'
export { tokenProblem } from './place.ts'
export { curlLine, pasted, quoted } from './shell.ts'
export { type TreeChange, type TreeFiles, checkPaths, isTreePath, releaseText, trustOf, removeFromTree, writeTree } from './tree-files.ts'
export { type ServiceEndpoint, ask, field, isPassing, parseJson, refusalOf } from './transport.ts'
