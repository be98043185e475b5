/** Every key of the configuration: its type, its default and its documentation. */
import * as z from 'zod'
import {
  ANSWER_BYTES_DEFAULT,
  ENV,
  FORMATS,
  HEADER,
  MODEL_APIS,
  PRODUCT,
  RECORD_CAPACITY_BYTES_DEFAULT,
  S3_CACHE_BYTES_DEFAULT,
  RECORDING_MODES,
  STATE_DIRECTORY,
} from '../contract/index.ts'
import { evolution } from './schema-evolution.ts'
import { limits } from './schema-limits.ts'
import { signIn } from './schema-sign-in.ts'
import { engine, training } from './schema-training.ts'
import { FORMATS_RULE, upstream, upstreamRules } from './schema-upstreams.ts'
import {
  baseUrl,
  collectorUrl,
  count,
  flag,
  headerValue,
  host,
  oneOf,
  origin,
  ratio,
  repository,
  sealingKey,
  seconds,
  secret,
  section,
  text,
  whole,
} from './types.ts'

const WEBHOOK_EVENTS = ['held', 'published', 'failed', 'budget'] as const

/** User-chosen names: of recipes, upstreams, webhooks and headers. */
const OWN_NAME = /^[A-Za-z0-9][A-Za-z0-9_-]*$/

const tls = section({
  certificate: text.describe(
    'A PEM file with the certificate of the service, followed by those between it and the authority. Setting it makes the port speak https alone.',
  ),
  key: text.describe('A PEM file with the private key of that certificate, without a passphrase.'),
  min_version: oneOf(['TLSv1.2', 'TLSv1.3']).default('TLSv1.2').describe('The oldest version of TLS that is spoken.'),
})

const svc = section({
  host: host.default('127.0.0.1').describe('The address to listen on. Anything but loopback needs a token that is not easily guessed.'),
  port: whole('must be a whole number from 0 to 65535', 0, 65_535).default(8900).describe('The port to listen on; 0 takes any free one.'),
  tls: tls.nullable().default(null).describe('Makes the service speak https itself.'),
  token: secret.nullable().default(null).describe('A token for every route. Without any token the service is open, on loopback only.'),
  tokens: z.array(secret, 'must be a list of tokens').default([]).describe('Further tokens with the same rights as `svc.token`.'),
  sign_in: signIn.nullable().default(null).describe('Lets people sign in with accounts of their company, beside tokens.'),
  allow_implicit_scenario_creation: flag.default(true).describe('Whether a first call under a new scenario name creates the scenario.'),
  listeners: whole('must be a whole number from 1 to 64', 1, 64)
    .nullable()
    .default(null)
    .describe(
      'How many threads accept connections and answer inference. Unset: as many as the machine has cores less one, from 1 to 8, and 1 where records lie in a database, of which every thread takes three connections. With 1 the main thread does everything; so it does where threads cannot share the store, the runtime or a port (anywhere but on Linux), and a line of the log says why.',
    ),
  max_scenarios: count.default(10_000).describe('How many scenarios may exist.'),
  max_loaded_scenarios: count.default(256).describe('How many scenarios are in memory at once; idle ones are unloaded.'),
  training_threads: whole('must be a whole number from 1 to 64', 1, 64)
    .default(4)
    .describe(
      'How many trainers run at once, each in a thread of its own that is kept warm, in one process beside the service. The others wait, first come first served. Weight trainers use no thread and do not count.',
    ),
  log: oneOf(['auto', 'json', 'lines'])
    .default('auto')
    .describe(
      'How the log is written to standard error: `json` for programs, `lines` for people, without successful reads. `auto`: lines on a terminal, JSON elsewhere.',
    ),
  console_origins: z
    .array(origin, 'must be a list of origins')
    .default([])
    .describe('Browser origins that may call the service, each with scheme, host and port.'),
  compat: oneOf(['reef'])
    .nullable()
    .default(null)
    .describe(
      '`reef` also answers the clients of the system reef: `/reef/…` beside `/svc/…`, `x-reef-…` headers, and its receipt in streams.',
    ),
  served_url: baseUrl
    .nullable()
    .default(null)
    .describe('The address at which episodes call this service back. Unset: the loopback address of the bind port.'),
})

const gateway = section({
  url: baseUrl.describe('The base address that multimodal calls are relayed to, without `/v1`. Setting it enables those routes.'),
  api_key: secret.nullable().default(null).describe('The key of the multimodal gateway.'),
  api_key_env: text.nullable().default(null).describe("The environment variable that holds the gateway's key, instead of `api_key`."),
})

const inference = section({
  runtime: text
    .nullable()
    .default(null)
    .describe(
      'Which runtime answers: `provider`, `practice` (a built-in mock model; no API key needed), an engine whose weights can be trained (`llama`, `sglang`, `vllm`), or a runtime plug-in. Unset: `provider` when an upstream is set or found, else `practice`.',
    ),
  upstream_url: baseUrl
    .nullable()
    .default(null)
    .describe('The base address of the model provider, without `/v1`. Unset: detected, see below.'),
  upstream_model: text
    .nullable()
    .default(null)
    .describe('The model for calls of the service itself. Client calls keep their own model name.'),
  upstream_api: oneOf(MODEL_APIS)
    .default('openai')
    .describe('The API of the upstream: chat completions, responses, messages, or generateContent.'),
  upstream_formats: z
    .array(oneOf(FORMATS), FORMATS_RULE)
    .min(1, FORMATS_RULE)
    .nullable()
    .default(null)
    .describe(
      'With `upstream_url`: the formats that the upstream speaks, the best first: `chat`, `responses`, `messages`, `gemini`. A call in another one is translated. Unset: every call goes as it came.',
    ),
  upstream_api_key: secret
    .nullable()
    .default(null)
    .describe('The key sent to the upstream. Tokens of callers are never sent, their own keys only where `client_key_origins` says so.'),
  upstreams: z
    .record(z.string().regex(OWN_NAME), upstream, 'must be a section with one upstream per name')
    .default({})
    .describe('Several upstreams by name, instead of `upstream_url`.'),
  ...upstreamRules,
  timeout_s: seconds('above zero').default(300).describe('How long an upstream may take, in seconds.'),
  retry_timeout_s: seconds('zero').default(300).describe('How long a call that conflicts with a weight update is retried, in seconds.'),
  max_answer_bytes: count
    .default(ANSWER_BYTES_DEFAULT)
    .describe(
      'The largest answer in bytes, as it comes from the upstream. A longer stream is cut with an error event and kept as incomplete; a longer whole answer is a 502.',
    ),
  gateway: gateway.nullable().default(null).describe('Enables the multimodal routes.'),
  engine: engine.prefault({}).describe('The engine of the runtimes `llama`, `sglang` and `vllm`.'),
})

const s3 = section({
  endpoint: baseUrl.nullable().default(null).describe('The address of the S3 server. Unset: Amazon, in the region of the bucket.'),
  region: text.default('us-east-1').describe('The region of the bucket. Servers other than Amazon take any, mostly this one.'),
  access_key_id: secret
    .nullable()
    .default(null)
    .describe('The name of the key. Unset: a key is lent by the role of the pod, the container or the instance.'),
  secret_access_key: secret.nullable().default(null).describe('The key.'),
  session_token: secret.nullable().default(null).describe('The token of a key that is lent for a while. It is read once, at the start.'),
  cache_bytes: count
    .default(S3_CACHE_BYTES_DEFAULT)
    .describe('How many bytes the copy of the bucket on this machine may take. Above that, what was used longest ago is removed from it.'),
})

const storage = section({
  agent_record_dir: text.default(`${STATE_DIRECTORY}/agent-record`).describe('The directory of the records.'),
  artifact_repository: repository
    .default(`${STATE_DIRECTORY}/artifacts.git`)
    .describe(
      'Where releases are kept: the path of a git repository, the URL of a remote git repository, or a bucket, `s3://bucket/folder`. With records in a database, several services may share the remote or the bucket.',
    ),
  s3: s3.prefault({}).describe('How the bucket of `storage.artifact_repository` is reached.'),
  record_backend: text
    .default('sqlite')
    .describe(
      'Where records are kept: `sqlite`, `postgres` (after `svc store add postgres`), `memory` (lost at exit), or a store plug-in.',
    ),
  record_database_url: text
    .nullable()
    .default(null)
    .describe(
      'The address of the database, for a store that keeps records in one: `postgres://user@host:5432/database`, or with several hosts, of which the primary is used: `postgres://user@one:5432,two:5432/database`.',
    ),
  record_settings: z
    .record(
      z.string().regex(OWN_NAME),
      z
        .json('must be JSON')
        .describe(
          'A setting of the store that `storage.record_backend` names. `sqlite` and `postgres` know `search` (true): whether an index of the words of records is kept. `postgres` knows `schema` (`svc`), where its tables lie, and `connections` (8), to which one that listens and two of the search come.',
        ),
      'must be a section with one setting per name',
    )
    .default({}),
  record_capacity_bytes: count
    .default(RECORD_CAPACITY_BYTES_DEFAULT)
    .describe('How many bytes record bodies may take on the disk, where most lie compressed. Above that the oldest bodies are evicted.'),
  secret_key: sealingKey
    .nullable()
    .default(null)
    .describe(
      'Encrypts the keys of models that scenarios have of their own, the key that signs releases where all gateways share it, and with `storage.encrypt_bodies` the bodies of records. 32 random bytes in base64 (`openssl rand -base64 32`); to replace it, the new key, a comma, and the old one. With `postgres` it is needed before a scenario may have a key.',
    ),
  encrypt_bodies: flag
    .default(false)
    .describe(
      'Whether the bodies of records are encrypted before they reach the disk, with the first key of `storage.secret_key`; `sqlite` and `postgres` can. Records from before stay as they are and are read as before. No index of the words is kept, so nothing can be searched.',
    ),
  keep_raw_streams: flag.default(false).describe('Whether the raw frames of streamed answers are kept with the assembled answer.'),
})

const MODES_IN_WORDS =
  '`full` stores every exchange as it was, `redacted` without personal data, `metadata` everything about it but its words (time, release, model, tokens, score, tags), `off` nothing: there is no receipt, and reports, imports and train requests are refused.'

const recording = section({
  mode: oneOf(RECORDING_MODES)
    .default('full')
    .describe(`How much of a record is stored. ${MODES_IN_WORDS} A request may ask for less with the header \`${HEADER.recording}\`.`),
  redactor: text
    .default('personal')
    .describe('What takes personal data out of what is `redacted`: `personal`, or a redactor plug-in, by path or package.'),
  redactor_settings: z
    .record(
      z.string().regex(OWN_NAME),
      z
        .json('must be JSON')
        .describe(
          'A setting of the redactor. `personal` knows `kinds`, a list of `keys`, `emails`, `cards`, `phones` and `addresses`; unset: all.',
        ),
      'must be a section with one setting per name',
    )
    .default({}),
  retention_days: count
    .nullable()
    .default(null)
    .describe('After how many days the words of a record are removed; what is known about it stays. Unset: only capacity removes them.'),
  scenarios: z
    .record(
      z.string().min(1),
      section({
        retention_days: count
          .nullable()
          .default(null)
          .describe('After how many days the words of a record of this scenario are removed. Unset: `recording.retention_days`.'),
        mode: oneOf(RECORDING_MODES).nullable().default(null).describe('How much is stored of this scenario. Unset: `recording.mode`.'),
      }),
      'must be a section with one scenario per name',
    )
    .default({})
    .describe('Scenarios that are recorded otherwise, by name.'),
})

const traces = section({
  endpoint: collectorUrl
    .nullable()
    .default(null)
    .describe(
      'Where spans are sent, as OTLP over HTTP in JSON; `/v1/traces` is added unless it ends in `/traces`. Unset: no traces. From `OTEL_EXPORTER_OTLP_TRACES_ENDPOINT` or `OTEL_EXPORTER_OTLP_ENDPOINT`; `OTEL_SDK_DISABLED=true` switches traces off.',
    ),
  headers: z
    .record(
      z.string().regex(OWN_NAME),
      headerValue.describe(
        'A header sent with spans. From `OTEL_EXPORTER_OTLP_TRACES_HEADERS` or `OTEL_EXPORTER_OTLP_HEADERS` when none is set.',
      ),
      'must be a section with one header per name',
    )
    .default({}),
  service_name: text.default(PRODUCT).describe('The service name in traces. From `OTEL_SERVICE_NAME`.'),
  sample_ratio: ratio
    .default(1)
    .describe('The share of sampled traces among those that begin here. For traces that begin at the caller, the caller decides.'),
  content: flag.default(false).describe('Whether spans include prompts and answers, cut to 8,192 characters each.'),
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
      batch_size: count.default(1).describe('How many units form a batch.'),
    }).prefault({}),
  }).prefault({}),
})

const recipeSections = {
  data: data.prefault({}),
  pipeline: pipeline.prefault({}),
  evolution: evolution.prefault({}),
  training: training.prefault({}),
}

const recipe = section({
  use: text
    .nullable()
    .default(null)
    .describe('The recipe plug-in: a built-in name, a path or a package. Unset: the built-in of the same name.'),
  ...recipeSections,
})

const webhook = section({
  url: collectorUrl.describe('Where events are sent, with POST. It is asked directly, and redirects are not followed.'),
  secret: secret
    .regex(
      /^whsec_[A-Za-z0-9+/]{32,}={0,2}$/,
      'must be whsec_ and at least 24 random bytes as base64, such as: echo whsec_$(openssl rand -base64 32)',
    )
    .describe('Signs what is sent, as Standard Webhooks says: `whsec_` and at least 24 random bytes as base64.'),
  events: z
    .array(oneOf(WEBHOOK_EVENTS), 'must be a list of events')
    .default([...WEBHOOK_EVENTS])
    .describe(
      'Which events: `held` (a release waits for review), `published`, `failed` (a step), `budget` (`evolution.max_steps` or `evolution.max_failure_streak` is used up; 80 and 100 % of the money that a token or a scenario may spend in a day are spent).',
    ),
  allow_inside: flag.default(false).describe('Whether the target may have an address of this machine or of a private network.'),
})

export const schema = section({
  svc: svc.prefault({}).describe('The service itself: address, access and limits.'),
  inference: inference.prefault({}).describe('Which model answers the calls.'),
  limits: limits.prefault({}).describe('What each token and each scenario may take of the model.'),
  storage: storage.prefault({}).describe('Where data is kept.'),
  recording: recording.prefault({}).describe('How much of the traffic is stored.'),
  traces: traces.prefault({}).describe('OpenTelemetry traces.'),
  webhooks: z
    .record(z.string().regex(OWN_NAME), webhook, 'must be a section with one target per name')
    .default({})
    .describe('Programs that are told of what happens, each under a name.'),
  recipe: text.default('record-only').describe('The default recipe: a name under `recipes`, a built-in name, a path or a package.'),
  recipes: z
    .record(z.string().regex(OWN_NAME), recipe, 'must be a section with one recipe per name')
    .default({})
    .describe('Several recipes by name, each with its own sections.'),
  data: data.prefault({}).describe('What the one recipe collects. With several recipes: `recipes.<name>.data`.'),
  pipeline: pipeline.prefault({}).describe('How the one recipe makes batches. With several recipes: `recipes.<name>.pipeline`.'),
  evolution: evolution.prefault({}).describe('What the one recipe may try. With several recipes: `recipes.<name>.evolution`.'),
  training: training
    .prefault({})
    .describe("What one of the recipe's steps may cost, and how weights are trained. With several recipes: `recipes.<name>.training`."),
})

/** The sections that stand at the top of the file when there is one recipe. */
export const RECIPE_SECTIONS: ReadonlySet<string> = new Set(Object.keys(recipeSections))

/** The variable that fills a key set neither on the command line nor in the file. */
export const ENVIRONMENT: Readonly<Record<string, string>> = {
  'svc.token': ENV.token,
  'storage.secret_key': ENV.secretKey,
  'inference.upstream_url': ENV.upstreamUrl,
  'inference.upstream_model': ENV.upstreamModel,
  'inference.upstream_api': ENV.upstreamApi,
  'inference.upstream_api_key': ENV.upstreamApiKey,
  'storage.s3.endpoint': 'AWS_ENDPOINT_URL_S3',
  'storage.s3.region': 'AWS_REGION',
  'storage.s3.access_key_id': 'AWS_ACCESS_KEY_ID',
  'storage.s3.secret_access_key': 'AWS_SECRET_ACCESS_KEY',
  'storage.s3.session_token': 'AWS_SESSION_TOKEN',
}

/** The parts of one key, which come from one place: all from the environment, or none. */
export const S3_KEY: ReadonlySet<string> = new Set(['storage.s3.access_key_id', 'storage.s3.secret_access_key', 'storage.s3.session_token'])

/** What several upstreams replace. */
export const ONE_UPSTREAM: ReadonlySet<string> = new Set(['inference.upstream_url', 'inference.upstream_api_key'])

export const SECRET_KEYS: ReadonlySet<string> = new Set([
  'svc.token',
  'svc.tokens',
  'svc.sign_in.client_secret',
  'inference.upstream_api_key',
  'inference.upstreams.<name>.api_key',
  'inference.gateway.api_key',
  'inference.engine.api_key',
  'training.trainer_api_key',
  'recipes.<name>.training.trainer_api_key',
  'traces.headers.<name>',
  'webhooks.<name>.secret',
  'storage.record_database_url',
  'storage.secret_key',
  ...S3_KEY,
])

type Frozen<T> = T extends readonly (infer Item)[]
  ? readonly Frozen<Item>[]
  : T extends object
    ? { readonly [Key in keyof T]: Frozen<T[Key]> }
    : T

export type ConfigValues = z.output<typeof schema>

export type RecipeSettings = Frozen<Omit<ConfigValues['recipes'][string], 'use'> & { use: string }>

/** The configuration of one service. Sections at the top of the file are moved under `recipes` here. */
export type Config = Frozen<
  Pick<ConfigValues, 'svc' | 'inference' | 'limits' | 'storage' | 'recording' | 'traces' | 'webhooks' | 'recipe'>
> & {
  readonly recipes: Readonly<Record<string, RecipeSettings>>
}
