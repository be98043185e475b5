/** What the service and the client agree on by name. */
export const COMMAND = 'svc-client'
export const BATCH_ROUTE = '/svc/records/batch'
export const INSTALL_ROUTE = '/svc/harness/install'
export const SCENARIO_HEADER = 'x-svc-scenario'
export const SESSION_TAG_HEADER = 'x-svc-tag-session'
export const RELEASE_TAG_HEADER = 'x-svc-tag-release'
/** On exchanges of a trial, which say nothing about the served harness. */
export const TRIAL_TAG_HEADER = 'x-svc-tag-trial'
/** The release that answered. */
export const RELEASE_HEADER = 'x-svc-release-id'
/** Of a request: whether it takes an unproven release. */
export const PROVISIONAL_HEADER = 'x-svc-provisional'
export const RECEIPT_HEADER = 'x-svc-agent-record-id'
/** The receipt in an event of a stream. */
export const RECEIPT_FIELD = 'svc.agent_record_id'
export const TOKEN_VARIABLE = 'SVC_TOKEN'
/** The fingerprint of the deployment's key, as the install line carries it. */
export const KEY_VARIABLE = 'SVC_KEY'
/** Set to 1 by a person who allows a service beyond this machine without TLS. */
export const INSECURE_VARIABLE = 'SVC_INSECURE_HTTP'
/** What the service itself asks its provider with. */
export const PROVIDER_KEY_VARIABLE = 'SVC_UPSTREAM_API_KEY'
/** What stands in an agent's files where its token would, when there is none. */
export const NO_TOKEN = 'svc-no-token'
export const PROGRESS_SUFFIX = '.svc-import.json'
/** What earlier versions called the same. */
export const FORMER_PROGRESS_SUFFIX = '.reef-import.json'
export const LOCK_SUFFIX = '.lock'
/** In the folder that holds a tree: which release it is of, and which files are the release's. */
export const RELEASE_FILE = '.svc-harness-release'
export const FORMER_RELEASE_FILE = '.reef-harness-release'
