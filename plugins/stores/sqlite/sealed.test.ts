/** Bodies that are encrypted: nothing of them is in any file, keys are replaced, and what is not as written is an error for that record alone. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, it } from 'vitest'
import { create, evicted, record } from '../../../conformance/store-samples.ts'
import { bodyConformance } from '../../../conformance/store.ts'
import { assertRefused } from '../../../conformance/support.ts'
import type { JsonObject } from '../../../src/contract/index.ts'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { IS_SHORT } from '../../../test/support/short.ts'
import sqlite from './index.ts'
import { change, open, openAndClose, rowsOf } from './testing/stores.ts'

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
const sealed = (secretKey: string) => ({ secretKey, encrypts: true, isSearched: false, capacityBytes: 64 * 1024 * 1024 })

/** The head, the nonce and the tag of what is encrypted, and the checksum. */
const ADDED_BYTES = 65

const openSealed = (config: JsonObject) => sqlite.plugin.make({ ...config, secret_key: NEW, encrypt: true })

/** In the short form what is special about encrypted bodies, below; `store.test.ts` has the suite for plain ones. */
describe.skipIf(IS_SHORT)('a store that encrypts', () =>
  bodyConformance({ describe, it, open: openSealed, isLasting: true, addedBytes: ADDED_BYTES }),
)

const MARKER = 'periwinkle'
/** Long, and the same at the beginning, so that one is stored against the other. */
const STORY = Array.from({ length: 6000 }, (_, at) => `${MARKER}${(at * 7919) % 10_007}`).join(' ')
const said = (words: string): Buffer => Buffer.from(JSON.stringify({ messages: [{ role: 'user', content: `${STORY} ${words}` }] }))

function allBytes(directory: string): string {
  const files = readdirSync(directory, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1')).join('\n')
}

describe('encrypted bodies', () => {
  it('leave no word in any file: as they came, against another, compressed later, archived', async () => {
    const directory = temporaryFolder()
    const store = await open(directory, sealed(NEW))
    const [live, old] = [await create(store, 'live'), await create(store, 'old')]
    await live.append([record('one', { payload: said('one') })])
    await live.append([record('two', { payload: said('two') }), record('small', { payload: Buffer.from(`{"a":"${MARKER}"}`) })])
    await live.append([record('middle', { payload: Buffer.from(JSON.stringify({ a: MARKER.repeat(600) })) })])
    await old.append([record('three', { payload: said('three') })])
    // Before the log is written back, and after the walk compressed what came as it was.
    assert.ok(!allBytes(directory).includes(MARKER))
    await compressed(directory)
    await store.archive('old')
    await store.close()
    assert.ok(!allBytes(directory).includes(MARKER))
    const again = await open(directory, sealed(NEW))
    assert.deepEqual((await again.scenario('live').get('two'))?.payload, new Uint8Array(said('two')))
    assert.deepEqual(await again.verify(() => undefined), [])
  })

  it('take the place of the index that was made before, and lie beside bodies from before', async () => {
    const directory = temporaryFolder()
    const store = await open(directory)
    const live = await create(store, 'live')
    await live.append([record('clear', { payload: said('clear') })])
    await live.search?.find({ text: MARKER, before: Number.MAX_SAFE_INTEGER, limit: 1 })
    await store.close()
    await openAndClose(directory, sealed(NEW))
    assert.ok(!existsSync(join(directory, 'search.sqlite3')))
    const later = await open(directory, sealed(NEW))
    await later.scenario('live').append([record('sealed', { payload: said('sealed') })])
    assert.deepEqual((await later.scenario('live').get('clear'))?.payload, new Uint8Array(said('clear')))
    assert.deepEqual((await later.scenario('live').get('sealed'))?.payload, new Uint8Array(said('sealed')))
  })

  it('are read with an older key behind the newer one, which writes; a missing key is told at the start', async () => {
    const directory = temporaryFolder()
    const first = await open(directory, sealed(OLD))
    await (await create(first, 'live')).append([record('old')])
    await first.close()
    const both = await open(directory, sealed(`${NEW},${OLD}`))
    await both.scenario('live').append([record('new')])
    for (const id of ['old', 'new']) assert.ok((await both.scenario('live').get(id))?.payload)
    await both.close()
    for (const keys of [sealed(NEW), sealed(OLD), {}]) await assertRefused('unavailable', 'missing_key', open(directory, keys))
    // Once nothing needs it, the older key may go.
    change(directory, `DELETE FROM body_base; DELETE FROM body WHERE sequence = 1; UPDATE record SET age = NULL WHERE sequence = 1`)
    await openAndClose(directory, sealed(NEW))
    assert.equal(rowsOf(directory, 'SELECT id FROM seal_key').length, 1)
  })

  it('are an error for that record alone when they were changed, or put in the place of another', async () => {
    const directory = temporaryFolder()
    const store = await open(directory, sealed(NEW))
    const live = await create(store, 'live')
    for (const id of ['a', 'b', 'c']) await live.append([record(id, { payload: Buffer.from(`{"said":"${id}"}`) })])
    await store.close()
    change(directory, `UPDATE body SET payload = (SELECT payload FROM body WHERE sequence = 1) WHERE sequence = 2`)
    change(
      directory,
      `UPDATE body SET payload = unhex(hex(substr(payload, 1, 30)) || '00FF' || hex(substr(payload, 33))) WHERE sequence = 3`,
    )
    const again = await open(directory, sealed(NEW))
    const scenario = again.scenario('live')
    assert.ok((await scenario.get('a'))?.payload)
    for (const id of ['b', 'c']) await assertRefused('unavailable', 'storage_failed', scenario.get(id))
    const pending = await scenario.pending({ component: '', types: ['inference'], after: 0, limit: 9 })
    assert.deepEqual(
      pending.map(({ agent_record_id, payload }) => [agent_record_id, payload === null]),
      [
        ['a', false],
        ['b', true],
        ['c', true],
      ],
    )
    const problem = 'the body cannot be decrypted: it is not what was written here'
    assert.deepEqual(
      (await again.verify(() => undefined)).map((damage) => [damage.agent_record_id, damage.problem]),
      [
        ['b', problem],
        ['c', problem],
      ],
    )
  })

  it('leave a digest that only the key tells, by which a retry is known after they were evicted', async () => {
    const directory = temporaryFolder()
    const store = await open(directory, { ...sealed(NEW), capacityBytes: 100 })
    const live = await create(store, 'live')
    const gone = record('gone', { payload: Buffer.from(`{"said":"${MARKER}"}`) })
    await live.append([gone])
    await live.append([record('later', { payload: Buffer.alloc(90, ' ') })])
    await evicted(store)
    assert.equal((await live.append([gone])).rows[0]?.sequence, 1)
    await assertRefused('conflict', 'record_conflict', live.append([{ ...gone, payload: Buffer.from('{}') }]))
    await store.close()
    assert.deepEqual(rowsOf(directory, 'SELECT length(digest) AS bytes FROM record WHERE sequence = 1'), [{ bytes: 65 }])
  })

  it('are not written where an index of the words is asked for, or the key is missing', () => {
    const directory = temporaryFolder()
    assert.throws(() => sqlite.plugin.make({ directory, secret_key: NEW, encrypt: true, search: true }), { code: 'store_config' })
    assert.throws(() => sqlite.plugin.make({ directory, encrypt: true }), { code: 'store_config' })
  })
})

/** Until the walk has looked at every body. */
async function compressed(directory: string): Promise<void> {
  while (rowsOf(directory, 'SELECT 1 FROM compression WHERE age < (SELECT max(age) FROM body)').length > 0)
    await new Promise((resolve) => setTimeout(resolve, 20))
}
