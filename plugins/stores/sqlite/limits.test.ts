/** What the store does at its bounds: too much waiting, eviction in turns, damage, a thread that dies. */
import assert from 'node:assert/strict'
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { afterAll, describe, it } from 'vitest'
import { HOUSEKEEPING_ROWS_PER_TURN, Refusal } from '../../../src/contract/index.ts'
import { Channel } from './channel.ts'
import { bytes, create, record, sequences } from '../../../conformance/store-samples.ts'
import { openStore } from './store.ts'

const CAPACITY_BYTES = 1024 * 1024
const root = mkdtempSync(join(tmpdir(), 'store-'))
const folder = () => mkdtempSync(join(root, 'case-'))

afterAll(() => rmSync(root, { recursive: true, force: true }))

describe('more than can wait', () => {
  it('is refused with the time to come back, never dropped, and taken again afterwards', async () => {
    const store = await openStore({ directory: folder(), capacityBytes: CAPACITY_BYTES, waitingBytesMax: 1000 })
    const scenario = await create(store, 'a')
    const payload = bytes(`{"text":"${'x'.repeat(290)}"}`)
    const settled = await Promise.allSettled(Array.from({ length: 10 }, (_, index) => scenario.append([record(`r${index}`, { payload })])))
    const refusals = settled.filter((result) => result.status === 'rejected').map(({ reason }): unknown => reason)
    assert.equal(refusals.length, 7)
    for (const refusal of refusals) {
      assert.ok(refusal instanceof Refusal)
      assert.equal(refusal.code, 'store_overloaded')
      assert.equal(refusal.detail.retryAfterSeconds, 1)
    }
    assert.equal((await store.usage()).records, 3)
    assert.equal((await scenario.append([record('later', { payload })]))[0]?.sequence, 4)
    await store.close()
  })
  it('a single record larger than the bound still goes through', async () => {
    const store = await openStore({ directory: folder(), capacityBytes: CAPACITY_BYTES, waitingBytesMax: 10 })
    const scenario = await create(store, 'a')
    assert.equal((await scenario.append([record('large', { payload: bytes(`{"text":"${'x'.repeat(1000)}"}`) })])).length, 1)
    await store.close()
  })
})

describe('eviction', () => {
  it('catches up over several turns while records keep coming', async () => {
    const store = await openStore({ directory: folder(), capacityBytes: 70 })
    const scenario = await create(store, 'a')
    const count = 4 * HOUSEKEEPING_ROWS_PER_TURN
    for (let index = 0; index < count; index += 64) {
      await scenario.append(Array.from({ length: 64 }, (_, offset) => record(`r${index + offset}`)))
    }
    while ((await store.usage()).body_bytes > 70) await nextTurn()
    assert.deepEqual(await store.usage(), {
      records: count,
      body_bytes: 70,
      capacity_bytes: 70,
      lost_records: count - 10,
      lost_bytes: (count - 10) * 7,
    })
    assert.equal((await scenario.append([record('r0')]))[0]?.sequence, 1)
    assert.deepEqual(await store.verify(() => undefined), [])
    await store.close()
  })
  it('keeps which sequences went first and last', async () => {
    const directory = folder()
    const store = await openStore({ directory, capacityBytes: 14 })
    const scenario = await create(store, 'a')
    await scenario.append(['1', '2', '3', '4', '5'].map((id) => record(id)))
    while ((await store.usage()).body_bytes > 14) await nextTurn()
    await store.close()
    const db = new DatabaseSync(join(directory, 'records.sqlite3'), { readOnly: true })
    assert.deepEqual(
      { ...db.prepare('SELECT lost_first_sequence AS first, lost_last_sequence AS last FROM scenario').get() },
      { first: 1, last: 3 },
    )
    db.close()
  })
})

describe('a page of pending reports', () => {
  it('ends before it holds more quoted records than the event loop should read at once', async () => {
    const store = await openStore({ directory: folder(), capacityBytes: CAPACITY_BYTES })
    const scenario = await create(store, 'a')
    const references = Array.from({ length: 1000 }, (_, index) => `r${index}`)
    await scenario.append(references.map((id) => record(id)))
    await scenario.append(['1', '2', '3', '4', '5', '6'].map((id) => record(id, { request_type: 'report', references })))
    const page = { component: '', types: ['report'], after: 0, limit: 100 } as const
    const first = sequences(await scenario.pending(page))
    assert.deepEqual(first, [1001, 1002, 1003, 1004])
    assert.deepEqual(sequences(await scenario.pending({ ...page, after: first.at(-1) ?? 0 })), [1005, 1006])
    await store.close()
  })
})

describe('verify', () => {
  it('names every record whose bytes changed, went missing, or left a gap', async () => {
    const directory = folder()
    const store = await openStore({ directory, capacityBytes: CAPACITY_BYTES })
    const scenario = await create(store, 'a')
    await scenario.append(['1', '2', '3', '4', '5'].map((id) => record(id)))
    const db = new DatabaseSync(join(directory, 'records.sqlite3'))
    db.exec(
      `UPDATE body SET payload = x'7b7d' WHERE sequence = 1; DELETE FROM body WHERE sequence = 2; DELETE FROM record WHERE sequence = 4`,
    )
    db.close()
    assert.deepEqual(await store.verify(() => undefined), [
      { scenario: 'a', agent_record_id: '1', problem: 'the body does not match its checksum' },
      { scenario: 'a', agent_record_id: '2', problem: 'the body is missing and was not evicted' },
      { scenario: 'a', agent_record_id: '5', problem: 'sequence 4 is missing before 5' },
    ])
    await store.close()
  })
})

describe('a thread that dies', () => {
  it('refuses everyone who waited, and everyone after', async () => {
    const worker = new Worker(`require('node:worker_threads').parentPort.on('message', () => process.exit(1))`, { eval: true })
    const channel = new Channel<{ op: 'any' }, { any: number }>(worker, {
      groupsInFlight: 1,
      waitingBytesMax: 1000,
      pack: (calls) => ({ message: calls, transfer: [] }),
    })
    const first = channel.ask({ op: 'any' })
    await nextTurn()
    const second = channel.ask({ op: 'any' })
    for (const call of [first, second]) await assert.rejects(call, { kind: 'unavailable', code: 'storage_failed' })
    await assert.rejects(channel.ask({ op: 'any' }), { code: 'storage_failed' })
    await channel.close()
  })
})
