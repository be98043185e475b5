/** Claude Code: what a tree becomes, what is refused, how it is started and what it leaves. */
import { execFileSync } from 'node:child_process'
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import plugin from './index.ts'

const claude = plugin.plugin

const entry = (name: string, config: JsonObject, id = name): Entry => ({ id, name, config })
const EXTENSION = `import { readFileSync, writeFileSync } from 'node:fs'

const { hook_event_name: hookEventName } = JSON.parse(readFileSync(0, 'utf8'))
if (hookEventName === 'UserPromptSubmit')
  writeFileSync(1, JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: 'Greet first.' } }))`
const OWN_HOOK = { matcher: 'startup', hooks: [{ type: 'command', command: 'date', timeout: 5 }] }
const tree: readonly Entry[] = [
  entry('config', { data: { permissions: { allow: ['Bash(git *)'] }, env: { NOTES: 'all' }, hooks: { SessionStart: [OWN_HOOK] } } }),
  entry('rules', { text: '# Rules\n\nAnswer in one line.' }, 'first'),
  entry('rules', { text: 'Say when you do not know.' }, 'second'),
  entry('agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }, 'bare'),
  entry('skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }, 'headed'),
  entry('code_extension', { name: 'greeter', code: EXTENSION }),
]
const model: ModelAddress = { url: 'http://127.0.0.1:8900', model: 'some:model', api: 'anthropic', apiKey: 'the-key' }
const asText = (files: Files): string =>
  Object.entries(files)
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('\n')
const settingsOf = (files: Files): JsonObject & { readonly env: JsonObject; readonly hooks: Record<string, readonly JsonObject[]> } =>
  JSON.parse(files['claude/settings.json'] ?? '')

describe('claude', () => {
  adapterConformance({ describe, it, adapter: claude, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(claude, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it('a model is named in the settings, where it wins over the variables of a person', async () => {
    const { 'claude/settings.json': settings = '', ...others } = renderTree(claude, tree, model)
    await expect(settings).toMatchFileSnapshot('./golden-anthropic.txt')
    const { 'claude/settings.json': _, ...unbound } = renderTree(claude, tree)
    expect(others).toEqual(unbound)
  })

  it('a model without a name leaves the name to Claude Code, and without a key there is one in its place', () => {
    const { env, ...settings } = settingsOf(renderTree(claude, [], { ...model, model: null, apiKey: null }))
    expect(settings).not.toHaveProperty('model')
    expect(env).not.toHaveProperty('ANTHROPIC_MODEL')
    expect(env).toMatchObject({ ANTHROPIC_AUTH_TOKEN: 'svc-no-token', ANTHROPIC_BASE_URL: 'http://127.0.0.1:8900' })
  })

  it.each([
    ['model', { model: 'opus' }],
    ['apiKeyHelper', { apiKeyHelper: 'cat key' }],
    ['includeCoAuthoredBy', { includeCoAuthoredBy: true }],
    ['enabledPlugins', { enabledPlugins: { 'other@market': true } }],
    ['env.ANTHROPIC_BASE_URL', { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } }],
    ['env.ANTHROPIC_DEFAULT_OPUS_MODEL', { env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'other' } }],
    ['env.CLAUDE_CODE_USE_BEDROCK', { env: { CLAUDE_CODE_USE_BEDROCK: '1' } }],
    ['env.CLAUDE_CODE_SUBAGENT_MODEL', { env: { CLAUDE_CODE_SUBAGENT_MODEL: 'other' } }],
    ['env.https_proxy', { env: { https_proxy: 'http://127.0.0.1:1' } }],
    ['env.DISABLE_TELEMETRY', { env: { DISABLE_TELEMETRY: '0' } }],
    ['env.CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' } }],
    ['env.CLAUDE_CODE_ENABLE_TELEMETRY', { env: { CLAUDE_CODE_ENABLE_TELEMETRY: '1' } }],
    ['env.CLAUDE_CONFIG_DIR', { env: { CLAUDE_CONFIG_DIR: '.' } }],
    ['env.NOTES', { env: { NOTES: 1 } }],
    ['permissions', { permissions: 'all' }],
    ['permissions.defaultMode', { permissions: { defaultMode: 'bypassPermissions' } }],
    ['permissions.other', { permissions: { other: [] } }],
    ['outputStyle', { outputStyle: 5 }],
    ['hooks.Stop.0.hooks.0.type', { hooks: { Stop: [{ hooks: [{ type: 'prompt', command: 'x' }] }] } }],
  ])(
    'an entry that sets %s to what it may not be is refused by name, since Claude Code would drop the whole file or leave the service',
    (field, data) => {
      const refusal = expect.objectContaining({
        code: 'setting_refused',
        message: expect.stringMatching(`^mine: config data ${field} is refused in a tree of claude; .`),
      })
      expect(() => renderTree(claude, [entry('config', { data }, 'mine')])).toThrow(refusal)
      expect(() => renderTree(claude, [entry('config', { data }, 'mine')], model)).toThrow(refusal)
    },
  )

  it.each([
    ['under another name', 'skill', '---\nname: other\n---\nx', 'must be mine'],
    ['that is never closed', 'skill', '---\nname: mine\n', 'no YAML mapping'],
    ['that is no YAML', 'agent_command', '---\ndescription: [\n---\nx', 'no YAML mapping'],
    ['that names a model', 'agent_command', '---\n? model\n: opus\n---\nx', 'the service names the model'],
  ])('a head %s is refused', (_, kind, text, reason) => {
    expect(() => renderTree(claude, [entry(kind, { name: 'mine', text })])).toThrow(reason)
  })

  it('the hooks of every entry are kept, one after the other', () => {
    const { hooks } = settingsOf(renderTree(claude, [...tree, ...(claude.shipped?.version_check ?? [])]))
    expect(hooks['SessionStart']).toMatchObject([
      OWN_HOOK,
      { hooks: [{ command: expect.stringContaining('greeter.mjs') }] },
      { matcher: 'startup|resume' },
    ])
    expect(settingsOf(renderTree(claude, []))).not.toHaveProperty('hooks')
  })

  it('a prompt is one, whatever it begins with, and an episode keeps to its folder', () => {
    const { argv, env } = claude.launch({ prompt: '--version' }, '/root')
    expect(argv.slice(-2)).toEqual(['--', '--version'])
    expect(env).toEqual({ HOME: '/root', CLAUDE_CONFIG_DIR: '/root/claude', IS_SANDBOX: '1' })
  })
})

describe('in a folder of claude', () => {
  let root: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), "claude's "))
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it("the hook of an extension runs its code on the event, wherever the folder is and whatever the extension's name", () => {
    const files = renderTree(claude, [entry('code_extension', { name: "odd'; exit 1; '$name", code: EXTENSION })])
    for (const [path, text] of Object.entries(files)) {
      mkdirSync(dirname(join(root, path)), { recursive: true })
      writeFileSync(join(root, path), text)
    }
    const [
      {
        hooks: [{ command }],
      },
    ] = JSON.parse(JSON.stringify(settingsOf(files).hooks['UserPromptSubmit']))
    const answer = run(command, { CLAUDE_CONFIG_DIR: join(root, 'claude') }, JSON.stringify({ hook_event_name: 'UserPromptSubmit' }))
    expect(JSON.parse(answer)).toEqual({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'Greet first.' } })
  })

  it('the word of a newer release is asked of the wrapper, and of nobody in a session without one', () => {
    const wrapper = join(root, 'wrapper')
    writeFileSync(wrapper, '#!/bin/sh\necho "$@"\n', { mode: 0o700 })
    const [
      {
        hooks: [{ command }],
      },
    ] = JSON.parse(JSON.stringify(settingsOf(renderTree(claude, claude.shipped?.version_check ?? [])).hooks['SessionStart']))
    expect(run(command, { SVC_WRAPPER: wrapper })).toBe('notice --hook claude\n')
    expect(run(command, {})).toBe('')
  })

  it('the trajectory is every line of its session log', async () => {
    const log = join(import.meta.dirname, 'session.fixture.jsonl')
    mkdirSync(join(root, 'claude/projects/-episode-workspace'), { recursive: true })
    cpSync(log, join(root, 'claude/projects/-episode-workspace/43c54273.jsonl'))
    const events = await claude.readTrajectory(root)
    expect(events).toHaveLength(readFileSync(log, 'utf8').trimEnd().split('\n').length)
    expect(events[1]).toMatchObject({ type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Bash' }] } })
    expect(events.at(-1)).toMatchObject({ type: 'assistant', message: { content: [{ type: 'text', text: 'hello world' }] } })
  })
})

const run = (command: string, env: Record<string, string>, input = ''): string =>
  execFileSync('sh', ['-c', command], {
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, ...env },
    input,
    encoding: 'utf8',
  })
