import { createHash } from 'node:crypto'
import { describe, expect, test } from 'vitest'
import { problemsOf as problemsIn } from './testing/reading.ts'

const problemsOf = (text: string, environment = {}): readonly string[] => problemsIn({ text, environment })

const NO_V1 = 'must not end in /v1: the path the client asked for, which starts with /v1, is added to it'

/** The last line of each file is the wrong one. */
const REFUSED: readonly (readonly [text: string, problem: string])[] = [
  ['svc:\n  prot: 1', 'svc.prot is not a known key; did you mean svc.port?'],
  ['svc:\n  max-scenario: 1', 'svc.max_scenario is not a known key; did you mean svc.max_scenarios?'],
  ['inferense:\n', 'inferense is not a known key; did you mean inference?'],
  ['port: 1', 'port is not a known key; did you mean svc.port?'],
  ['evolution: {adaptor: pi}', 'evolution.adaptor is not a known key; did you mean evolution.adapter?'],
  ['evolution: {seed: rules}', 'evolution.seed must be a list of entries {id, name, config}, not text'],
  ['evolution: {seed: [rules]}', 'evolution.seed[0] must be an entry {id, name, config}'],
  ['training: {threads: 4}', 'training.threads is not a known key; did you mean inference.engine.threads?'],
  ['recipes:\n  a:\n    dta: {}', 'recipes.a.dta is not a known key; did you mean recipes.a.data?'],
  ['recipes:\n  a.b: {}', 'recipes.a.b: the name of a recipe is made of letters, digits, - and _'],
  ['training: {lora_modules: []}', 'training.lora_modules must name attention, mlp or both'],
  ['training: {lora_modules: [heads]}', 'training.lora_modules[0] must be one of attention, mlp'],
  ['inference: {engine: {adapter_prefix: a.b}}', 'inference.engine.adapter_prefix must be 1 to 32 letters, digits or dashes'],
  ['svc: 5', 'svc must be a section with keys of its own'],
  ['recipes: [a]', 'recipes must be a section with keys of its own'],
  ['- a', 'the file must hold sections of keys, such as svc:'],
  ['svc:\n  port: 1\n  port: 2', 'svc.port is given twice, first on line 2; keep one'],
  ['svc:\n  max-scenarios: 1\n  max_scenarios: 1', 'svc.max_scenarios and svc.max-scenarios are the same key, first on line 2; keep one'],
  ['svc: {}\nsvc: {}', 'svc is given twice, first on line 1; keep one'],
  ['svc:\n  port: "8900"', 'svc.port must be a whole number from 0 to 65535, not text'],
  ['svc:\n  port: 65536', 'svc.port must be a whole number from 0 to 65535'],
  ['svc:\n  port: -1', 'svc.port must be a whole number from 0 to 65535'],
  ['svc:\n  port: 1.5', 'svc.port must be a whole number from 0 to 65535, not a number'],
  ['svc:\n  port: {a: 1}', 'svc.port must be a whole number from 0 to 65535, not a section'],
  ['svc:\n  max_scenarios: 0', 'svc.max_scenarios must be a whole number of at least 1'],
  ['svc:\n  max_loaded_scenarios: yes', 'svc.max_loaded_scenarios must be a whole number of at least 1, not text'],
  ['svc:\n  allow_implicit_scenario_creation: yes', 'svc.allow_implicit_scenario_creation must be true or false, not text'],
  ['svc:\n  token: 12345', 'svc.token must be text, not a number'],
  ['svc:\n  token: "two words"', 'svc.token must be printable ASCII without blanks'],
  ['svc:\n  token: ""', 'svc.token must not be empty'],
  ['storage:\n  encrypt_bodies: yes', 'storage.encrypt_bodies must be true or false, not text'],
  [
    'storage:\n  secret_key: hunter2',
    'storage.secret_key must be 32 random bytes in base64, or several such keys with commas between them, the newest first; make one with: openssl rand -base64 32',
  ],
  ['svc:\n  tokens: one', 'svc.tokens must be a list of tokens, not text'],
  ['svc:\n  tokens: [a, 5]', 'svc.tokens[1] must be text'],
  [
    'svc:\n  host: "localhost:8900"',
    'svc.host must be a host name or an address alone: no scheme, no port (that is svc.port), no brackets',
  ],
  [
    'svc:\n  host: http://localhost',
    'svc.host must be a host name or an address alone: no scheme, no port (that is svc.port), no brackets',
  ],
  ['inference:\n  upstream_api: chat', 'inference.upstream_api must be one of openai, responses, anthropic, gemini'],
  ['inference:\n  timeout_s: 0', 'inference.timeout_s must be a number of seconds above 0 to 2147483'],
  ['inference:\n  timeout_s: .inf', 'inference.timeout_s must be a number of seconds above 0 to 2147483, not a number'],
  ['inference:\n  retry_timeout_s: -1', 'inference.retry_timeout_s must be a number of seconds from 0 to 2147483'],
  ['inference:\n  upstream_url: host:80', 'inference.upstream_url must start with http:// or https://'],
  ['inference:\n  upstream_url: ftp://host', 'inference.upstream_url must start with http:// or https://'],
  ['inference:\n  upstream_url: /v1', 'inference.upstream_url must be a whole URL such as https://host:port'],
  ['inference:\n  upstream_url: http://u:p@host', 'inference.upstream_url must not hold credentials; give the key in its own key'],
  ['inference:\n  upstream_url: http://host?', 'inference.upstream_url must have no query and no fragment'],
  ['inference:\n  upstream_url: http://host/#a', 'inference.upstream_url must have no query and no fragment'],
  [
    'inference:\n  upstream_url: http://host/v1/',
    'inference.upstream_url must not end in /v1: the path the client asked for, which starts with /v1, is added to it',
  ],
  [
    'inference:\n  upstream_api_key: k',
    'inference.upstream_api_key is set without inference.upstream_url; set the address the key belongs to (or SVC_UPSTREAM_URL)',
  ],
  ...['http://a', '10.0.0.0/33', '::1/129', '10.0.0.1/8/8', 'a b', '10.0.0.0/'].map(
    (value) =>
      [
        `inference:\n  allow_inside: ["${value}"]`,
        'inference.allow_inside[0] must be a host name, an address, or a range such as 10.1.0.0/16',
      ] as const,
  ),
  ['inference:\n  upstreams:\n    a: {api_key: k}', 'inference.upstreams.a.url is missing'],
  [
    'inference:\n  upstream_formats: [chat]',
    'inference.upstream_formats is set without inference.upstream_url; set the address that speaks them',
  ],
  [
    'inference:\n  upstream_url: http://x\n  upstream_formats: [smoke]',
    'inference.upstream_formats[0] must be one of chat, responses, messages, gemini',
  ],
  [
    'inference:\n  upstreams:\n    a b: {url: http://a}',
    'inference.upstreams.a b: the name of an upstream is made of letters, digits, - and _',
  ],
  ...[
    [String.raw`a\nb`, 'a[U+000A]b'],
    [String.raw`a\r`, 'a[U+000D]'],
    [String.raw`a\e[2J`, 'a[U+001B][2J'],
    [String.raw`a\u202Eb`, 'a[U+202E]b'],
  ].map(
    ([name, shown]) =>
      [
        `inference:\n  upstreams:\n    "${name}": {url: http://a}`,
        `inference.upstreams.${shown}: the name of an upstream is made of letters, digits, - and _`,
      ] as const,
  ),
  ['inference:\n  upstreams:\n    a: {url: http://a/v1}', `inference.upstreams.a.url ${NO_V1}`],
  [
    'inference:\n  upstreams:\n    a: {url: http://a, formats: []}',
    'inference.upstreams.a.formats must be a list of chat, responses, messages, gemini',
  ],
  [
    'inference:\n  upstreams:\n    a: {url: http://a, formats: [openai]}',
    'inference.upstreams.a.formats[0] must be one of chat, responses, messages, gemini',
  ],
  ['inference:\n  upstreams:\n    a: {url: http://a, weight: -1}', 'inference.upstreams.a.weight must be a number from 0 to 1000000'],
  [
    'inference:\n  upstreams:\n    a: {url: http://a, tls: {min_version: SSLv3}}',
    'inference.upstreams.a.tls.min_version must be one of TLSv1.2, TLSv1.3',
  ],
  [
    'inference:\n  upstreams:\n    a: {url: http://a, tls: {cert_file: c.pem}}',
    'inference.upstreams.a.tls.cert_file is set without inference.upstreams.a.tls.key_file; set both',
  ],
  [
    'inference:\n  upstreams: {a: {url: http://a}}\n  upstream_url: http://b',
    'inference.upstream_url and inference.upstreams are both set; move the one among the others',
  ],
  [
    'inference:\n  upstreams: {a: {url: http://a}}\n  runtime: llama',
    'inference.upstreams needs inference.runtime: provider; leave inference.runtime out',
  ],
  [
    'storage:\n  artifact_repository: https://user:password@host/a.git',
    "storage.artifact_repository must not hold credentials; use one of git's credential helpers",
  ],
  [
    'storage:\n  artifact_repository: https://key@host/a.git',
    "storage.artifact_repository must not hold credentials; use one of git's credential helpers",
  ],
  [
    'storage:\n  artifact_repository: ssh://user:password@host/a.git',
    "storage.artifact_repository must not hold credentials; use one of git's credential helpers",
  ],
  [
    'storage:\n  disk: x',
    'storage.disk is not a known key; storage knows agent_record_dir, artifact_repository, s3, record_backend, record_database_url, record_settings, record_capacity_bytes, secret_key, encrypt_bodies, keep_raw_streams',
  ],
  ['storage:\n  s3: {cache_bytes: 0}', 'storage.s3.cache_bytes must be a whole number of at least 1'],
  ['storage:\n  record_capacity_bytes: 20GiB', 'storage.record_capacity_bytes must be a whole number of at least 1, not text'],
  ['recording:\n  retention_days: 0', 'recording.retention_days must be a whole number of at least 1'],
  [
    'recording:\n  scenarios:\n    a:\n      retention_days: 30d',
    'recording.scenarios.a.retention_days must be a whole number of at least 1, not text',
  ],
  ['storage:\n  keep_raw_streams: 1', 'storage.keep_raw_streams must be true or false, not a number'],
  ['traces:\n  endpoint: localhost:4317', 'traces.endpoint must start with http:// or https://'],
  ['traces:\n  endpoint: http://u:p@host', 'traces.endpoint must not hold credentials; give the key in its own key'],
  ['traces:\n  sample_ratio: 1.5', 'traces.sample_ratio must be a number from 0 to 1'],
  ['traces:\n  headers: a', 'traces.headers must be a section with keys of its own'],
  ['traces:\n  headers:\n    a b: c', 'traces.headers.a b: the name of a header is made of letters, digits, - and _'],
  ['traces:\n  headers:\n    a: "b\\nc"', 'traces.headers.a must be printable ASCII'],
  ['storage:\n  record_settings: a', 'storage.record_settings must be a section with keys of its own'],
  ['storage:\n  record_settings:\n    a b: c', 'storage.record_settings.a b: the name of a setting is made of letters, digits, - and _'],
  ['data:\n  training_mode: never', 'data.training_mode must be one of auto, manual, hybrid'],
  ['data:\n  batch_policy: all', 'data.batch_policy must be one of reports, records'],
  [
    'pipeline:\n  task2batch:\n    config:\n      batch_size: 0',
    'pipeline.task2batch.config.batch_size must be a whole number of at least 1',
  ],
  [
    'svc:\n  host: 0.0.0.0',
    'svc.host is open to other machines and no token is set; set svc.token (or SVC_TOKEN), or bind svc.host to 127.0.0.1',
  ],
  ['limits:\n  token: {requests_per_minute: -1}', 'limits.token.requests_per_minute must be a whole number of at least 0'],
  [
    'limits:\n  token: {cost_per_day: 5}',
    "limits.token.cost_per_day is a limit of money, and no model has a price; set limits.prices.<model> to {input, output}, or limits.prices.'*' for all models",
  ],
  ['limits:\n  prices: {m: {input: 1, output: -1}}', 'limits.prices.m.output must be at least 0'],
  [
    'svc:\n  port: ${NOT_THERE}',
    'svc.port needs the environment variable NOT_THERE, which is not set; set it, or write ${NOT_THERE:-default}',
  ],
  ['svc:\n  token: a${b', 'svc.token holds a ${ that is neither ${NAME} nor ${NAME:-default}; write $${ for a plain one'],
  [
    '__proto__: {a: 1}',
    '__proto__ is not a known key; the file knows svc, inference, limits, storage, recording, traces, webhooks, recipe, recipes, data, pipeline, evolution, training',
  ],
]

describe('a wrong line is refused by its number [config.refusal]', () => {
  test.each(REFUSED)('%j', (text, problem) => {
    const line = text.trimEnd().split('\n').length
    expect(problemsOf(text)).toEqual([`svc.yaml:${line}: ${problem}`])
  })
})

describe('the artifact repository', () => {
  test.each(['a/b.git', '/a/b.git', 'https://host/a@b.git', 'ssh://git@host:22/a.git', 'file:///a.git', 'git@host:a/b.git'])(
    'may be %s',
    (value) => {
      expect(problemsOf(`storage:\n  artifact_repository: ${value}`)).toEqual([])
    },
  )
})

describe('console origins', () => {
  test.each([
    '*',
    'https://*.example.com',
    'https://a/',
    'https://a/path',
    'https://u@a',
    'HTTPS://A',
    'https://a:443',
    'a.com',
    'null',
    'ftp://a',
    'https://a?b',
  ])('%s is refused', (origin) => {
    expect(problemsOf(`svc:\n  console_origins: ["${origin}"]`)[0]).toMatch(
      /^svc\.yaml:2: svc\.console_origins\[0\] must be an origin such as/,
    )
  })

  test.each(['https://a.example.com', 'http://localhost:5173', 'http://[::1]:8080'])('%s is taken', (origin) => {
    expect(problemsOf(`svc:\n  console_origins: ["${origin}"]`)).toEqual([])
  })
})

const GOOD_TOKEN = 'b1946ac92492d2347c6235b4d2611184'

describe('a public address without a token', () => {
  test.each(['127.0.0.1', '127.9.9.9', '::1', '0:0:0:0:0:0:0:1', 'localhost'])('%s needs no token', (host) => {
    expect(problemsOf(`svc: {host: "${host}"}`)).toEqual([])
  })

  test.each(['0.0.0.0', '::', '10.0.0.1', 'svc.internal', '::ffff:10.0.0.1'])('%s needs one', (host) => {
    expect(problemsOf(`svc: {host: "${host}"}`)).toHaveLength(1)
    expect(problemsOf(`svc: {host: "${host}", token: ${GOOD_TOKEN}}`)).toEqual([])
    expect(problemsOf(`svc: {host: "${host}"}`, { SVC_TOKEN: GOOD_TOKEN })).toEqual([])
  })

  test.each([
    ['zq', 'hunter2', 'letmein', 'c8f1d09be27a5'],
    ['my-secret-token-1', 'admin-token-of-the-test', 'Password123456789', 'changeme-changeme-changeme'],
    ['0123456789abcdef', 'aaaaaaaaaaaaaaaaaaaaaaaa', 'qwertyuiopasdfghjkl', 'abababababababababababab', 'aaaabbbbccccddddeeeeffff'],
  ])('a token that is easily guessed is none: %s', (...weak) => {
    for (const token of weak) {
      const [problem = '', ...others] = problemsOf(`svc: {host: 0.0.0.0, token: "${token}"}`)
      expect([token, problem]).toEqual([
        token,
        expect.stringMatching(/^svc\.yaml:1: svc\.token is easily guessed, .*; set one that openssl/),
      ])
      expect(problem).not.toContain(token)
      expect(others).toEqual([])
      expect(problemsOf(`svc: {host: 0.0.0.0, token: "${GOOD_TOKEN}", tokens: ["${token}"]}`)[0]).toContain('svc.tokens is easily guessed')
      expect(problemsOf(`svc: {token: "${token}"}`)).toEqual([])
    }
  })

  test('any token of a good source is taken', () => {
    for (let seed = 0; seed < 500; seed += 1) {
      const bytes = createHash('sha256').update(String(seed)).digest()
      const made = [bytes.toString('hex'), bytes.toString('base64'), bytes.toString('hex', 0, 12), bytes.toString('base64url', 0, 16)]
      for (const token of made) expect([token, problemsOf(`svc: {host: 0.0.0.0, token: "${token}"}`)]).toEqual([token, []])
    }
    expect(problemsOf('svc: {host: 0.0.0.0, token: correct-horse-battery-staple}')).toEqual([])
  })
})

describe('problems', () => {
  test('are all reported at once, in one error', () => {
    const text = 'svc:\n  prot: 1\n  host: 0.0.0.0\n  max_scenarios: x\ninference:\n  timeout_s: no\n  gateway: {}\nextra: 1\n'
    expect(problemsOf(text).map((problem) => problem.split(' ', 2).join(' '))).toEqual([
      'svc.yaml:2: svc.prot',
      'svc.yaml:8: extra',
      'svc.yaml:4: svc.max_scenarios',
      'svc.yaml:6: inference.timeout_s',
      'svc.yaml:3: svc.host',
    ])
  })

  test('name the variable a wrong value came from', () => {
    expect(problemsOf('', { SVC_UPSTREAM_API: 'grpc' })).toEqual([
      'environment SVC_UPSTREAM_API: inference.upstream_api must be one of openai, responses, anthropic, gemini',
    ])
  })

  test('a refused token does not also count as a missing one', () => {
    expect(problemsOf('svc:\n  host: 0.0.0.0\n  token: "a b"\n')).toHaveLength(1)
  })

  test('say where a file stops being YAML', () => {
    expect(problemsOf('svc:\n  port: 1\n bad: 2\n')[0]).toMatch(/^svc\.yaml:3: not valid YAML: /)
    expect(problemsOf('svc:\n\tport: 1\n')[0]).toMatch(/^svc\.yaml:2: not valid YAML: /)
    expect(problemsOf('a: 1\n---\nb: 2\n')[0]).toMatch(/^svc\.yaml:2: not valid YAML: /)
  })

  test('aliases that multiply or repeat themselves end', () => {
    const many = Array.from({ length: 150 }, (_, index) => `  r${index}: *a`).join('\n')
    expect(problemsOf(`recipes:\n  a: &a {data: {}}\n${many}`)).toEqual(['svc.yaml:103: more than 100 aliases; does one repeat itself?'])
    expect(problemsOf('recipes: &a\n  a: *a\n').length).toBeGreaterThan(0)
  })
})

describe('secrets', () => {
  const secret = 'hunter2-very-secret'
  test.each([
    `svc: {token: "${secret} x"}`,
    `svc: {tokens: ["${secret} x"]}`,
    `svc: {tokens: ${secret}}`,
    `svc: {port: ${secret}}`,
    `svc: {tokne: ${secret}}`,
    `svc: {token: [${secret}]}`,
    `svc:\n  token: "${secret}`,
    `svc:\n  token: ${secret}\n ${secret}\n`,
    `svc: {token: ${secret}} ${secret}`,
    `inference: {upstream_url: "http://user:${secret}@host"}`,
    `inference: {upstream_api: ${secret}}`,
    `inference: {gateway: {api_key: "${secret} "}}`,
    `traces: {endpoint: "http://user:${secret}@host"}`,
    `traces: {headers: {authorization: "${secret} "}}`,
    `svc:\n  host: 0.0.0.0 ${secret}`,
  ])('are not in the problems of %j', (text) => {
    const problems = problemsOf(text)
    expect(problems.length).toBeGreaterThan(0)
    expect(problems.join('\n')).not.toContain(secret)
  })
})
