/** What the store does at its bounds: too much waiting, eviction in turns, damage, a thread that dies. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { Worker } from 'node:worker_threads'
import { describe, it } from 'vitest'
import { HOUSEKEEPING_ROWS_PER_TURN, Refusal } from '../../../src/contract/index.ts'
import { Channel } from './messages/channel.ts'
import { bytes, counted, evicted, record, sequences } from '../../../conformance/store-samples.ts'
import { change, fresh, rowsOf } from './testing/stores.ts'

const FIVE = ['1', '2', '3', '4', '5'].map((id) => record(id))

describe('more than can wait', () => {
  it('is refused with the time to come back, never dropped, and taken again afterwards', async () => {
    const { store, scenario } = await fresh({ waitingBytesMax: 1000 })
    const payload = bytes(`{"text":"${'x'.repeat(290)}"}`)
    const settled = await Promise.allSettled(counted(10).map((index) => scenario.append([record(`r${index}`, { payload })])))
    const refusals = settled.filter((result) => result.status === 'rejected').map(({ reason }): unknown => reason)
    assert.equal(refusals.length, 7)
    for (const refusal of refusals) {
      assert.ok(refusal instanceof Refusal)
      assert.deepEqual([refusal.code, refusal.detail.retryAfterSeconds], ['store_overloaded', 1])
    }
    assert.equal((await store.usage()).records, 3)
    assert.equal((await scenario.append([record('later', { payload })])).rows[0]?.sequence, 4)
  })
  it('a single record larger than the bound still goes through', async () => {
    const { scenario } = await fresh({ waitingBytesMax: 10 })
    assert.equal((await scenario.append([record('large', { payload: bytes(`{"text":"${'x'.repeat(1000)}"}`) })])).rows.length, 1)
  })
})

describe('eviction', () => {
  it('catches up over several turns while records keep coming', async () => {
    const { store, scenario } = await fresh({ capacityBytes: 70 })
    const count = 4 * HOUSEKEEPING_ROWS_PER_TURN
    for (let index = 0; index < count; index += 64) await scenario.append(counted(64).map((offset) => record(`r${index + offset}`)))
    await evicted(store)
    const lost = { lost_records: count - 10, lost_bytes: (count - 10) * 7, expired_records: 0, expired_bytes: 0 }
    assert.deepEqual(await store.usage(), { records: count, body_bytes: 70, capacity_bytes: 70, ...lost })
    assert.equal((await scenario.append([record('r1')])).rows[0]?.sequence, 1)
    assert.deepEqual(await store.verify(() => undefined), [])
  })
  it('keeps which sequences went first and last', async () => {
    const { directory, store, scenario } = await fresh({ capacityBytes: 14 })
    await scenario.append(FIVE)
    await evicted(store)
    await store.close()
    const lost = rowsOf(directory, 'SELECT lost_first_sequence AS first, lost_last_sequence AS last FROM scenario')
    assert.deepEqual(lost, [{ first: 1, last: 3 }])
  })
})

describe('a page of pending reports', () => {
  it('ends before it holds more quoted records than the event loop should read at once', async () => {
    const { scenario } = await fresh()
    const references = counted(1000).map((index) => `r${index}`)
    await scenario.append(references.map((id) => record(id)))
    await scenario.append(['1', '2', '3', '4', '5', '6'].map((id) => record(id, { request_type: 'report', references })))
    const page = { component: '', types: ['report'], after: 0, limit: 100 } as const
    const first = sequences(await scenario.pending(page))
    assert.deepEqual(first, [1001, 1002, 1003, 1004])
    assert.deepEqual(sequences(await scenario.pending({ ...page, after: first.at(-1) ?? 0 })), [1005, 1006])
  })
})

describe('verify', () => {
  it('names every record whose bytes changed, went missing, or left a gap', async () => {
    const { directory, store, scenario } = await fresh()
    await scenario.append(FIVE)
    change(
      directory,
      `UPDATE body SET payload = x'7b7d' WHERE sequence = 1; DELETE FROM body WHERE sequence = 2; DELETE FROM record WHERE sequence = 4`,
    )
    assert.deepEqual(await store.verify(() => undefined), [
      { scenario: 'a', agent_record_id: '1', problem: 'the body does not match its checksum' },
      { scenario: 'a', agent_record_id: '2', problem: 'the body is missing and was not evicted' },
      { scenario: 'a', agent_record_id: '5', problem: 'sequence 4 is missing before 5' },
    ])
  })
})

describe('a thread that dies', () => {
  it('refuses every call that waited, and every later one', async () => {
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
