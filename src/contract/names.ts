/** Headers, variables, folders and refs that spell a name of ours, each once. Routes are spelt in the route table, the client has names of its own. */

export const PRODUCT = 'svc'

export const ROUTE_PREFIX = '/svc'

export const HEADER = {
  scenario: 'x-svc-scenario',
  release: 'x-svc-release-id',
  receipt: 'x-svc-agent-record-id',
  artifactVersion: 'x-svc-artifact-version',
  tagPrefix: 'x-svc-tag-',
  requestId: 'x-request-id',
} as const

/** The tag by which a client says which harness release it has installed. */
export const RELEASE_TAG = 'release'

/** The receipt in a stream stands twice in one object, nested and flat, so that any client finds it. */
export const RECEIPT_OBJECT = 'svc'
export const RECEIPT_FIELD = 'svc.agent_record_id'

export const ENV = {
  token: 'SVC_TOKEN',
  upstreamUrl: 'SVC_UPSTREAM_URL',
  upstreamModel: 'SVC_UPSTREAM_MODEL',
  upstreamApi: 'SVC_UPSTREAM_API',
  upstreamApiKey: 'SVC_UPSTREAM_API_KEY',
} as const

/** What stands for a token in an agent's files where there is none: some agents refuse an empty one. */
export const NO_TOKEN = 'svc-no-token'

/** What a page key is an HMAC of, before the scenario's name. */
export const PAGE_KEY_CONTEXT = 'svc-page\n'

export const STATE_DIRECTORY = '.svc'

export const REF = {
  all: 'refs/reef/',
  scenarios: 'refs/reef/scenarios/',
  archived: 'refs/reef/archived/',
  /** Releases held for review: no pointer reaches them. */
  held: 'refs/reef/releases/',
  /** What a remote repository held when it was last asked, in the repository on this machine alone. */
  remote: 'refs/reef-remote/',
} as const

/** `scheme://…`, or `user@host:path` as ssh takes it: a repository that is not a folder of this machine. */
export const isRemoteRepository = (repository: string): boolean => /^(?:[a-z][a-z0-9+.-]*:\/\/|[^/\\]+@[^/\\]+:)/i.test(repository)

/** A password in the URL of a repository, or anything before an http host: there a user's name is often a key. */
export const hasCredentials = (repository: string): boolean =>
  /^(?:https?:\/\/[^/?#]*@|[a-z][a-z0-9+.-]*:\/\/[^/?#@]*:[^/?#]*@)/i.test(repository)
