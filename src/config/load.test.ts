import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { problemsOf, read } from './testing/reading.ts'

const NO_LIMITS = { requests_per_minute: 0, tokens_per_minute: 0, cost_per_day: 0, concurrent_requests: 0 }
const EVOLUTION = {
  adapter: 'native',
  binary: null,
  seed: [],
  version_check: null,
  requests: null,
  tasks: null,
  tasks_dir: null,
  proposer: 'text',
  evaluator: 'answer',
  evaluator_module: null,
  selection: 'evidence',
  executor: null,
  alpha: 0.05,
  margin: 0.1,
  tasks_alike: 1,
  min_win_margin: 0,
  floor_score: 1,
  publish: 'auto',
  provisional: 'off',
  canary_share: 0.1,
  review_kinds: ['code_extension'],
  publish_powers: ['words'],
  objective: { cost_per_point: null, seconds_per_point: null },
  sampling_seeds: 'auto',
  episode_timeout_s: 600,
  score_age_max_s: 1800,
  candidates: 6,
  screen_share: 0.4,
  episode_repeats: 1,
  episode_workers: 2,
  max_model_calls_per_step: 0,
  max_episodes_per_step: 0,
  prices: {},
  max_tokens_per_step: 50_000_000,
  max_cost_per_step: 25,
  max_tokens_per_day: 200_000_000,
  max_cost_per_day: 100,
  max_steps: 0,
  max_failure_streak: 0,
  sandbox: {
    memory_bytes: 2_147_483_648,
    processes: 256,
    disk_bytes: 536_870_912,
    files: 20_000,
    model_calls: 500,
    model_tokens: 20_000_000,
    model_cost: 0,
    input_price: 0,
    output_price: 0,
  },
  reflect: { trials_max: 12, candidates_max: 3 },
  promote_failures: false,
  max_promoted_tasks: 50,
  max_promoted_per_client: 5,
  max_rejected_history: 25,
  proposals_dir: resolve('.svc/proposals'),
  max_pending_proposals: 8,
  step_record_dir: resolve('.svc/steps'),
  step_record_bytes: 1_073_741_824,
}

const WEIGHT_DEFAULTS = {
  trainer_url: null,
  trainer_api_key: null,
  base_model: null,
  teacher_model: null,
  objective: 'grouped',
  objective_config: {},
  group_size: 8,
  lora_rank: 16,
  lora_alpha: null,
  lora_seed: 0,
  learning_rate: 0.0001,
  beta1: 0.9,
  beta2: 0.95,
  eps: 1e-8,
  weight_decay: 0,
  grad_clip_norm: 0,
  max_staleness: 0,
  multi_turn: true,
  checkpoint_every: 1,
  examiner: 'always',
  examiner_config: {},
}

describe('defaults', () => {
  test('are those of the decisions, key by key [config.defaults] [decisions.state-directory]', () => {
    const { config } = read({})
    expect(config).toEqual({
      svc: {
        host: '127.0.0.1',
        port: 8900,
        tls: null,
        token: null,
        tokens: [],
        sign_in: null,
        allow_implicit_scenario_creation: true,
        max_scenarios: 10_000,
        max_loaded_scenarios: 256,
        compat: null,
        listeners: null,
        training_threads: 4,
        log: 'auto',
        console_origins: [],
        served_url: null,
      },
      inference: {
        runtime: null,
        upstream_url: null,
        upstream_model: null,
        upstream_api: 'openai',
        upstream_formats: null,
        upstream_api_key: null,
        upstreams: {},
        allow_inside: null,
        upstream_retries: 2,
        breaker: { failures: 5, rest_s: 30 },
        timeout_s: 300,
        retry_timeout_s: 300,
        max_answer_bytes: 67_108_864,
        gateway: null,
        engine: {
          url: null,
          api_key: null,
          model: null,
          capacity: null,
          parallel: null,
          context_tokens: null,
          threads: null,
          vocabulary: null,
          gpu: null,
        },
      },
      limits: {
        token: NO_LIMITS,
        tokens: {},
        scenario: NO_LIMITS,
        scenarios: {},
        prices: {},
        upstream: { concurrent_requests: 0, requests_per_minute: 0, wait_s: 30 },
      },
      traces: { endpoint: null, headers: {}, service_name: 'svc', sample_ratio: 1, content: false },
      storage: {
        agent_record_dir: resolve('.svc/agent-record'),
        artifact_repository: resolve('.svc/artifacts.git'),
        s3: { endpoint: null, region: 'us-east-1', access_key_id: null, secret_access_key: null, session_token: null },
        record_backend: 'sqlite',
        record_database_url: null,
        record_settings: {},
        record_capacity_bytes: 21_474_836_480,
        keep_raw_streams: false,
      },
      recording: { mode: 'full', redactor: 'personal', redactor_settings: {}, scenarios: {} },
      webhooks: {},
      recipe: 'record-only',
      recipes: {
        'record-only': {
          use: 'record-only',
          data: { training_mode: 'auto', batch_policy: 'reports' },
          pipeline: { task2batch: { config: { batch_size: 1 } } },
          evolution: EVOLUTION,
          training: { step_timeout_s: 14_400, memory_mib: 1024, ...WEIGHT_DEFAULTS },
        },
      },
    })
  })

  test('every key says that it came from its default', () => {
    const { origins } = read({})
    expect(new Set(origins.values())).toEqual(new Set(['default']))
    expect([...origins.keys()]).toContain('pipeline.task2batch.config.batch_size')
  })

  test('the whole configuration is frozen', () => {
    const { config } = read({ text: 'svc: {tokens: [a]}' })
    expect(Object.isFrozen(config)).toBe(true)
    expect(Object.isFrozen(config.svc.tokens)).toBe(true)
    expect(Object.isFrozen(config.recipes['record-only']?.data)).toBe(true)
  })
})

describe('precedence', () => {
  const environment = { SVC_UPSTREAM_MODEL: 'from-environment', SVC_UPSTREAM_API: 'anthropic' }
  const text = 'inference:\n  upstream-model: from-file\n'

  test.each([
    [
      'the command line wins over the file [config.precedence]',
      'upstream_model',
      ['--inference.upstream_model', 'from-args'],
      'from-args',
      'command line',
    ],
    ['the file wins over the environment and says its line [config.precedence]', 'upstream_model', [], 'from-file', 'file:2'],
    [
      'the environment wins over the default and says its variable [config.precedence]',
      'upstream_api',
      [],
      'anthropic',
      'environment SVC_UPSTREAM_API',
    ],
  ] as const)('%s', (_title, key, args, value, origin) => {
    const { config, origins } = read({ text, environment, args })
    expect([config.inference[key], origins.get(`inference.${key}`)]).toEqual([value, origin])
  })

  test('all four upstream variables are read', () => {
    const { config } = read({
      environment: { SVC_UPSTREAM_URL: 'http://up', SVC_UPSTREAM_MODEL: 'm', SVC_UPSTREAM_API: 'responses', SVC_UPSTREAM_API_KEY: '12345' },
    })
    expect(config.inference).toMatchObject({
      upstream_url: 'http://up',
      upstream_model: 'm',
      upstream_api: 'responses',
      upstream_api_key: '12345',
    })
  })

  test.each([
    ['neither is set', '', 'env-token', 'environment SVC_TOKEN'],
    ['token is set', 'svc: {token: mine}', 'mine', 'file:1'],
    ['tokens are set', 'svc: {tokens: [mine]}', null, 'default'],
    ['tokens are an empty list', 'svc: {tokens: []}', 'env-token', 'environment SVC_TOKEN'],
    ['token has nothing behind it', 'svc:\n  token:\n', 'env-token', 'environment SVC_TOKEN'],
  ])('SVC_TOKEN when %s', (_, file, token, origin) => {
    const { config, origins } = read({ text: file, environment: { SVC_TOKEN: 'env-token' } })
    expect(config.svc.token).toBe(token)
    expect(origins.get('svc.token')).toBe(origin)
  })

  test('the key of a bucket comes from the usual variables, whole, or not at all', () => {
    const aws = {
      AWS_REGION: 'eu-west-1',
      AWS_ENDPOINT_URL_S3: 'http://s3/',
      AWS_ACCESS_KEY_ID: 'a',
      AWS_SECRET_ACCESS_KEY: 'b',
      AWS_SESSION_TOKEN: 'c',
    }
    const around = { endpoint: 'http://s3', region: 'eu-west-1' }
    expect(read({ environment: aws }).config.storage.s3).toEqual({
      ...around,
      access_key_id: 'a',
      secret_access_key: 'b',
      session_token: 'c',
    })
    const file = 'storage: {artifact_repository: s3://b/f, s3: {access_key_id: mine, secret_access_key: own}}'
    const { config } = read({ text: file, environment: aws })
    expect(config.storage.s3).toEqual({ ...around, access_key_id: 'mine', secret_access_key: 'own', session_token: null })
    expect(config.storage.artifact_repository).toBe('s3://b/f')
  })

  test('an empty variable counts as unset', () => {
    expect(read({ environment: { SVC_TOKEN: '', SVC_UPSTREAM_URL: '' } }).config.svc.token).toBeNull()
  })
})

describe('the file', () => {
  test('an empty file, an empty section and an empty key change nothing', () => {
    const defaults = read({}).config
    expect(read({ text: '' }).config).toEqual(defaults)
    expect(read({ text: '# nothing\nsvc:\nstorage:\n  record_backend:\nrecipes:\ninference: {gateway: }\n' }).config).toEqual(defaults)
  })

  test('hyphens and underscores are equal [config.spelling]', () => {
    expect(read({ text: 'svc: {max-scenarios: 5}\nstorage: {keep-raw-streams: true}' }).config).toMatchObject({
      svc: { max_scenarios: 5 },
      storage: { keep_raw_streams: true },
    })
  })

  test('variables are filled in and read as the kind of value the key takes [config.interpolation]', () => {
    const text = [
      'svc:',
      '  port: ${PORT:-8901}',
      '  max_scenarios: "${MANY}"',
      '  token: ${TOKEN}',
      '  tokens: ["${TOKEN}", plain]',
      '  allow_implicit_scenario_creation: ${FLAG}',
      '  console_origins: ${ORIGINS}',
      'inference:',
      '  upstream_model: a-${MANY}-$${b}',
    ].join('\n')
    const environment = { MANY: '7', TOKEN: '123456', FLAG: 'false', ORIGINS: '[http://a, http://b]' }
    const { config } = read({ text, environment })
    expect(config.svc).toMatchObject({
      port: 8901,
      max_scenarios: 7,
      token: '123456',
      tokens: ['123456', 'plain'],
      allow_implicit_scenario_creation: false,
      console_origins: ['http://a', 'http://b'],
    })
    expect(config.inference.upstream_model).toBe('a-7-${b}')
    expect(read({ text: 'svc: {port: "${PORT:-8901}"}', environment: { PORT: '9' } }).config.svc.port).toBe(9)
  })

  test('a variable that falls back to nothing leaves the key unset', () => {
    expect(read({ text: 'inference:\n  upstream_model: ${NONE:-}\n' }).config.inference.upstream_model).toBeNull()
  })

  test('anchors and aliases are followed', () => {
    const text = 'recipes:\n  a: {use: record-only, data: &d {training_mode: manual}}\n  b: {use: record-only, data: *d}\n'
    expect(read({ text }).config.recipes['b']?.data.training_mode).toBe('manual')
  })
})

describe('the command line [config.flags]', () => {
  test.each([
    [['--svc.port', '9000'], { port: 9000 }],
    [['--svc.port=9000'], { port: 9000 }],
    [['--svc.max-scenarios', '3'], { max_scenarios: 3 }],
    [['--svc.token', '12345'], { token: '12345' }],
    [['--svc.token=a=b'], { token: 'a=b' }],
    [['--no-svc.allow_implicit_scenario_creation'], { allow_implicit_scenario_creation: false }],
    [['--svc.allow-implicit-scenario-creation', 'false'], { allow_implicit_scenario_creation: false }],
    [['--svc.allow_implicit_scenario_creation', '--svc.port', '1'], { allow_implicit_scenario_creation: true, port: 1 }],
    [['--svc.tokens', 'a', '--svc.tokens', 'b'], { tokens: ['a', 'b'] }],
    [['--svc.tokens', '[a, b]'], { tokens: ['a', 'b'] }],
  ])('%j', (args, expected) => {
    expect(read({ args }).config.svc).toMatchObject(expected)
  })

  test.each([
    ['0.5', 0.5],
    ['true', true],
    ['[{prompt: a, answer: b}]', [{ prompt: 'a', answer: 'b' }]],
    ['std', 'std'],
    ['note: this is a sentence', 'note: this is a sentence'],
  ])("a plug-in's own setting is read as what it looks like: %s", (text, expected) => {
    const { recipes } = read({ args: ['--training.objective_config.own', text] }).config
    expect(recipes['record-only']?.training.objective_config).toEqual({ own: expected })
  })

  test('a key at the top of the file is an option too', () => {
    expect(read({ args: ['--recipe', './mine.ts'] }).config.recipe).toBe('./mine.ts')
  })

  test('other arguments are left to the command', () => {
    const { rest, given } = readCommandLine(['serve', '-c', 'svc.yaml', '--svc.port', '1', '--json', '--', '--svc.port', '2'])
    expect(rest).toEqual(['serve', '-c', 'svc.yaml', '--json', '--', '--svc.port', '2'])
    expect(given).toHaveLength(1)
  })

  test('a list replaces the list of the file', () => {
    expect(read({ text: 'svc: {tokens: [a, b]}', args: ['--svc.tokens', 'c'] }).config.svc.tokens).toEqual(['c'])
  })

  test.each([
    [['--svc.port'], 'command line: --svc.port needs a value'],
    [['--svc.port', '--svc.host', '::1'], 'command line: --svc.port needs a value'],
    [['--svc.port', '1', '--svc.port', '2'], 'command line: --svc.port is given twice; keep one'],
    [['--inference.gateway', 'x'], 'command line: --inference.gateway is a section; set one of its keys, such as --inference.gateway.KEY'],
    [['--no-svc.port'], 'command line: --no-svc.port fits only a true-or-false key without a value'],
    [['--svc.prot', '1'], 'command line: svc.prot is not a known key; did you mean svc.port?'],
    [['--svc.port', 'x'], 'command line: svc.port must be a whole number from 0 to 65535, not text'],
    [['--svc.token', ''], 'command line: svc.token must not be empty'],
  ])('%j is refused', (args, problem) => {
    expect(problemsOf({ args })[0]).toBe(problem)
  })
})

describe('recipes', () => {
  test('a seed is content: it is taken as it is written, and nothing in it is filled from the environment', () => {
    const text = 'evolution:\n  seed:\n    - {id: a, name: agent_command, config: {name: go, text: "say ${1:-hi} to $@ at ${HOME}"}}\n'
    const { config } = read({ text })
    const [entry] = config.recipes['record-only']?.evolution.seed ?? []
    expect(entry).toEqual({ id: 'a', name: 'agent_command', config: { name: 'go', text: 'say ${1:-hi} to $@ at ${HOME}' } })
  })

  test('the evolution section has its keys and defaults, and null turns the recording of steps off [config.evolution]', () => {
    const { config } = read({ text: 'evolution: {step_record_dir: null}\n' })
    expect(config.recipes['record-only']?.evolution).toEqual({ ...EVOLUTION, step_record_dir: null })
    expect(read({ text: 'evolution: {step_record_dir: }\n' }).config.recipes['record-only']?.evolution.step_record_dir).toBe(
      resolve('.svc/steps'),
    )
    expect(read({ args: ['--evolution.step-record-dir', 'null'] }).config.recipes['record-only']?.evolution.step_record_dir).toBeNull()
  })

  test('sections at the top belong to the one recipe [config.recipes]', () => {
    const text =
      'recipe: ./mine.ts\ndata: {training_mode: hybrid}\npipeline: {task2batch: {config: {batch_size: 4}}}\nevolution: {max_steps: 3}\ntraining: {memory-mib: 256}\n'
    const { config, origins } = read({ text })
    expect(config.recipes).toEqual({
      './mine.ts': {
        use: './mine.ts',
        data: { training_mode: 'hybrid', batch_policy: 'reports' },
        pipeline: { task2batch: { config: { batch_size: 4 } } },
        evolution: { ...EVOLUTION, max_steps: 3 },
        training: { step_timeout_s: 14_400, memory_mib: 256, ...WEIGHT_DEFAULTS },
      },
    })
    expect(origins.get('data.training_mode')).toBe('file:2')
    expect(origins.get('training.memory_mib')).toBe('file:5')
  })

  test('named recipes carry their own sections, and names keep their hyphens [config.recipes]', () => {
    const text =
      'recipe: my-review\nrecipes:\n  my-review:\n    use: "@acme/review#recipe"\n    data: {batch-policy: records}\n  record-only:\n'
    const { config, origins } = read({ text })
    expect(config.recipes['my-review']).toMatchObject({ use: '@acme/review#recipe', data: { batch_policy: 'records' } })
    expect(config.recipes['record-only']).toMatchObject({ use: 'record-only', data: { training_mode: 'auto' } })
    expect(origins.get('recipes.my-review.data.batch_policy')).toBe('file:5')
    expect(origins.has('data.batch_policy')).toBe(false)
  })

  test('sections at the top beside named recipes are refused', () => {
    const text = 'data: {training_mode: manual}\nrecipes:\n  a: {use: record-only}\n'
    expect(problemsOf({ text })).toEqual([
      'svc.yaml:1: data.training_mode stands at the top beside recipes; move it under a recipe, such as recipes.a.data.training_mode',
    ])
  })
})

describe('the gateway', () => {
  test('takes its key from the variable it names', () => {
    const text = 'inference:\n  gateway: {url: "http://g/", api_key_env: GATEWAY_KEY}\n'
    const { config, origins } = read({ text, environment: { GATEWAY_KEY: 'k' } })
    expect(config.inference.gateway).toEqual({ url: 'http://g', api_key: 'k', api_key_env: 'GATEWAY_KEY' })
    expect(origins.get('inference.gateway.api_key')).toBe('environment GATEWAY_KEY')
  })

  test.each([
    ['{api_key: k}', 'inference.gateway.url is missing'],
    ['{url: "http://g", api_key: k, api_key_env: V}', 'inference.gateway.api_key_env and inference.gateway.api_key are both set; keep one'],
    [
      '{url: "http://g", api_key_env: V}',
      'inference.gateway.api_key_env names an environment variable that is not set; set it, or name another',
    ],
  ])('%s is refused', (gateway, problem) => {
    expect(problemsOf({ text: `inference:\n  gateway: ${gateway}\n` })).toEqual([`svc.yaml:2: ${problem}`])
  })
})
