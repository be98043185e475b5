/** Which powers the tree in a folder carries, whatever lies in that folder. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import claude from '../../../plugins/adapters/claude/index.ts'
import codex from '../../../plugins/adapters/codex/index.ts'
import native from '../../../plugins/adapters/native/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Adapter, Entry, Files, JsonObject } from '../../contract/index.ts'
import { contentOf, pulledFiles } from '../../harness/index.ts'
import { execute, fakeSurroundings } from '../testing/surroundings.ts'

function folderOf(files: Files): string {
  const folder = temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const rule = (text: string, more: Partial<Entry> = {}): Entry => ({ id: 'style', name: 'rules', config: { text }, ...more })
const skill = (name: string, text: string): Entry => ({ id: name, name: 'skill', config: { name, text } })
const set = (data: JsonObject): Entry => ({ id: 'set', name: 'config', config: { data } })
const WORDS = [rule('Be kind.'), skill('sum', 'Add.')]
const HOOK: Entry = { id: 'total', name: 'code_extension', config: { name: 'total', code: 'process.exit()' } }
const ALL = ['orders', 'hidden', 'reads', 'runs', 'grants', 'reaches']

const typed = (...args: readonly string[]) => execute(['harness', 'powers', ...args])
async function powersOf(...args: readonly string[]): Promise<readonly string[]> {
  const { out, err } = await typed(...args, '--json')
  expect(err).toEqual([])
  return JSON.parse(out).powers
}

const tree = (entries: readonly Entry[], adapter: Adapter = claude.plugin, more: Files = {}): string =>
  folderOf({ ...contentOf(adapter, entries), ...more })
const rendered = (entries: readonly Entry[], adapter: Adapter = claude.plugin, more: Files = {}): string =>
  folderOf({ ...pulledFiles(contentOf(adapter, entries)), ...more })

describe('a tree in a folder', () => {
  it('of words alone is fine', async () => {
    expect(await typed(tree(WORDS))).toEqual({
      exit: 0,
      out: 'this tree for claude is only words: it is plain text for the model',
      err: [],
      asked: '',
    })
    expect(await typed(tree([]))).toMatchObject({ exit: 0, out: 'an empty tree for claude' })
  })

  it('that may do more is told by power, entry and why, in a table and in sentences, with another exit code', async () => {
    const { exit, out, err } = await typed(tree([...WORDS, HOOK]))
    expect([exit, err]).toEqual([1, []])
    expect(out.split('\n')).toEqual([
      'POWER  ENTRY  WHY',
      'runs   total  it holds code',
      'runs   total  it changes an entry of kind code_extension',
      '',
      'This tree may run programs on your machine.',
    ])
  })

  it('as JSON is one object', async () => {
    const folder = tree([HOOK])
    const { exit, out } = await typed(folder, '--json')
    expect(exit).toBe(1)
    expect(JSON.parse(out)).toMatchObject({
      folder,
      adapter: 'claude',
      only_words: false,
      powers: ['runs'],
      reasons: [{ entry: 'total' }, {}],
    })
  })

  it.each<[Adapter, readonly Entry[], string]>([
    [codex.plugin, WORDS, 'codex'],
    [native.plugin, [rule('Be kind.')], 'native'],
    [claude.plugin, [...(claude.plugin.shipped?.requests ?? []), ...(claude.plugin.shipped?.version_check ?? []), ...WORDS], 'claude'],
  ])('is found to be for its agent, and what the service ships is no power of it: %#', async (adapter, entries, name) => {
    expect((await typed(tree(entries, adapter))).out).toBe(`this tree for ${name} is only words: it is plain text for the model`)
  })

  it('of entries alone needs the name of the adapter', async () => {
    const folder = folderOf({ '.svc-tree.json': JSON.stringify([rule('Be kind.')]) })
    expect(await typed(folder)).toMatchObject({ exit: 2, err: [expect.stringContaining('--adapter claude|codex|')] })
    expect(await typed(folder, '--adapter', 'claude')).toMatchObject({ exit: 0 })
  })

  it('is compared with another one', async () => {
    const old = tree([rule('Be kind.'), HOOK])
    expect(await typed(tree([rule('Be kind.\nBe short.'), HOOK]), '--before', old)).toMatchObject({
      exit: 0,
      out: 'this change for claude is only words: it is plain text for the model',
    })
    expect((await typed(old, '--before', old)).out).toBe('no change for claude')
    expect(await powersOf(tree([HOOK]), '--before', old)).toEqual(['removes'])
    expect((await typed(tree([set({ permissions: { allow: ['Bash(*)'] } }), rule('Be kind.'), HOOK]), '--before', old)).out).toContain(
      'This change may let the agent act without asking you.',
    )
  })
})

describe('a folder that an agent reads, without entries', () => {
  it('is read from its files', async () => {
    expect(await typed(rendered(WORDS))).toMatchObject({ exit: 0, err: [] })
    expect(await powersOf(rendered([...WORDS, HOOK]))).toContain('runs')
    expect(await powersOf(rendered([rule('See @~/.netrc')]))).toEqual(['orders', 'reads'])
    expect(await powersOf(rendered([set({ permissions: { allow: ['Bash(*)'] } })]))).toContain('grants')
  })

  it("may be the agent's own folder", async () => {
    const own = folderOf({ 'CLAUDE.md': 'Be kind.\n', 'commands/sum.md': 'Add.\n' })
    expect(await typed(own, '--adapter', 'claude')).toMatchObject({ exit: 0 })
    expect(await powersOf(folderOf({ 'CLAUDE.md': 'See @x\n' }), '--adapter', 'claude')).toContain('reads')
    expect(await typed(own)).toMatchObject({ exit: 2, err: [expect.stringContaining('--adapter')] })
  })

  it('of settings that are not JSON, or lack what is always set, has every power', async () => {
    for (const text of ['{}', '{"a":1,"a":2}', 'not json', '[]'])
      expect(await powersOf(folderOf({ 'claude/settings.json': text }))).toEqual(ALL)
    expect(await powersOf(folderOf({ 'codex/config.toml': 'approval_policy = "never"' }))).toEqual(ALL)
  })
})

const GOOD = contentOf(claude.plugin, WORDS)

describe('what no entry accounts for has every power:', () => {
  it.each<[what: string, make: (folder: string) => void, path: string]>([
    ['a file of its own', (folder) => writeFileSync(join(folder, 'claude/agents.md'), 'x'), 'claude/agents.md'],
    ['a file beside the tree', (folder) => writeFileSync(join(folder, '.mcp.json'), '{}'), '.mcp.json'],
    ['a changed file', (folder) => writeFileSync(join(folder, 'claude/CLAUDE.md'), 'Be kind.\n\n'), 'claude/CLAUDE.md'],
    ['a symbolic link', (folder) => symlinkSync('/etc/passwd', join(folder, 'claude/notes.md')), 'claude/notes.md'],
    ['a symbolic link to a folder', (folder) => symlinkSync('/', join(folder, 'claude/root')), 'claude/root'],
    ['a symbolic link to nothing', (folder) => symlinkSync('nothing', join(folder, 'x')), 'x'],
    ['a pipe', (folder) => execFileSync('mkfifo', [join(folder, 'pipe')]), 'pipe'],
    ['a large file', (folder) => large(join(folder, 'large')), 'large'],
    ['bytes that are no text', (folder) => writeFileSync(join(folder, 'bytes'), Buffer.from([0xff, 0xfe, 0])), 'bytes'],
    ['a space in its name', (folder) => writeFileSync(join(folder, 'a b'), ''), 'a b'],
    ['quotes in its name', (folder) => writeFileSync(join(folder, `a'"b`), ''), `a'"b`],
    ['a line break in its name', (folder) => writeFileSync(join(folder, 'a\nb'), ''), 'a\nb'],
    ['an escape in its name', (folder) => writeFileSync(join(folder, 'a\u001b[2Jb'), ''), 'a\u001b[2Jb'],
    ['an override in its name', (folder) => writeFileSync(join(folder, 'a\u202eb'), ''), 'a\u202eb'],
    ['a name that is no text', (folder) => writeFileSync(Buffer.concat([Buffer.from(`${folder}/a`), Buffer.from([0xff])]), ''), 'a\ufffd'],
    ['a name that every object has', (folder) => writeFileSync(join(folder, '__proto__'), ''), '__proto__'],
    ['a deep folder', (folder) => deep(folder), 'd/'.repeat(100).concat('x')],
    ['a .git that is not its own', (folder) => nested(folder), 'claude/.git/config'],
  ])('%s', async (_, make, path) => {
    const folder = folderOf(GOOD)
    make(folder)
    const { exit, out } = await typed(folder, '--json')
    const { powers, reasons } = JSON.parse(out)
    expect([exit, powers]).toEqual([1, ALL])
    expect(new Set(reasons.map(({ entry }: { readonly entry: string }) => entry))).toEqual(new Set([path]))
    const shown = await execute(['harness', 'powers', folder], fakeSurroundings({}, {}, { width: 100 }))
    expect(shown.out.replaceAll('\n', '')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
    expect(shown.out.split('\n').length).toBe(1 + ALL.length + 1 + ALL.length)
  })

  it.each<[string, Files]>([
    ['an entry that is refused', { '.svc-tree.json': JSON.stringify([...WORDS, { id: 'x y', name: 'rules', config: { text: '' } }]) }],
    ['an unknown kind', { '.svc-tree.json': JSON.stringify([{ id: 'x', name: 'native_tool', config: { name: 'x', code: '' } }]) }],
    ['a field twice', { '.svc-tree.json': '[{"id":"x","name":"rules","config":{"text":"Be kind."},"id":"x"}]' }],
    ['an unknown field', { '.svc-tree.json': '[{"id":"x","name":"rules","config":{"text":"Be kind."},"run":"id"}]' }],
    ['a shipped entry with another program', { '.svc-tree.json': JSON.stringify([shippedWith('curl example.com')]) }],
    ['a missing file', { 'claude/skills/sum/SKILL.md': '' }],
  ])('%s', async (_, files) => {
    expect(await powersOf(folderOf({ ...GOOD, ...files }), '--adapter', 'claude')).toEqual(expect.arrayContaining(ALL))
  })

  it('is shown as far as a person reads, and whole as JSON', async () => {
    const folder = folderOf({ ...GOOD, ...Object.fromEntries(Array.from({ length: 300 }, (_, at) => [`x${at}`, ''])) })
    const { out } = await typed(folder)
    expect(out).toContain('and 1,600 more reasons; --json has all of them')
    expect(JSON.parse((await typed(folder, '--json')).out).reasons.length).toBe(1800)
  })

  it('counts against another tree only where it differs', async () => {
    const [old, now] = [
      { ...GOOD, 'x.sh': 'one' },
      { ...GOOD, 'x.sh': 'two' },
    ]
    expect((await typed(folderOf(old), '--before', folderOf(old))).exit).toBe(0)
    expect(await powersOf(folderOf(now), '--before', folderOf(old))).toEqual(ALL)
    expect(await powersOf(folderOf(GOOD), '--before', folderOf(old))).toEqual(ALL)
  })
})

function shippedWith(command: string): Entry {
  const data = { hooks: { SessionStart: [{ hooks: [{ type: 'command', command }] }] } }
  return { id: 'svc-version-check', name: 'config', config: { data } }
}

function large(file: string): void {
  writeFileSync(file, '')
  truncateSync(file, 3 * 1024 ** 3)
}

function deep(folder: string): void {
  mkdirSync(join(folder, 'd/'.repeat(100)), { recursive: true })
  writeFileSync(join(folder, 'd/'.repeat(100), 'x'), '')
}

function nested(folder: string): void {
  mkdirSync(join(folder, 'claude/.git'))
  writeFileSync(join(folder, 'claude/.git/config'), '')
}

describe('what is no tree is an error:', () => {
  it.each<[what: string, args: () => readonly string[], words: string]>([
    ['nothing', () => [join(temporaryFolder(), 'gone')], 'does not exist: name the folder'],
    ['a file', () => [join(folderOf({ x: '' }), 'x')], 'is no folder: name the folder'],
    ['an empty folder', () => [temporaryFolder()], 'it is not clear which agent'],
    ['a folder of something else', () => [folderOf({ 'package.json': '{}' })], 'it is not clear which agent'],
    ['something else for a named agent', () => [folderOf({ 'package.json': '{}' }), '--adapter', 'claude'], 'is no tree for claude'],
    ['entries that are none', () => [folderOf({ '.svc-tree.json': '{}' }), '--adapter', 'claude'], 'is not a list of entries'],
    ['an adapter that is not known', () => [tree(WORDS), '--adapter', 'nobody'], 'nobody'],
    ['another tree that is none', () => [tree(WORDS), '--before', temporaryFolder()], 'is no tree for claude'],
    [
      'too many files',
      () => [folderOf(Object.fromEntries(Array.from({ length: 2049 }, (_, at) => [`f${at}`, ''])))],
      'more than 2048 files',
    ],
  ])('%s', async (_, args, words) => {
    const { exit, out, err } = await typed(...args())
    expect([exit, out]).toEqual([2, ''])
    expect(err.join(' ')).toContain(words)
    expect(err.join(' ').length).toBeLessThan(700)
  })

  it('a folder of an odd name is named so that it controls nothing', async () => {
    const { err } = await typed('\u001b]0;x\u0007\u202e')
    expect(err.join('')).not.toMatch(/[\p{Cc}\p{Bidi_Control}]/u)
  })
})

it('help has an example and the exit codes', async () => {
  const { exit, out } = await typed('--help')
  expect(exit).toBe(0)
  for (const words of ['svc harness powers ./new --before ./old', 'Exit codes: 0 only words', 'every power']) expect(out).toContain(words)
})
