/** Locks that other programs hold on the database: waited for, refused when they stay, and forgotten when they go. */
import assert from 'node:assert/strict'
import { copyFileSync, existsSync, mkdtempSync, readdirSync, renameSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { afterAll, describe, it } from 'vitest'
import { create, record } from '../../../conformance/store-samples.ts'
import { Refusal, type Store } from '../../../src/contract/index.ts'
import { holdLock } from '../../../test/support/lock.ts'
import sqlite from './index.ts'
import { openStore } from './store.ts'

const root = mkdtempSync(join(tmpdir(), 'store '))
const folder = () => mkdtempSync(join(root, 'case-'))
const fileIn = (directory: string) => join(directory, 'records.sqlite3')
/** Long enough for nothing but a look, so that a lock that stays is refused soon. */
const impatient = (directory: string) => openStore({ directory, capacityBytes: 1_000_000, lockWaitMs: 50 })
const until = (store: Store, code: string | null) =>
  new Promise<void>((resolve) => store.writing?.onChange((trouble) => ((trouble?.code ?? null) === code ? resolve() : undefined)))

afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('a lock of another program', () => {
  for (const sql of ['BEGIN IMMEDIATE', 'BEGIN EXCLUSIVE'])
    it(`${sql}: is waited for, and what waited is written once it goes`, async () => {
      const directory = folder()
      const store = await sqlite.plugin.make({ directory })
      const scenario = await create(store, 'a')
      const locked = until(store, 'store_busy')
      const release = await holdLock(fileIn(directory), sql)
      const appended = Promise.all(['1', '2', '3'].map((id) => scenario.append([record(id)])))
      await locked
      assert.equal((await store.usage()).records, 0)
      await release()
      assert.deepEqual(
        (await appended).map(([row]) => row?.sequence),
        [1, 2, 3],
      )
      assert.equal(await store.writing?.check(), null)
      await store.close()
    })

  it('that stays is refused with the time to come back, for the whole group and without a trace, and forgotten when it goes', async () => {
    const directory = folder()
    const store = await impatient(directory)
    const scenario = await create(store, 'a')
    const release = await holdLock(fileIn(directory))
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
    assert.deepEqual(
      (await Promise.all(['1', '2'].map((id) => scenario.append([record(id)])))).map(([row]) => row?.sequence),
      [1, 2],
    )
    assert.deepEqual(await store.verify(() => undefined), [])
    await store.close()
  })

  it('is found by a look, also while nobody writes', async () => {
    const directory = folder()
    const store = await impatient(directory)
    assert.equal(await store.writing?.check(), null)
    const release = await holdLock(fileIn(directory))
    assert.equal((await store.writing?.check())?.code, 'store_busy')
    await release()
    assert.equal(await store.writing?.check(), null)
    await store.close()
  })

  it('leaves reads alone, and a commit that met it lands whole afterwards', async () => {
    const directory = folder()
    const store = await impatient(directory)
    const scenario = await create(store, 'a')
    await scenario.append([record('1')])
    const release = await holdLock(fileIn(directory))
    const row = { step: 1, operation: 'train', recorded_at: 1, release: null, pending: false, outcome: 'skipped' } as const
    const commit = { ...row, consumed_ids: ['1'], metrics: {}, state: {} }
    await assert.rejects(scenario.commit(commit), { code: 'store_busy' })
    assert.equal((await scenario.get('1'))?.sequence, 1)
    assert.equal((await scenario.commits({ after: -1, limit: 10 })).length, 1)
    await release()
    await scenario.commit(commit)
    assert.deepEqual(await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 10 }), [])
    await store.close()
  })

  it('that keeps reads out too refuses them all with the time to come back, and they are answered once it goes', async () => {
    const directory = folder()
    const [file, other] = [fileIn(directory), join(directory, 'other')]
    const first = await impatient(directory)
    await (await create(first, 'a')).append([record('1')])
    await first.close()
    const db = new DatabaseSync(file)
    db.exec('PRAGMA journal_mode = DELETE')
    db.close()
    copyFileSync(file, other)
    const store = await impatient(directory)
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
    await store.close()
  })

  it('in the middle of archiving leaves the scenario whole and open again when it goes', async () => {
    const directory = folder()
    const store = await impatient(directory)
    const scenario = await create(store, 'a')
    await scenario.append([record('1')])
    // The moment between the export and the row that ends it: the folder for archives is there by then.
    const archiving = store.archive('a')
    const settled = archiving.then(
      () => 'archived',
      (error: unknown) => (error instanceof Refusal ? error.code : 'failed'),
    )
    while (!existsSync(join(directory, 'archived'))) await new Promise(setImmediate)
    const release = await holdLock(fileIn(directory))
    const end = await settled
    await release()
    if (end === 'archived') return store.close()
    assert.equal(end, 'store_busy')
    for (;;) {
      const again = await scenario.append([record('2')]).catch((error: unknown) => error)
      if (Array.isArray(again)) break
      assert.ok(again instanceof Refusal && ['unknown_scenario', 'store_busy'].includes(again.code))
      await new Promise(setImmediate)
    }
    assert.deepEqual(readdirSync(join(directory, 'archived')), [])
    await store.close()
  })

  it('refuses the start with what to do, and lets it through when it goes', async () => {
    const directory = folder()
    await impatient(directory).then((store) => store.close())
    const release = await holdLock(fileIn(directory))
    await assert.rejects(impatient(directory), { kind: 'unavailable', code: 'store_busy', message: /close it .*then start again$/ })
    await release()
    await impatient(directory).then((store) => store.close())
  })

  it('keeps an older store from being brought up to date, and leaves it as it was', async () => {
    const directory = folder()
    await impatient(directory).then((store) => store.close())
    const db = new DatabaseSync(fileIn(directory))
    db.exec('DROP INDEX record_by_session; ALTER TABLE record DROP COLUMN summary; PRAGMA user_version = 2')
    db.close()
    const release = await holdLock(fileIn(directory))
    await assert.rejects(impatient(directory), { code: 'store_busy' })
    await release()
    const store = await impatient(directory)
    await create(store, 'a')
    await store.close()
  })
})
