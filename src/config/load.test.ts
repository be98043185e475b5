import { resolve } from 'node:path'
import { describe, expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { EVOLUTION, WEIGHT_DEFAULTS } from './testing/defaults.ts'
import { problemsOf, read } from './testing/reading.ts'

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
    const around = { endpoint: 'http://s3', region: 'eu-west-1', cache_bytes: 21_474_836_480 }
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
