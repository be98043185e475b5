/** Hermes: what a tree becomes, what is refused, how it is started and what it leaves. */
import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { entry, itRefusesSettings, itConforms, trajectoryOf } from '../testing/adapter.ts'
import plugin from './index.ts'

const adapter = plugin.plugin

const tree: readonly Entry[] = [
  entry('manners', 'config', { data: { agent: { personalities: { on: 'yes' } }, skills: { template_vars: false } } }),
  entry('brief', 'rules', { text: '# Rules\n\nAnswer in one line.' }),
  entry('honest', 'rules', { text: 'Say when you do not know.' }),
  entry('review', 'agent_command', { name: 'review', text: 'Review the last change.' }),
  entry('fix', 'agent_command', { name: 'fix', text: '---\nname: fix\ndescription: Fix what fails\n---\nRun the tests first.' }),
  entry('counting', 'skill', { name: 'counting', text: '# Count aloud: "one", two\n\nOne, two, three.' }),
  entry('greeter', 'code_extension', { name: 'greeter', code: 'def register(ctx):\n    pass' }),
]

describe('hermes', () => {
  itConforms(adapter, tree)

  it('what Python would read as another value stays the text it was', () => {
    const odd = { on: 'off', '2020-01-01': 'no', 'a: b': 'c # d', '': 'e\n---\nf' }
    const files = renderTree(adapter, [entry('odd', 'config', { data: { agent: { personalities: odd } } })])
    expect(parse(files['hermes/config.yaml'] ?? '', { version: '1.1' })).toMatchObject({ agent: { personalities: odd } })
  })

  itRefusesSettings(adapter, [
    ['model', { model: { default: 'other' } }],
    ['providers', { providers: { other: {} } }],
    ['custom_providers', { custom_providers: [] }],
    ['fallback_providers', { fallback_providers: [] }],
    ['auxiliary', { auxiliary: { vision: { provider: 'openrouter' } } }],
    ['skills.external_dirs', { skills: { external_dirs: ['/'] } }],
    ['smart_model_routing', { smart_model_routing: { enabled: true } }],
    ['delegation.base_url', { delegation: { base_url: 'http://127.0.0.1:1' } }],
    ['delegation.model', { delegation: { model: 'other' } }],
    ['delegation.provider', { delegation: { provider: 'other' } }],
    ['hooks', { hooks: { pre_tool_call: [{ command: 'date' }] } }],
    ['lsp', { lsp: { servers: { own: { command: ['date'] } } } }],
    ['mcp_servers', { mcp_servers: { notes: { command: 'notes' } } }],
    ['quick_commands', { quick_commands: { now: { type: 'exec', command: 'date' } } }],
    ['plugins', { plugins: { enabled: ['disk-cleanup'] } }],
    ['stt', { stt: { providers: { own: { type: 'command', command: 'date' } } } }],
    ['terminal', { terminal: { backend: 'ssh' } }],
    ['skills.inline_shell', { skills: { inline_shell: true } }],
    ['skills', { skills: null }],
    ['security', { security: { tirith_enabled: true } }],
    ['sessions', { sessions: { write_json_snapshots: false } }],
    ['agent.system_prompt', { agent: { system_prompt: 'Say ${HOME}.' } }],
    ['agent.personalities.${HOME}', { agent: { personalities: { '${HOME}': 'x' } } }],
  ])

  it('a prompt that begins like an option is still a prompt', () => {
    const words = ['--help', 'say -x'].map((prompt) => adapter.launch({ prompt }, '/root').argv.at(-1))
    expect(words).toEqual([' --help', 'say -x'])
  })

  it('a session is read as what is known of it, then its messages; an index among them is none', async () => {
    const files = {
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
    }
    expect(await trajectoryOf(adapter, files)).toEqual([
      { type: 'session', session_id: '1', model: 'm' },
      { type: 'message', role: 'user', content: 'hello' },
      { type: 'message', role: 'assistant', content: 'hi' },
    ])
  })

  it.each(['{"messages":[', '[]', '{"messages":["hello"]}'])('a document that is no session is no trajectory: %s', async (text) => {
    await expect(trajectoryOf(adapter, { 'hermes/sessions/session_1.json': text })).rejects.toThrow()
  })
})
