/** Trees in folders: hostile ones, interrupted ones, and two at once. */
import { execFileSync, spawn } from 'node:child_process'
import { once } from 'node:events'
import {
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
  truncateSync,
  watch,
  writeFileSync,
} from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { describe, expect, it } from 'vitest'
import { fillDisk, mountDisk, sharedFolder, temporaryFolder } from '../../test/support/folder.ts'
import { TreeFailure } from './failure.ts'
import { keepRelease, keptRelease } from './kept-tree.ts'
import { checkPaths, releaseText, trustOf, writeTree, type TreeChange, type TreeFiles } from './tree-files.ts'

const MODULE = fileURLToPath(new URL('tree-files.ts', import.meta.url))
const RELEASE = '.svc-harness-release'
const HOME = sharedFolder()

describe('paths', () => {
  it.each([
    ['climbs out', '../evil'],
    ['climbs out in the middle', 'a/../../evil'],
    ['climbs out at the end', 'a/..'],
    ['names the folder itself', '.'],
    ['is absolute', '/etc/passwd'],
    ['is absolute elsewhere', 'C:evil'],
    ['has backslashes', '..\\evil'],
    ['is empty', ''],
    ['has an empty segment', 'a//b'],
    ['ends in a slash', 'a/'],
    ['holds a NUL', 'a\0b'],
    ['holds a line end', 'a\nb'],
    ['is half a character', 'a\ud800'],
    ['is longer than any system takes', 'a/'.repeat(2100) + 'a'],
    ['has a name longer than any system takes', 'é'.repeat(128)],
    ['is the release file', RELEASE],
    ['is the release file in other letters', '.Svc-Harness-RELEASE'],
    ['is where unfinished files are', '.svc-harness-writing-1/part'],
  ])('one that %s is refused, and with it the whole tree', (_, path) => {
    const root = join(temporaryFolder(), 'tree')
    const act = (): unknown => writeTree(root, { 'good.md': 'x', [path]: 'evil' }, release([]), HOME)
    expect(act).toThrow(TreeFailure)
    expect(act).toThrow(/nothing was written/)
    expect(existsSync(root)).toBe(false)
  })

  it.each([
    ['case alone', { 'Rules.md': '', 'rules.md': '' }],
    ['the case of a folder alone', { 'Skills/a.md': '', 'skills/A.md': '' }],
    ['how an accent is written', { 'caf\u00e9': '', 'cafe\u0301': '' }],
    ['one being the folder of the other', { a: '', 'a/b': '' }],
    ['one being the folder of the other in other letters', { 'A/b/c': '', 'a/B': '' }],
  ])('two that differ by %s are refused', (_, files) => {
    expect(() => checkPaths(files)).toThrow(TreeFailure)
  })

  it('of every ordinary kind are taken, and names are no properties of anything', () => {
    const files = { '..a': '1', 'a.': '2', '.pi/b c.md': '3', 'ü/日本.md': '4', constructor: '5', ['__proto__']: '6', 'xx:y': '7' }
    const root = temporaryFolder()
    writeTree(root, files, release(Object.keys(files)), HOME)
    expect(filesIn(root)).toEqual(files)
  })

  it('are not the only thing checked: a text that is half a character is refused too', () => {
    expect(() => checkPaths({ a: '\ud800' })).toThrow(/valid Unicode/)
  })
})

describe('symbolic links', () => {
  it.each([
    ['a folder on the way', (root: string, outside: string) => symlinkSync(outside, join(root, 'skills')), 'skills/a/SKILL.md'],
    ['the file itself', (root: string, outside: string) => symlinkSync(join(outside, 'victim'), join(root, 'a.md')), 'a.md'],
    ['a link to nothing', (root: string) => symlinkSync('nowhere', join(root, 'a.md')), 'a.md'],
    ['the release file', (root: string, outside: string) => symlinkSync(join(outside, 'victim'), join(root, RELEASE)), 'a.md'],
  ])('that are %s are refused before anything is written', (_, plant, path) => {
    const [root, outside] = [temporaryFolder(), temporaryFolder()]
    writeFileSync(join(outside, 'victim'), 'mine')
    plant(root, outside)
    expect(() => writeTree(root, { '0.md': 'first', [path]: 'evil' }, release([path]), HOME)).toThrow(/symbolic link/)
    expect(filesIn(outside)).toEqual({ victim: 'mine' })
    expect(existsSync(join(root, '0.md'))).toBe(false)
  })

  it('are never removed through: what the old release listed behind one stays', () => {
    const [root, outside] = [temporaryFolder(), temporaryFolder()]
    write(root, { 'a/b.md': 'x', 'c.md': 'x' })
    rmSync(join(root, 'a'), { recursive: true })
    writeFileSync(join(outside, 'b.md'), 'mine')
    symlinkSync(outside, join(root, 'a'))
    expect(write(root, {})).toEqual({ written: [RELEASE], removed: ['c.md'] })
    expect(filesIn(outside)).toEqual({ 'b.md': 'mine' })
  })

  it('may lead to the folder itself: that is the choice of the caller', () => {
    const folder = temporaryFolder()
    mkdirSync(join(folder, 'real'))
    symlinkSync('real', join(folder, 'link'))
    write(join(folder, 'link'), { 'a.md': 'x' })
    expect(filesIn(join(folder, 'real'))).toMatchObject({ 'a.md': 'x' })
  })
})

describe('a release file that this machine did not write', () => {
  it.each([
    ['of the present name', RELEASE],
    ['of the name that earlier versions used', '.reef-harness-release'],
  ])('%s is replaced, and what it lists stays', (_, name) => {
    const root = temporaryFolder()
    writeFileSync(join(root, 'mine.md'), 'mine')
    writeFileSync(join(root, name), release(['mine.md']))
    expect(write(root, { 'a.md': '1' })).toEqual({ written: [RELEASE, 'a.md'], removed: [] })
    expect([readdirSync(root).toSorted(), readFileSync(join(root, 'mine.md'), 'utf8')]).toEqual([[RELEASE, 'a.md', 'mine.md'], 'mine'])
  })

  it.each([
    ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
    ['a folder', (path: string) => mkdirSync(path)],
  ])('and that is %s is refused, not read', (_, plant) => {
    const root = temporaryFolder()
    plant(join(root, RELEASE))
    expect(() => write(root, { 'a.md': '1' })).toThrow(/something else here: move it away/)
    expect(readdirSync(root)).toEqual([RELEASE])
  })

  it('and that is longer than memory is not read', () => {
    const root = temporaryFolder()
    for (const name of [RELEASE, 'a.md']) writeFileSync(join(root, name), '')
    for (const name of [RELEASE, 'a.md']) truncateSync(join(root, name), 2 ** 32)
    expect(write(root, { 'a.md': '1' }).written).toEqual([RELEASE, 'a.md'])
  })

  it('changes nothing about the key that is trusted in a folder, and pins none in a folder that was cloned', () => {
    const [root, cloned] = [temporaryFolder(), temporaryFolder()]
    const trust = { key: `ed25519:${'A'.repeat(43)}`, step: 1, release_id: 'r' }
    const text = releaseText({ release_id: 'r', content_id: 'c', files: {} }, trust)
    writeTree(root, {}, text, HOME)
    writeFileSync(join(root, RELEASE), '{}')
    writeFileSync(join(cloned, RELEASE), text)
    expect([trustOf(root, HOME), trustOf(cloned, HOME)]).toEqual([trust, null])
  })
})

describe('a release over an older one', () => {
  it('writes what differs, removes what left with its empty folders, and leaves everything else', () => {
    const root = temporaryFolder()
    write(root, { same: '1', 'old/deep/gone.md': 'x', 'kept/gone.md': 'x', changed: '1' })
    writeFileSync(join(root, 'kept/own.md'), 'mine')
    const before = lstatSync(join(root, 'same'))
    expect(write(root, { same: '1', changed: '2', 'new/a.md': 'x' })).toEqual({
      written: [RELEASE, 'changed', 'new/a.md'],
      removed: ['kept/gone.md', 'old/deep/gone.md'],
    })
    expect(filesIn(root)).toEqual({ same: '1', changed: '2', 'new/a.md': 'x', 'kept/own.md': 'mine' })
    expect(lstatSync(join(root, 'same')).ino).toBe(before.ino)
    expect(existsSync(join(root, 'old'))).toBe(false)
  })

  it('that is there already changes nothing at all, and restores what somebody changed', () => {
    const root = temporaryFolder()
    write(root, { 'a/b.md': 'x' })
    const before = lstatSync(root, { bigint: true }).mtimeNs
    expect(write(root, { 'a/b.md': 'x' })).toEqual({ written: [], removed: [] })
    expect(lstatSync(root, { bigint: true }).mtimeNs).toBe(before)
    writeFileSync(join(root, 'a/b.md'), 'other')
    expect(write(root, { 'a/b.md': 'x' })).toEqual({ written: ['a/b.md'], removed: [] })
  })

  it('may make a folder of a file and a file of a folder', () => {
    const root = temporaryFolder()
    write(root, { a: '1', 'b/c': '1' })
    write(root, { 'a/x': '2', b: '2' })
    expect(filesIn(root)).toEqual({ 'a/x': '2', b: '2' })
  })

  it.each([
    ['a folder', (root: string) => mkdirSync(join(root, 'a.md')), { 'a.md': 'x' }],
    ['a file', (root: string) => writeFileSync(join(root, 'a'), 'mine'), { 'a/b.md': 'x' }],
  ])('does not replace %s of somebody else', (_, plant, files) => {
    const root = temporaryFolder()
    plant(root)
    expect(() => write(root, { '0.md': '', ...files })).toThrow(/something else here: move it away/)
    expect(existsSync(join(root, '0.md'))).toBe(false)
  })

  it('removes nothing that the list has outside the folder, or that is no file', () => {
    const folder = temporaryFolder()
    const root = join(folder, 'root')
    mkdirSync(join(root, 'dir'), { recursive: true })
    writeFileSync(join(folder, 'victim'), 'mine')
    keepRelease(HOME, root, release(['../victim', join(folder, 'victim'), 'dir', 'dir/../../victim']))
    expect(write(root, { a: '' })).toEqual({ written: [RELEASE, 'a'], removed: [] })
    expect(readFileSync(join(folder, 'victim'), 'utf8')).toBe('mine')
  })
})

describe('trouble', () => {
  it('such as a kill in the middle leaves whole files, and the next run completes the tree, whichever release it is of', async () => {
    const root = temporaryFolder()
    write(root, { ...many('old'), 'left.md': 'x' })
    for (const eventsBeforeKill of [1, 30, 100]) {
      const child = startWriting(root, { [`0/only-in-${eventsBeforeKill}.md`]: 'x', ...many(`new${eventsBeforeKill}-`) })
      let events = 0
      const watcher = watch(root, () => {
        events += 1
        if (events === eventsBeforeKill) child.kill('SIGKILL')
      })
      expect(await once(child, 'exit')).toEqual([null, 'SIGKILL'])
      watcher.close()
      for (const [path, text] of Object.entries(filesIn(root)))
        if (path.startsWith('f')) expect(text).toMatch(/^(old|new1-|new30-|new100-)\d+$/)
    }
    write(root, many('last'))
    expect(filesIn(root)).toEqual(many('last'))
    expect(readdirSync(root).filter((name) => name.startsWith('.'))).toEqual([RELEASE])
  })

  it('such as a first tree that was never completed leaves nothing behind in the next', () => {
    const root = mountDisk('size=1m')
    const files = { 'a/first.md': 'x', 'b.md': 'x'.repeat(2_000_000) }
    expect(() => write(root, files)).toThrow(/ENOSPC/)
    expect(JSON.parse(keptRelease(HOME, root) ?? '')).toEqual({ release_id: '', content_id: '', files: ['a/first.md', 'b.md'] })
    expect(write(root, { 'c.md': 'x' })).toEqual({ written: [RELEASE, 'c.md'], removed: ['a/first.md'] })
    expect(filesIn(root)).toEqual({ 'c.md': 'x' })
  })

  it('such as two writers at once never mixes their trees', async () => {
    const root = temporaryFolder()
    for (let round = 0; round < 4; round += 1) {
      const trees = ['a', 'b'].map((name) => many(`${name}${round}-`))
      const ended = await Promise.all(trees.map(async (files) => once(startWriting(root, files), 'exit')))
      const wrote = trees.filter((_, index) => ended[index]?.[0] === 0)
      if (wrote.length === 0) continue
      expect(wrote).toContainEqual(filesIn(root))
    }
  })

  it('such as another process at work is reported, and left alone', () => {
    const root = temporaryFolder()
    mkdirSync(join(root, `.svc-harness-writing-${process.ppid}`))
    expect(() => write(root, { a: '' })).toThrow(`process ${process.ppid} is writing`)
    expect(readdirSync(root)).toEqual([`.svc-harness-writing-${process.ppid}`])
  })

  it('such as a full disk leaves the old tree readable, and goes away with the cause', () => {
    const root = mountDisk('size=1m')
    const old = { a: 'old', z: 'old' }
    write(root, old)
    const free = fillDisk(root)
    expect(() => write(root, { a: 'x'.repeat(8192), z: 'new' })).toThrow(/ENOSPC/)
    free()
    expect(filesIn(root)).toEqual(old)
    expect(write(root, { a: 'new', z: 'new' }).written).toEqual(['a', 'z'])
  })

  it('such as a disk that cannot be written is reported in the system’s own words', () => {
    const disk = mountDisk('size=1m')
    write(join(disk, 'tree'), { a: '1' })
    execFileSync('mount', ['-o', 'remount,ro', disk])
    expect(() => write(join(disk, 'tree'), { a: '2' })).toThrow(/EROFS/)
    expect(write(join(disk, 'tree'), { a: '1' })).toEqual({ written: [], removed: [] })
  })
})

const release = (files: readonly string[]): string => JSON.stringify({ release_id: 'r', content_id: 'c', files })

const many = (text: string): TreeFiles => Object.fromEntries(Array.from({ length: 400 }, (_, at) => [`f${at}`, `${text}${at}`]))

const write = (root: string, files: TreeFiles): TreeChange => writeTree(root, files, release(Object.keys(files).sort()), HOME)

/** Path to text of everything but the release file and what is unfinished. */
function filesIn(root: string): TreeFiles {
  const found = readdirSync(root, { recursive: true, encoding: 'utf8' }).filter((path) => lstatSync(join(root, path)).isFile())
  const own = found.filter((path) => basename(path) !== RELEASE && !dirname(path).startsWith('.svc-harness-'))
  return Object.fromEntries(own.map((path) => [path, readFileSync(join(root, path), 'utf8')]))
}

function startWriting(root: string, files: TreeFiles): ReturnType<typeof spawn> {
  const call = [root, files, release(Object.keys(files)), HOME].map((value) => JSON.stringify(value)).join(', ')
  const script = `import { writeTree } from ${JSON.stringify(MODULE)}; writeTree(${call})`
  return spawn(process.execPath, ['--input-type=module', '--eval', script], { stdio: 'ignore' })
}
