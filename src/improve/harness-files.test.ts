/** The harness of a repository, read as entries and written back. */
import { execFileSync } from 'node:child_process'
import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it } from 'vitest'
import claude from '../../plugins/adapters/claude/index.ts'
import codex from '../../plugins/adapters/codex/index.ts'
import native from '../../plugins/adapters/native/index.ts'
import opencode from '../../plugins/adapters/opencode/index.ts'
import pi from '../../plugins/adapters/pi/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import type { Adapter, Files } from '../contract/index.ts'
import { pulledFiles, contentOf, renderTree } from '../harness/index.ts'
import { layoutOf, type HarnessPlaces } from './agents.ts'
import { changesOf, entriesOf, isHarnessPath, readHarness } from './harness-files.ts'

const ADAPTERS: readonly Adapter[] = [claude, codex, opencode, pi, native].map(({ plugin }) => plugin)

function placesOf({ name }: Adapter): HarnessPlaces {
  return layoutOf(name)?.places ?? expect.unreachable(`no layout of ${name}`)
}

function repositoryOf(files: Files): string {
  const folder = temporaryFolder()
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    writeFileSync(join(folder, path), text)
  }
  return folder
}

const SKILL = '---\nname: "sum"\ndescription: "How to add."\n---\nAdd from the right.\n'
const COMMAND = '---\nname: "tidy"\ndescription: "Tidies."\n---\nTidy up.\n'
const at = (template: string | undefined, name: string): string => template?.replace('{name}', name) ?? ''

/** A repository with everything that the agent reads, at each of its places. */
function whole({ rules, skill, agent_command }: HarnessPlaces, place: number): Files {
  const command = agent_command.at(place) ?? agent_command[0]
  return {
    [rules[0] ?? '']: '# Rules\n\nBe kind.\n',
    [at(skill.at(place) ?? skill[0], 'sum')]: SKILL,
    ...(command !== undefined && { [at(command, 'tidy')]: COMMAND }),
  }
}

describe.each(ADAPTERS.map((adapter) => ({ name: adapter.name, adapter })))('the repository of $name', ({ adapter }) => {
  const places = placesOf(adapter)

  it.each([0, 1])('is read as entries that render to the same texts: place %#', async (place) => {
    const files = whole(places, place)
    const tree = await readHarness(adapter, places, repositoryOf(files))
    const { entries, sources, leftOut } = tree
    expect(leftOut).toEqual([])
    const rendered = renderTree(adapter, entries)
    expect(Object.fromEntries(Object.entries(sources).map(([path, source]) => [source.path, rendered[path]]))).toEqual(files)
    expect(changesOf(adapter, places, tree, pulledFiles(contentOf(adapter, entries)))).toEqual([])
  })

  it('is read back from what is rendered: the same files', async () => {
    const { entries } = await readHarness(adapter, places, repositoryOf(whole(places, 0)))
    const files = pulledFiles(contentOf(adapter, entries))
    expect(renderTree(adapter, entriesOf(adapter, files))).toEqual(renderTree(adapter, entries))
  })

  it('changes by what a better tree changes, and by nothing else', async () => {
    const folder = repositoryOf({ ...whole(places, 0), 'README.md': 'x' })
    const read = await readHarness(adapter, places, folder)
    const better = [
      ...read.entries,
      { id: 'more', name: 'rules', config: { text: 'Be short.' } },
      { id: 'new', name: 'skill', config: { name: 'new', text: SKILL.replaceAll('sum', 'new') } },
    ]
    expect(changesOf(adapter, places, read, pulledFiles(contentOf(adapter, better)))).toEqual([
      { path: places.rules[0], before: '# Rules\n\nBe kind.\n', after: '# Rules\n\nBe kind.\n\nBe short.\n', isExecutable: false },
      { path: at(places.skill[0], 'new'), before: null, after: SKILL.replaceAll('sum', 'new'), isExecutable: false },
    ])
    const fewer = read.entries.filter((entry) => entry.name !== 'skill')
    expect(changesOf(adapter, places, read, pulledFiles(contentOf(adapter, fewer)))).toEqual([
      { path: at(places.skill[0], 'sum'), before: SKILL, after: null, isExecutable: false },
    ])
  })

  it('that is empty has no entries, and new rules get a file', async () => {
    const read = await readHarness(adapter, places, temporaryFolder())
    expect(read).toMatchObject({ entries: [], sources: {}, leftOut: [] })
    const better = [{ id: 'a', name: 'rules', config: { text: 'Be short.' } }]
    expect(changesOf(adapter, places, read, pulledFiles(contentOf(adapter, better)))).toEqual([
      { path: places.rules[0], before: null, after: 'Be short.\n', isExecutable: false },
    ])
  })
})

const places = placesOf(claude.plugin)
const read = (folder: string) => readHarness(claude.plugin, places, folder)

describe('a file of the repository', () => {
  it('with the line ends of Windows keeps them, and its mode', async () => {
    const folder = repositoryOf({ 'CLAUDE.md': 'One.\r\nTwo.\r\n' })
    chmodSync(join(folder, 'CLAUDE.md'), 0o755)
    const tree = await read(folder)
    const better = [...tree.entries, { id: 'b', name: 'rules', config: { text: 'Three.' } }]
    expect(changesOf(claude.plugin, places, tree, contentOf(claude.plugin, better))).toEqual([
      { path: 'CLAUDE.md', before: 'One.\r\nTwo.\r\n', after: 'One.\r\nTwo.\r\n\r\nThree.\r\n', isExecutable: true },
    ])
  })

  it('that is a link inside of the repository stands for what it leads to', async () => {
    const folder = repositoryOf({ 'AGENTS.md': 'Be kind.\n' })
    symlinkSync('AGENTS.md', join(folder, 'CLAUDE.md'))
    expect((await read(folder)).sources).toEqual({ 'claude/CLAUDE.md': { path: 'AGENTS.md', text: 'Be kind.\n', isExecutable: false } })
  })

  it('that only imports another stands for that one', async () => {
    expect((await read(repositoryOf({ 'CLAUDE.md': '@AGENTS.md\n', 'AGENTS.md': 'Be kind.\n' }))).sources).toMatchObject({
      'claude/CLAUDE.md': { path: 'AGENTS.md' },
    })
    expect((await read(repositoryOf({ 'CLAUDE.md': '@gone.md\n' }))).sources).toMatchObject({ 'claude/CLAUDE.md': { path: 'CLAUDE.md' } })
  })

  it('that leads outside, is no text, or is refused by the adapter is left out, and is never written', async () => {
    const folder = repositoryOf({
      '.claude/commands/bad.md': '---\nmodel: other\n---\nx\n',
      '.claude/skills/bytes/SKILL.md': '',
      '.claude/skills/odd name/SKILL.md': SKILL,
    })
    writeFileSync(join(folder, '.claude/skills/bytes/SKILL.md'), Buffer.from([0xff, 0xfe]))
    mkdirSync(join(folder, '.claude/skills/far'))
    symlinkSync('/etc/hostname', join(folder, '.claude/skills/far/SKILL.md'))
    mkdirSync(join(folder, '.claude/skills/empty'))
    const tree = await read(folder)
    expect(tree.entries).toEqual([])
    expect(tree.leftOut.map(({ path, why }) => `${path}: ${why}`).toSorted()).toEqual([
      expect.stringContaining('.claude/commands/bad.md: '),
      '.claude/skills/bytes/SKILL.md: it is no text in UTF-8',
      '.claude/skills/empty/SKILL.md: it cannot be read (ENOENT)',
      '.claude/skills/far/SKILL.md: it leads out of the folder that is improved',
      expect.stringContaining('.claude/skills/odd name/SKILL.md: '),
    ])
    const better = [{ id: 'x', name: 'agent_command', config: { name: 'bad', text: 'Be good.' } }]
    expect(changesOf(claude.plugin, places, tree, contentOf(claude.plugin, better))).toEqual([])
  })

  it.each([
    ['.env', 'it leads to .env, which is no page of rules'],
    ['.git/notes.md', 'it leads to .git/notes.md, which is no page of rules'],
    ['/dev/zero', 'it leads out of the folder that is improved'],
    ['gone.md', 'it cannot be read (ENOENT)'],
    ['CLAUDE.md', 'it cannot be read (ELOOP)'],
  ])(
    'that is a link to %s is left out: such a file may hold a secret, have no end, or stand in the way of a new one',
    async (target, why) => {
      const folder = repositoryOf({ '.env': 'KEY=secret\n', '.git/notes.md': 'x' })
      symlinkSync(target, join(folder, 'CLAUDE.md'))
      expect(await read(folder)).toMatchObject({ entries: [], sources: {}, leftOut: [{ path: 'CLAUDE.md', why }] })
    },
  )

  it('that is a pipe is left out, and not waited for', async () => {
    const folder = temporaryFolder()
    execFileSync('mkfifo', [join(folder, 'CLAUDE.md')])
    expect((await read(folder)).leftOut).toEqual([{ path: 'CLAUDE.md', why: 'it is no plain file' }])
  })

  it('in a folder that leads elsewhere or nowhere is not looked for, and no new one is written there', async () => {
    const folder = temporaryFolder()
    symlinkSync('/etc', join(folder, '.claude'))
    const linked = await read(folder)
    expect(linked.leftOut).toEqual([])
    const [outside, looped] = [temporaryFolder(), repositoryOf({ '.claude/x': '' })]
    mkdirSync(join(outside, 'skills/far'), { recursive: true })
    writeFileSync(join(outside, 'skills/far/SKILL.md'), SKILL)
    symlinkSync(join(outside, 'skills'), join(looped, '.claude/skills'))
    symlinkSync('commands', join(looped, '.claude/commands'))
    const tree = await read(looped)
    expect(tree).toEqual({
      entries: [],
      sources: {},
      leftOut: [
        { path: '.claude/skills', why: 'it leads out of the folder that is improved' },
        { path: '.claude/commands', why: 'it cannot be read (ELOOP)' },
      ],
      newAt: {},
    })
    const better = [{ id: 'new', name: 'skill', config: { name: 'new', text: SKILL.replaceAll('sum', 'new') } }]
    expect(changesOf(claude.plugin, places, tree, contentOf(claude.plugin, better))).toEqual([])
  })

  it.each([
    ['.claude/skills', '../.agents/skills', '.agents/skills/new/SKILL.md'],
    ['.claude', '.agents', '.agents/skills/new/SKILL.md'],
    ['.claude/skills', '../.agents/none', null],
  ])('a new one lies where the link %s to %s leads', async (link, target, path) => {
    const folder = repositoryOf({ 'CLAUDE.md': 'Be kind.', '.agents/skills/sum/SKILL.md': SKILL })
    if (link !== '.claude') mkdirSync(join(folder, '.claude'))
    symlinkSync(target, join(folder, link))
    const tree = await read(folder)
    const better = [...tree.entries, { id: 'new', name: 'skill', config: { name: 'new', text: SKILL.replaceAll('sum', 'new') } }]
    expect(changesOf(claude.plugin, places, tree, contentOf(claude.plugin, better)).map((change) => change.path)).toEqual(
      path === null ? [] : [path],
    )
  })

  it('that is empty is where new rules go', async () => {
    const tree = await read(repositoryOf({ '.claude/CLAUDE.md': '\n' }))
    const better = [{ id: 'a', name: 'rules', config: { text: 'Be short.' } }]
    expect(changesOf(claude.plugin, places, tree, contentOf(claude.plugin, better))).toMatchObject([
      { path: '.claude/CLAUDE.md', before: '\n', after: 'Be short.\n' },
    ])
  })

  it('is known as part of the harness by its place', () => {
    for (const path of ['CLAUDE.md', '.claude/skills/x/SKILL.md', '.claude/commands/y.md']) expect(isHarnessPath(places, path)).toBe(true)
    for (const path of ['docs/CLAUDE.md', '.claude/skills/x/run.sh', '.claude/skills/a/b/SKILL.md', ''])
      expect(isHarnessPath(places, path)).toBe(false)
  })
})
