/** Codex: what a tree becomes, what is refused, how it is started and what it leaves. */
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import plugin from './index.ts'

const codex = plugin.plugin

const entry = (name: string, config: JsonObject, id = name): Entry => ({ id, name, config })
const tree: readonly Entry[] = [
  entry('config', {
    data: {
      model_reasoning_effort: 'low',
      features: { goals: false },
      mcp_servers: { 'our.notes': { command: 'notes', args: ['--all'] } },
    },
  }),
  entry('rules', { text: '# Rules\n\nAnswer in one line.' }, 'first'),
  entry('rules', { text: 'Say when you do not know.' }, 'second'),
  entry('agent_command', { name: 'review', text: 'Review the change that is named.' }),
  entry('skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }, 'bare'),
  entry('skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }, 'headed'),
]
const model: ModelAddress = { url: 'http://127.0.0.1:8900', model: 'some:model', api: 'responses', apiKey: 'the-key' }
const asText = (files: Files): string =>
  Object.entries(files)
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('\n')

describe('codex', () => {
  adapterConformance({ describe, it, adapter: codex, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(codex, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it('a model is asked through the one provider there is, in the Responses format whatever it speaks', async () => {
    const { 'codex/config.toml': settings = '', ...others } = renderTree(codex, tree, model)
    await expect(settings).toMatchFileSnapshot('./golden-responses.txt')
    const { 'codex/config.toml': _, ...unbound } = renderTree(codex, tree)
    expect(others).toEqual(unbound)
    for (const api of ['openai', 'anthropic'] as const)
      expect(renderTree(codex, tree, { ...model, api })['codex/config.toml']).toBe(settings)
  })

  it('a model without a name leaves the name to Codex, and without a key there is one in its place', () => {
    const settings = renderTree(codex, [], { ...model, model: null, apiKey: null })['codex/config.toml']
    expect(settings).not.toMatch(/^model = /m)
    expect(settings).toContain('experimental_bearer_token = "svc-no-token"')
  })

  it('an address or a key cannot end its text and begin a setting', () => {
    const settings = renderTree(codex, [], { ...model, apiKey: 'a"\n[otel]\nexporter = "x' })['codex/config.toml']
    expect(settings).toContain('experimental_bearer_token = "a\\"\\n[otel]\\nexporter = \\"x"\n')
  })

  it.each([
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
    ['features', { features: true }],
    ['features.apps', { features: { apps: true } }],
    ['features.goals', { features: { goals: 'yes' } }],
    ['web_search', { web_search: 'sometimes' }],
  ])('an entry that sets %s to what it may not be is refused by name, with a model bound and without', (field, data) => {
    const refusal = expect.objectContaining({
      code: 'setting_refused',
      message: expect.stringMatching(`^mine: config data ${field} is refused`),
    })
    expect(() => renderTree(codex, [entry('config', { data }, 'mine')])).toThrow(refusal)
    expect(() => renderTree(codex, [entry('config', { data }, 'mine')], model)).toThrow(refusal)
  })

  it.each([
    ['under another name', 'skill', '---\nname: other\ndescription: d\n---\nx', 'must be mine'],
    ['without a description', 'agent_command', '---\nname: mine\n---\nx', 'needs a description'],
    ['that is never closed', 'skill', '---\nname: mine\ndescription: d\n', 'no YAML mapping'],
    ['that is no YAML', 'agent_command', '---\ndescription: [\n---\nx', 'no YAML mapping'],
  ])('a head %s is refused, since Codex would leave the skill out', (_, kind, text, reason) => {
    expect(() => renderTree(codex, [entry(kind, { name: 'mine', text })])).toThrow(
      expect.objectContaining({ code: 'bad_front_matter', message: expect.stringContaining(reason) }),
    )
  })

  it('a command and a skill of one name are refused, since both are skills to Codex', () => {
    const both = [entry('skill', { name: 'x', text: 'a' }), entry('agent_command', { name: 'x', text: 'b' })]
    expect(() => renderTree(codex, both)).toThrow(expect.objectContaining({ code: 'path_collision' }))
  })

  it('a prompt is one, whatever it begins with, and an episode asks nobody and keeps to its folder', () => {
    const { argv, env } = codex.launch({ prompt: '--version' }, '/root')
    expect(argv.slice(-2)).toEqual(['--', '--version'])
    expect(argv).toEqual(expect.arrayContaining(['--skip-git-repo-check', 'workspace-write', 'approval_policy="never"']))
    expect(env).toEqual({ HOME: '/root', CODEX_HOME: '/root/codex', CODEX_SQLITE_HOME: '/root/codex/sqlite' })
  })
})

describe('the trajectory of codex', () => {
  const log = join(import.meta.dirname, 'session.fixture.jsonl')
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'codex-'))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('is every line of its session log', async () => {
    const day = join(root, 'codex/sessions/2026/11/15')
    mkdirSync(day, { recursive: true })
    cpSync(log, join(day, 'rollout-2026-11-15T09-32-47-01a1de8d.jsonl'))
    const events = await codex.readTrajectory(root)
    expect(events).toHaveLength(readFileSync(log, 'utf8').trimEnd().split('\n').length)
    expect(events[2]).toMatchObject({ type: 'response_item', payload: { type: 'function_call', name: 'exec_command', call_id: 'call_1' } })
    expect(events.at(-1)).toMatchObject({ payload: { type: 'task_complete', last_agent_message: 'hello world' } })
  })
})
