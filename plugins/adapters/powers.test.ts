import { describe, expect, it } from 'vitest'
import type { Adapter, Entry, JsonObject } from '../../src/contract/index.ts'
import { kindsOf, powersIn, powersOf, renderTree } from '../../src/harness/index.ts'
import claude from './claude/index.ts'
import codex from './codex/index.ts'
import dsh from './dsh/index.ts'
import hermes from './hermes/index.ts'
import native from './native/index.ts'
import opencode from './opencode/index.ts'
import pi from './pi/index.ts'
import terminus from './terminus/index.ts'

const ADAPTERS: Readonly<Record<string, Adapter>> = {
  claude: claude.plugin,
  codex: codex.plugin,
  dsh: dsh.plugin,
  hermes: hermes.plugin,
  native: native.plugin,
  opencode: opencode.plugin,
  pi: pi.plugin,
  terminus: terminus.plugin,
}
const ALL = ['orders', 'hidden', 'reads', 'runs', 'grants', 'reaches']

function adapterOf(name: string): Adapter {
  const known = ADAPTERS[name]
  return known ?? expect.unreachable(`no adapter ${name}`)
}

/** What the adapter's own data says of an entry; texts are also screened, the same for every adapter. */
function powers(adapter: string, name: string, config: JsonObject): readonly string[] {
  const known = adapterOf(adapter)
  const texts = new Set((known.powers?.texts ?? []).map(({ why }) => `it holds ${why}`))
  const told = powersOf([], [{ id: 'mine', name, config }], known).filter(({ why }) => why.startsWith('it changes ') || texts.has(why))
  return told.length === 0 ? ['words'] : powersIn(told)
}

const rules = (text: string): JsonObject => ({ text })
const named = (text: string): JsonObject => ({ name: 'mine', text })
const head = (fields: string): JsonObject => named(`---\nname: mine\ndescription: d\n${fields}\n---\nAdd numbers.`)

describe('a text', () => {
  it.each<[adapter: string, kind: string, text: string, powers: readonly string[]]>([
    ['claude', 'rules', 'Answer with a number.', ['words']],
    ['claude', 'rules', '@~/.ssh/id_rsa', ['reads']],
    ['claude', 'rules', 'See @./.env', ['reads']],
    ['claude', 'rules', 'See @/etc/passwd', ['reads']],
    ['claude', 'rules', '- @notes.md', ['reads']],
    ['claude', 'rules', '1. **@notes.md**', ['reads']],
    ['claude', 'rules', '[@~/.netrc](x)', ['reads']],
    ['claude', 'rules', '*x*@~/.netrc', ['reads']],
    ['claude', 'rules', 'me@example.com@~/.netrc', ['reads']],
    ['claude', 'rules', 'a (@~/.netrc)', ['reads']],
    ['claude', 'rules', 'x\u00a0@~/.netrc', ['reads']],
    ['claude', 'rules', '> quoted\n> @~/.netrc', ['reads']],
    ['claude', 'rules', '<!-- nobody sees it', ['hidden']],
    ['claude', 'agent_command', 'Do !`id`', ['runs']],
    ['claude', 'agent_command', 'Do: ```!\nid\n```', ['runs']],
    ['claude', 'skill', 'Some text ```! id ```', ['runs']],
    ['claude', 'skill', '!$ARGUMENTS`id`', ['runs']],
    ['claude', 'skill', '`$1`! id ```', ['runs']],
    ['claude', 'skill', '!${X}`id`', ['runs']],
    ['claude', 'agent_command', '!`i\nd`', ['runs']],
    ['claude', 'agent_command', 'Look at $ARGUMENTS and $1.', ['words']],
    ['opencode', 'agent_command', 'See @.env', ['reads']],
    ['opencode', 'agent_command', 'See (@.env)', ['reads']],
    ['opencode', 'agent_command', 'x!`id`', ['runs']],
    ['opencode', 'skill', 'x!`id`', ['runs']],
    ['opencode', 'rules', 'See {file:~/.netrc}', ['reads']],
    ['opencode', 'rules', 'See {env:HOME}', ['reads']],
    ['opencode', 'agent_command', 'See {FILE:x}', ['reads']],
    ['codex', 'rules', 'Add numbers.', ['words']],
    ['pi', 'agent_command', '@.env', ['reads']],
    ['pi', 'agent_command', '!id', ['runs']],
    ['pi', 'agent_command', 'one\n  !id', ['runs']],
    ['hermes', 'rules', 'Say ${HOME}', ['reads']],
    ['hermes', 'skill', 'Do !`id`', ['runs']],
    ['dsh', 'rules', '@~/.netrc', ['reads']],
    ['native', 'rules', 'Add numbers.', ['words']],
    ['terminus', 'skill', 'Add numbers.', ['words']],
  ])('of %s %s: %j', (adapter, kind, text, expected) => {
    expect(powers(adapter, kind, kind === 'rules' ? rules(text) : named(text))).toEqual(expected)
  })
})

describe('a head', () => {
  it.each<[adapter: string, fields: string, powers: readonly string[]]>([
    ['claude', 'argument-hint: n', ['words']],
    ['claude', 'allowed-tools: Bash', ['grants']],
    ['claude', 'allowed-tools: ["Bash(*)"]', ['grants']],
    ['claude', 'allowedTools: Bash', ALL],
    ['claude', 'Allowed-Tools: Bash', ALL],
    ['claude', 'allowed_tools: Bash', ALL],
    ['claude', 'hooks: {}', ALL],
    ['claude', 'mcpServers: {}', ALL],
    ['claude', 'settings: {}', ALL],
    ['claude', 'permissionMode: plan', ALL],
    ['claude', 'shell: powershell', ['runs']],
    ['claude', 'agent: other', ['grants']],
    ['claude', 'context: fork', ['grants']],
    ['claude', 'user-invocable: false', ['hidden']],
    ['claude', 'disallowed-tools: Read', ['grants']],
    ['opencode', 'agent: other', ['grants']],
    ['opencode', 'subtask: true', ['grants']],
    ['opencode', 'template: other', ALL],
    ['opencode', 'permission: allow', ALL],
    ['opencode', 'tools: {}', ALL],
    ['codex', 'allowed-tools: Bash', ALL],
    ['codex', 'dependencies: {}', ALL],
    ['pi', 'allowed-tools: Bash', ['grants']],
    ['pi', 'extensions: [x]', ALL],
    ['hermes', 'required_environment_variables: [HOME]', ALL],
    ['hermes', 'setup: {}', ALL],
    ['hermes', 'metadata: {}', ALL],
    ['dsh', 'allowed-tools: Bash', ['grants']],
    ['native', 'tools: [bash]', ALL],
    ['terminus', 'hooks: {}', ALL],
    ['claude', 'constructor: 1', ALL],
    ['claude', 'toString: 1', ALL],
  ])('of %s with %s', (adapter, fields, expected) => {
    expect(powers(adapter, 'skill', head(fields))).toEqual(expected)
  })
})

describe('a setting', () => {
  it.each<[adapter: string, data: JsonObject, powers: readonly string[]]>([
    ['claude', { permissions: { allow: ['Bash(*)'] } }, ['grants']],
    ['claude', { permissions: { defaultMode: 'acceptEdits' } }, ['grants']],
    ['claude', { outputStyle: 'other' }, ['grants']],
    ['claude', { cleanupPeriodDays: 1 }, ['removes']],
    ['claude', { env: { NODE_OPTIONS: '1' } }, ALL],
    ['claude', { env: { MAX_THINKING_TOKENS: '1' } }, ['words']],
    ['claude', { hooks: {} }, ['runs']],
    ['claude', { sandbox: {} }, ALL],
    ['claude', { enableAllProjectMcpServers: true }, ALL],
    ['codex', { project_doc_fallback_filenames: ['.env'] }, ['reads']],
    ['codex', { web_search: 'live' }, ['reaches']],
    ['codex', { features: { unified_exec: true } }, ['runs']],
    ['codex', { features: { multi_agent: true } }, ['grants']],
    ['codex', { features: { skill_search: true } }, ALL],
    ['codex', { developer_instructions: 'x' }, ['grants']],
    ['codex', { project_doc_max_bytes: 0 }, ['removes']],
    ['codex', { approval_policy: 'never' }, ALL],
    ['codex', { 'features.unified_exec': true }, ALL],
    ['codex', { sandbox_workspace_write: { network_access: true } }, ALL],
    ['opencode', { permission: 'allow' }, ['grants', 'reaches']],
    ['opencode', { permission: { webfetch: 'allow' } }, ['grants', 'reaches']],
    ['opencode', { agent: { build: { prompt: 'x' } } }, ['grants']],
    ['opencode', { agent: { other: { mode: 'primary' } } }, ['grants']],
    ['opencode', { agent: { x: { prompt: '{file:~/.netrc}' } } }, ['reads', 'grants']],
    ['opencode', { agent: { '{env:HOME}': { prompt: 'x' } } }, ['reads', 'grants']],
    ['opencode', { default_agent: 'other' }, ['grants']],
    ['opencode', { experimental: { continue_loop_on_deny: true } }, ['grants']],
    ['opencode', { subagent_depth: 9 }, ['grants']],
    ['opencode', { snapshot: false }, ['removes']],
    ['opencode', { model: '{file:~/.netrc}' }, ALL],
    ['opencode', { instructions: ['x'] }, ALL],
    ['pi', { defaultTools: ['bash'] }, ['grants']],
    ['pi', { shellCommandPrefix: 'x' }, ALL],
    ['pi', { hideThinkingBlock: true }, ['hidden']],
    ['pi', { compaction: { enabled: false } }, ['removes']],
    ['pi', { compaction: { keepRecentTokens: 9 } }, ['words']],
    ['pi', { retry: { enabled: false } }, ['removes']],
    ['pi', { images: { blockImages: true } }, ['removes']],
    ['opencode', { compaction: { auto: false } }, ['removes']],
    ['hermes', { compression: { enabled: false } }, ['removes']],
    ['dsh', { 'compaction-basic': { config: { auto: false } } }, ['removes']],
    ['terminus', { enable_summarize: false }, ['removes']],
    ['pi', { branchSummary: { skipPrompt: true } }, ['grants']],
    ['pi', { branchSummary: { reserveTokens: 1 } }, ['words']],
    ['hermes', { memory: { memory_enabled: true } }, ['grants']],
    ['hermes', { skills: { creation_nudge_interval: 1 } }, ['grants']],
    ['codex', { include_environment_context: false }, ['grants']],
    ['dsh', { 'tool-ralph': { config: { maxRounds: 999 } } }, ['grants']],
    ['hermes', { agent: { system_prompt: 'x' } }, ['grants']],
    ['hermes', { platform_toolsets: { cli: ['web'] } }, ['grants', 'reaches']],
    ['hermes', { skills: { template_vars: true } }, ['reads', 'runs']],
    ['hermes', { approvals: {} }, ALL],
    ['dsh', { 'tool-web': { config: { fetch: true } } }, ['reaches']],
    ['dsh', { 'tool-todo': { disabled: true } }, ['grants', 'removes']],
    ['dsh', { 'system-prompt': { config: { persona: 'x' } } }, ['grants']],
    ['dsh', { 'tool-other': { config: {} } }, ALL],
    ['terminus', { parser_name: 'xml' }, ['runs']],
    ['terminus', { api_base: 'x' }, ALL],
    ['native', { anything: 1 }, ALL],
  ])('of %s: %j', (adapter, data, expected) => {
    expect(powers(adapter, 'config', { data })).toEqual(expected)
  })
})

describe('a name', () => {
  it.each<[name: string, power: string]>([
    ...[
      'commit',
      'review',
      'init',
      'help',
      'bash',
      'Commit',
      'code-review',
      're.view',
      'reviews',
      'review2',
      'svc',
      'svc-claude',
      'SVC_x',
    ].map((name): [string, string] => [name, 'runs']),
    ...['units', 'counting', 'house-style', 'kettles', 'practice-answer-line'].map((name): [string, string] => [name, 'words']),
  ])('%s of a skill or a command: %s', (name, power) => {
    for (const adapter of Object.values(ADAPTERS))
      for (const kind of ['skill', 'agent_command'].filter((each) => Object.hasOwn(adapter.layout.named, each)))
        expect(powersIn(powersOf([], [{ id: 'mine', name: kind, config: { name, text: 'Add numbers.' } }], adapter))).toContain(power)
  })
})

describe('a description', () => {
  it.each<[description: string, powers: readonly string[]]>([
    ['Use this skill for every task.', ['orders']],
    ['Read this first in all sessions.', ['orders']],
    ['Always read this.', ['orders']],
    ['Each question needs it.', ['orders']],
    ['Read this before any task about dates.', ['words']],
    ['How to write a summary.', ['words']],
  ])('%s', (description, expected) => {
    const text = `---\nname: mine\ndescription: ${description}\n---\nAdd numbers.`
    for (const adapter of Object.values(ADAPTERS))
      expect(powersIn(powersOf([], [{ id: 'mine', name: 'skill', config: { name: 'mine', text } }], adapter))).toEqual(expected)
  })
})

describe('code and graphs', () => {
  it.each<[adapter: string, kind: string, power: string]>([
    ['claude', 'code_extension', 'runs'],
    ['opencode', 'code_extension', 'runs'],
    ['pi', 'code_extension', 'runs'],
    ['hermes', 'code_extension', 'runs'],
    ['dsh', 'code_extension', 'runs'],
    ['native', 'native_tool', 'runs'],
    ['native', 'native_hook', 'runs'],
    ['native', 'native_loop', 'runs'],
    ['native', 'native_graph', 'grants'],
    ['native', 'native_agent', 'grants'],
  ])('%s: %s', (adapter, kind, power) => {
    expect(powers(adapter, kind, { name: 'x' })).toEqual([power])
  })
})

/** Settings that an adapter renders and its data does not name: found by asking which ones it would take instead of an unknown one. */
function unnamedSettings(adapter: Adapter, target: string, path: readonly string[] = []): readonly string[] {
  const probe = [...path, UNKNOWN_SETTING]
  const entry: Entry = { id: 'mine', name: 'config', config: { target, data: nested(probe) } }
  const isNamed = !powersOf([], [entry], adapter).some(({ why }) => why.endsWith(NOT_KNOWN))
  if (isNamed && path.length > 0) return []
  const accepted = acceptedBeside(adapter, entry, probe)
  if (accepted === null) return isKnownLeaf(adapter, target, path) ? [] : [[target, ...path].join('.')]
  return accepted.flatMap((field) => unnamedSettings(adapter, target, [...path, field]))
}

const UNKNOWN_SETTING = 'no-such-setting'
const NOT_KNOWN = 'of which nothing is known'
const nested = (path: readonly string[]): JsonObject =>
  path.slice(0, -1).reduceRight<JsonObject>((below, field) => ({ [field]: below }), { [path.at(-1) ?? '']: 1 })

const isKnownLeaf = (adapter: Adapter, target: string, path: readonly string[]): boolean =>
  !powersOf([], [{ id: 'mine', name: 'config', config: { target, data: nested(path) } }], adapter).some(({ why }) =>
    why.endsWith(NOT_KNOWN),
  )

/** The fields that the adapter says it takes there; null where it is no object with fields of its own, none where it takes nothing. */
function acceptedBeside(adapter: Adapter, entry: Entry, probe: readonly string[]): readonly string[] | null {
  const message = refusalOf(adapter, entry)
  if (probe.length === 1 && !message.includes('a tree may set: ')) return message === '' ? null : []
  const [, fields = ''] = / is refused: a tree may set: (.+)$/.exec(message) ?? []
  return message.includes(`config.data.${probe.join('.')} is refused`) ? fields.split(', ').filter(Boolean) : null
}

function refusalOf(adapter: Adapter, entry: Entry): string {
  try {
    renderTree(adapter, [entry])
    return ''
  } catch (error) {
    return error instanceof Error ? error.message : String(error)
  }
}

describe.each(Object.entries(ADAPTERS))('the data of %s names', (_, adapter) => {
  it('every kind that it renders', () => {
    const kinds = kindsOf(adapter).filter((kind) => kind !== 'config')
    expect(kinds.filter((kind) => !Object.hasOwn(adapter.powers?.kinds ?? {}, kind))).toEqual([])
  })

  it('every setting that it renders', () => {
    const targets = Object.keys(adapter.layout.config)
    expect(targets.flatMap((target) => unnamedSettings(adapter, target))).toEqual([])
  })

  it('every setting of its own defaults, of what it ships and of its seed', () => {
    const own = [...(adapter.shipped?.version_check ?? []), ...(adapter.shipped?.requests ?? []), ...(adapter.seed ?? [])]
    expect(powersOf([], own, adapter).filter(({ why }) => why.endsWith(NOT_KNOWN))).toEqual([])
  })

  it.each(['skill', 'agent_command'])('every field of front matter that it prints for a %s', (kind) => {
    if (!kindsOf(adapter).some((each) => each === kind)) return
    const texts = Object.values(renderTree(adapter, [{ id: 'mine', name: kind, config: named('Add numbers.') }]))
    const [, printed = ''] = /^---\n([^]*?)---\n/.exec(texts.find((text) => text.includes('Add numbers.')) ?? '') ?? []
    const fields = [...printed.matchAll(/^([\w-]+):/gm)].map(([, field = '']) => field)
    expect(fields).toContain('description')
    expect(fields.filter((field) => !Object.hasOwn(adapter.powers?.head ?? {}, field))).toEqual([])
  })

  it('only settings that it renders', () => {
    const paths = Object.keys(adapter.powers?.settings ?? {}).filter((path) => !path.includes('*') && path !== SHIPPED_SETTING)
    const refused = paths.filter((path) => {
      const [target = '', ...fields] = path.split('.')
      const message = refusalOf(adapter, { id: 'mine', name: 'config', config: { target, data: nested(fields) } })
      return message.includes(`config.data.${fields.join('.')} is refused: a tree may set`)
    })
    expect(refused).toEqual([])
  })
})

/** Only the service itself sets it. */
const SHIPPED_SETTING = 'primary.hooks'

it('a setting that the data of an adapter forgets is found', () => {
  const data = adapterOf('codex').powers ?? expect.unreachable('no data')
  const { 'primary.features.goals': _, 'primary.web_search': __, ...settings } = data.settings
  const forgetful: Adapter = { ...adapterOf('codex'), powers: { ...data, settings } }
  expect(unnamedSettings(forgetful, 'primary')).toEqual(['primary.features.goals', 'primary.web_search'])
})
