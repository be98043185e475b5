/** Bodies that are encrypted in PostgreSQL: the server never has a word of them, keys are replaced, and a changed one is an error alone. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { create, record } from '../../../conformance/store-samples.ts'
import { bodyConformance } from '../../../conformance/store.ts'
import { assertRefused } from '../../../conformance/support.ts'
import type { Store } from '../../../src/contract/index.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import postgres from './index.ts'
import { schemaOf } from './testing/schemas.ts'

const [OLD, NEW] = [randomBytes(32).toString('base64'), randomBytes(32).toString('base64')]
/** The head, the nonce and the tag of what is encrypted, and a byte that says how it was before. */
const ADDED_BYTES = 34
const MARKER = 'periwinkle'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

const open = async (schema: string, secret_key: string | null, encrypt = true): Promise<Store> =>
  postgres.plugin.make({ url: server.url, schema, ...(secret_key !== null && { secret_key, encrypt }) })

async function within<T>(store: Promise<Store>, work: (store: Store) => Promise<T>): Promise<T> {
  const opened = await store
  try {
    return await work(opened)
  } finally {
    await opened.close()
  }
}

describe('a database with encrypted bodies', () =>
  bodyConformance({
    describe,
    it,
    open: ({ directory, capacity_bytes }) =>
      postgres.plugin.make({ url: server.url, schema: schemaOf(directory), capacity_bytes, secret_key: NEW, encrypt: true }),
    isLasting: true,
    addedBytes: ADDED_BYTES,
  }))

/** Its tables, and its log of what it wrote. */
function filesOfServer(): string {
  server.sql('CHECKPOINT')
  const files = readdirSync(server.folder, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  return files.map(({ parentPath, name }) => readFileSync(join(parentPath, name)).toString('latin1')).join('\n')
}

describe('encrypted bodies in PostgreSQL', () => {
  it('leave no word in any file of the server, small and large', async () => {
    const said = ['sealed', 'clear'].map((how) => Buffer.from(JSON.stringify({ how, said: `${MARKER}-${how}`.repeat(2000) })))
    const small = Buffer.from(`{"said":"${MARKER}-sealed"}`)
    await within(open('words', NEW), async (store) => {
      const live = await create(store, 'live')
      await live.append([record('large', { payload: said[0] ?? small }), record('small', { payload: small })])
      assert.deepEqual((await live.get('large'))?.payload, said[0])
      assert.deepEqual((await live.get('small'))?.payload, small)
      assert.deepEqual(await store.verify(() => undefined), [])
      assert.ok((await store.usage()).body_bytes < 1000, 'it was compressed before')
    })
    assert.ok(!filesOfServer().includes(`${MARKER}-sealed`))
    // What lies in the clear is found by this very search.
    await within(open('words', NEW, false), async (store) => {
      await store.scenario('live').append([record('clear', { payload: Buffer.from(`{"said":"${MARKER}-clear"}`) })])
      assert.ok((await store.scenario('live').get('small'))?.payload)
    })
    assert.ok(filesOfServer().includes(`${MARKER}-clear`))
  })

  it('are read with an older key behind the newer one; a missing key is told at the start', async () => {
    await within(open('rotated', OLD), async (store) => (await create(store, 'live')).append([record('old')]))
    await within(open('rotated', `${NEW},${OLD}`), async (store) => {
      await store.scenario('live').append([record('new')])
      for (const id of ['old', 'new']) assert.ok((await store.scenario('live').get(id))?.payload)
    })
    for (const keys of [NEW, OLD, null]) await assertRefused('unavailable', 'missing_key', open('rotated', keys))
    server.sql('DELETE FROM rotated.body WHERE sequence = 1')
    await within(open('rotated', NEW), async (store) => assert.ok((await store.scenario('live').get('new'))?.payload))
  })

  it('are an error for that record alone when they were changed, or put in the place of another', async () => {
    await within(open('changed', NEW), async (store) => {
      const live = await create(store, 'live')
      await live.append(['a', 'b', 'c'].map((id) => record(id)))
      server.sql(`UPDATE changed.body SET payload = (SELECT payload FROM changed.body WHERE sequence = 1) WHERE sequence = 2`)
      server.sql(`UPDATE changed.body SET payload = set_byte(payload, 30, (get_byte(payload, 30) + 1) % 256) WHERE sequence = 3`)
      server.sql(`UPDATE changed.body SET checksum = sha256(payload)`)
      assert.ok((await live.get('a'))?.payload)
      for (const id of ['b', 'c']) await assertRefused('unavailable', 'storage_failed', live.get(id))
      const pending = await live.pending({ component: '', types: ['inference'], after: 0, limit: 9 })
      assert.deepEqual(
        pending.map(({ payload }) => payload === null),
        [false, true, true],
      )
      assert.deepEqual(
        (await store.verify(() => undefined)).map((damage) => damage.agent_record_id),
        ['b', 'c'],
      )
    })
  })
})
