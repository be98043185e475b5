/** DeepSeek Harness: what a tree becomes, what is refused, how it is started and what it leaves. */
import { describe, expect, it } from 'vitest'
import type { Entry, Json } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { entry, expectSettingRefused, itConforms, trajectoryOf } from '../testing/adapter.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const tree: readonly Entry[] = [
  entry('less', 'config', { data: { 'tool-web': { disabled: true }, 'tool-todo': { config: { allowParallelInProgress: false } } } }),
  entry('brief', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('fix', 'agent_command', { name: 'fix', text: '---\nname: fix\ndescription: Fix what fails\n---\nRun the tests first.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud: "one", two\n\nOne, two, three.' }),
  entry('greeter', 'code_extension', { name: 'greeter', code: "export const name = 'greeter'\nexport function apply() {}" }),
]

describe('dsh', () => {
  itConforms(adapter, tree)

  it('text that looks like an expression stays text: nothing of a config entry is run', () => {
    const files = renderTree(adapter, [
      entry('sly', 'config', { data: { 'system-prompt': { config: { persona: '!!js process.exit()' } } } }),
    ])
    expect(files['dsh/cordis.patch.yml']).toContain('"persona": "!!js process.exit()"')
  })

  it.each<readonly [string, Json]>([
    ['agent-default-model', { config: {} }],
    ['llm-deepseek', { config: { baseURL: 'http://127.0.0.1:1' } }],
    ['llm-pi-ai', { disabled: true }],
    ['session-persistence-jsonl', { config: {} }],
    ['session-telemetry-otel', { disabled: false }],
    ['session-title-llm', { disabled: false }],
    ['approval', { config: { policy: 'never' } }],
    ['bash-sandbox', { disabled: true }],
    ['hmr', { disabled: false }],
    ['mcp-client', { config: { servers: { notes: { command: 'notes' } } } }],
    ['sandbox-policy', { config: { mode: 'danger-full-access' } }],
    ['skill-filesystem', { config: { roots: ['/'] } }],
    ['subprocess', { config: {} }],
    ['web-search-deepseek', { config: { baseURL: 'http://127.0.0.1:1' } }],
  ])('an entry that changes the row %s is refused by name', (row, patch) => {
    expectSettingRefused(adapter, row, { data: { [row]: patch } })
  })

  it.each<readonly [string, string, Json]>([
    ['names other code', '.name', { name: './elsewhere.mjs' }],
    ['has rows of its own', '.insert', { insert: [] }],
    ['has a list for its config', '.config', { config: [] }],
    ['is configured by a field that it does not list', '.config.command', { config: { command: 'date' } }],
    ['is switched by a text', '.disabled', { disabled: 'yes' }],
    ['is none', '', null],
  ])('an entry with a row that %s is refused', (_what, below, patch) => {
    expectSettingRefused(adapter, `tool-todo${below}`, { data: { 'tool-todo': patch } })
  })

  it('an entry that sets a variable is refused', () => {
    const mine = entry('mine', 'config', { target: 'env', data: { HTTPS_PROXY: 'http://elsewhere' } })
    expect(() => renderTree(adapter, [mine])).toThrow(
      expect.objectContaining({ code: 'setting_refused', message: expect.stringContaining('mine: config.target env is refused') }),
    )
  })

  it.each(['Count', 'count_up', 'count.up', 'count--up', '-count'])(
    'a skill or command named %s, which it would leave out, is refused',
    (name) => {
      for (const kind of ['skill', 'agent_command'])
        expect(() => renderTree(adapter, [entry('mine', kind, { name, text: 'x' })])).toThrow('mine: config.name must be small letters')
    },
  )

  it('the command it ships is for a person alone to call', () => {
    const files = renderTree(adapter, adapter.shipped?.requests ?? [])
    expect(files['dsh-agents/skills/svc/SKILL.md']).toMatch(/^---\ndisable-model-invocation: true\n/)
  })

  it('a command that says itself who may call it keeps its word, and one that speaks of it in its text alone is marked', () => {
    const open = entry('open', 'agent_command', { name: 'open', text: '---\nname: open\ndisable-model-invocation: false\n---\nx' })
    const talk = entry('talk', 'agent_command', { name: 'talk', text: 'x\ndisable-model-invocation: false' })
    const files = renderTree(adapter, [open, talk])
    expect(files['dsh-agents/skills/open/SKILL.md']).not.toContain('disable-model-invocation: true')
    expect(files['dsh-agents/skills/talk/SKILL.md']).toContain('---\ndisable-model-invocation: true\n')
  })

  it('the session log is read in the order of the paths, but for half a last line', async () => {
    const files = {
      'dsh/sessions/--work--/session-b/session.jsonl': '{"type":"session","version":0,"id":"b"}\n{"type":"turn/st',
      'dsh/sessions/--work--/session-a/session.jsonl':
        '{"type":"session","version":0,"id":"a"}\n{"type":"turn/start","seq":0,"time":1,"data":{"turn":1}}\n',
    }
    expect(await trajectoryOf(adapter, files)).toEqual([
      { type: 'session', version: 0, id: 'a' },
      { type: 'turn/start', seq: 0, time: 1, data: { turn: 1 } },
      { type: 'session', version: 0, id: 'b' },
    ])
  })
})
