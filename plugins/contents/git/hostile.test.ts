/** Repositories that others wrote to: what is served is what its id says, or nothing, and no program is started. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { deflateSync } from 'node:zlib'
import { afterEach, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import type { ContentStore, Release } from '../../../src/contract/index.ts'
import { sharedFolder, temporaryFolder } from '../../../test/support/folder.ts'
import { makeObject } from '../common/objects/object.ts'
import { gitSays, open, packEverything, publish } from './testing/repositories.ts'

let path = ''
let store: ContentStore
let release: Release
const FILES = { 'a.md': 'good', 'b/c.md': 'better' }

const folder = sharedFolder()
let started = 0

async function start(): Promise<void> {
  started += 1
  path = join(folder, `${started}.git`)
  store = await open(path)
  release = await publish(store, FILES)
  await store.point('s', release)
}

/** Writes the object whatever it is, as git's own commands would not. */
function raw(type: 'blob' | 'tree' | 'commit', body: string | Buffer, as?: string): string {
  const object = makeObject(type, Buffer.from(body))
  const id = as ?? object.id
  const file = join(path, 'objects', id.slice(0, 2), id.slice(2))
  mkdirSync(join(path, 'objects', id.slice(0, 2)), { recursive: true })
  rmSync(file, { force: true })
  writeFileSync(file, deflateSync(object.bytes))
  return id
}

const entry = (mode: string, name: string, id: string): Buffer => Buffer.concat([Buffer.from(`${mode} ${name}\0`), Buffer.from(id, 'hex')])
const bad = (): string => raw('blob', 'bad')
const idOf = (name: string): string => gitSays(path, 'rev-parse', `${release.release_id}:${name}`).trim()

/** What is served by a store that has read nothing yet. */
async function served(contentId = release.content_id): Promise<unknown> {
  return { ...(await (await open(path)).read(contentId)) }
}

describe('an object that is put in the place of another is not served [trust.objects]', () => {
  beforeEach(start)

  it.each<[string, () => void]>([
    ['refs/replace for a file', () => void gitSays(path, 'replace', idOf('a.md'), bad())],
    ['refs/replace for a file in a pack', () => (packEverything(path), void gitSays(path, 'replace', idOf('a.md'), bad()))],
    [
      'refs/replace for the tree in a pack',
      () => (packEverything(path), void gitSays(path, 'replace', release.content_id, raw('tree', entry('100644', 'a.md', bad())))),
    ],
    [
      'refs/replace for the commit in a pack',
      () => {
        const other = gitSays(path, 'commit-tree', '-m', 'x', raw('tree', entry('100644', 'a.md', bad()))).trim()
        packEverything(path)
        gitSays(path, 'replace', release.release_id, other)
      },
    ],
    [
      'a graft of the commit',
      () => {
        mkdirSync(join(path, 'info'), { recursive: true })
        writeFileSync(join(path, 'info', 'grafts'), `${release.release_id} ${'1'.repeat(40)}\n`)
      },
    ],
  ])('%s', async (_, attack) => {
    attack()
    expect(await served()).toEqual(FILES)
    expect(await (await open(path)).find(release.release_id)).toEqual(release)
  })

  it('an alternate that holds other bytes under the id', async () => {
    const id = idOf('a.md')
    const elsewhere = join(temporaryFolder(), 'objects')
    mkdirSync(join(elsewhere, id.slice(0, 2)), { recursive: true })
    writeFileSync(join(elsewhere, id.slice(0, 2), id.slice(2)), deflateSync(makeObject('blob', Buffer.from('bad')).bytes))
    mkdirSync(join(path, 'objects', 'info'), { recursive: true })
    writeFileSync(join(path, 'objects', 'info', 'alternates'), `${elsewhere}\n`)
    rmSync(join(path, 'objects', id.slice(0, 2), id.slice(2)))
    await expect(served()).rejects.toThrow()
  })
})

describe('altered bytes are damage, and are not served [trust.objects]', () => {
  beforeEach(start)

  it.each<[string, () => void]>([
    ['another loose file under its id', () => void raw('blob', 'bad', idOf('a.md'))],
    ['another loose tree under its id', () => void raw('tree', entry('100644', 'a.md', bad()), release.content_id)],
    ['a loose tree of the type blob', () => void raw('blob', 'x', release.content_id)],
    ['a loose file that does not inflate', () => overwrite(loose(idOf('a.md')), 'x')],
    ['a loose file cut short', () => overwrite(loose(idOf('a.md')), readFileSync(loose(idOf('a.md'))).subarray(0, 8))],
    ['a loose file that is gone', () => rmSync(loose(idOf('a.md')))],
    ['a pack whose file has other bytes', () => poisonPack('good', 'evil')],
  ])('%s', async (_, attack) => {
    attack()
    await expect(served()).rejects.toThrow(/cannot be read|is not whole/)
  })

  it('a commit altered under its id', async () => {
    raw('commit', `tree ${raw('tree', entry('100644', 'a.md', bad()))}\n\nx\n`, release.release_id)
    await expect((await open(path)).find(release.release_id)).rejects.toThrow('cannot be read')
  })

  it('an object that inflates to more than any content', async () => {
    const id = idOf('a.md')
    overwrite(loose(id), deflateSync(Buffer.alloc(300 * 1024 * 1024)))
    await expect(served()).rejects.toThrow('cannot be read')
  })
})

describe('trees that no service of ours wrote are refused', () => {
  beforeAll(start)

  it.each<[string, () => string]>([
    ['a link', () => raw('tree', entry('120000', 'a', bad()))],
    ['a submodule', () => raw('tree', entry('160000', 'a', release.release_id))],
    ['a mode of an old git', () => raw('tree', entry('100664', 'a', bad()))],
    ['a mode with a leading zero', () => raw('tree', entry('0100644', 'a', bad()))],
    ['a mode that is no number', () => raw('tree', entry('x', 'a', bad()))],
    ['a set-user-id mode', () => raw('tree', entry('104755', 'a', bad()))],
    ['a name that climbs', () => raw('tree', entry('100644', '..', bad()))],
    ['a name with a slash', () => raw('tree', entry('100644', 'a/../../b', bad()))],
    ['a name with a backslash', () => raw('tree', entry('100644', 'a\\b', bad()))],
    ['an empty name', () => raw('tree', entry('100644', '', bad()))],
    ['the folder of git', () => raw('tree', entry('40000', '.git', release.content_id))],
    ['the folder of git in another case', () => raw('tree', entry('40000', '.GiT', release.content_id))],
    ['the folder of git as a short name', () => raw('tree', entry('40000', 'git~1', release.content_id))],
    ['the folder of git with a hidden character', () => raw('tree', entry('40000', '.g\u200cit', release.content_id))],
    ['two files of one name', () => raw('tree', Buffer.concat([entry('100644', 'a', bad()), entry('100644', 'a', idOf('a.md'))]))],
    ['a file and a folder of one name', () => raw('tree', Buffer.concat([entry('100644', 'a', bad()), entry('40000', 'a', nested(0))]))],
    ['a file that is a tree', () => raw('tree', entry('100644', 'a', release.content_id))],
    ['a folder that is a file', () => raw('tree', entry('40000', 'a', bad()))],
    ['a file that is not text', () => raw('tree', entry('100644', 'a', raw('blob', Buffer.from([0xff, 0xfe]))))],
    ['an entry cut short', () => raw('tree', entry('100644', 'a', bad()).subarray(0, 15))],
    ['folders without end', () => nested(200)],
    ['a tree that names itself again and again', bomb],
    ['a commit as content', () => release.release_id],
    ['a file as content', () => idOf('a.md')],
    ['a tag of the tree', () => tagOf(release.content_id)],
    ['no object at all', () => '1'.repeat(40)],
    ['a name instead of an id', () => 'HEAD'],
    ['a path instead of an id', () => '../../etc/passwd'],
  ])('%s', async (_, attack) => {
    await expect(store.read(attack())).rejects.toThrow(/content|object/)
  })

  it('content with .gitattributes is served as it is: no filter of it is run', async () => {
    const files = { '.gitattributes': '* filter=x diff=x working-tree-encoding=UTF-16', 'a.md': 'a' }
    const { content_id } = await publish(store, files)
    expect(await served(content_id)).toEqual(files)
  })
})

describe('settings of the repository that may start a program keep it from being opened', () => {
  let settings = ''
  beforeAll(async () => {
    await start()
    settings = readFileSync(join(path, 'config'), 'utf8')
  })
  afterEach(() => writeFileSync(join(path, 'config'), settings))

  it.each([
    ['core.fsmonitor', 'PROGRAM'],
    ['core.hooksPath', '/tmp'],
    ['core.sshCommand', 'PROGRAM'],
    ['core.gitProxy', 'PROGRAM'],
    ['core.pager', 'PROGRAM'],
    ['core.editor', 'PROGRAM'],
    ['core.alternateRefsCommand', 'PROGRAM'],
    ['core.attributesFile', '/tmp/x'],
    ['core.worktree', '/'],
    ['credential.helper', '!PROGRAM'],
    ['filter.x.smudge', 'PROGRAM'],
    ['diff.x.textconv', 'PROGRAM'],
    ['diff.external', 'PROGRAM'],
    ['gpg.program', 'PROGRAM'],
    ['include.path', '/tmp/x'],
    ['includeIf.gitdir:/.path', '/tmp/x'],
    ['url.file:///x.insteadOf', 'https://host/'],
    ['remote.origin.uploadpack', 'PROGRAM'],
    ['remote.https://host/x.git.url', 'ext::PROGRAM'],
    ['remote.origin.promisor', 'true'],
    ['extensions.worktreeConfig', 'true'],
    ['extensions.partialClone', 'origin'],
    ['gc.recentObjectsHook', 'PROGRAM'],
    ['uploadpack.packObjectsHook', 'PROGRAM'],
    ['alias.cat-file', '!PROGRAM'],
    ['protocol.ext.allow', 'always'],
    ['http.proxy', 'http://host'],
    ['submodule.x.update', '!PROGRAM'],
  ])('%s', async (key, value) => {
    const mark = join(temporaryFolder(), 'started')
    gitSays(path, 'config', key, value.replace('PROGRAM', `touch ${mark}`))
    await expect(open(path)).rejects.toThrow('may start programs')
    expect(existsSync(mark)).toBe(false)
  })

  it('a clone made by git opens', async () => {
    const clone = join(temporaryFolder(), 'clone.git')
    execFileSync('git', ['clone', '--quiet', '--mirror', path, clone])
    expect({ ...(await (await open(clone)).read(release.content_id)) }).toEqual(FILES)
  })

  it('hooks in it are not run', async () => {
    const mark = join(temporaryFolder(), 'started')
    mkdirSync(join(path, 'hooks'), { recursive: true })
    for (const hook of ['reference-transaction', 'post-receive', 'update', 'pre-push']) {
      writeFileSync(join(path, 'hooks', hook), `#!/bin/sh\ntouch ${mark}\n`)
      chmodSync(join(path, 'hooks', hook), 0o755)
    }
    const opened = await open(path)
    await opened.point('s', await publish(opened, { a: '2' }, release))
    await opened.close()
    expect(existsSync(mark)).toBe(false)
  })
})

function nested(levels: number): string {
  let id = raw('tree', entry('100644', 'x', bad()))
  for (let level = 0; level < levels; level += 1) id = raw('tree', entry('40000', 'd', id))
  return id
}

function bomb(): string {
  let id = raw('tree', entry('100644', 'x', bad()))
  for (let level = 0; level < 12; level += 1) id = raw('tree', Buffer.concat(Array.from('abcdefghij', (name) => entry('40000', name, id))))
  return id
}

const loose = (id: string): string => join(path, 'objects', id.slice(0, 2), id.slice(2))

function overwrite(file: string, bytes: string | Buffer): void {
  rmSync(file)
  writeFileSync(file, bytes)
}

function tagOf(id: string): string {
  const input = `object ${id}\ntype tree\ntag x\ntagger x <x@x> 0 +0000\n\nx\n`
  return execFileSync('git', [`--git-dir=${path}`, 'mktag'], { input, encoding: 'utf8' }).trim()
}

/** Puts other bytes of the same length into a pack without compression, and fixes the pack's own checksum but not the object's id. */
function poisonPack(from: string, to: string): void {
  gitSays(path, 'config', 'core.compression', '0')
  packEverything(path)
  const packs = join(path, 'objects', 'pack')
  const name = readdirSync(packs).find((each) => each.endsWith('.pack')) ?? ''
  const bytes = readFileSync(join(packs, name))
  const at = bytes.indexOf(from)
  expect(at).toBeGreaterThan(0)
  bytes.write(to, at)
  // The Adler-32 of a zlib stream follows its only stored block.
  bytes.writeUInt32BE(adler32(Buffer.from(to)), at + from.length)
  overwrite(join(packs, name), bytes)
}

function adler32(bytes: Buffer): number {
  let [a, b] = [1, 0]
  for (const byte of bytes) {
    a = (a + byte) % 65_521
    b = (b + a) % 65_521
  }
  return b * 65_536 + a
}
