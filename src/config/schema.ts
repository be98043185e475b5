/** Every key of the configuration: its type, its one default and the line that documents it. */
import { isIP } from 'node:net'
import * as z from 'zod'
import { ENV, RECORD_CAPACITY_BYTES_DEFAULT, STATE_DIRECTORY, hasCredentials } from '../contract/index.ts'

/** A Node timer set further ahead than this many seconds fires at once. */
const TIMER_SECONDS_MAX = 2_147_483
const SECRET_SHAPE = /^[\x21-\x7e]*$/
const RECIPE_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/

// ── types of values, each with one sentence that says what would be right ────────────────────────

const text = () => z.string('must be text').min(1, 'must not be empty')
/** What must fit into a header line as it is. */
const secret = () => text().regex(SECRET_SHAPE, 'must be printable ASCII without blanks')
const flag = () => z.boolean('must be true or false')
const count = () => whole('must be a whole number of at least 1', 1, Number.MAX_SAFE_INTEGER)
/** A limit that is off at 0, as it is by default. */
const none = () => whole('must be a whole number of at least 0', 0, Number.MAX_SAFE_INTEGER).default(0)
const oneOf = <const T extends readonly string[]>(words: T) => z.enum(words, `must be one of ${words.join(', ')}`)

function whole(rule: string, least: number, most: number) {
  return z.int(rule).min(least, rule).max(most, rule)
}

function seconds(least: 'zero' | 'above zero') {
  const rule = `must be a number of seconds ${least === 'zero' ? 'from 0' : 'above 0'} to ${TIMER_SECONDS_MAX}`
  const number = z.number(rule).max(TIMER_SECONDS_MAX, rule)
  return least === 'zero' ? number.min(0, rule) : number.gt(0, rule)
}

/** A base address. Its own messages never quote it, since a wrong one may hold a password. */
function baseUrl() {
  return text()
    .check((context) => {
      const problem = baseUrlProblem(context.value)
      if (problem !== null) context.issues.push({ code: 'custom', input: context.value, message: problem })
    })
    .overwrite((url) => url.replace(/\/+$/, ''))
}

function baseUrlProblem(value: string): string | null {
  if (!URL.canParse(value)) return 'must be a whole URL such as https://host:port'
  const url = new URL(value)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return 'must start with http:// or https://'
  if (url.username !== '' || url.password !== '') return 'must not hold credentials; give the key in its own key'
  if (/[?#]/.test(value)) return 'must have no query and no fragment'
  if (/\/v1\/*$/.test(url.pathname)) return 'must not end in /v1: the path the client asked for, which starts with /v1, is added to it'
  return null
}

function originProblem(value: string): string | null {
  const wanted = 'must be an origin such as https://console.example.com: scheme, host and port, and nothing else'
  if (value.includes('*')) return `${wanted}; wildcards are not supported, list each origin`
  if (!URL.canParse(value)) return wanted
  const url = new URL(value)
  if (url.protocol !== 'http:' && url.protocol !== 'https:') return `${wanted}; the scheme is http or https`
  return url.origin === value ? null : `${wanted}; browsers send ${url.origin}`
}

const origin = () =>
  text().check((context) => {
    const problem = originProblem(context.value)
    if (problem !== null) context.issues.push({ code: 'custom', input: context.value, message: problem })
  })

const host = () =>
  text().refine(
    (value) => isIP(value) !== 0 || /^[A-Za-z0-9]([A-Za-z0-9.-]*[A-Za-z0-9])?$/.test(value),
    'must be a host name or an address alone: no scheme, no port (that is svc.port), no brackets',
  )

const backend = () => text().refine((value) => value !== 'postgres', 'postgres is not supported yet; use sqlite, or memory for tests')

const repository = () => text().refine((value) => !hasCredentials(value), "must not hold credentials; use one of git's credential helpers")

function section<S extends z.core.$ZodLooseShape>(shape: S) {
  return z.strictObject(shape, 'must be a section with keys of its own')
}

// ── the sections ─────────────────────────────────────────────────────────────────────────────────

const svc = section({
  host: host().default('127.0.0.1').describe('The address to listen on. Anything but loopback needs a token.'),
  port: whole('must be a whole number from 0 to 65535', 0, 65_535).default(8900).describe('The port to listen on; 0 takes any free one.'),
  token: secret()
    .nullable()
    .default(null)
    .describe('A token that opens every route. Without any token the service is open, on loopback only.'),
  tokens: z.array(secret(), 'must be a list of tokens').default([]).describe('More tokens, each as good as `svc.token`.'),
  allow_implicit_scenario_creation: flag().default(true).describe('Whether a first call under a new scenario name creates the scenario.'),
  max_scenarios: count().default(10_000).describe('How many scenarios may exist.'),
  max_loaded_scenarios: count().default(256).describe('How many scenarios are held in memory at once; idle ones are unloaded.'),
  training_threads: whole('must be a whole number from 1 to 64', 1, 64)
    .default(4)
    .describe(
      'How many trainers work at once, each in a thread that is kept warm for it alone. The others wait for their turn, oldest first. Weight trainers run in none and are not counted.',
    ),
  console_origins: z
    .array(origin(), 'must be a list of origins')
    .default([])
    .describe('Browser origins that may call the service, each spelt out: scheme, host and port.'),
  served_url: baseUrl()
    .nullable()
    .default(null)
    .describe('The address at which episodes call this service back. Unset: the loopback address of the bind port.'),
})

const gateway = section({
  url: baseUrl().describe('The base address that multimodal calls are relayed to, without `/v1`. Setting it turns those routes on.'),
  api_key: secret().nullable().default(null).describe('The key of the multimodal gateway.'),
  api_key_env: text().nullable().default(null).describe("The environment variable that holds the gateway's key, instead of `api_key`."),
})

const inference = section({
  runtime: text()
    .nullable()
    .default(null)
    .describe(
      'Who answers: `provider`, `practice`, or a runtime plug-in. Unset: `provider` when an upstream is set or found, else `practice`.',
    ),
  upstream_url: baseUrl()
    .nullable()
    .default(null)
    .describe('The base address of the model provider, without `/v1`. Unset: looked for, see below.'),
  upstream_model: text()
    .nullable()
    .default(null)
    .describe('The model that the service itself asks for. Client calls keep their own model name.'),
  upstream_api: oneOf(['openai', 'responses', 'anthropic'])
    .default('openai')
    .describe('The format the upstream speaks: chat completions, responses, or messages.'),
  upstream_api_key: secret().nullable().default(null).describe('The key sent to the upstream. The tokens of callers never are.'),
  timeout_s: seconds('above zero').default(300).describe('How long an upstream may take, in seconds.'),
  retry_timeout_s: seconds('zero')
    .default(300)
    .describe('How long a call that lost a race against a weight update is tried again, in seconds.'),
  gateway: gateway.nullable().default(null).describe('Turns the multimodal routes on.'),
})

const storage = section({
  agent_record_dir: text().default(`${STATE_DIRECTORY}/agent-record`).describe('The directory of the records.'),
  artifact_repository: repository()
    .default(`${STATE_DIRECTORY}/artifacts.git`)
    .describe('The git repository of the releases: a path, or the URL of a remote that a repository on this machine is pushed to.'),
  record_backend: backend().default('sqlite').describe('Where records are kept: `sqlite`, `memory` (lost at exit), or a store plug-in.'),
  record_capacity_bytes: count()
    .default(RECORD_CAPACITY_BYTES_DEFAULT)
    .describe('How many bytes of record bodies are kept; above it the oldest bodies go first.'),
  keep_raw_streams: flag().default(false).describe('Whether the raw frames of streamed answers are kept beside the assembled answer.'),
})

const data = section({
  training_mode: oneOf(['auto', 'manual', 'hybrid']).default('auto').describe('What starts a training step: traffic, requests, or both.'),
  batch_policy: oneOf(['reports', 'records'])
    .default('reports')
    .describe('What fills a batch: `reports`, or plain traffic with `records`.'),
})

const pipeline = section({
  task2batch: section({
    config: section({
      batch_size: count().default(1).describe('How many units make a batch.'),
    }).prefault({}),
  }).prefault({}),
})

const entry = () => z.record(z.string(), z.json('must be JSON'), 'must be an entry {id, name, config}')

const evolution = section({
  adapter: text()
    .default('native')
    .describe(
      'The agent that the harness is for: `pi`, `opencode`, `claude`, `codex`, `hermes`, `dsh`, `native`, `terminus`, or an adapter plug-in.',
    ),
  seed: z
    .array(entry(), 'must be a list of entries {id, name, config}')
    .default([])
    .describe(
      'The tree that a new scenario starts with: a list of `{id, name, config, disabled?}`, where `name` is the kind. Taken as it is: nothing in it is filled from the environment.',
    ),
  version_check: flag()
    .nullable()
    .default(null)
    .describe("Whether a person's session says that a newer release is served. Unset: where the adapter ships the entry."),
  requests: flag()
    .nullable()
    .default(null)
    .describe('Whether a person can ask for a change from inside a session. Unset: where the adapter ships the entry.'),
  max_steps: none().describe('After so many steps no automatic one starts any more; instructions still run. 0: no limit.'),
  max_failure_streak: none().describe(
    'After so many steps in a row that brought nothing better no automatic one starts any more; instructions still run. 0: no limit.',
  ),
})

const training = section({
  step_timeout_s: seconds('above zero')
    .default(14_400)
    .describe('How long one step may take, in seconds; then it is ended and counts as failed.'),
  memory_mib: whole('must be a whole number from 64 to 65536', 64, 65_536)
    .default(1024)
    .describe(
      'How much memory the thread of a trainer may hold, in MiB; one that holds more is ended and its step counts as failed. Weight trainers have no thread and are not watched.',
    ),
})

/** The sections that every recipe has of its own. */
const recipeSections = {
  data: data.prefault({}),
  pipeline: pipeline.prefault({}),
  evolution: evolution.prefault({}),
  training: training.prefault({}),
}

const recipe = section({
  use: text()
    .nullable()
    .default(null)
    .describe('The recipe plug-in: a built-in name, a path or a package. Unset: the built-in of the same name.'),
  ...recipeSections,
})

export const schema = section({
  svc: svc.prefault({}).describe('The service itself: where it listens, who may call, how much it holds.'),
  inference: inference.prefault({}).describe('Who answers the calls.'),
  storage: storage.prefault({}).describe('Where everything is kept.'),
  recipe: text().default('record-only').describe('The default recipe: a name under `recipes`, a built-in name, a path or a package.'),
  recipes: z
    .record(z.string().regex(RECIPE_NAME), recipe, 'must be a section with one recipe per name')
    .default({})
    .describe('Several recipes by name, each with its own sections.'),
  data: data.prefault({}).describe('What the one recipe collects. With several recipes: `recipes.<name>.data`.'),
  pipeline: pipeline.prefault({}).describe('How the one recipe makes batches. With several recipes: `recipes.<name>.pipeline`.'),
  evolution: evolution.prefault({}).describe('What the one recipe may try. With several recipes: `recipes.<name>.evolution`.'),
  training: training.prefault({}).describe("What one of the recipe's steps may cost. With several recipes: `recipes.<name>.training`."),
})

/** The sections that stand at the top of the file when there is a single recipe. */
export const RECIPE_SECTIONS: ReadonlySet<string> = new Set(Object.keys(recipeSections))

/** The variable that fills a key which neither the command line nor the file sets. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  'svc.token': ENV.token,
  'inference.upstream_url': ENV.upstreamUrl,
  'inference.upstream_model': ENV.upstreamModel,
  'inference.upstream_api': ENV.upstreamApi,
  'inference.upstream_api_key': ENV.upstreamApiKey,
}

/** Keys whose values are never shown. */
export const SECRET_KEYS: ReadonlySet<string> = new Set([
  'svc.token',
  'svc.tokens',
  'inference.upstream_api_key',
  'inference.gateway.api_key',
])

/** The same value, read-only at every depth. */
type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type Settings = z.output<typeof schema>

/** One recipe, whole: where it comes from and its own sections. */
export type RecipeSettings = Frozen<Omit<Settings['recipes'][string], 'use'> & { use: string }>

/** The configuration of one service. Sections of a single recipe at the top of the file are already under `recipes` here. */
export type Config = Frozen<Pick<Settings, 'svc' | 'inference' | 'storage' | 'recipe'>> & {
  readonly recipes: Readonly<Record<string, RecipeSettings>>
}
