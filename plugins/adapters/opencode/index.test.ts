/** opencode: what a tree becomes, what is refused, how it is started and what it leaves. */
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { adapterConformance } from '../../../conformance/index.ts'
import type { Entry, Files, JsonObject, ModelAddress, ModelApi } from '../../../src/contract/index.ts'
import { renderTree } from '../../../src/harness/index.ts'
import plugin from './index.ts'

const opencode = plugin.plugin

const entry = (name: string, config: JsonObject, id = name): Entry => ({ id, name, config })
const PLUGIN = `export const Greeter = async () => ({
  'experimental.chat.system.transform': async (_input: unknown, output: { system: string[] }) => {
    output.system.push('Greet first.')
  },
})`
const tree: readonly Entry[] = [
  entry('config', { data: { agent: { build: { temperature: 0.1 } }, instructions: ['notes.md'] } }),
  entry('rules', { text: '# Rules\n\nAnswer in one line.' }, 'first'),
  entry('rules', { text: 'Say when you do not know.' }, 'second'),
  entry('agent_command', { name: 'review', text: '---\ndescription: Review a change\n---\nReview $1.' }),
  entry('skill', { name: 'count-words', text: '# Count words\n\nRun `wc -w`.' }, 'bare'),
  entry('skill', { name: 'tables', text: '---\nname: tables\ndescription: How tables are written\n---\nUse pipes.' }, 'headed'),
  entry('code_extension', { name: 'greeter', code: PLUGIN }),
]
const model = (api: ModelApi): ModelAddress => ({ url: 'http://127.0.0.1:8900', model: 'some:model', api, apiKey: 'the-key' })
const asText = (files: Files): string =>
  Object.entries(files)
    .map(([path, text]) => `=== ${path}\n${text}`)
    .join('\n')
const words = (prompt: string): readonly string[] => opencode.launch({ prompt }, '/root').argv.slice(6)

/** opencode leaves no prompt as it is that comes as one word; a test below says how it is handed over instead. */
function itButOneWord(title: string, run: () => Promise<void>): void {
  if (!title.startsWith('the prompt is handed over whole')) it(title, run)
}

describe('opencode', () => {
  adapterConformance({ describe, it: itButOneWord, adapter: opencode, entries: tree })

  it('a tree with an entry of every kind becomes these files', async () => {
    await expect(asText(renderTree(opencode, tree))).toMatchFileSnapshot('./golden.txt')
  })

  it.each(['openai', 'responses', 'anthropic'] as const)('a model that speaks %s is the one provider there is', async (api) => {
    const { 'opencode/opencode.json': settings = '', ...others } = renderTree(opencode, tree, model(api))
    await expect(settings).toMatchFileSnapshot(`./golden-${api}.txt`)
    const { 'opencode/opencode.json': _, ...unbound } = renderTree(opencode, tree)
    expect(others).toEqual(unbound)
  })

  it('a model without a name and a key still has both, since opencode asks for neither without', () => {
    const settings = JSON.parse(renderTree(opencode, [], { ...model('openai'), model: null, apiKey: null })['opencode/opencode.json'] ?? '')
    expect(settings).toMatchObject({ model: 'svc/default', provider: { svc: { options: { apiKey: 'svc-no-token' } } } })
  })

  it.each([
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
    ['mode.plan.model', { mode: { plan: { model: 'other/m' } } }],
    ['command.review.model', { command: { review: { template: 'x', model: 'other/m' } } }],
    ['agent.build.prompt', { agent: { build: { prompt: 'Say {env:HOME}.' } } }],
    ['instructions.0', { instructions: ['{file:~/.netrc}'] }],
    ['mcp', { mcp: { '{env:HOME}': {} } }],
  ])('an entry that sets %s is refused by name, with a model bound and without', (field, data) => {
    const refusal = expect.objectContaining({
      code: 'setting_refused',
      message: expect.stringMatching(`^mine: config data ${field} is refused`),
    })
    expect(() => renderTree(opencode, [entry('config', { data }, 'mine')])).toThrow(refusal)
    expect(() => renderTree(opencode, [entry('config', { data }, 'mine')], model('openai'))).toThrow(refusal)
  })

  it.each([
    ['under another name', 'skill', '---\nname: other\ndescription: d\n---\nx', 'needs name: mine'],
    ['without a name', 'skill', '---\ndescription: d\n---\nx', 'needs name: mine'],
    ['without a description', 'skill', '---\nname: mine\n---\nx', 'needs a description'],
    ['that is never closed', 'skill', '---\nname: mine\ndescription: d\n', 'no YAML mapping'],
    ['that is a list', 'agent_command', '---\n- mine\n---\nx', 'no YAML mapping'],
    ['that says a field twice', 'agent_command', '---\nagent: a\nagent: b\n---\nx', 'no YAML mapping'],
    ['that names a model', 'agent_command', '---\n{ "model": "other/m" }\n---\nx', 'the service names the model'],
  ])('a head %s is refused', (_, kind, text, reason) => {
    expect(() => renderTree(opencode, [entry(kind, { name: 'mine', text })])).toThrow(reason)
  })

  it.each(['---js\nmodule.exports = {}\n---\nx', '\ufeff---\nmodel: other/m\n---\nx', '--- \tjs\nx'])(
    'a text that opencode could take for a head of another kind (%j) is the body below a head of ours',
    (text) => {
      const files = renderTree(opencode, [entry('agent_command', { name: 'mine', text })])
      expect(files['opencode/commands/mine.md']).toMatch(/^---\nname: "mine"\ndescription: ".*"\n---\n\n/)
    },
  )

  it('a prompt arrives as it is, whatever is in it', () => {
    const prompt = ' Count 3 007  "to" it\'s --help -x "" " \n$HOME `date` \\"x\\" =a=b '
    expect(words(prompt).every((word) => /^--message="[^ ]*"$/.test(word))).toBe(true)
    expect(asOpencodeReads(words(prompt))).toBe(prompt)
  })

  it('an episode keeps to its folder and asks nobody but the model', () => {
    const { argv, env } = opencode.launch({ prompt: 'x' }, '/root')
    expect(argv.slice(0, 6)).toEqual(['opencode', 'run', '--format', 'json', '--title', 'episode'])
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
  let root: string
  let path: string
  beforeEach(() => {
    root = mkdtempSync(join(tmpdir(), 'opencode-'))
    mkdirSync(join(root, 'xdg/data/opencode'), { recursive: true })
    path = join(root, 'xdg/data/opencode/opencode.db')
  })
  afterEach(() => rmSync(root, { recursive: true, force: true }))

  it('is each message with its parts, in the order written', async () => {
    writeDatabase(path)
    const messages = await opencode.readTrajectory(root)
    expect(messages.map(({ role, content }) => [role, content])).toMatchObject([
      ['user', [{ type: 'text', text: 'Say "hi" 3 times' }]],
      ['assistant', [{ type: 'step-start' }, { type: 'tool', tool: 'bash', state: { output: 'MARK_TOOLOUT\n' } }, { type: 'step-finish' }]],
      ['assistant', [{ type: 'step-start' }, { type: 'text', text: 'hello world' }, { type: 'step-finish', reason: 'stop' }]],
    ])
  })

  it('is read too while the log of an agent that was killed is not folded into the database', async () => {
    const database = writeDatabase(path, { open: true })
    expect(await opencode.readTrajectory(root)).toHaveLength(3)
    database.close()
  })

  it('is empty when opencode was killed before it had made its tables', async () => {
    writeFileSync(path, '')
    expect(await opencode.readTrajectory(root)).toEqual([])
  })

  it('fails when the database is not one, rather than pass for an agent that did nothing', async () => {
    writeFileSync(path, 'not a database, '.repeat(100))
    await expect(opencode.readTrajectory(root)).rejects.toThrow('not a database')
  })
})

function writeDatabase(path: string, { open } = { open: false }): DatabaseSync {
  const database = new DatabaseSync(path)
  database.exec('PRAGMA journal_mode = WAL')
  database.exec(readFileSync(join(import.meta.dirname, 'session.fixture.sql'), 'utf8'))
  if (!open) database.close()
  return database
}
