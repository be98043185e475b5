/** Locks that other programs hold on the database: waited for, refused when they stay, and forgotten when they go. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { commit, create, record, sequences } from '../../../conformance/store-samples.ts'
import { Refusal, type Store } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { holdLock } from '../../../test/support/lock.ts'
import { LOCK_WAIT_MS } from './open.ts'
import { change, fileIn, fresh, open, openAndClose } from './testing/stores.ts'

/** Long enough for nothing but a look, so that a lock that stays is refused soon. */
const IMPATIENT = { lockWaitMs: 50 }
/** A store with a scenario, and a file that another program locks. */
const locked = async (options = IMPATIENT) => {
  const { directory, ...opened } = await fresh(options)
  return { ...opened, directory, lock: (sql?: string) => holdLock(fileIn(directory), sql) }
}
const until = (store: Store, code: string | null) =>
  new Promise<void>((resolve) => store.writing?.onChange((trouble) => ((trouble?.code ?? null) === code ? resolve() : undefined)))

describe('a lock of another program', () => {
  for (const sql of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'])
    it(`${sql}: is waited for, and what waited is written once it goes`, async () => {
      const { store, scenario, lock } = await locked({ lockWaitMs: LOCK_WAIT_MS })
      const busy = until(store, 'store_busy')
      const release = await lock(sql)
      const appended = Promise.all(['1', '2', '3'].map((id) => scenario.append([record(id)])))
      await busy
      assert.equal((await store.usage()).records, 0)
      await release()
      assert.deepEqual((await appended).flatMap(sequences), [1, 2, 3])
      assert.equal(await store.writing?.check(), null)
    })

  it('that stays is refused with the time to come back, for the whole group and without a trace, and forgotten when it goes', async () => {
    const { store, scenario, lock } = await locked()
    const release = await lock()
    const group = [scenario.append([record('1')]), scenario.append([record('2'), record('3')]), scenario.append([record('4')])]
    for (const { reason } of (await Promise.allSettled(group)).filter((end) => end.status === 'rejected')) {
      assert.ok(reason instanceof Refusal)
      assert.deepEqual([reason.kind, reason.code, reason.detail.retryAfterSeconds], ['unavailable', 'store_busy', 1])
    }
    assert.equal((await store.usage()).records, 0)
    assert.equal((await store.writing?.check())?.code, 'store_busy')
    const free = until(store, null)
    await release()
    await free
    const appended = await Promise.all(['1', '2'].map((id) => scenario.append([record(id)])))
    assert.deepEqual(appended.flatMap(sequences), [1, 2])
    assert.deepEqual(await store.verify(() => undefined), [])
  })

  it('is found by a look, also while nothing is written', async () => {
    const { store, lock } = await locked()
    assert.equal(await store.writing?.check(), null)
    const release = await lock()
    assert.equal((await store.writing?.check())?.code, 'store_busy')
    await release()
    assert.equal(await store.writing?.check(), null)
  })

  it('leaves reads alone, and a commit that met it lands whole afterwards', async () => {
    const { scenario, lock } = await locked()
    await scenario.append([record('1')])
    const release = await lock()
    await assert.rejects(scenario.commit(commit(1, ['1'])), { code: 'store_busy' })
    assert.equal((await scenario.get('1'))?.sequence, 1)
    assert.equal((await scenario.commits({ after: -1, limit: 10 })).length, 1)
    await release()
    await scenario.commit(commit(1, ['1']))
    assert.deepEqual(await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 10 }), [])
  })

  it('that keeps reads out too refuses them all with the time to come back, and they are answered once it goes', async () => {
    const { directory, store: first, scenario: written } = await locked()
    const [file, other] = [fileIn(directory), join(directory, 'other')]
    await written.append([record('1')])
    await first.close()
    change(directory, 'PRAGMA journal_mode = DELETE')
    copyFileSync(file, other)
    const store = await open(directory, IMPATIENT)
    // The reader opens the file with its first question. With a log beside it no lock keeps it out; so it finds a file without one.
    for (const ending of ['', '-wal', '-shm']) renameSync(file + ending, `${other}.writer${ending}`)
    renameSync(other, file)
    const release = await holdLock(file, 'BEGIN EXCLUSIVE')
    const scenario = store.scenario('a')
    const read = () => [store.usage(), scenario.get('1'), scenario.commits({ after: -1, limit: 10 }), store.scenarios()]
    for (const end of await Promise.allSettled(read())) {
      assert.ok(end.status === 'rejected' && end.reason instanceof Refusal)
      assert.deepEqual([end.reason.kind, end.reason.code, end.reason.detail.retryAfterSeconds], ['unavailable', 'store_busy', 1])
    }
    await release()
    const [, found, , names] = await Promise.all(read())
    assert.deepEqual([found !== null && 'sequence' in Object(found), names], [true, ['a']])
  })

  it('in the middle of archiving leaves the scenario whole and open again when it goes', async () => {
    const { directory, store, scenario, lock } = await locked()
    await scenario.append([record('1')])
    // The moment between the export and the row that ends it: the folder for archives is there by then.
    const settled = store.archive('a').then(
      () => 'archived',
      (error: unknown) => (error instanceof Refusal ? error.code : 'failed'),
    )
    while (!existsSync(join(directory, 'archived'))) await new Promise(setImmediate)
    const release = await lock()
    const end = await settled
    await release()
    if (end === 'archived') return
    assert.equal(end, 'store_busy')
    for (;;) {
      const again = await scenario.append([record('2')]).catch((error: unknown) => error)
      if (!(again instanceof Error)) break
      assert.ok(again instanceof Refusal && ['unknown_scenario', 'store_busy'].includes(again.code))
      await new Promise(setImmediate)
    }
    assert.deepEqual(readdirSync(join(directory, 'archived')), [])
  })

  it('refuses the start with what to do, and lets it through when it goes', async () => {
    const directory = temporaryFolder()
    await openAndClose(directory)
    const release = await holdLock(fileIn(directory))
    const message = /close it .*then start again$/
    await assert.rejects(open(directory, IMPATIENT), { kind: 'unavailable', code: 'store_busy', message })
    await release()
    await openAndClose(directory)
  })

  it('keeps an older store from being brought up to date, and leaves it as it was', async () => {
    const directory = temporaryFolder()
    const schema = ['0001', '0002'].map((version) => readFileSync(new URL(`./schema/${version}.sql`, import.meta.url), 'utf8'))
    change(directory, `${schema.join('\n')}; PRAGMA user_version = 2`)
    const release = await holdLock(fileIn(directory))
    await assert.rejects(open(directory, IMPATIENT), { code: 'store_busy' })
    await release()
    await create(await open(directory, IMPATIENT), 'a')
  })
})
