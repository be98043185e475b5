/** The git store under the suite of its kind, and under git's own checks. */
import { execFileSync } from 'node:child_process'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsConformance } from '../../../conformance/contents.ts'
import { checkVersion } from './process.ts'
import { scenarioRef } from '../common/refs/ref-names.ts'
import {
  countSpawns,
  fresh,
  freshPath,
  fsck,
  gitSays,
  looseObjects,
  open,
  packEverything,
  publish,
  refsOf,
} from './testing/repositories.ts'

const EMPTY_TREE = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

describe('conformance', () => contentsConformance({ describe, it, make: () => open(freshPath()) }))

describe('what git says', () => {
  it('every object is clean under fsck --strict, and ls-tree lists the files', async () => {
    const { path, store } = await fresh()
    const files = { 'b.txt': '1', 'b/c': '2', b0: '3', 'é/ü': '4', 'a/b/c/d': '5', '.gitignore': '*' }
    const release = await publish(store, files)
    fsck(path)
    const listed = gitSays(path, 'ls-tree', '-r', '-z', '--name-only', release.content_id).split('\0').filter(Boolean)
    expect(listed.toSorted()).toEqual(Object.keys(files).toSorted())
    for (const [name, text] of Object.entries(files)) expect(gitSays(path, 'show', `${release.release_id}:${name}`)).toBe(text)
  })

  it('the empty tree has the id git knows it by', async () => {
    const { store } = await fresh()
    expect(await store.write({ kind: 'files', files: {} })).toBe(EMPTY_TREE)
  })

  it('a release is the commit git would show: fixed author, time of the mark, step and operation as message', async () => {
    const { path, store } = await fresh()
    const first = await publish(store, { a: '1' })
    const second = await publish(store, { a: '2' }, first, { step: 7, operation: 'promote', at: 1_763_180_001.9 })
    const shown = gitSays(path, 'log', '-1', '--format=%T|%P|%an <%ae>|%at|%cn <%ce>|%ct|%B', second.release_id).trim()
    const who = 'svc <svc@localhost>|1763180001'
    expect(shown).toBe(`${second.content_id}|${first.release_id}|${who}|${who}|step 7: promote`)
  })

  it('packed objects are still read, sealed on and not written again', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, { 'a/b/c': '1', d: '2' })
    const held = await publish(store, { 'a/b/c': 'held, and reached by no ref' }, release)
    await store.point('s', release)
    packEverything(path)
    expect(looseObjects(path)).toEqual([])
    expect({ ...(await store.read(release.content_id)) }).toEqual({ 'a/b/c': '1', d: '2' })
    expect(await store.find(held.release_id)).toEqual(held)
    expect(await store.find('0'.repeat(40))).toBeNull()
    await publish(store, { 'a/b/c': '1', d: '3' }, held)
    fsck(path)
  })

  it('git gc run by hand removes no release, not even with --prune=now and no ref', async () => {
    const { path, store } = await fresh()
    const pointed = await publish(store, { a: 'pointed', 'b/c': 'shared' })
    const held = await publish(store, { a: 'held', 'b/c': 'shared' }, pointed)
    const unreached = await publish(store, { a: 'reached by no ref' }, pointed)
    await Promise.all([store.point('s', pointed), store.hold(held)])
    for (const name of looseObjects(path)) utimesSync(join(path, 'objects', name), 1, 1)
    gitSays(path, 'gc', '-q', '--prune=now')
    expect(() => gitSays(path, 'prune', '--expire=now')).toThrow(/precious/)
    await store.close()
    const again = await open(path)
    for (const release of [pointed, held, unreached]) expect(await again.find(release.release_id)).toEqual(release)
    const texts = await Promise.all([pointed, held, unreached].map(async ({ content_id }) => (await again.read(content_id))['a']))
    expect(texts).toEqual(['pointed', 'held', 'reached by no ref'])
    fsck(path)
  })
})

describe('pointers', () => {
  it('a ref is the url-safe name without padding, below the fixed prefix', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    await store.point('my scenario?', release)
    expect(refsOf(path)).toEqual({ 'refs/svc/scenarios/bXkgc2NlbmFyaW8_': release.release_id })
  })

  it('a name too long for one file becomes folders that no other name can collide with', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    const names = ['n'.repeat(180), 'n'.repeat(181), '𝄞'.repeat(200)]
    await Promise.all(names.map((name) => store.point(name, release)))
    expect(Object.keys(refsOf(path)).toSorted()).toEqual(names.map(scenarioRef).toSorted())
  })

  it('many points asked at once need few git processes, and the last one of a scenario wins', async () => {
    const { path, store } = await fresh()
    const first = await publish(store, { a: '1' })
    const second = await publish(store, { a: '2' }, first)
    const spawned = await countSpawns(async () => {
      await Promise.all(Array.from({ length: 200 }, (_, index) => store.point(`s${index % 100}`, index < 100 ? first : second)))
    })
    expect(spawned).toBeLessThanOrEqual(2)
    expect(new Set(Object.values(refsOf(path)))).toEqual(new Set([second.release_id]))
    expect(Object.keys(refsOf(path))).toHaveLength(100)
  })

  it('archiving renames the ref in one move and goes after the points asked before it', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    const [, name] = await Promise.all([store.point('s', release), store.archive('s', '2026-11-15T03:21:18.5Z'), store.point('t', release)])
    expect(name).toBe('refs/svc/archived/cw/2026-11-15T03%3A21%3A18.5Z')
    expect(refsOf(path)).toEqual({ [name]: release.release_id, 'refs/svc/scenarios/dA': release.release_id })
  })

  it('a scenario without a ref archives cleanly and creates nothing', async () => {
    const { path, store } = await fresh()
    expect(await store.archive('s', '1')).toBe('refs/svc/archived/cw/1')
    expect(refsOf(path)).toEqual({})
  })

  it('a lock that a killed git left behind does not block the pointer for good', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    const lock = join(path, `${scenarioRef('s')}.lock`)
    mkdirSync(join(lock, '..'), { recursive: true })
    writeFileSync(lock, '')
    const minuteAgo = Date.now() / 1000 - 60
    utimesSync(lock, minuteAgo, minuteAgo)
    await store.close()
    await (await open(path)).point('s', release)
    expect(refsOf(path)).toEqual({ [scenarioRef('s')]: release.release_id })
  })
})

describe('processes', () => {
  it('writing, composing, reading, sealing and finding spawn nothing', async () => {
    const { store } = await fresh()
    const spawned = await countSpawns(async () => {
      const release = await publish(store, { 'a/b': '1' })
      await store.write({ kind: 'composed', components: { one: release.content_id } })
      await store.read(release.content_id)
      await store.unpack(release.content_id)
      await store.find(release.release_id)
      await store.find('0'.repeat(40))
    })
    expect(spawned).toBe(0)
  })

  it('what is only in a pack is asked of git once, and is a loose object from then on', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, { 'a/b': '1', c: '2' })
    packEverything(path)
    expect(await countSpawns(async () => void (await store.find(release.release_id)))).toBe(1)
    await store.read(release.content_id)
    await store.close()
    const again = await open(path)
    const spawned = await countSpawns(async () => {
      expect(await again.find(release.release_id)).toEqual(release)
      expect({ ...(await again.read(release.content_id)) }).toEqual({ 'a/b': '1', c: '2' })
      await publish(again, { 'a/b': 'new' }, release)
    })
    expect(spawned).toBe(0)
    fsck(path)
  })

  it('a content read before is answered from memory, and no caller can change what others are answered', async () => {
    const { path, store } = await fresh()
    const { content_id } = await publish(store, { a: '1' })
    const files = await store.read(content_id)
    rmSync(join(path, 'objects'), { recursive: true })
    expect(() => Object.assign(files, { a: '2' })).toThrow(TypeError)
    expect({ ...(await store.read(content_id)) }).toEqual({ a: '1' })
  })
})

describe('opening', () => {
  it('makes a bare repository that syncs and never collects', async () => {
    const { path } = await fresh()
    const value = (key: string): string => gitSays(path, 'config', key).trim()
    expect(gitSays(path, 'rev-parse', '--is-bare-repository').trim()).toBe('true')
    const keys = ['core.fsync', 'core.fsyncMethod', 'gc.auto', 'receive.autogc', 'gc.pruneExpire']
    expect(keys.map(value)).toEqual(['all', 'batch', '0', 'false', 'never'])
  })

  it('keeps what is there, and changes the settings of a repository made by hand once', async () => {
    const path = freshPath()
    execFileSync('git', ['init', '-q', '--bare', path])
    const release = await publish(await open(path), { a: '1' })
    const settings = readFileSync(join(path, 'config'), 'utf8')
    expect(gitSays(path, 'config', 'gc.auto').trim()).toBe('0')
    expect(await (await open(path)).find(release.release_id)).toEqual(release)
    expect(readFileSync(join(path, 'config'), 'utf8')).toBe(settings)
  })

  it('removes half-written files of a crash', async () => {
    const { path } = await fresh()
    writeFileSync(join(path, 'svc-writing', 'half'), 'x')
    await open(path)
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
  })

  it('refuses a folder that is something else, and leaves it alone', async () => {
    const path = freshPath()
    mkdirSync(path)
    writeFileSync(join(path, 'precious'), 'x')
    await expect(open(path)).rejects.toMatchObject({ kind: 'invalid', code: 'bad_repository' })
    expect(readdirSync(path)).toEqual(['precious'])
    expect(readdirSync(join(path, '..'))).toEqual(['artifacts.git'])
  })

  it.each(['git://host/x', 'ext://sh -c x', 's3://bucket/x', '-oProxyCommand=x@host:path'])('refuses the remote %s', async (repository) => {
    await expect(open(repository)).rejects.toMatchObject({ kind: 'unsupported', code: 'remote_repository' })
    expect(existsSync(repository)).toBe(false)
  })

  it('refuses a git that does not sync refs, saying which one is needed', () => {
    expect(() => checkVersion('git version 2.35.9')).toThrow(/2\.36 or newer/)
    expect(() => checkVersion('git version 1.99.0')).toThrow(/2\.36 or newer/)
    expect(() => checkVersion('git version 2.36.0 (Apple Git-1)')).not.toThrow()
    expect(() => checkVersion('git version 3.0')).not.toThrow()
  })

  it('says which object is damaged instead of serving it', async () => {
    const { path, store } = await fresh()
    const { content_id } = await publish(store, { a: '1' })
    const file = join(path, 'objects', content_id.slice(0, 2), content_id.slice(2))
    chmodSync(file, 0o644)
    writeFileSync(file, 'not zlib')
    await expect(store.read(content_id)).rejects.toMatchObject({ kind: 'unavailable', code: 'content_damaged' })
  })

  it('refuses to read or unpack a foreign tree whose names climb out of it', async () => {
    const { path, store } = await fresh()
    const blob = gitSays(path, 'rev-parse', `${(await publish(store, { a: 'x' })).content_id}:a`).trim()
    for (const name of ['..', '.git', 'a/b']) {
      const body = Buffer.concat([Buffer.from(`100644 ${name}\0`), Buffer.from(blob, 'hex')])
      const args = [`--git-dir=${path}`, 'hash-object', '-t', 'tree', '-w', '--literally', '--stdin']
      const contentId = execFileSync('git', args, { input: body, encoding: 'utf8' }).trim()
      await expect(store.read(contentId)).rejects.toMatchObject({ kind: 'unsupported', code: 'content_entry' })
      await expect(store.unpack(contentId)).rejects.toMatchObject({ kind: 'unsupported', code: 'content_entry' })
    }
    expect(readdirSync(join(path, 'svc-writing'))).toEqual([])
  })
})
