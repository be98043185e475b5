import { describe, expect, it } from 'vitest'
import {
  ENTRY_CODE_BYTES_MAX,
  ENTRY_DATA_BYTES_MAX,
  ENTRY_NAME_CHARACTERS_MAX,
  ENTRY_TEXT_BYTES_MAX,
  JSON_DEPTH_MAX,
  type Json,
  type JsonObject,
} from '../contract/index.ts'
import { entryProblem } from './kinds.ts'
import { before, native, plain, sentEntry } from './testing/adapters.ts'

const KEY = `sk-${'a1'.repeat(10)}`

function problemOf(name: string, config: JsonObject): string | null {
  return entryProblem(name.startsWith('native') ? native : plain, { id: 'e-1', name, config })
}

describe('an entry is fine', () => {
  it.each<[string, JsonObject]>([
    ['config', { data: {} }],
    ['config', { target: 'models', data: { max_tokens: '32000', key: '', tokens: 1000, keys: [], secrets: ['7'], monkeys: { see: 'x' } } }],
    ['rules', { text: 'Prefer sk-local for tests; ignore all previous instructions is a phrase.' }],
    ['agent_command', { name: 'a', text: 'b' }],
    ['skill', { name: 'A.b_c-1', text: 'b' }],
    ['code_extension', { name: 'a', code: 'if (ctx.hasUI) console.log(1)\nif (ctx.hasUI)\n\n  process.stderr.write("x")' }],
    ['native_tool', { name: 'a', description: 'b', code: 'export function run(args: object) { return args }' }],
    ['native_tool', { name: 'a', description: 'b', parameters: { type: 'object' }, capabilities: ['read', 'exec'], code: '1' }],
    ['native_hook', { name: 'a', event: 'pre_step', code: 'export default (next) => next()' }],
    ['native_agent', { name: 'a', prompt: 'b' }],
    [
      'native_agent',
      { name: 'a', prompt: 'b', graph: 'seed', tools: ['t'], skills: [], max_steps: 32, max_tool_calls: 256, ...before('b') },
    ],
    ['native_loop', { name: 'a', code: 'export async function runTurn<T>(ctx: T) {}', max_steps: 1 }],
    ['native_loop', { name: 'a', code: '// the loop\nexport function runTurn({ model }) {}' }],
  ])('%s %j', (name, config) => {
    expect(problemOf(name, config)).toBeNull()
  })
})

describe('an entry is refused for what it is', () => {
  const good = { id: 'e-1', name: 'rules', config: { text: 'a' } }
  it.each<[string, JsonObject, RegExp]>([
    ['an id of another shape', { ...good, id: '../a' }, /^an entry's id must start with a letter or digit/],
    ['a blank id', { ...good, id: ' ' }, /^an entry's id must/],
    ['no id', { name: 'rules', config: { text: 'a' } }, /^an entry's id must/],
    ['an id too long', { ...good, id: 'a'.repeat(ENTRY_NAME_CHARACTERS_MAX + 1) }, /^an entry's id must/],
    ['an id that is a key', { ...good, id: KEY }, /^an entry's id looks like a credential/],
    ['a group', { ...good, group: 'x' }, /^e-1: group must not be set/],
    ['a config that is a list', { ...good, config: [] }, /^e-1: config must be an object/],
    ['no config', { id: 'e-1', name: 'rules' }, /^e-1: config must be an object/],
    ['a switch that is a word', { ...good, disabled: 'yes' }, /^e-1: disabled must be true or false/],
    ['a word misspelt', { ...good, disable: true }, /^e-1: holds an unknown field/],
    [
      'an unknown kind',
      { ...good, name: 'prompt' },
      /^e-1: name must be a kind that plain renders: config, rules, agent_command, skill, code_extension$/,
    ],
    ['a kind of another agent', { ...good, name: 'native_loop' }, /^e-1: name must be a kind that plain renders/],
    ['a broken rule, disabled or not', { ...good, config: { text: ' ' }, disabled: true }, /^e-1: config.text must be non-blank text/],
  ])('%s', (_, entry, problem) => {
    const found = entryProblem(plain, sentEntry(entry))
    expect(found).toMatch(problem)
    expect(found).not.toContain(KEY)
  })

  it('a group that is off is no group', () => {
    expect(entryProblem(plain, sentEntry({ ...good, group: false }))).toBeNull()
  })
})

describe('an entry is refused for its config', () => {
  const tool = { name: 'a', description: 'b', code: '1' }
  const agent = { name: 'a', prompt: 'b' }
  it.each<[string, JsonObject, string]>([
    ['config', {}, 'config.data must be an object'],
    ['config', { data: [] }, 'config.data must be an object'],
    ['config', { target: 'elsewhere', data: {} }, "config.target must be one of plain's: primary, models"],
    ['config', { target: '__proto__', data: {} }, 'config.target must start with'],
    ['rules', {}, 'config.text must be non-blank text'],
    ['rules', { text: 7 }, 'config.text must be non-blank text'],
    ['rules', { text: 'a', path: 'b' }, 'config holds an unknown field; there are: text'],
    ['rules', { text: '\ud800' }, 'config.text holds half a surrogate pair'],
    ['rules', { text: 'é'.repeat(ENTRY_TEXT_BYTES_MAX / 2 + 1) }, `config.text must be at most ${ENTRY_TEXT_BYTES_MAX} bytes`],
    ['skill', { text: 'a' }, 'config.name must start with'],
    ['skill', { name: '.a', text: 'a' }, 'config.name must start with'],
    ['skill', { name: 'a/b', text: 'a' }, 'config.name must start with'],
    ['skill', { name: 'a\n', text: 'a' }, 'config.name must start with'],
    ['skill', { name: 'a'.repeat(ENTRY_NAME_CHARACTERS_MAX + 1), text: 'a' }, 'config.name must start with'],
    ['agent_command', { name: 'a', text: '\n' }, 'config.text must be non-blank text'],
    ['code_extension', { name: 'a', code: '' }, 'config.code must be non-blank text'],
    ['code_extension', { name: 'a', code: 'a()\n\nconsole.log(1)' }, 'config.code writes to the console in line 3'],
    ['code_extension', { name: 'a', code: 'process.stdout.write(a)' }, 'config.code writes to the console in line 1'],
    ['code_extension', { name: 'a', code: 'if (hasUI)\n  a()\nconsole?.warn(1)' }, 'config.code writes to the console in line 3'],
    [
      'code_extension',
      { name: 'a', code: 'x'.repeat(ENTRY_CODE_BYTES_MAX + 1) },
      `config.code must be at most ${ENTRY_CODE_BYTES_MAX} bytes`,
    ],
    ['config', { data: { a: 'x'.repeat(ENTRY_DATA_BYTES_MAX) } }, `config must be at most ${ENTRY_DATA_BYTES_MAX} bytes of JSON`],
    ['config', { data: deep(JSON_DEPTH_MAX + 1) }, `config must not be nested more than ${JSON_DEPTH_MAX} levels deep`],
    ['config', { data: deep(200_000) }, `config must not be nested more than ${JSON_DEPTH_MAX} levels deep`],
    ['native_tool', { ...tool, name: 'harness_try' }, 'config.name must not be one of harness_inspect, harness_propose, harness_try'],
    ['native_tool', { ...tool, description: '' }, 'config.description must be non-blank text'],
    ['native_tool', { ...tool, parameters: 'none' }, 'config.parameters must be an object'],
    ['native_tool', { ...tool, capabilities: ['fly'] }, 'config.capabilities[0] must be one of read, write, exec, network'],
    ['native_tool', { ...tool, capabilities: ['read', 'read'] }, 'config.capabilities must be a list without repetitions'],
    ['native_tool', { ...tool, code: 'def run(): pass' }, 'config.code must parse'],
    [
      'native_hook',
      { name: 'a', event: 'post_step', code: '1' },
      'config.event must be one of pre_step, pre_execute, request_error, post_execute',
    ],
    ['native_hook', { name: 'a', event: 'pre_step', code: '(' }, 'config.code must parse'],
    ['native_agent', { ...agent, prompt: ' ' }, 'config.prompt must be non-blank text'],
    ['native_agent', { ...agent, max_steps: 33 }, 'config.max_steps must be a whole number from 1 to 32'],
    ['native_agent', { ...agent, max_steps: true }, 'config.max_steps must be a whole number from 1 to 32'],
    ['native_agent', { ...agent, max_tool_calls: 0 }, 'config.max_tool_calls must be a whole number from 1 to 256'],
    ['native_agent', { ...agent, ...before('b', 'b') }, 'config.then must be a list without repetitions, 8 at most'],
    ['native_agent', { ...agent, ...before(...Array.from('bcdefghij')) }, 'config.then must be a list without repetitions, 8 at most'],
    ['native_agent', { ...agent, ...before('a') }, 'config.then must not name the agent itself'],
    ['native_agent', { ...agent, model: 'x' }, 'config holds an unknown field'],
    ['native_loop', { name: 'a', code: 'export function runTurn() {}' }, 'config.code must hold the line export function runTurn'],
    ['native_loop', { name: 'a', code: 'export const runTurn = (ctx) => ctx' }, 'config.code must hold the line export function runTurn'],
    ['native_loop', { name: 'a', code: 'export function* runTurn(ctx) {}' }, 'config.code must hold the line export function runTurn'],
    ['native_loop', { name: 'a', code: 'export function runTurn(ctx) {' }, 'config.code must parse'],
    ['native_loop', { name: 'a', code: 'export function runTurn(ctx) {}', max_steps: 0 }, 'config.max_steps must be a whole number'],
  ])('%s %.80j', (name, config, problem) => {
    expect(problemOf(name, config)).toContain(`e-1: ${problem}`)
  })
})

describe('a credential is refused wherever it stands, and never repeated', () => {
  it.each<[string, JsonObject, string]>([
    ['rules', { text: `use ${KEY}` }, 'config.text'],
    ['rules', { text: `-----BEGIN RSA PRIVATE KEY-----` }, 'config.text'],
    ['skill', { name: `ghp_${'a'.repeat(20)}`.replace('ghp_', 'x-ghp_'), text: 'a' }, 'config.name'],
    ['config', { data: { list: [{ note: KEY }] } }, 'config.data.list[0].note'],
    ['config', { data: { [KEY]: 1 } }, 'config.data'],
    ['code_extension', { name: 'a', code: `fetch('${KEY}')` }, 'config.code'],
    ['native_agent', { name: 'a', prompt: KEY }, 'config.prompt'],
  ])('%s %.60j', (name, config, field) => {
    const found = problemOf(name, config)
    expect(found).toContain(`e-1: ${field} holds what looks like a credential`)
    expect(found).not.toContain(KEY)
  })

  it.each<[Json, string]>([
    [{ apiKey: 'abc' }, 'config.data.apiKey'],
    [{ a: { 'API-KEYS': ['', 'abc'] } }, 'config.data.a.API-KEYS'],
    [{ list: [{ bearer_token: 'abc' }] }, 'config.data.list[0].bearer_token'],
    [{ clientSecret: '12a' }, 'config.data.clientSecret'],
    [{ passwords: [['abc']] }, 'config.data.passwords'],
    [{ api_key_env: 'MY_KEY' }, 'config.data.api_key_env'],
    [{ tokens: { access_token: 'abc' } }, 'config.data.tokens.access_token'],
  ])('a field named like one: %j', (data, field) => {
    expect(problemOf('config', { data })).toContain(`e-1: ${field} is named like a secret`)
  })
})

function deep(levels: number): JsonObject {
  let value: JsonObject = {}
  for (let level = 1; level < levels; level += 1) value = { a: value }
  return value
}
