/** opencode: what a tree becomes, what is refused, how it is started and what it leaves. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { describe, expect, it } from 'vitest'
import type { Entry } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { entry, itRefusesSettings, itConforms, leave, modelOf, trajectoryOf, TEXTS } from '../testing/adapter.ts'
import plugin from './index.ts'

const opencode = plugin.plugin

const PLUGIN = `export const Greeter = async () => ({
  'experimental.chat.system.transform': async (_input: unknown, output: { system: string[] }) => {
    output.system.push('Greet first.')
  },
})`
const tree: readonly Entry[] = [
  entry('config', 'config', { data: { agent: { build: { temperature: 0.1 } }, permission: { edit: 'ask', bash: { 'git *': 'allow' } } } }),
  ...TEXTS,
  entry('agent_command', 'agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('code_extension', 'code_extension', { name: 'greeter', code: PLUGIN }),
]
const DATABASE = 'xdg/data/opencode/opencode.db'
const words = (prompt: string): readonly string[] => opencode.launch({ prompt }, '/root').argv.slice(7)

describe('opencode', () => {
  itConforms(opencode, tree)

  itRefusesSettings(opencode, [
    ['model', { model: 'other/m' }],
    ['small_model', { small_model: 'other/m' }],
    ['provider', { provider: { svc: { options: { baseURL: 'http://127.0.0.1:1' } } } }],
    ['enabled_providers', { enabled_providers: ['other'] }],
    ['disabled_providers', { disabled_providers: ['svc'] }],
    ['enterprise', { enterprise: { url: 'http://127.0.0.1:1' } }],
    ['autoupdate', { autoupdate: true }],
    ['share', { share: 'auto' }],
    ['autoshare', { autoshare: true }],
    ['plugin', { plugin: ['some-package'] }],
    ['agent.build.model', { agent: { build: { model: 'other/m' } } }],
    ['agent.build.options', { agent: { build: { options: { baseURL: 'http://127.0.0.1:1' } } } }],
    ['agent.build.anything', { agent: { build: { anything: 1 } } }],
    ['mode', { mode: { plan: { model: 'other/m' } } }],
    ['command', { command: { review: { template: '!`date`' } } }],
    ['mcp', { mcp: { notes: { type: 'local', command: ['notes'] } } }],
    ['formatter', { formatter: { own: { command: ['date'], extensions: ['.ts'] } } }],
    ['lsp', { lsp: { own: { command: ['date'] } } }],
    ['shell', { shell: './run.sh' }],
    ['experimental.hook', { experimental: { hook: { session_completed: [{ command: ['date'] }] } } }],
    ['experimental.openTelemetry', { experimental: { openTelemetry: true } }],
    ['instructions', { instructions: ['https://127.0.0.1:1/rules.md'] }],
    ['skills', { skills: { urls: ['https://127.0.0.1:1/'] } }],
    ['references', { references: { other: '~/.ssh' } }],
    ['reference', { reference: { other: { path: '/' } } }],
    ['permission', { permission: { bash: 'maybe' } }],
    ['agent.build.prompt', { agent: { build: { prompt: 'Say {env:HOME}.' } } }],
    ['agent.build.description', { agent: { build: { description: '{file:~/.netrc}' } } }],
    ['tools.{env:HOME}', { tools: { '{env:HOME}': true } }],
    ['tools.{ ENV :HOME}', { tools: { '{ ENV :HOME}': true } }],
    ['permission', { permission: { webfetch: { '*': 'allow' } } }],
    ['agent.build.color', { agent: { build: { color: 'red' } } }],
    ['agent.build.steps', { agent: { build: { steps: 0 } } }],
    ['agent.', { agent: { '': { prompt: 'x' } } }],
    ['agent.a/b', { agent: { 'a/b': { prompt: 'x' } } }],
    ['tool_output.max_bytes', { tool_output: { max_bytes: 0 } }],
  ])

  it.each(['{file:~/.netrc}', 'm-{env:HOME}', '{FILE:x}'])('a model named %s is refused: opencode would read it', (model) => {
    expect(() => renderTree(opencode, [], { ...modelOf('openai'), model })).toThrow(expect.objectContaining({ code: 'bad_model' }))
  })

  it.each(['---js\nmodule.exports = {}\n---\nx', '\ufeff---\nmodel: other/m\n---\nx', '--- \tjs\nx'])(
    'a text that opencode could take for a head of another kind (%j) is refused',
    (text) => {
      expect(() => renderTree(opencode, [entry('mine', 'agent_command', { name: 'mine', text })])).toThrow('mine: the front matter is not')
    },
  )

  it('keeps the permissions of opencode itself, which asks before it reads .env or leaves the project', () => {
    for (const files of [renderTree(opencode, []), renderTree(opencode, [], modelOf('openai'))])
      expect(JSON.parse(files['opencode/opencode.json'] ?? '')).not.toHaveProperty('permission')
  })

  it('a prompt arrives as it is, whatever is in it', () => {
    const prompt = ' Count 3 007  "to" it\'s --help -x "" " \n$HOME `date` \\"x\\" =a=b '
    expect(words(prompt).every((word) => /^--message="[^ ]*"$/.test(word))).toBe(true)
    expect(asOpencodeReads(words(prompt))).toBe(prompt)
  })

  it('an episode keeps to its folder and calls nothing but the model', () => {
    const { argv, env } = opencode.launch({ prompt: 'x' }, '/root')
    expect(argv.slice(0, 7)).toEqual(['opencode', 'run', '--auto', '--format', 'json', '--title', 'episode'])
    expect(Object.entries(env).filter(([, value]) => !value.startsWith('/root') && value !== '1')).toEqual([])
    expect(Object.keys(env)).toEqual(
      expect.arrayContaining(['HOME', 'XDG_CONFIG_HOME', 'XDG_DATA_HOME', 'XDG_STATE_HOME', 'XDG_CACHE_HOME']),
    )
  })
})

/** What its reader of options does, and what it makes of the words then. */
function asOpencodeReads(argv: readonly string[]): string {
  const values = argv.map((word) => word.slice('--message='.length).replace(/^(['"])([^]*)\1$/, (_, _quote, inner: string) => inner))
  return values.map((word) => (word.includes(' ') ? JSON.stringify(word) : word)).join(' ')
}

describe('the trajectory of opencode', () => {
  it('is each message with its parts, in the order written', async () => {
    const root = temporaryFolder()
    ;(await logIn(root)).close()
    const messages = await opencode.readTrajectory(root)
    expect(messages.map(({ role, content }) => [role, content])).toMatchObject([
      ['user', [{ type: 'text', text: 'Say "hi" 3 times' }]],
      ['assistant', [{ type: 'step-start' }, { type: 'tool', tool: 'bash', state: { output: 'MARK_TOOLOUT\n' } }, { type: 'step-finish' }]],
      ['assistant', [{ type: 'step-start' }, { type: 'text', text: 'hello world' }, { type: 'step-finish', reason: 'stop' }]],
    ])
  })

  it('is read too while the log of an agent that was killed is not folded into the database', async () => {
    const root = temporaryFolder()
    const database = await logIn(root)
    expect(await opencode.readTrajectory(root)).toHaveLength(3)
    database.close()
  })

  it('is empty when opencode was killed before it had made its tables', async () => {
    expect(await trajectoryOf(opencode, { [DATABASE]: '' })).toEqual([])
  })

  it('fails when the database is not one, rather than pass for an agent that did nothing', async () => {
    await expect(trajectoryOf(opencode, { [DATABASE]: 'not a database, '.repeat(100) })).rejects.toThrow('not a database')
  })
})

/** The log of a session, with everything still in the file that is folded into it when it is closed. */
async function logIn(root: string): Promise<DatabaseSync> {
  await leave(root, { [DATABASE]: '' })
  const database = new DatabaseSync(join(root, DATABASE))
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(readFileSync(join(import.meta.dirname, 'session.fixture.sql'), 'utf8'))
  return database
}
