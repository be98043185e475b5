/** Hermes: what a tree becomes, what is refused, how it is started and what it leaves. */
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { entry, expectSettingRefused, itRendersAsBefore, leave } from '../testing.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const tree: readonly Entry[] = [
  entry('manners', 'config', { data: { display: { on: 'yes' }, skills: { template_vars: false } } }),
  entry('brief', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('fix', 'agent_command', { name: 'fix', text: '---\nname: fix\ndescription: Fix what fails\n---\nRun the tests first.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud: "one", two\n\nOne, two, three.' }),
  entry('greeter', 'code_extension', { name: 'greeter', code: 'def register(ctx):\n    pass' }),
]

describe('hermes', () => {
  adapterConformance({ describe, it, adapter, entries: tree })

  itRendersAsBefore(adapter, tree)

  it('what Python would read as another value stays the text it was', () => {
    const odd = { on: 'off', '2020-01-01': 'no', 'a: b': 'c # d', '': 'e\n---\nf' }
    const files = renderTree(adapter, [entry('odd', 'config', { data: { display: odd } })])
    expect(parse(files['hermes/config.yaml'] ?? '', { version: '1.1' })).toMatchObject({ display: odd })
  })

  it('plug-ins that the tree enables itself stay enabled beside those of its entries', () => {
    const own = entry('own', 'config', {
      data: { plugins: { enabled: ['disk-cleanup'], entries: { greeter: { allow_tool_override: false } } } },
    })
    const files = renderTree(adapter, [own, ...tree])
    expect(parse(files['hermes/config.yaml'] ?? '')).toMatchObject({
      plugins: { enabled: ['disk-cleanup', 'greeter'], entries: { greeter: { allow_tool_override: true } } },
    })
  })

  it.each([
    ['model', { model: { default: 'other' } }],
    ['providers', { providers: { other: {} } }],
    ['custom_providers', { custom_providers: [] }],
    ['fallback_providers', { fallback_providers: [] }],
    ['auxiliary', { auxiliary: { vision: { provider: 'openrouter' } } }],
    ['skills.external_dirs', { skills: { external_dirs: ['/'] } }],
    ['skills', { skills: null }],
    ['security.tirith_enabled', { security: { tirith_enabled: true } }],
    ['sessions.write_json_snapshots', { sessions: { write_json_snapshots: false } }],
    ['sessions', { sessions: null }],
  ])('an entry that sets %s is refused by name', (field, data) => {
    expectSettingRefused(adapter, field, { data })
  })

  it('a prompt that begins like an option is still a prompt', () => {
    const words = ['--help', 'say -x'].map((prompt) => adapter.launch({ prompt }, '/root').argv.at(-1))
    expect(words).toEqual([' --help', 'say -x'])
  })

  it('a session is read as what is known of it, then its messages; an index among them is none', async () => {
    const root = temporaryFolder()
    await leave(root, {
      'hermes/sessions/session_1.json': JSON.stringify({
        session_id: '1',
        model: 'm',
        messages: [
          { role: 'user', content: 'hello' },
          { role: 'assistant', content: 'hi' },
        ],
      }),
      'hermes/sessions/sessions.json': '{"entries":{}}',
      'hermes/sessions/1.jsonl': '{"role":"user"}\n',
    })
    expect(await adapter.readTrajectory(root)).toEqual([
      { type: 'session', session_id: '1', model: 'm' },
      { type: 'message', role: 'user', content: 'hello' },
      { type: 'message', role: 'assistant', content: 'hi' },
    ])
  })

  it.each(['{"messages":[', '[]', '{"messages":["hello"]}'])('a document that is no session is no trajectory: %s', async (text) => {
    const root = temporaryFolder()
    await leave(root, { 'hermes/sessions/session_1.json': text })
    await expect(adapter.readTrajectory(root)).rejects.toThrow()
  })
})
