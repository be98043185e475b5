/** What is installed, as a workspace sees it: npm's and pnpm's folders of packages, and virtual environments of Python. */
import { existsSync, mkdirSync, readFileSync, readlinkSync, symlinkSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import type { Files } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { findInstalled, makeLinks } from './dependencies.ts'

function folderWith(files: Files, links: Files = {}): string {
  const folder = temporaryFolder()
  for (const [path, text] of Object.entries({ ...files, ...links })) {
    mkdirSync(dirname(join(folder, path)), { recursive: true })
    if (Object.hasOwn(links, path)) symlinkSync(text, join(folder, path))
    else writeFileSync(join(folder, path), text, { mode: 0o755 })
  }
  return folder
}

const installedIn = async (path: string, folder: string) => {
  const { links, needs } = await findInstalled({ [path]: folder })
  return { links: Object.fromEntries(links), needs }
}

describe('a folder of packages', () => {
  it('is one link per package, its own packages are those of the workspace, and caches are left out', async () => {
    const packages = join(
      folderWith(
        {
          'node_modules/one/index.js': '',
          'node_modules/@some/two/index.js': '',
          'node_modules/.pnpm/three/node_modules/three/index.js': '',
          'node_modules/.cache/later.js': 'a solution',
          'node_modules/.package-lock.json': '{}',
        },
        {
          'node_modules/.bin/one': '../one/index.js',
          'node_modules/three': '.pnpm/three/node_modules/three',
          'node_modules/@some/own': '../../packages/own',
          'node_modules/elsewhere': '/etc',
        },
      ),
      'node_modules',
    )
    expect(await installedIn('deep/node_modules', packages)).toEqual({
      links: {
        'deep/node_modules/.bin': join(packages, '.bin'),
        'deep/node_modules/.pnpm': join(packages, '.pnpm'),
        'deep/node_modules/one': join(packages, 'one'),
        'deep/node_modules/three': '.pnpm/three/node_modules/three',
        'deep/node_modules/@some/two': join(packages, '@some/two'),
        'deep/node_modules/@some/own': '../../packages/own',
      },
      needs: [packages],
    })
  })

  it('gives way to what the workspace holds, and leaves room beside the packages', async () => {
    const packages = join(
      folderWith({ 'node_modules/one/index.js': 'installed', 'node_modules/two/index.js': 'installed' }),
      'node_modules',
    )
    const workspace = folderWith({ 'node_modules/one/index.js': 'own', 'a/b': 'a file' })
    const { links } = await findInstalled({ node_modules: packages, 'a/b/node_modules': packages })
    await makeLinks(workspace, links)
    expect(readFileSync(join(workspace, 'node_modules/one/index.js'), 'utf8')).toBe('own')
    expect(readFileSync(join(workspace, 'node_modules/two/index.js'), 'utf8')).toBe('installed')
    writeFileSync(join(workspace, 'node_modules/.cache'), 'room')
  })
})

const PYTHON = 'versions/3/bin/python3'
const environment = (home: string): string => folderWith({ 'pyvenv.cfg': `home = ${home}\nversion = 3\n` })

describe('a virtual environment of Python', () => {
  it('is one link, and needs the Python that it is of', async () => {
    const python = folderWith({ [PYTHON]: '' })
    const folder = environment(join(python, 'versions/3/bin'))
    expect(await installedIn('.venv', folder)).toEqual({ links: { '.venv': folder }, needs: [folder, join(python, 'versions/3')] })
  })

  it.skipIf(!existsSync('/usr/bin/python3'))('needs nothing more where it is of the system’s Python', async () => {
    const folder = environment('/usr/bin')
    expect((await findInstalled({ '.venv': folder })).needs).toEqual([folder])
  })

  it.each([
    ['names a folder without a Python', (python: string) => join(python, 'versions')],
    ['names no folder in full', () => 'versions/3/bin'],
  ])('is none where it %s', async (_what, homeIn) => {
    const folder = environment(homeIn(folderWith({ [PYTHON]: '' })))
    await expect(findInstalled({ '.venv': folder })).rejects.toMatchObject({ code: 'no_dependencies' })
  })

  it('shows no folder that holds more than a Python', async () => {
    const bare = environment(folderWith({ python3: '' }))
    expect((await findInstalled({ '.venv': bare })).needs).toEqual([bare])
    const python = folderWith({ [PYTHON]: '' })
    const folder = environment(join(python, 'versions/3/bin'))
    vi.stubEnv('HOME', join(python, 'versions/3/home'))
    onTestFinished(() => void vi.unstubAllEnvs())
    expect((await findInstalled({ '.venv': folder })).needs).toEqual([folder])
  })
})

describe('what is not installed', () => {
  it.each([
    ['is missing', () => join(temporaryFolder(), 'node_modules')],
    ['is another folder', () => folderWith({ id_rsa: 'secret' })],
    ['is a link', () => join(folderWith({}, { node_modules: '/etc' }), 'node_modules')],
    ['is a file', () => join(folderWith({ node_modules: '' }), 'node_modules')],
  ])('is refused, with what to do, where it %s', async (_what, folderOf) => {
    await expect(findInstalled({ node_modules: folderOf() })).rejects.toMatchObject({
      kind: 'unavailable',
      code: 'no_dependencies',
      message: expect.stringContaining('install them there'),
    })
  })

  it('is nothing where a task needs nothing', async () => {
    expect(await findInstalled({})).toEqual({ links: new Map(), needs: [] })
  })
})

it('links are made as links', async () => {
  const workspace = temporaryFolder()
  await makeLinks(workspace, new Map([['a/b', '../c']]))
  expect(readlinkSync(join(workspace, 'a/b'))).toBe('../c')
})
