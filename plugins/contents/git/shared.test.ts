/** A remote repository that several gateways write to: what one announced the others have, also when one is killed or away. */
import { once } from 'node:events'
import { pathToFileURL } from 'node:url'
import { describe, expect, it, onTestFinished } from 'vitest'
import { contentsConformance } from '../../../conformance/contents.ts'
import type { ContentStore, JsonObject } from '../../../src/contract/index.ts'
import { archivedRef, heldRef, scenarioRef } from '../common/refs/ref-names.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import git from './index.ts'
import { killAfter, spawnWriter, type Published } from './testing/processes.ts'
import { countSpawns, freshCache, freshRemote, fsck, gitSays, hook, publish, refsOf, takeAway } from './testing/repositories.ts'

const configOf = (remote: string, cache: string): JsonObject => ({ repository: pathToFileURL(remote).href, cache, shared: true })

async function openAt(remote: string, cache = freshCache()): Promise<ContentStore> {
  const store = await git.plugin.make(configOf(remote, cache))
  onTestFinished(() => store.close())
  return store
}

/** Of two machines, `there` moved the pointer of the scenario s after `here` had set it. */
async function movedByAnother() {
  const remote = freshRemote()
  const [here, there] = [await openAt(remote), await openAt(remote)]
  const first = await publish(here, { a: '1' })
  await here.point('s', first)
  const second = await publish(there, { a: '2' }, first)
  await there.point('s', second)
  return { remote, here, second }
}

// The short form has the suite on a folder, on a remote of one gateway and on a bucket.
describe.skipIf(IS_SHORT)('conformance', () => contentsConformance({ describe, it, make: () => openAt(freshRemote()) }))

describe('two machines', () => {
  it('find and read what the other sealed while both run, and build on it', async () => {
    const remote = freshRemote()
    const [here, there] = [await openAt(remote), await openAt(remote)]
    const first = await publish(here, { 'a/b': '1' })
    expect(await there.find(first.release_id)).toEqual(first)
    expect({ ...(await there.read(first.content_id)) }).toEqual({ 'a/b': '1' })
    const second = await publish(there, { 'a/b': '2' }, first)
    await there.point('s', second)
    expect({ ...(await here.read(second.content_id)) }).toEqual({ 'a/b': '2' })
    await here.point('s', second)
    expect(refsOf(remote)).toEqual({
      [scenarioRef('s')]: second.release_id,
      [heldRef(first.release_id)]: first.release_id,
      [heldRef(second.release_id)]: second.release_id,
    })
  })

  it('never take a pointer back that the other moved', async () => {
    const { remote, here, second } = await movedByAnother()
    await here.point('t', await publish(here, { a: '3' }))
    expect(refsOf(remote)[scenarioRef('s')]).toBe(second.release_id)
  })

  it('archive a scenario that the other pointed last', async () => {
    const { remote, here, second } = await movedByAnother()
    expect(await here.archive('s', '1')).toBe(archivedRef('s', '1'))
    expect(refsOf(remote)).toMatchObject({ [archivedRef('s', '1')]: second.release_id })
    expect(Object.keys(refsOf(remote))).not.toContain(scenarioRef('s'))
  })

  it('ask the remote for nothing that is here', async () => {
    const remote = freshRemote()
    const cache = freshCache()
    const release = await publish(await openAt(remote, cache), { a: '1', 'b/c': '2' })
    const again = await openAt(remote, cache)
    const spawned = await countSpawns(async () => {
      expect(await again.find(release.release_id)).toEqual(release)
      expect({ ...(await again.read(release.content_id)) }).toEqual({ a: '1', 'b/c': '2' })
      await again.hold(release)
    })
    expect(spawned).toBe(0)
  })
})

describe('processes', () => {
  it('that publish at once, some from one folder, lose no release that they announced', { timeout: 120_000 }, async () => {
    const remote = freshRemote()
    const [one, two] = [freshCache(), freshCache()]
    const writers = [one, one, two, freshCache()].map((cache, index) => spawnWriter(configOf(remote, cache), `w${index}`, 3))
    const heard = writers.map((writer) => killAfter<Published>(writer, Infinity))
    expect(await Promise.all(writers.map(async (writer) => (await once(writer, 'exit'))[0] as unknown))).toEqual([0, 0, 0, 0])
    const announced = (await Promise.all(heard)).flat()
    expect(announced).toHaveLength(12)
    const store = await openAt(remote)
    for (const { files, release } of announced) {
      expect(await store.find(release.release_id)).toEqual(release)
      expect({ ...(await store.read(release.content_id)) }).toEqual(files)
    }
    const last = (await Promise.all(heard)).map((said) => said.at(-1)?.release.release_id)
    expect([0, 1, 2, 3].map((index) => refsOf(remote)[scenarioRef(`w${index}`)])).toEqual(last)
    fsck(remote)
  })

  it('that are killed leave what they announced to a machine with an empty folder', { timeout: 120_000 }, async () => {
    const remote = freshRemote()
    for (const lines of [1, 4]) {
      const announced = await killAfter<Published>(spawnWriter(configOf(remote, freshCache()), `w${lines}`, 10_000), lines)
      expect(announced.length).toBeGreaterThanOrEqual(lines)
      const store = await openAt(remote)
      for (const { files, release } of announced) {
        expect(await store.find(release.release_id)).toEqual(release)
        expect({ ...(await store.read(release.content_id)) }).toEqual(files)
      }
    }
    fsck(remote)
  })
})

describe('a remote', () => {
  it('that is away refuses what is sealed, so that no row names it, reads what is here, and takes it once it is back', async () => {
    const remote = freshRemote()
    const store = await openAt(remote)
    const first = await publish(store, { a: '1' })
    const back = takeAway(remote)
    await expect(publish(store, { a: '2' }, first)).rejects.toMatchObject({ kind: 'unavailable', code: 'remote_unreachable' })
    expect({ ...(await store.read(first.content_id)) }).toEqual({ a: '1' })
    back()
    const second = await publish(store, { a: '2' }, first)
    expect(gitSays(remote, 'show', `${second.release_id}:a`)).toBe('2')
  })

  it('that takes no push says so in one line', async () => {
    const remote = freshRemote()
    const store = await openAt(remote)
    hook(remote, 'pre-receive', 'exit 1')
    const failure = await publish(store, { a: '1' }).catch((error: unknown) => error)
    expect(failure).toMatchObject({ kind: 'unavailable', code: 'remote_refused' })
    expect(String(failure)).not.toMatch(/\n|artifacts\.git/)
  })

  it('gets what one service alone had published and could not push', async () => {
    const remote = freshRemote()
    const cache = freshCache()
    const alone = await git.plugin.make({ ...configOf(remote, cache), shared: false })
    const back = takeAway(remote)
    const release = await publish(alone, { a: '1' })
    await expect(alone.point('s', release)).rejects.toMatchObject({ code: 'remote_behind' })
    await alone.close()
    back()
    await openAt(remote, cache)
    expect(await (await openAt(remote)).find(release.release_id)).toEqual(release)
  })
})
