/** A repository elsewhere that follows: two services on one remote, and a remote that goes away and comes back. */
import { execFileSync } from 'node:child_process'
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { describe, expect, it } from 'vitest'
import { contentsConformance } from '../../../../conformance/contents.ts'
import type { ContentStore } from '../../../../src/contract/index.ts'
import git from '../index.ts'
import {
  countSpawns,
  freshCache,
  freshRemote,
  fsck,
  gitSays,
  hook,
  publish,
  refsOf,
  takeAway,
  writeProgram,
} from '../testing/repositories.ts'
import { IS_SHORT } from '../../../../test/support/short.ts'
import { displacedRef, heldRef, scenarioRef } from '../../common/refs/ref-names.ts'

const REF = scenarioRef('s')
const BEHIND = { kind: 'unavailable', code: 'remote_behind' }

describe('publishing', () => {
  it('a pointer and a hold reach the remote with everything they name', async () => {
    const { remote, store } = await freshPair()
    const head = await publish(store, { 'a/b': '1' })
    const held = await publish(store, { 'a/b': '2' }, head)
    await Promise.all([store.point('s', head), store.hold(held)])
    expect(refsOf(remote)).toEqual({ [REF]: head.release_id, [heldRef(held.release_id)]: held.release_id })
    expect(gitSays(remote, 'show', `${held.release_id}:a/b`)).toBe('2')
    fsck(remote)
  })

  it('many at once are few pushes, and repeating them costs no process', async () => {
    const { remote, store } = await freshPair()
    const release = await publish(store, {})
    const all = async (): Promise<void> =>
      void (await Promise.all(Array.from({ length: 250 }, (_, index) => store.point(`s${index}`, release))))
    expect(await countSpawns(all)).toBeLessThan(12)
    expect(Object.keys(refsOf(remote))).toHaveLength(250)
    expect(await countSpawns(all)).toBe(0)
  })

  it('another service finds the releases when it opens, and builds on them', async () => {
    const { remote, store: one } = await freshPair()
    const first = await publish(one, { 'a/b': '1' })
    await one.point('s', first)
    const two = await openAt(remote, freshCache())
    expect(await two.find(first.release_id)).toEqual(first)
    expect({ ...(await two.read(first.content_id)) }).toEqual({ 'a/b': '1' })
    const second = await publish(two, { 'a/b': '2' }, first)
    await two.point('s', second)
    expect(refsOf(remote)).toEqual({ [REF]: second.release_id })
  })

  it('two services under one name displace each other and lose nothing', async () => {
    const remote = freshRemote()
    const [one, two] = await Promise.all([openAt(remote, freshCache()), openAt(remote, freshCache())])
    const seen: string[] = []
    for (const round of ['1', '2']) {
      const mine = await publish(one, { mine: round })
      const theirs = await publish(two, { theirs: round })
      await one.point('s', mine)
      await two.point('s', theirs)
      seen.push(mine.release_id, theirs.release_id)
    }
    const refs = refsOf(remote)
    expect(refs[REF]).toBe(seen.at(-1))
    expect(new Set(Object.values(refs))).toEqual(new Set(seen))
    expect(Object.keys(refs)).toContain(displacedRef(REF, seen[0] ?? ''))
    fsck(remote)
  })

  it('two services publishing different scenarios at once both land', async () => {
    const remote = freshRemote()
    const stores = await Promise.all([openAt(remote, freshCache()), openAt(remote, freshCache())])
    const points = stores.map(async (store, index) => {
      const release = await publish(store, { own: `${index}` })
      await store.point(`s${index}`, release)
      return release.release_id
    })
    expect((await Promise.all(points)).toSorted()).toEqual(Object.values(refsOf(remote)).toSorted())
  })
})

it('a remote that holds releases of the system reef is not opened, and none of its refs is moved', async () => {
  const { remote, store } = await freshPair()
  const release = await publish(store, {})
  await store.point('s', release)
  gitSays(remote, 'update-ref', 'refs/reef/base', release.release_id)
  const before = refsOf(remote)
  await expect(openAt(remote, freshCache())).rejects.toMatchObject({ kind: 'unavailable', code: 'remote_original' })
  expect(refsOf(remote)).toEqual(before)
})

it('refs of an earlier version in a remote stay there, and the releases they name are found', async () => {
  const { remote, store: other } = await freshPair()
  const release = await publish(other, { a: 'elsewhere' })
  await other.point('s', release)
  gitSays(remote, 'update-ref', 'refs/reef/scenarios/cw', release.release_id)
  gitSays(remote, 'update-ref', '-d', REF)
  const store = await openAt(remote, freshCache())
  expect(await store.find(release.release_id)).toEqual(release)
  await store.point('s', release)
  expect(refsOf(remote)).toEqual({ 'refs/reef/scenarios/cw': release.release_id, [REF]: release.release_id })
})

describe('a remote that fails', () => {
  it('keeps no pointer from moving here, and gets everything it missed with the next one', async () => {
    const { remote, cache, store } = await freshPair()
    const first = await publish(store, { a: '1' })
    await store.point('s', first)
    const back = takeAway(remote)
    const second = await publish(store, { a: '2' }, first)
    await expect(store.point('s', second)).rejects.toMatchObject(BEHIND)
    await expect(store.hold(second)).rejects.toMatchObject(BEHIND)
    expect(refsOf(repositoryIn(cache))[REF]).toBe(second.release_id)
    back()
    await store.point('t', first)
    expect(refsOf(remote)).toEqual({
      [REF]: second.release_id,
      [heldRef(second.release_id)]: second.release_id,
      [scenarioRef('t')]: first.release_id,
    })
  })

  it('is not asked for each of many pointers that wait for it', async () => {
    const { remote, store } = await freshPair()
    const release = await publish(store, {})
    const back = takeAway(remote)
    const points = Array.from({ length: 500 }, (_, index) => store.point(`s${index}`, release))
    const spawned = await countSpawns(async () => {
      const ends = await Promise.allSettled(points)
      expect(ends.filter(({ status }) => status === 'fulfilled')).toEqual([])
    })
    expect(spawned).toBeLessThan(12)
    back()
    await store.hold(release)
    expect(Object.keys(refsOf(remote))).toHaveLength(501)
  })

  it('gets what it missed when the service starts again', async () => {
    const { remote, cache, store } = await freshPair()
    const back = takeAway(remote)
    const release = await publish(store, { a: '1' })
    await expect(store.point('s', release)).rejects.toMatchObject(BEHIND)
    await store.close()
    back()
    await openAt(remote, cache)
    expect(refsOf(remote)).toEqual({ [REF]: release.release_id })
  })

  it('and refuses one ref of several takes the others', async () => {
    const { remote, store } = await freshPair()
    hook(remote, 'update', `[ "$1" != '${REF}' ]`)
    const release = await publish(store, { a: '1' })
    const bad = expect(store.point('s', release)).rejects.toMatchObject(BEHIND)
    await Promise.all([bad, ...['t', 'u', 'v'].map((name) => store.point(name, release))])
    expect(Object.keys(refsOf(remote)).toSorted()).toEqual(['t', 'u', 'v'].map(scenarioRef).toSorted())
  })

  it('is refused at the start when it is not there, without its address', async () => {
    const cache = freshCache()
    const missing = join(cache, 'nowhere.git')
    const failure = await openAt(missing, cache).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unavailable', code: 'remote_unreachable' })
    expect(String(failure)).not.toContain('nowhere')
  })

  it('with trees that git itself calls broken is refused at the start', async () => {
    const remote = freshRemote()
    const tree = Buffer.concat([Buffer.from('40000 ..\0'), Buffer.from('4b825dc642cb6eb9a060e54bf8d69288fbee4904', 'hex')])
    const say = (args: string[], input: Buffer | string = ''): string =>
      execFileSync('git', [`--git-dir=${remote}`, '-c', 'user.name=x', '-c', 'user.email=x@x', ...args], { input, encoding: 'utf8' }).trim()
    say(['hash-object', '-t', 'tree', '-w', '--stdin'])
    const commit = say(['commit-tree', '-m', 'x', say(['hash-object', '-t', 'tree', '-w', '--literally', '--stdin'], tree)])
    say(['update-ref', REF, commit])
    await expect(openAt(remote, freshCache())).rejects.toMatchObject({ code: 'remote_unreachable' })
  })
})

describe('what a remote does not do', () => {
  it('archiving is refused before anything changes', async () => {
    const { remote, cache, store } = await freshPair()
    await store.point('s', await publish(store, {}))
    const before = [refsOf(remote), refsOf(repositoryIn(cache))]
    await expect(store.archive('s', '1')).rejects.toMatchObject({ kind: 'unsupported', code: 'remote_repository' })
    expect([refsOf(remote), refsOf(repositoryIn(cache))]).toEqual(before)
  })

  it('large files stay on the machine that took them', async () => {
    const { remote, cache, store } = await freshPair()
    writeFileSync(join(cache, 'model.bin'), 'weights')
    const contentId = await store.write({ kind: 'checkpoint', path: join(cache, 'model.bin') })
    const release = await store.seal(contentId, null, { step: 0, operation: 'create', at: 0 })
    await store.point('s', release)
    const elsewhere = await openAt(remote, freshCache())
    expect((await elsewhere.read(release.content_id))['model.bin']).toContain('oid sha256:')
    await expect(elsewhere.unpack(release.content_id)).rejects.toMatchObject({ code: 'content_damaged' })
  })

  it.each(['https://user:secret@host/x.git', 'https://secret@host/x.git', 'http://:secret@host/x', 'ssh://user:secret@host/x'])(
    'credentials in %s are refused and not repeated',
    async (repository) => {
      const failure = await openAt(repository, freshCache()).catch((error: unknown) => error)
      expect(failure).toMatchObject({ kind: 'invalid', code: 'bad_repository' })
      expect(String(failure)).not.toContain('secret')
    },
  )

  it('a URL without a folder to keep it in is refused', async () => {
    const refusal = { code: 'bad_repository', message: /cache/ }
    await expect(git.plugin.make({ repository: 'ssh://git@host/x.git' })).rejects.toMatchObject(refusal)
  })
})

describe('who git asks', () => {
  it.each([
    [{}, 'ssh -o BatchMode=yes'],
    [{ GIT_SSH_COMMAND: 'mine -x' }, 'mine -x'],
  ])('with %o ssh is called as %s', async (variables, expected) => {
    const cache = freshCache()
    const said = join(cache, 'said')
    mkdirSync(join(cache, 'bin'))
    for (const name of ['ssh', 'mine']) writeProgram(join(cache, 'bin', name), `echo ${name} "$@" >>'${said}'; exit 1`)
    await surroundedBy({ PATH: `${join(cache, 'bin')}:${process.env['PATH']}`, HOME: cache, ...variables }, async () => {
      await expect(openAt('git@host.invalid:x.git', cache)).rejects.toMatchObject({ code: 'remote_unreachable' })
    })
    expect(execFileSync('cat', [said], { encoding: 'utf8' })).toContain(`${expected} `)
  })
})

/** `index.test.ts` has the suite without a remote, in the short form too. */
describe.skipIf(IS_SHORT)('conformance of what does not archive', () => {
  contentsConformance({
    describe,
    it: (name, body) => (name.includes('archiv') ? undefined : it(name, body)),
    make: () => openAt(freshRemote(), freshCache()),
  })
})

async function freshPair(): Promise<{ remote: string; cache: string; store: ContentStore }> {
  const [remote, cache] = [freshRemote(), freshCache()]
  return { remote, cache, store: await openAt(remote, cache) }
}

const openAt = async (remote: string, cache: string): Promise<ContentStore> =>
  git.plugin.make({ repository: remote.startsWith('/') ? pathToFileURL(remote).href : remote, cache })

const repositoryIn = (cache: string): string => join(cache, readdirSync(cache).find((name) => /^[0-9a-f]{64}$/.test(name)) ?? '')

async function surroundedBy(variables: Readonly<Record<string, string>>, body: () => Promise<void>): Promise<void> {
  const before = { ...process.env }
  Object.assign(process.env, variables)
  try {
    await body()
  } finally {
    for (const name of Object.keys(variables)) delete process.env[name]
    Object.assign(process.env, before)
  }
}
