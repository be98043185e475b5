/** Headers, variables, folders and refs that spell a name of ours, each once. Routes are spelt in the route table, the client has names of its own. */
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

export const PRODUCT = 'svc'

export const ROUTE_PREFIX = '/svc'

/** A store has a scenario of this name while it is being copied to. No route takes the name, since it holds a NUL. */
export const UNFINISHED_COPY = '\u0000unfinished copy'

/** What every header of ours begins with. */
export const HEADER_PREFIX = 'x-svc-'

export const HEADER = {
  scenario: 'x-svc-scenario',
  release: 'x-svc-release-id',
  receipt: 'x-svc-agent-record-id',
  artifactVersion: 'x-svc-artifact-version',
  /** Of a request: whether it takes an unproven release. Of an answer: that it came from one. */
  provisional: 'x-svc-provisional',
  /** Of a request: to store less of it than its scenario does. Of an answer: that less than all of it is stored. */
  recording: 'x-svc-recording',
  tagPrefix: 'x-svc-tag-',
  requestId: 'x-request-id',
  /** The same on the messages routes, where clients look for it. */
  messagesRequestId: 'request-id',
  /** What the upstream answered with, where we answer with another status. */
  upstreamStatus: 'x-svc-upstream-status',
} as const

/** A listener thread says with it where a request that it passes on came from. One that a client sends is dropped. */
export const RELAYED_FROM_HEADER = 'x-svc-relayed-from'

/** The tag by which a client says which harness release it has installed. */
export const RELEASE_TAG = 'release'
/** The tag by which a client says which run an exchange belongs to; reports may be about a session. */
export const SESSION_TAG = 'session'

/** The receipt in a stream stands twice in one object, nested and flat, so that any client finds it. */
export const RECEIPT_OBJECT = 'svc'
export const RECEIPT_FIELD = 'svc.agent_record_id'

export const ENV = {
  token: 'SVC_TOKEN',
  secretKey: 'SVC_SECRET_KEY',
  upstreamUrl: 'SVC_UPSTREAM_URL',
  upstreamModel: 'SVC_UPSTREAM_MODEL',
  upstreamApi: 'SVC_UPSTREAM_API',
  upstreamApiKey: 'SVC_UPSTREAM_API_KEY',
  runtimes: 'SVC_RUNTIMES_DIR',
  stores: 'SVC_STORES_DIR',
  signIn: 'SVC_SIGN_IN_DIR',
  python: 'SVC_PYTHON',
} as const

/** What the key of an episode's lease begins with. */
export const LEASE_KEY_PREFIX = 'svc_lease_'

/** What makes a folder an adapter. */
export const ADAPTER_CONFIG_FILE = 'adapter_config.json'

/** What stands for a token in an agent's files where there is none: some agents refuse an empty one. */
export const NO_TOKEN = 'svc-no-token'

/** What a token that the service made begins with, so that scanners for secrets find it. */
export const TOKEN_PREFIX = 'svc_token_'

/** The sign-in of a person is a token whose name begins with this, which no other name does. */
export const SIGN_IN_PREFIX = 'sign-in:'
export const isSignIn = ({ name }: { readonly name: string }): boolean => name.startsWith(SIGN_IN_PREFIX)

/** Cookies of a person's browser: the secret of a sign-in, and what one that is not finished is held against. */
export const COOKIE = { signIn: 'svc-sign-in', attempt: 'svc-sign-in-attempt' } as const

/** What a page key is an HMAC of, before the scenario's name. */
export const PAGE_KEY_CONTEXT = 'svc-page\n'

export const STATE_DIRECTORY = '.svc'

/** What the llama runtime runs on: too large to come with the service, so `svc runtime add llama` installs it. */
export const LLAMA_PACKAGE = { name: 'node-llama-cpp', version: '3.22.1' } as const

/** Where a runtime that is installed on demand lies: per user, for every service of theirs. The version is in its name, so that no update changes one in use. */
export function runtimeFolder(runtime: 'llama', environment: Readonly<Record<string, string | undefined>>): string {
  const all = environment[ENV.runtimes] || join(environment['HOME'] || homedir(), STATE_DIRECTORY, 'runtimes')
  return join(resolve(all), `${runtime}-${LLAMA_PACKAGE.version}`)
}

/** What the postgres store runs on: few services need it, so `svc store add postgres` installs it. */
export const PG_PACKAGE = { name: 'pg', version: '8.23.1' } as const

/** Like the folder of a runtime. */
export function storeFolder(store: 'postgres', environment: Readonly<Record<string, string | undefined>>): string {
  const all = environment[ENV.stores] || join(environment['HOME'] || homedir(), STATE_DIRECTORY, 'stores')
  return join(resolve(all), `${store}-${PG_PACKAGE.version}`)
}

/** What people sign in with: a service without `svc.sign_in` needs none of it, so `svc sign-in add openid` installs it. */
export const OPENID_PACKAGE = { name: 'openid-client', version: '6.8.9' } as const

/** Like the folder of a runtime. */
export function signInFolder(environment: Readonly<Record<string, string | undefined>>): string {
  const all = environment[ENV.signIn] || join(environment['HOME'] || homedir(), STATE_DIRECTORY, 'sign-in')
  return join(resolve(all), `openid-${OPENID_PACKAGE.version}`)
}

export const REF = {
  all: 'refs/svc/',
  scenarios: 'refs/svc/scenarios/',
  archived: 'refs/svc/archived/',
  /** Releases held for review: no pointer reaches them. */
  held: 'refs/svc/releases/',
  /** What a remote repository held when it was last asked, in the repository on this machine alone. */
  remote: 'refs/svc-remote/',
} as const

/** Where earlier versions kept the same refs, under the same names below these prefixes. They are renamed when a repository is opened. */
export const FORMER_REF = { all: 'refs/reef/', remote: 'refs/reef-remote/' } as const

/** `scheme://…`, or `user@host:path` as ssh takes it: a repository that is not a folder of this machine. */
export const isRemoteRepository = (repository: string): boolean =>
  /^(?:[a-z][a-z0-9+.-]*:\/\/|[^/\\][^/\\@]*@[^/\\][^/\\:]*:)/i.test(repository)

/** Releases in a bucket instead of a git repository. */
export const isBucket = (repository: string): boolean => /^s3:\/\//i.test(repository)

/** A password in the URL of a repository, or anything before an http host: there a user's name is often a key. */
export const hasCredentials = (repository: string): boolean =>
  /^(?:https?:\/\/[^/?#]*@|[a-z][a-z0-9+.-]*:\/\/[^/?#@:]*:[^/?#@]*@)/i.test(repository)

/** Names of the system reef, whose folders can be imported and whose clients can be answered. */
export const ORIGINAL = {
  product: 'reef',
  routePrefix: '/reef',
  headerPrefix: 'x-reef-',
  /** Where it keeps its data unless it is configured otherwise. */
  records: '.reef/agent-record',
  artifacts: '.reef/artifacts.git',
  /** The file at the root of each of its releases. */
  manifest: 'reef-artifact.json',
  /** Refs that every repository of it has, and none of ours. */
  refs: ['refs/reef/base', 'refs/reef/head'],
  allRefs: 'refs/reef/',
  scenarioRefs: 'refs/reef/scenarios/',
  archivedRefs: 'refs/reef/archived/',
} as const

/** The provider formats that a model's address may speak. */
export const MODEL_APIS = ['openai', 'responses', 'anthropic', 'gemini'] as const

/** The same formats by the names of their requests: what an upstream lists of those that it speaks. */
export const FORMATS = ['chat', 'responses', 'messages', 'gemini'] as const
export type Format = (typeof FORMATS)[number]
export const API_OF_FORMAT: Readonly<Record<Format, (typeof MODEL_APIS)[number]>> = {
  chat: 'openai',
  responses: 'responses',
  messages: 'anthropic',
  gemini: 'gemini',
}

/** Beside the task file of a mined task: where it comes from, and whether it is used. */
export const MINED_FILE = 'mined.yaml'
