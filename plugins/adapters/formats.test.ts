/** What a tree may say in each agent's format: no spelling passes for another, no name for another file, no value for one of another type. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { isRefusal, POWERS, type Adapter, type Entry, type Json, type JsonObject } from '../../src/contract/index.ts'
import { admit, powersIn, powersOf, printJson, printYaml, renderTree } from '../../src/harness/index.ts'
import claude from './claude/index.ts'
import codex from './codex/index.ts'
import dsh from './dsh/index.ts'
import hermes from './hermes/index.ts'
import native from './native/index.ts'
import opencode from './opencode/index.ts'
import pi from './pi/index.ts'
import terminus from './terminus/index.ts'
import { entry } from './testing/adapter.ts'

const AGENTS: readonly Adapter[] = [claude, codex, dsh, hermes, native, opencode, pi, terminus].map(({ plugin }) => plugin)
/** `words` is none, and `removes` follows from the tree before. */
const ALL = POWERS.filter((power) => power !== 'words' && power !== 'removes')

/** How an agent judges one entry in a tree of its own: refused, held for every power, or what it lets through. */
function judged(adapter: Adapter, one: Entry): 'refused' | 'all' | readonly string[] {
  try {
    renderTree(adapter, [one])
  } catch (error) {
    if (isRefusal(error)) return 'refused'
    throw error
  }
  const powers = powersIn(powersOf([], [one], adapter))
  return ALL.every((power) => powers.includes(power)) ? 'all' : powers
}

const LOOKALIKES: Readonly<Record<string, string>> = { a: 'а', c: 'с', e: 'е', i: 'і', o: 'о', p: 'р', s: 'ѕ', x: 'х', y: 'у' }

/** Other spellings of a name: some parser, or some person, might take them for it. */
function spellings(name: string): readonly string[] {
  const camel = name.replaceAll(/[-_](\w)/g, (_, letter: string) => letter.toUpperCase())
  const words = name.replaceAll(/[A-Z]+/g, (letters) => `_${letters.toLowerCase()}`).replace(/^_/, '')
  const all = [
    name.toUpperCase(),
    name.toLowerCase(),
    name.charAt(0).toUpperCase() + name.slice(1),
    camel,
    words.replaceAll('-', '_'),
    words.replaceAll('_', '-'),
    words.replaceAll(/[-_]/g, ''),
    words.replaceAll(/[-_]/g, '.'),
    `${name} `,
    ` ${name}`,
    `${name}\u0000`,
    `${name}\u200b`,
    `\ufeff${name}`,
    `"${name}"`,
    `x.${name}`,
    `${name}.x`,
    `${name}[0]`,
    `$${name}`,
    `{env:${name}}`,
    name.replaceAll(/[a-z]/g, (letter) => String.fromCodePoint(letter.charCodeAt(0) + 0xfee0)),
    name.replaceAll(/./gu, (letter) => LOOKALIKES[letter] ?? letter),
    `${name}\u0301`,
  ]
  return [...new Set(all)].filter((other) => other !== name)
}

/** The names of settings that would choose the model, run programs, read elsewhere or loosen a guard, in any agent. */
const DANGEROUS = `model model_provider model_providers provider providers small_model hooks mcp mcpServers mcp_servers apiKeyHelper notify
  statusLine plugin plugins enabledPlugins instructions model_instructions_file skills shell shellPath formatter lsp command sandbox sandbox_mode
  approval_policy permissionMode projects profiles profile env otel $schema include import extends settings constructor prototype toString`.split(
  /\s+/,
)

const nested = (path: readonly string[], value: Json): Json => path.toReversed().reduce<Json>((inner, step) => ({ [step]: inner }), value)

const setting = ([target = '', ...path]: readonly string[], value: Json): Entry =>
  entry('mine', 'config', { target, data: nested(path, value) })

/** Every listed path, respelled at one step. */
const listed = AGENTS.flatMap((adapter) =>
  Object.keys(adapter.powers?.settings ?? {})
    .map((path) => path.split('.'))
    .filter((path) => !path.includes('*'))
    .map((path) => ({ name: adapter.name, path: path.join('.'), adapter, steps: path })),
)

describe('a setting that an adapter lists', () => {
  it.each(listed)('$name: $path in another spelling is refused, or has every power', ({ adapter, steps }) => {
    for (const [index, step] of steps.entries())
      for (const other of index === 0 ? [] : spellings(step))
        expect([other, judged(adapter, setting(steps.with(index, other), true))]).toEqual([
          other,
          expect.stringMatching(/^(?:refused|all)$/),
        ])
  })

  it.each(listed)('$name: a field below $path that the agent does not know is refused, or has every power', ({ adapter, steps }) => {
    for (const below of ['other', 'command', '0', ''])
      expect(judged(adapter, setting([...steps, below], [7]))).toEqual(expect.stringMatching(/^(?:refused|all)$/))
  })
})

describe('a setting that an adapter does not list', () => {
  it.each(AGENTS.flatMap((adapter) => DANGEROUS.map((field) => ({ name: adapter.name, field, adapter }))))(
    '$name: $field is refused, or has every power, in any spelling',
    ({ adapter, field }) => {
      const known = Object.keys(adapter.powers?.settings ?? {})
      for (const target of Object.keys(adapter.layout.config))
        for (const other of [field, ...spellings(field)]) {
          if (known.some((path) => path === `${target}.${other}` || path.startsWith(`${target}.${other}.`))) continue
          expect([other, judged(adapter, setting([target, other], 'x'))]).toEqual([other, expect.stringMatching(/^(?:refused|all)$/)])
        }
    },
  )
})

describe('a field of front matter', () => {
  const FIELDS = [
    'hooks',
    'model',
    'mcpServers',
    'allowed-tools',
    'tools',
    'permission',
    'permissionMode',
    'shell',
    'agent',
    'settings',
    'env',
  ]
  const rows = AGENTS.flatMap((adapter) =>
    [...new Set([...FIELDS, ...Object.keys(adapter.powers?.head ?? {})])].map((field) => ({ name: adapter.name, field, adapter })),
  )
  it.each(rows)('$name: $field in another spelling is refused, or has every power', ({ adapter, field }) => {
    const head = adapter.powers?.head ?? {}
    for (const other of [field, ...spellings(field)].filter((each) => !Object.hasOwn(head, each)))
      for (const key of [JSON.stringify(other), ...(/^[\w-]+$/.test(other) ? [other] : [])]) {
        const text = `---\nname: mine\ndescription: d\n${key}: x\n---\nAdd numbers.`
        const one = entry('mine', 'skill', { name: 'mine', text })
        expect([key, judged(adapter, one)]).toEqual([key, expect.stringMatching(/^(?:refused|all)$/)])
      }
  })

  it.each(['hooks', 'Hooks', 'HOOKS', 'ho_oks', 'model', 'Model', 'MODEL', 'mo-del', 'm_odel'])('claude is given no %s', (field) => {
    for (const kind of ['skill', 'agent_command']) {
      const text = `---\nname: mine\ndescription: d\n${field}: x\n---\nAdd numbers.`
      expect(() => renderTree(claude.plugin, [entry('mine', kind, { name: 'mine', text })])).toThrow('in the front matter is refused: ')
    }
  })
})

describe('a number', () => {
  const AT: Readonly<Record<string, readonly string[]>> = {
    claude: ['primary', 'cleanupPeriodDays'],
    codex: ['primary', 'model_context_window'],
    dsh: ['primary', 'compaction-basic', 'config', 'thresholdRatio'],
    hermes: ['primary', 'compression', 'threshold'],
    native: ['models', 'context_window'],
    opencode: ['primary', 'agent', 'build', 'temperature'],
    pi: ['primary', 'compaction', 'reserveTokens'],
    terminus: ['primary', 'temperature'],
  }
  /** Within the bounds of each. */
  const FINE: Readonly<Record<string, number>> = { codex: 9_000, dsh: 0.5, hermes: 0.5, native: 9_000 }
  it.each(['1e400', '-1e400', '1e21', '9007199254740993', '1e-7', '5e-324'])('of %s, which agents read differently, is refused', (text) => {
    for (const adapter of AGENTS) expect(judged(adapter, setting(AT[adapter.name] ?? [], JSON.parse(text)))).toBe('refused')
  })

  it('that every agent reads the same is given to it', () => {
    for (const adapter of AGENTS) expect(judged(adapter, setting(AT[adapter.name] ?? [], FINE[adapter.name] ?? 1))).not.toBe('refused')
  })
})

describe('a mark in a setting, in whose place a program puts what the machine has', () => {
  it.each([
    ['${HOME}', 'reads'],
    ['$HOME', 'reads'],
    ['%USERPROFILE%', 'reads'],
    ['{env:HOME}', 'reads'],
    ['{ file: x}', 'reads'],
    ['{cmd:date}', 'reads'],
    ['$(date)', 'runs'],
    ['!`date`', 'runs'],
  ])('%s has its power in every agent', (mark, power) => {
    for (const adapter of AGENTS) {
      const [target = 'primary'] = Object.keys(adapter.layout.config)
      expect(powersIn(powersOf([], [setting([target, 'language'], `x ${mark}`)], adapter))).toContain(power)
      const listedPath = listed.find((one) => one.adapter === adapter)?.steps ?? []
      expect(powersIn(powersOf([], [setting(listedPath, `x ${mark}`)], adapter))).toContain(power)
    }
  })
})

describe('a name that agents take for something else', () => {
  it.each(['SKILL', 'skill', 'Skill', 'CLAUDE', 'claude.local', 'AGENTS', 'Agents.override', 'GEMINI', 'node_modules', 'Node_Modules'])(
    '%s is refused for skills, commands and extensions',
    (name) => {
      for (const adapter of AGENTS)
        for (const kind of Object.keys(adapter.layout.named)) {
          const code = kind === 'code_extension'
          if (!code && kind !== 'skill' && kind !== 'agent_command') continue
          const config = code ? { name, code: 'export const x = 1' } : { name, text: 'x' }
          expect(admit(adapter, [], [{ op: 'create', id: 'mine', options: { name: kind, config } }])).toMatchObject({
            admitted: false,
            reason: 'mine: config.name must be another: agents take this one for something else',
          })
        }
    },
  )
})

/** What a parser might take for something else than text. */
const ODD =
  `on|no|<<|=|1:30|0x10|~|null|*a|&b|!!js x|---|2024-01-01|1_000|.inf|%TAG|a: b # c|- x|{a|[b|"|'|\u0085|\u2028|\ufeff|\uffff|\u007f`.split(
    '|',
  )
const text = fc.oneof(fc.string({ unit: 'grapheme' }), fc.string({ unit: 'binary' }), fc.constantFrom(...ODD))
const number = fc.oneof(
  fc.integer(),
  fc.integer({ min: -1000, max: 1000 }).map((n) => n / 8),
)
const json = fc.letrec<{ value: Json }>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small' },
    text,
    fc.boolean(),
    number,
    fc.array(tie('value'), { maxLength: 4 }),
    fc.dictionary(text, tie('value'), { maxKeys: 4, noNullPrototype: true }),
  ),
})).value
const settings: fc.Arbitrary<JsonObject> = fc.dictionary(text, json, { maxKeys: 4, noNullPrototype: true })

describe('any data, printed', () => {
  it.each(['1.1', '1.2'] as const)('as YAML is read again as it was by version %s, without tags, anchors or merge keys', (version) => {
    fc.assert(
      fc.property(settings, (data) => {
        const printed = printYaml(data)
        expect(parse(printed, { version, merge: true, strict: true, uniqueKeys: true, logLevel: 'error' })).toEqual(data)
        expect(printYaml(parse(printed, { version }))).toBe(printed)
      }),
    )
  })

  it('as JSON is read again as it was', () => {
    fc.assert(
      fc.property(settings, (data) => {
        expect(JSON.parse(printJson(data))).toEqual(data)
      }),
    )
  })
})
