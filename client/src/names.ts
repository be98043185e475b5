/** What the service and the client agree on by name. */
export const COMMAND = 'svc-client'
export const BATCH_ROUTE = '/svc/records/batch'
export const SCENARIO_HEADER = 'x-svc-scenario'
export const TOKEN_VARIABLE = 'SVC_TOKEN'
export const PROGRESS_SUFFIX = '.reef-import.json'
export const LOCK_SUFFIX = '.lock'
/** In the folder that holds a tree: which release it is of, and which files are the release's. */
export const RELEASE_FILE = '.reef-harness-release'
