/** The git store under the suite of its kind, and under git's own checks. */
import { execFileSync } from 'node:child_process'
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { chmodSync, existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { contentsConformance } from '../../../conformance/contents.ts'
import type { ContentStore, Files, Release, SealMark } from '../../../src/contract/index.ts'
import { checkVersion } from './process.ts'
import { scenarioRef } from './refs.ts'
import { freshPath, fsck, gitSays, open, refsOf } from './testing.ts'

const MARK: SealMark = { step: 1, operation: 'train', at: 1_763_180_000 }
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

  it('objects that somebody packed are still read, sealed on and not written again', async () => {
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

  it('git gc run by hand takes no release, not even one that no ref reaches', async () => {
    const { path, store } = await fresh()
    const held = await publish(store, { a: 'held' })
    for (const name of looseObjects(path)) utimesSync(join(path, 'objects', name), 1, 1)
    gitSays(path, 'gc', '-q')
    expect(await store.find(held.release_id)).toEqual(held)
    expect({ ...(await store.read(held.content_id)) }).toEqual({ a: 'held' })
  })
})

describe('pointers', () => {
  it('a ref is the url-safe name without padding, below the fixed prefix', async () => {
    const { path, store } = await fresh()
    const release = await publish(store, {})
    await store.point('my scenario?', release)
    expect(refsOf(path)).toEqual({ 'refs/reef/scenarios/bXkgc2NlbmFyaW8_': release.release_id })
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
    expect(name).toBe('refs/reef/archived/cw/2026-11-15T03%3A21%3A18.5Z')
    expect(refsOf(path)).toEqual({ [name]: release.release_id, 'refs/reef/scenarios/dA': release.release_id })
  })

  it('a scenario without a ref archives cleanly and creates nothing', async () => {
    const { path, store } = await fresh()
    expect(await store.archive('s', '1')).toBe('refs/reef/archived/cw/1')
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
  it('writing, reading, sealing and finding spawn nothing', async () => {
    const { store } = await fresh()
    const spawned = await countSpawns(async () => {
      const release = await publish(store, { 'a/b': '1' })
      await store.read(release.content_id)
      await store.find(release.release_id)
      await store.find('0'.repeat(40))
    })
    expect(spawned).toBe(0)
  })
})

describe('opening', () => {
  it('makes a bare repository that syncs and never collects', async () => {
    const { path } = await fresh()
    const value = (key: string): string => gitSays(path, 'config', key).trim()
    expect(gitSays(path, 'rev-parse', '--is-bare-repository').trim()).toBe('true')
    expect([value('core.fsync'), value('core.fsyncMethod'), value('gc.auto'), value('receive.autogc')]).toEqual([
      'all',
      'batch',
      '0',
      'false',
    ])
    expect(value('gc.pruneExpire')).toBe('never')
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

  it.each(['https://host/x.git', 'ssh://host/x', 'git@host:x.git', 'file:///x'])('refuses the remote %s', async (repository) => {
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

  it('takes no checkpoint yet', async () => {
    const { store } = await fresh()
    await expect(store.write({ kind: 'checkpoint', path: '/x' })).rejects.toMatchObject({ code: 'checkpoint_content' })
  })
})

async function fresh(): Promise<{ path: string; store: ContentStore }> {
  const path = freshPath()
  return { path, store: await open(path) }
}

async function publish(store: ContentStore, files: Files, parent: Release | null = null, mark = MARK): Promise<Release> {
  return store.seal(await store.write({ kind: 'files', files }), parent, mark)
}

function packEverything(repository: string): void {
  const ids = looseObjects(repository).map((name) => `${name.replace('/', '')}\n`)
  execFileSync('git', ['pack-objects', '-q', join(repository, 'objects', 'pack', 'pack')], { cwd: repository, input: ids.join('') })
  gitSays(repository, 'prune-packed')
}

function looseObjects(repository: string): string[] {
  return readdirSync(join(repository, 'objects'), { recursive: true, encoding: 'utf8' }).filter((name) => /^..\/.{38}$/.test(name))
}

async function countSpawns(body: () => Promise<void>): Promise<number> {
  let count = 0
  const listen = (): void => {
    count += 1
  }
  subscribe('child_process', listen)
  try {
    await body()
  } finally {
    unsubscribe('child_process', listen)
  }
  return count
}
