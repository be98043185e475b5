/** Codex: what a tree becomes, what is refused, how it is started and what it leaves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { entry, itRefusesSettings, itConforms, trajectoryOf, modelOf, TEXTS } from '../testing/adapter.ts'
import plugin from './index.ts'

const codex = plugin.plugin

const tree: readonly Entry[] = [
  entry('config', 'config', {
    data: { model_reasoning_effort: 'low', features: { goals: false }, project_doc_fallback_filenames: ['NOTES.md'] },
  }),
  ...TEXTS,
  entry('agent_command', 'agent_command', { name: 'review', text: 'Review the change that is named.' }),
]

describe('codex', () => {
  itConforms(codex, tree)

  it('a model is asked in the Responses format whatever it speaks', () => {
    const settings = renderTree(codex, tree, modelOf('responses'))
    for (const api of ['openai', 'anthropic'] as const) expect(renderTree(codex, tree, modelOf(api))).toEqual(settings)
  })

  it('a model without a name leaves the name to Codex', () => {
    expect(renderTree(codex, [], { ...modelOf('responses'), model: null })['codex/config.toml']).not.toMatch(/^model = /m)
  })

  it('an address or a key cannot end its text and begin a setting', () => {
    const settings = renderTree(codex, [], { ...modelOf('responses'), apiKey: 'a"\n[otel]\nexporter = "x' })['codex/config.toml']
    expect(settings).toContain('experimental_bearer_token = "a\\"\\n[otel]\\nexporter = \\"x"\n')
  })

  itRefusesSettings(codex, [
    ['model', { model: 'other' }],
    ['model_provider', { model_provider: 'other' }],
    ['model_providers', { model_providers: { svc: { base_url: 'http://127.0.0.1:1' } } }],
    ['openai_base_url', { openai_base_url: 'http://127.0.0.1:1' }],
    ['approval_policy', { approval_policy: 'never' }],
    ['sandbox_mode', { sandbox_mode: 'danger-full-access' }],
    ['sandbox_workspace_write', { sandbox_workspace_write: { network_access: true } }],
    ['otel', { otel: { exporter: 'otlp-http' } }],
    ['analytics', { analytics: { enabled: true } }],
    ['check_for_update_on_startup', { check_for_update_on_startup: true }],
    ['hooks', { hooks: {} }],
    ['notify', { notify: ['send'] }],
    ['mcp_servers', { mcp_servers: { 'our.notes': { command: 'notes', args: ['--all'] } } }],
    ['projects', { projects: { '/': { trust_level: 'trusted' } } }],
    ['profiles', { profiles: { other: { model: 'other' } } }],
    ['shell_environment_policy', { shell_environment_policy: { set: { PATH: '.' } } }],
    ['tui', { tui: { notifications: true } }],
    ['tools.web_search', { tools: { web_search: true } }],
    ['project_doc_fallback_filenames.0', { project_doc_fallback_filenames: ['../../.netrc'] }],
    ['project_doc_fallback_filenames.1', { project_doc_fallback_filenames: ['NOTES.md', '..'] }],
    ['features', { features: true }],
    ['features.apps', { features: { apps: true } }],
    ['features.goals', { features: { goals: 'yes' } }],
    ['web_search', { web_search: 'sometimes' }],
    ['model_reasoning_effort', { model_reasoning_effort: '' }],
    ['model_reasoning_summary', { model_reasoning_summary: 'long' }],
    ['model_verbosity', { model_verbosity: 'loud' }],
    ['personality', { personality: 'odd' }],
    ['plan_mode_reasoning_effort', { plan_mode_reasoning_effort: '' }],
  ])

  it('a command and a skill of one name are refused, since both are skills to Codex', () => {
    const both = [entry('skill', 'skill', { name: 'x', text: 'a' }), entry('agent_command', 'agent_command', { name: 'x', text: 'b' })]
    expect(() => renderTree(codex, both)).toThrow(expect.objectContaining({ code: 'path_collision' }))
  })

  it('a skill or command with a name of more than 64 characters is refused, since Codex leaves it out', () => {
    for (const kind of ['skill', 'agent_command'])
      expect(() => renderTree(codex, [entry('mine', kind, { name: 'x'.repeat(65), text: 'a' })])).toThrow(
        'mine: config.name must be at most 64',
      )
    expect(Object.keys(renderTree(codex, [entry('mine', 'skill', { name: 'x'.repeat(64), text: 'a' })]))).toHaveLength(2)
  })

  it('a prompt is one, whatever it begins with, and an episode needs no approval and keeps to its folder', () => {
    const { argv, env } = codex.launch({ prompt: '--version' }, '/root')
    expect(argv.slice(-2)).toEqual(['--', '--version'])
    expect(argv).toEqual(expect.arrayContaining(['--skip-git-repo-check', 'workspace-write', 'approval_policy="never"']))
    expect(codex.launch({ prompt: 'x', contained: true }, '/root').argv).toContain('danger-full-access')
    expect(env).toEqual({ HOME: '/root', CODEX_HOME: '/root/codex', CODEX_SQLITE_HOME: '/root/codex/sqlite' })
  })

  it('its trajectory is every line of its session log', async () => {
    const log = readFileSync(join(import.meta.dirname, 'session.fixture.jsonl'), 'utf8')
    const events = await trajectoryOf(codex, { 'codex/sessions/2026/11/15/rollout-2026-11-15T09-32-47-01a1de8d.jsonl': log })
    expect(events).toHaveLength(log.trimEnd().split('\n').length)
    expect(events[2]).toMatchObject({ type: 'response_item', payload: { type: 'function_call', name: 'exec_command', call_id: 'call_1' } })
    expect(events.at(-1)).toMatchObject({ payload: { type: 'task_complete', last_agent_message: 'hello world' } })
  })
})
