import { expect, test } from 'vitest'
import { readCommandLine } from './command-line.ts'
import { readConfig, type LoadedConfig } from './load.ts'
import { printConfig, printConfigJson, printedKeys } from './print.ts'
import { secretsIn } from './secrets.ts'

const text = [
  'svc: {port: 9000, tokens: [secret-one, secret-two]}',
  'inference:',
  '  upstream_url: http://up',
  '  upstream_api_key: secret-three',
  '  gateway: {url: "http://g", api_key: secret-four}',
  'traces: {headers: {x-api_key: secret-six, authorization: Basic secret-seven}}',
  'storage: {record_database_url: "postgres://svc:secret-eight@host:5432,other:5432/db", record_settings: {schema: s, password: secret-nine, pool: {size: 3, password: secret-ten}, replica: "postgres://svc:secret-eleven@host/db"}}',
  'recording: {redactor_settings: {api_key: secret-twelve, kinds: [emails]}}',
  'evolution: {seed: [{id: a, name: mcp, config: {env: {A_TOKEN: secret-thirteen, MODE: fast}, headers: {Authorization: Bearer secret-fourteen}}}]}',
].join('\n')

function load(): LoadedConfig {
  const read = readConfig({ text, environment: {}, commandLine: readCommandLine(['--svc.token', 'secret-five']), file: 'svc.yaml' })
  const model = { url: 'http://up', model: null, api: 'openai', apiKey: 'secret-three' } as const
  return {
    ...read,
    upstream: { runtime: 'provider', model, found: 'inference.upstream_url', exampleModel: null },
    proxies: null,
    baseDirectory: '.',
    ownPaths: [],
    moved: [],
  }
}

test('every key is printed with its value and where it came from', () => {
  const lines = printConfig(load()).split('\n')
  expect(lines).toContainEqual(expect.stringMatching(/^svc\.port +9000 +file:1$/))
  expect(lines).toContainEqual(expect.stringMatching(/^svc\.host +"127\.0\.0\.1" +default$/))
  expect(lines).toContainEqual(expect.stringMatching(/^pipeline\.task2batch\.config\.batch_size +1 +default$/))
  expect(lines.at(-1)).toBe('answers: provider at http://up (inference.upstream_url)')
})

test('secrets are masked, in the table and in JSON', () => {
  const loaded = load()
  expect(printConfig(loaded) + printConfigJson(loaded)).not.toContain('secret-')
  const values = new Map(printedKeys(loaded).map(({ key, value }) => [key, value]))
  expect(values.get('svc.token')).toBe('***')
  expect(values.get('svc.tokens')).toEqual(['***', '***'])
  expect(values.get('inference.gateway.api_key')).toBe('***')
  expect(values.get('inference.gateway.api_key_env')).toBeNull()
  expect([values.get('storage.record_database_url'), values.get('storage.record_settings.password')]).toEqual(['***', '***'])
  expect([values.get('storage.record_settings.schema'), values.get('storage.record_settings.pool')]).toEqual([
    's',
    { size: 3, password: '***' },
  ])
  expect([values.get('recording.redactor_settings.api_key'), values.get('recording.redactor_settings.kinds')]).toEqual(['***', ['emails']])
  expect(values.get('evolution.seed')).toEqual([
    { id: 'a', name: 'mcp', config: { env: { A_TOKEN: '***', MODE: 'fast' }, headers: { Authorization: '***' } } },
  ])
  expect([values.get('traces.headers.x-api_key'), values.get('traces.headers.authorization')]).toEqual(['***', '***'])
})

test('a password is known also where it is part of an address or a setting of a plug-in', () => {
  expect(secretsIn(load(), {})).toEqual(
    expect.arrayContaining(['secret-eight', 'secret-nine', 'secret-ten', 'secret-eleven', 'secret-twelve']),
  )
  expect(secretsIn(load(), {})).not.toContain('s')
})

test('an unset secret shows that it is unset', () => {
  const values = new Map(printedKeys(readConfig({ text: '', environment: {} })).map(({ key, value }) => [key, value]))
  expect(values.get('svc.token')).toBeNull()
})

test('JSON holds the same keys', () => {
  const printed: unknown = JSON.parse(printConfigJson(load()))
  expect(printed).toMatchObject({ upstream: { runtime: 'provider', url: 'http://up' } })
})

test('a name may hold dots', () => {
  const prices = 'limits: {prices: {gpt-4: {input: 1, output: 2}, gpt-4.1: {input: 3, output: 4}}}'
  const values = new Map(printedKeys(readConfig({ text: prices, environment: {} })).map(({ key, value }) => [key, value]))
  expect([values.get('limits.prices.gpt-4.input'), values.get('limits.prices.gpt-4.1.output')]).toEqual([1, 4])
})
