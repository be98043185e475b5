/** Bodies that lie compressed: what they take, that they read back the same, and what becomes of them when others go, break or lie. */
import assert from 'node:assert/strict'
import { hash } from 'node:crypto'
import { copyFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import type { NewRecord, ScenarioStore, Store } from '../../../../src/contract/index.ts'
import { bytes, create, evicted, record } from '../../../../conformance/store-samples.ts'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import { until } from '../../../../test/support/wait.ts'
import { change, fileIn, fresh, open, rowsOf } from '../testing/stores.ts'

const ALL_COMPRESSED = 'SELECT 1 FROM body WHERE size IS NULL AND length(payload) >= 2048'
const CHAINED = 'SELECT 1 FROM body_base d JOIN body_base base ON base.age = d.base'

describe('a session', () => {
  it('takes less than a tenth of what was sent, and reads back the same, after reopening too', async () => {
    const { directory, store, scenario } = await fresh()
    const turns = conversation('s', 60)
    for (const turn of turns) await scenario.append([turn])
    await compressed(directory)
    const sent = turns.reduce((sum, { payload }) => sum + payload.byteLength, 0)
    const { body_bytes } = await store.usage()
    assert.ok(body_bytes * 10 < sent, `${sent} bytes were sent, ${body_bytes} are kept`)
    assert.equal(body_bytes, storedBytes(directory))
    await assertSame(store, scenario, turns)
    await store.close()
    const reopened = await open(directory)
    await assertSame(reopened, reopened.scenario('a'), turns)
    const [first, second] = turns
    assert.ok(first !== undefined && second !== undefined)
    assert.equal((await reopened.scenario('a').append([second])).rows[0]?.sequence, 2)
    await assert.rejects(reopened.scenario('a').append([{ ...second, payload: first.payload }]), { code: 'record_conflict' })
  })
  it('is found among others by what it begins with, or by its name when that changes with every turn', async () => {
    const { directory, store, scenario } = await fresh()
    const sessions = ['s', 't', 'u'].map((name) => conversation(name, 12, (turn) => (name === 'u' ? `at ${turn} ` : '')))
    const mixed = Array.from({ length: 12 }, (_, turn) => sessions.flatMap((turns) => turns[turn] ?? [])).flat()
    for (const turn of mixed) await scenario.append([turn])
    await compressed(directory)
    const sent = mixed.reduce((sum, { payload }) => sum + payload.byteLength, 0)
    assert.ok((await store.usage()).body_bytes * 6 < sent, `${(await store.usage()).body_bytes} of ${sent}`)
    await assertSame(store, scenario, mixed)
    assert.deepEqual(rowsOf(directory, CHAINED), [])
  })
})

describe('what an append leaves', () => {
  it('is nothing that a later body could refer to, when the append was refused', async () => {
    const { store, scenario } = await fresh()
    const [first, second, third, fourth] = conversation('s', 4)
    assert.ok(first !== undefined && second !== undefined && third !== undefined && fourth !== undefined)
    await scenario.append([record('taken')])
    // The second refers to the first, so that the first is in the writer's memory.
    await assert.rejects(scenario.append([first, second, record('taken', { payload: bytes('{}') })]), { code: 'record_conflict' })
    await scenario.append([third])
    await scenario.append([fourth])
    await assertSame(store, scenario, [third, fourth])
  })
})

describe('an older store', () => {
  it('is read at once, and compressed while it is open', async () => {
    const { directory, store, scenario } = await fresh()
    const turns = conversation('s', 16)
    for (const turn of turns) await scenario.append([turn])
    await compressed(directory)
    await store.close()
    asOlder(directory, turns)
    const before = storedBytes(directory)
    const again = await open(directory)
    await assertSame(again, again.scenario('a'), turns)
    await compressed(directory)
    assert.ok(storedBytes(directory) * 8 < before)
    assert.equal((await again.usage()).body_bytes, storedBytes(directory))
    await assertSame(again, again.scenario('a'), turns)
    assert.deepEqual(rowsOf(directory, CHAINED), [])
  })
  it('has damaged bodies named by the check, and left as they are', async () => {
    const { directory, store, scenario } = await fresh()
    const turns = conversation('s', 3)
    await scenario.append(turns)
    await store.close()
    asOlder(directory, turns)
    change(directory, 'UPDATE body SET payload = zeroblob(length(payload)) WHERE sequence = 2')
    const again = await open(directory)
    await until(() => rowsOf(directory, ALL_COMPRESSED).length === 1)
    const problem = 'the body does not match its checksum'
    assert.deepEqual(await again.verify(() => undefined), [{ scenario: 'a', agent_record_id: 's2', problem }])
  })
})

describe('capacity', () => {
  it('counts what the bodies take, takes the oldest first, and one that others refer to after them', async () => {
    const { directory, store, scenario } = await fresh({ capacityBytes: 170_000 })
    const turns = conversation('s', 40)
    for (const turn of turns) {
      await scenario.append([turn])
      await evicted(store)
      assert.deepEqual(rowsOf(directory, 'SELECT 1 FROM body_base d WHERE NOT EXISTS (SELECT 1 FROM body b WHERE b.age = d.base)'), [])
    }
    await compressed(directory)
    const found = await Promise.all(turns.map(async (turn) => (await scenario.get(turn.agent_record_id))?.payload ?? null))
    const kept = found.filter((payload) => payload !== null)
    assert.ok(kept.length > 0 && kept.length < turns.length)
    for (const [index, payload] of found.entries()) if (payload !== null) assert.deepEqual(payload, asBuffer(turns[index]))
    assert.ok(found.at(-1) !== null)
    assert.deepEqual(await store.verify(() => undefined), [])
    const first = turns[0]
    if (first !== undefined) assert.equal((await scenario.append([first])).rows[0]?.sequence, 1)
  })
})

describe('an archive', () => {
  it('opens as a store with every body, and its rows leave the store', async () => {
    const { directory, store, scenario } = await fresh()
    const turns = conversation('s', 20)
    for (const turn of turns) await scenario.append([turn])
    await compressed(directory)
    const archive = await store.archive('a')
    const elsewhere = temporaryFolder()
    copyFileSync(join(directory, archive), fileIn(elsewhere))
    const opened = await open(elsewhere)
    await assertSame(opened, opened.scenario('a'), turns)
    await until(() => rowsOf(directory, 'SELECT 1 FROM body').length === 0)
    await create(store, 'a').then((again) => again.append(turns.slice(0, 1)))
  })
})

describe('a damaged body', () => {
  it('is refused to a reader, passed over by training, named by the check, unlike what is sent again, and evicted like any other', async () => {
    const { directory, store, scenario } = await fresh()
    const turns = conversation('s', 3)
    await scenario.append(turns)
    await compressed(directory)
    const [, second, third] = turns
    assert.ok(second !== undefined && third !== undefined)
    change(
      directory,
      'UPDATE body SET payload = zeroblob(length(payload)) WHERE sequence = 2; UPDATE body SET size = size + 1 WHERE sequence = 3',
    )
    for (const id of ['s2', 's3']) await assert.rejects(scenario.get(id), { code: 'storage_failed' })
    const pending = await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 10 })
    assert.deepEqual(
      pending.map(({ payload }) => payload === null),
      [false, true, true],
    )
    assert.deepEqual(await store.verify(() => undefined), [
      { scenario: 'a', agent_record_id: 's2', problem: 'the body cannot be decompressed' },
      { scenario: 'a', agent_record_id: 's3', problem: 'the body does not match its size' },
    ])
    await assert.rejects(scenario.append([second]), { code: 'record_conflict' })
    await store.close()
    const small = await open(directory, { capacityBytes: 0 })
    await evicted(small)
    assert.equal((await small.scenario('a').get('s2'))?.payload, null)
  })
})

/** Each turn repeats the one before and adds a text of its own. */
function conversation(name: string, turns: number, head: (turn: number) => string = () => ''): NewRecord[] {
  const said: string[] = [words(name, 5000)]
  return Array.from({ length: turns }, (_, turn) => {
    said.push(words(`${name}${turn}`, 200))
    const payload = bytes(JSON.stringify({ system: `${head(turn)}${name}`, messages: said, response: words(`answer ${turn}`, 20) }))
    return record(`${name}${turn + 1}`, { payload, summary: { latency_ms: 1, session: name } })
  })
}

/** Text that compresses about as prose does. */
function words(seed: string, count: number): string {
  let state = Buffer.from(seed).reduce((sum, each) => Math.imul(sum ^ each, 16777619), 2166136261)
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) | 0) >>> 20
  return Array.from({ length: count }, () => `word${(next() * next()) % 4093}`).join(' ')
}

const asBuffer = (turn: NewRecord | undefined): Uint8Array => new Uint8Array(turn?.payload ?? [])

async function assertSame(store: Store, scenario: ScenarioStore, turns: readonly NewRecord[]): Promise<void> {
  for (const turn of turns)
    assert.ok(
      Buffer.compare((await scenario.get(turn.agent_record_id))?.payload ?? new Uint8Array(), turn.payload) === 0,
      turn.agent_record_id,
    )
  const pending = await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 100 })
  for (const { agent_record_id, payload } of pending) {
    const turn = turns.find((each) => each.agent_record_id === agent_record_id)
    if (turn !== undefined) assert.ok(Buffer.compare(payload ?? new Uint8Array(), turn.payload) === 0)
  }
  assert.deepEqual(await store.verify(() => undefined), [])
}

/** Nothing is left that idle time would compress. */
const compressed = (directory: string): Promise<void> => until(() => rowsOf(directory, ALL_COMPRESSED).length === 0)

function storedBytes(directory: string): number {
  return rowsOf(directory, 'SELECT length(payload) AS bytes FROM body').reduce<number>(
    (sum, row) => sum + Number(Object.values(row ?? {})[0]),
    0,
  )
}

/** As a version before compression would have left it, when every checksum was a SHA-256. */
function asOlder(directory: string, turns: readonly NewRecord[]): void {
  for (const [index, { payload }] of turns.entries()) {
    const columns = `payload = x'${Buffer.from(payload).toString('hex')}', size = NULL, checksum = x'${hash('sha256', payload)}'`
    change(directory, `UPDATE body SET ${columns} WHERE sequence = ${index + 1}`)
  }
  change(
    directory,
    `UPDATE scenario SET body_bytes = (SELECT sum(length(payload)) FROM body);
     DROP TABLE token; DROP TABLE audit; DROP TABLE compression; DROP TABLE body_base; ALTER TABLE body DROP COLUMN size;
     ALTER TABLE body DROP COLUMN sealed; DROP TABLE seal_key;
     ALTER TABLE scenario DROP COLUMN expired_records; ALTER TABLE scenario DROP COLUMN expired_bytes; PRAGMA user_version = 6`,
  )
}
