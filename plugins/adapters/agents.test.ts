/** Where the agents differ from each other: which of them needs a name for its model, which refuses a head, and which calls the wrapper by a prompt. */
import { globSync, readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Adapter, JsonObject } from '../../src/contract/index.ts'
import { admit, renderTree } from '../../src/harness/index.ts'
import claude from './claude/index.ts'
import codex from './codex/index.ts'
import dsh from './dsh/index.ts'
import hermes from './hermes/index.ts'
import native from './native/index.ts'
import opencode from './opencode/index.ts'
import pi from './pi/index.ts'
import terminus from './terminus/index.ts'
import { entry, modelOf } from './testing/adapter.ts'

const agents: readonly Adapter[] = [claude, codex, dsh, hermes, native, opencode, pi, terminus].map(({ plugin }) => plugin)

/** The agents that refuse with this code and these words; of the others none may refuse at all. */
function refusing(some: readonly Adapter[], code: string, words: string, render: (adapter: Adapter) => unknown): readonly string[] {
  return some.flatMap((adapter) => {
    try {
      render(adapter)
      return []
    } catch (error) {
      expect(error).toMatchObject({ code, message: expect.stringContaining(words) })
      return [adapter.name]
    }
  })
}

const ALL = ['claude', 'codex', 'dsh', 'hermes', 'native', 'opencode', 'pi', 'terminus']
const CALLED = ALL.filter((name) => name !== 'native')

describe('the agents', () => {
  it('that ask for a model by its name are refused one without, naming the setting that names it', () => {
    const nameless = { ...modelOf('openai'), model: null }
    expect(refusing(agents, 'model_missing', 'set inference.upstream_model', (adapter) => renderTree(adapter, [], nameless))).toEqual([
      'dsh',
      'hermes',
      'opencode',
      'pi',
      'terminus',
    ])
  })

  it('are given no setting named __proto__, however deep it lies', () => {
    const data: JsonObject[] = [
      JSON.parse('{"__proto__":{"hooks":{}}}'),
      JSON.parse('{"agent":{"build":[{"__proto__":{"model":"other"}}]}}'),
    ]
    for (const each of data) {
      const refused = refusing(agents, 'setting_refused', '__proto__ is refused: ', (adapter) =>
        renderTree(adapter, [entry('mine', 'config', { target: adapter.name === 'native' ? 'models' : 'primary', data: each })]),
      )
      expect(refused).toEqual(agents.map(({ name }) => name))
    }
  })

  it.each<[adapter: Adapter, data: JsonObject]>([
    [claude.plugin, { env: { BASH_DEFAULT_TIMEOUT_MS: '0' } }],
    [claude.plugin, { env: { CLAUDE_CODE_MAX_OUTPUT_TOKENS: '1' } }],
    [claude.plugin, { cleanupPeriodDays: 999_999_999 }],
    [codex.plugin, { tool_output_token_limit: 0 }],
    [codex.plugin, { model_auto_compact_token_limit: 999_999_999 }],
    [dsh.plugin, { 'compaction-basic': { config: { thresholdRatio: 1 } } }],
    [dsh.plugin, { 'tool-fs': { config: { readLimit: 0 } } }],
    [hermes.plugin, { agent: { max_turns: 0 } }],
    [hermes.plugin, { compression: { threshold: 1 } }],
    [native.plugin, { context_window: 1 }],
    [opencode.plugin, { tool_output: { max_lines: 1 } }],
    [opencode.plugin, { agent: { build: { steps: 999_999_999 } } }],
    [pi.plugin, { retry: { maxRetries: 1_000_000_000 } }],
    [pi.plugin, { httpIdleTimeoutMs: 0 }],
    [terminus.plugin, { max_turns: 0 }],
  ])('are given no number that would make them useless: %#', (adapter, data) => {
    const target = adapter.name === 'native' ? 'models' : 'primary'
    const refused = refusing([adapter], 'setting_refused', ' is refused: it is a number from ', () =>
      renderTree(adapter, [entry('mine', 'config', { target, data })]),
    )
    expect(refused).toEqual([adapter.name])
  })

  it.each(agents.map(({ name }) => name))('have no number without bounds in the data of %s', (name) => {
    const texts = globSync(`${import.meta.dirname}/${name}/{index,settings}.ts`).map((path) => readFileSync(path, 'utf8'))
    expect(texts.join('\n')).not.toMatch(/\bz\s*\.(?:int|number)\b/)
  })

  it.each([
    ['that is never closed', '---\nname: mine\ndescription: d\n'],
    ['that is closed by more than a line of hyphens', '---\nname: mine\ndescription: d\n---x: y\n---\nx'],
    ['that is empty', '---\n---\nname: mine\ndescription: d\n---\nx'],
    ['that is a list', '---\n- mine\n---\nx'],
    ['that is no YAML', '---\ndescription: [\n---\nx'],
    ['that says a field twice', '---\ndescription: a\ndescription: b\n---\nx'],
  ])('are given no skill or command with a head %s', (_, text) => {
    for (const kind of ['skill', 'agent_command'] as const) {
      const those = agents.filter(({ layout }) => layout.named[kind] !== undefined)
      const refused = refusing(those, 'bad_front_matter', 'mine: the front matter ', (adapter) =>
        renderTree(adapter, [entry('mine', kind, { name: 'mine', text })]),
      )
      expect(refused).toEqual(those.map(({ name }) => name))
    }
  })

  it.each([
    ['a skill under another name', 'skill', 'name: other\ndescription: d', 'must be mine', ALL],
    ['a skill without a name', 'skill', 'description: d', 'must be mine', ['opencode']],
    ['a skill without a description', 'skill', 'name: mine', 'needs a description', ['codex', 'opencode', 'pi']],
    ['a command under another name', 'agent_command', 'name: other\ndescription: d', 'must be mine', CALLED],
    ['a command without a description', 'agent_command', 'name: mine', 'needs a description', ['codex']],
  ] as const)('that would leave out %s are not given it', (_, kind, head, words, names) => {
    const mine = [entry('mine', kind, { name: 'mine', text: `---\n${head}\n---\nx` })]
    const those = agents.filter(({ layout }) => layout.named[kind] !== undefined)
    expect(refusing(those, 'bad_front_matter', words, (adapter) => renderTree(adapter, mine))).toEqual(names)
  })

  it.each([
    ['rules that begin with a head', [entry('mine', 'rules', { text: '---\npaths: x' }), entry('other', 'rules', { text: 'Add.\n---' })]],
    ['rules that begin with a head of TOML', [entry('mine', 'rules', { text: '\n+++\nx = 1\n+++' })]],
    ['rules that begin with a hidden sign and a head', [entry('mine', 'rules', { text: '\u200b---\nx: y\n---' })]],
  ])('are given no %s', (_, entries) => {
    const refused = refusing(agents, 'bad_front_matter', 'mine: rules have no front matter', (adapter) => renderTree(adapter, entries))
    expect(refused).toEqual(ALL)
  })

  it.each([
    ['mine', 'mine'],
    ['mine', 'MINE'],
    ['a.b', 'A.b'],
  ])('are given no skill %s beside a command %s', (skill, command) => {
    const entries = [entry('one', 'skill', { name: skill, text: 'x' }), entry('two', 'agent_command', { name: command, text: 'x' })]
    const those = agents.filter(({ layout, name }) => layout.named.agent_command !== undefined && name !== 'dsh')
    const refused = refusing(those, 'path_collision', 'two and one are both', (adapter) => renderTree(adapter, entries))
    expect(refused).toEqual(those.map(({ name }) => name))
  })

  it.each(['svc', 'SVC', 'Svc', 'svc-versions', 'SVC-requests', 'svc_x', 'svc.x'])('admit no entry with the shipped name %s', (name) => {
    for (const adapter of agents)
      for (const kind of ['skill', 'agent_command', 'code_extension'] as const) {
        if (adapter.layout.named[kind] === undefined) continue
        const config = kind === 'code_extension' ? { name, code: 'x' } : { name, text: 'x' }
        const answer = admit(adapter, [], [{ op: 'create', id: 'mine', options: { name: kind, config } }])
        expect(answer).toMatchObject({ admitted: false, reason: expect.stringContaining('the names that begin with svc are the service') })
      }
  })

  it('that would ask another model for a command are not given one, however its head spells it', () => {
    for (const head of ['model: other', '"mod\\u0065l": other', '{ "model": "other", "description": "d" }']) {
      const text = `---\ndescription: d\n---\nx`.replace('description: d', () => head)
      const refused = refusing([claude.plugin, opencode.plugin], 'setting_refused', 'the service names the model', (adapter) =>
        renderTree(adapter, [entry('mine', 'agent_command', { name: 'mine', text })]),
      )
      expect(refused).toEqual(['claude', 'opencode'])
    }
  })

  it.each([
    [claude.plugin, 'claude/commands/svc.md'],
    [codex.plugin, 'codex/skills/svc/SKILL.md'],
    [dsh.plugin, 'dsh-agents/skills/svc/SKILL.md'],
    [hermes.plugin, 'hermes-commands/svc/SKILL.md'],
    [opencode.plugin, 'opencode/commands/svc.md'],
  ])('whose commands are prompts are directed to the wrapper, and what to say without one: %#', (adapter, path) => {
    const text = renderTree(adapter, adapter.shipped?.requests ?? [])[path]
    expect(text).toMatch(/^---\n[^]*name: "svc"\ndescription: [^]*\n---\n/)
    expect(text).toContain('Run `printenv SVC_WRAPPER`. If it prints nothing, do nothing else')
    expect(text).toContain(`\`svc-${adapter.name}\` starts one`)
    expect(text).toContain('       "$SVC_WRAPPER" harness "<request>" --wait\n')
  })
})
