/** Claude Code: what a tree becomes, what is refused, how it is started and what it leaves. */
import { execFileSync } from 'node:child_process'
import { readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import type { Entry, Files, JsonObject } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { entry, expectSettingRefused, itConforms, leave, trajectoryOf, modelOf, TEXTS } from '../testing/adapter.ts'
import plugin from './index.ts'

const claude = plugin.plugin

const EXTENSION = `import { readFileSync, writeFileSync } from 'node:fs'

const { hook_event_name: hookEventName } = JSON.parse(readFileSync(0, 'utf8'))
if (hookEventName === 'UserPromptSubmit')
  writeFileSync(1, JSON.stringify({ hookSpecificOutput: { hookEventName, additionalContext: 'Greet first.' } }))`
const HOOKS = { SessionStart: [{ matcher: 'startup', hooks: [{ type: 'command', command: 'date' }] }] }
const tree: readonly Entry[] = [
  entry('config', 'config', {
    data: { permissions: { allow: ['Bash(git *)'] }, env: { MAX_THINKING_TOKENS: '2000' } },
  }),
  ...TEXTS,
  entry('agent_command', 'agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('code_extension', 'code_extension', { name: 'greeter', code: EXTENSION }),
]
const settingsOf = (files: Files): JsonObject & { readonly env: JsonObject; readonly hooks: Record<string, readonly JsonObject[]> } =>
  JSON.parse(files['claude/settings.json'] ?? '')

describe('claude', () => {
  itConforms(claude, tree)

  it('a model without a name leaves the name to Claude Code', () => {
    const { env, ...settings } = settingsOf(renderTree(claude, [], { ...modelOf('anthropic'), model: null }))
    expect(settings).not.toHaveProperty('model')
    expect(env).not.toHaveProperty('ANTHROPIC_MODEL')
    expect(env).toHaveProperty('ANTHROPIC_BASE_URL', 'http://127.0.0.1:8900')
  })

  it.each([
    ['model', { model: 'opus' }],
    ['apiKeyHelper', { apiKeyHelper: 'cat key' }],
    ['includeCoAuthoredBy', { includeCoAuthoredBy: true }],
    ['awsAuthRefresh', { awsAuthRefresh: 'date' }],
    ['awsCredentialExport', { awsCredentialExport: 'date' }],
    ['gcpAuthRefresh', { gcpAuthRefresh: 'date' }],
    ['otelHeadersHelper', { otelHeadersHelper: 'date' }],
    ['fileSuggestion', { fileSuggestion: { type: 'command', command: 'date' } }],
    ['hooks', { hooks: HOOKS }],
    ['mcpServers', { mcpServers: { notes: { command: 'notes' } } }],
    ['statusLine', { statusLine: { type: 'command', command: 'date' } }],
    ['subagentStatusLine', { subagentStatusLine: { type: 'command', command: 'date' } }],
    ['enabledPlugins', { enabledPlugins: { 'other@market': true } }],
    ['extraKnownMarketplaces', { extraKnownMarketplaces: { market: {} } }],
    ['env.ANTHROPIC_BASE_URL', { env: { ANTHROPIC_BASE_URL: 'http://127.0.0.1:1' } }],
    ['env.ANTHROPIC_DEFAULT_OPUS_MODEL', { env: { ANTHROPIC_DEFAULT_OPUS_MODEL: 'other' } }],
    ['env.CLAUDE_CODE_USE_BEDROCK', { env: { CLAUDE_CODE_USE_BEDROCK: '1' } }],
    ['env.CLAUDE_CODE_SUBAGENT_MODEL', { env: { CLAUDE_CODE_SUBAGENT_MODEL: 'other' } }],
    ['env.https_proxy', { env: { https_proxy: 'http://127.0.0.1:1' } }],
    ['env.DISABLE_TELEMETRY', { env: { DISABLE_TELEMETRY: '0' } }],
    ['env.CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC', { env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '' } }],
    ['env.CLAUDE_CODE_ENABLE_TELEMETRY', { env: { CLAUDE_CODE_ENABLE_TELEMETRY: '1' } }],
    ['env.CLAUDE_CONFIG_DIR', { env: { CLAUDE_CONFIG_DIR: '.' } }],
    ['env.PATH', { env: { PATH: '.' } }],
    ['env.BASH_ENV', { env: { BASH_ENV: 'run.sh' } }],
    ['env.LD_PRELOAD', { env: { LD_PRELOAD: 'other.so' } }],
    ['env.GIT_SSH_COMMAND', { env: { GIT_SSH_COMMAND: 'date' } }],
    ['env.MAX_THINKING_TOKENS', { env: { MAX_THINKING_TOKENS: 1000 } }],
    ['env.BASH_MAX_TIMEOUT_MS', { env: { BASH_MAX_TIMEOUT_MS: '1; date' } }],
    ['permissions', { permissions: 'all' }],
    ['permissions.defaultMode', { permissions: { defaultMode: 'bypassPermissions' } }],
    ['permissions.additionalDirectories', { permissions: { additionalDirectories: ['/'] } }],
    ['permissions.other', { permissions: { other: [] } }],
    ['permissions.allow.0', { permissions: { allow: [''] } }],
    ['permissions.allow.1', { permissions: { allow: ['Read', 'Bash('] } }],
    ['permissions.deny.0', { permissions: { deny: ['Bash()'] } }],
    ['permissions.deny.0', { permissions: { deny: ['Bash( )'] } }],
    ['permissions.deny.0', { permissions: { deny: ['bash(rm *)'] } }],
    ['permissions.deny.0', { permissions: { deny: ['*'] } }],
    ['permissions.deny.0', { permissions: { deny: ['Bash(:*)'] } }],
    ['permissions.deny.0', { permissions: { deny: ['Read(x:*)'] } }],
    ['permissions.deny.0', { permissions: { deny: ['WebFetch(example.com)'] } }],
    ['permissions.ask.0', { permissions: { ask: ['mcp__*'] } }],
    ['permissions.ask.0', { permissions: { ask: ['mcp__notes(x)'] } }],
    ['permissions.ask.0', { permissions: { ask: ['Bash(a\nb)'] } }],
    ['outputStyle', { outputStyle: 5 }],
  ])(
    'an entry that sets %s is refused by name, since Claude Code would drop the whole file, leave the service or run what no entry holds',
    (field, data) => {
      expectSettingRefused(claude, field, { data })
    },
  )

  it.each(['skill', 'agent_command'])('a %s that brings hooks in its head is refused', (kind) => {
    const text = '---\ndescription: d\nhooks: { Stop: { type: command, command: date } }\n---\nx'
    expect(() => renderTree(claude, [entry('mine', kind, { name: 'mine', text })])).toThrow('mine: hooks in the front matter is refused: ')
  })

  it('the hooks of extensions and of what is shipped are kept, one after the other', () => {
    const { hooks } = settingsOf(renderTree(claude, [...tree, ...(claude.shipped?.version_check ?? [])]))
    expect(hooks['SessionStart']).toMatchObject([
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
  it("the hook of an extension runs its code on the event, wherever the folder is and whatever the extension's name", async () => {
    const files = renderTree(claude, [entry('code_extension', 'code_extension', { name: "odd'; exit 1; '$name", code: EXTENSION })])
    const root = join(temporaryFolder(), "claude's folder")
    await leave(root, files)
    const command = hookOf(files, 'UserPromptSubmit')
    const answer = run(command, { CLAUDE_CONFIG_DIR: join(root, 'claude') }, JSON.stringify({ hook_event_name: 'UserPromptSubmit' }))
    expect(JSON.parse(answer)).toEqual({ hookSpecificOutput: { hookEventName: 'UserPromptSubmit', additionalContext: 'Greet first.' } })
  })

  it('the wrapper is asked for a newer release; a session without a wrapper asks nothing', () => {
    const wrapper = join(temporaryFolder(), 'wrapper')
    writeFileSync(wrapper, '#!/bin/sh\necho "$@"\n', { mode: 0o700 })
    const command = hookOf(renderTree(claude, claude.shipped?.version_check ?? []), 'SessionStart')
    expect(run(command, { SVC_WRAPPER: wrapper })).toBe('notice --hook claude\n')
    expect(run(command, {})).toBe('')
  })

  it('the trajectory is every line of its session log', async () => {
    const log = readFileSync(join(import.meta.dirname, 'session.fixture.jsonl'), 'utf8')
    const events = await trajectoryOf(claude, { 'claude/projects/-episode-workspace/43c54273.jsonl': log })
    expect(events).toHaveLength(log.trimEnd().split('\n').length)
    expect(events[1]).toMatchObject({ type: 'assistant', message: { content: [{ type: 'tool_use', name: 'Bash' }] } })
    expect(events.at(-1)).toMatchObject({ type: 'assistant', message: { content: [{ type: 'text', text: 'hello world' }] } })
  })
})

const hookOf = (files: Files, event: string): string => JSON.parse(files['claude/settings.json'] ?? '').hooks[event][0].hooks[0].command

const run = (command: string, env: Record<string, string>, input = ''): string =>
  execFileSync('sh', ['-c', command], {
    env: { PATH: `${dirname(process.execPath)}:${process.env['PATH'] ?? ''}`, ...env },
    input,
    encoding: 'utf8',
  })
