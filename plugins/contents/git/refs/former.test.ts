/** Refs of an earlier version, which stood below `refs/reef/`: renamed when a repository is opened, and none is lost. */
import { expect, it } from 'vitest'
import { fresh, freshPath, gitSays, open, publish, refsOf } from '../testing/repositories.ts'
import { archivedRef, heldRef, scenarioRef } from '../../common/refs/ref-names.ts'

const former = (ref: string): string => ref.replace('refs/svc/', 'refs/reef/')

/** A repository as the earlier version left it: a scenario's pointer, a held release and an archive, and what it last saw of a remote. */
async function earlier(): Promise<{ path: string; ids: readonly [string, string] }> {
  const { path, store } = await fresh()
  const first = await publish(store, { a: '1' })
  const second = await publish(store, { a: '2' }, first)
  await store.close()
  const ids = [first.release_id, second.release_id] as const
  set(path, former(scenarioRef('s')), ids[1])
  set(path, former(heldRef(ids[0])), ids[0])
  set(path, former(archivedRef('old', '1')), ids[0])
  set(path, 'refs/reef-remote/scenarios/cw', ids[0])
  return { path, ids }
}

const reopen = async (path: string): Promise<void> => (await open(path)).close()

const set = (path: string, ref: string, id: string): string => gitSays(path, 'update-ref', ref, id)

const RENAMED = ([first, second]: readonly [string, string]) => ({
  [scenarioRef('s')]: second,
  [heldRef(first)]: first,
  [archivedRef('old', '1')]: first,
})

it('pointers, held releases and archives are renamed; opened again, nothing changes', async () => {
  const { path, ids } = await earlier()
  await reopen(path)
  expect(refsOf(path)).toEqual(RENAMED(ids))
  await reopen(path)
  expect(refsOf(path)).toEqual(RENAMED(ids))
})

it('packed refs are renamed too', async () => {
  const { path, ids } = await earlier()
  gitSays(path, 'pack-refs', '--all')
  await reopen(path)
  expect(refsOf(path)).toEqual(RENAMED(ids))
})

it('a rename that was killed half way goes on: refs that stand under both names lose the former one', async () => {
  const { path, ids } = await earlier()
  set(path, scenarioRef('s'), ids[1])
  set(path, archivedRef('old', '1'), ids[0])
  gitSays(path, 'update-ref', '-d', former(archivedRef('old', '1')))
  await reopen(path)
  expect(refsOf(path)).toEqual(RENAMED(ids))
})

it('two services that open the repository at once both find the refs renamed', async () => {
  const { path, ids } = await earlier()
  const stores = await Promise.all([open(path), open(path), open(path)])
  await Promise.all(stores.map((store) => store.close()))
  expect(refsOf(path)).toEqual(RENAMED(ids))
})

it('what an earlier version published after it came back stays reachable beside the newer pointer', async () => {
  const { path, ids } = await earlier()
  await reopen(path)
  set(path, former(scenarioRef('s')), ids[0])
  set(path, former(archivedRef('old', '1')), ids[1])
  await reopen(path)
  expect(refsOf(path)).toEqual({
    ...RENAMED(ids),
    [archivedRef('s', ids[0])]: ids[0],
    [`${archivedRef('old', '1')}-${ids[1]}`]: ids[1],
  })
})

it('a repository of the system reef keeps its refs', async () => {
  const { path, ids } = await earlier()
  set(path, 'refs/reef/base', ids[0])
  const before = refsOf(path)
  await reopen(path)
  expect(refsOf(path)).toEqual(before)
})

it('a new repository has no ref of the former name', async () => {
  const path = freshPath()
  const store = await open(path)
  await store.point('s', await publish(store, {}))
  expect(Object.keys(refsOf(path))).toEqual([scenarioRef('s')])
})
