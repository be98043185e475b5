/** Forgetting a tag in PostgreSQL, while services use it: nothing of it is left in any row, and everything of others is as it was. */
import assert from 'node:assert/strict'
import { randomBytes } from 'node:crypto'
import { afterAll, beforeAll, describe, it } from 'vitest'
import { commit, create } from '../../../conformance/store-samples.ts'
import { assertRefused } from '../../../conformance/support.ts'
import type { ForgetOrder, JsonObject, NewRecord, RequestType, Store } from '../../../src/contract/index.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import postgres from './index.ts'

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres({ settings: { fsync: 'off' } })
})
afterAll(() => server.stop())

const order = (tag: ForgetOrder['tag'], isTrial = false): ForgetOrder => ({ tag, isTrial })

function record(id: string, payload: object, request_type: RequestType = 'inference', references: readonly string[] = []): NewRecord {
  const row = { agent_record_id: id, request_type, created_at: 1, references, artifact_ref: null, score: null }
  return { ...row, payload: Buffer.from(JSON.stringify(payload)) }
}

const said = (user: string, words: string): object => ({ messages: [{ role: 'user', content: words }], metadata: { tags: { user } } })

/** Two people in one scenario, a request for a change, and a scenario that was archived. */
async function fill(store: Store): Promise<void> {
  const [live, old] = [await create(store, 'live'), await create(store, 'old')]
  await live.append([record('a1', said('anna-77', 'violet')), record('b1', said('bert-88', 'orange'))])
  await live.append([
    record('ra', { feedback: 'violet was right' }, 'report', ['a1']),
    record('rb', { feedback: 'orange' }, 'report', ['b1']),
  ])
  await live.append([record('t', { text: 'more violet', session: 's-9' }, 'train')])
  const metrics = { training_request: { id: 't', text: 'more violet', session: 's-9' }, note: 'kept' }
  await live.commit({ ...commit(1, ['a1', 't']), metrics })
  await old.append([record('a3', said('anna-77', 'violet once'))])
  await store.archive('old')
}

const EACH: readonly (readonly [name: string, schema: string, seal: JsonObject])[] = [
  ['in the clear', 'clear', {}],
  ['encrypted', 'sealed', { secret_key: randomBytes(32).toString('base64'), encrypt: true }],
]

describe.each(EACH)('forgetting in PostgreSQL, bodies %s', (_, schema, seal) => {
  it('counts in a trial, removes while a service uses it, proves it, and may be repeated', async () => {
    const config = { url: server.url, schema, ...seal }
    const store = await postgres.plugin.make(config)
    try {
      await fill(store)
      const live = store.scenario('live')
      const trial = await postgres.plugin.forget?.(config, order(['user', 'anna-77'], true))
      assert.deepEqual([trial?.records, trial?.reports, trial?.places], [2, 1, []])
      assert.ok((await live.get('a1'))?.payload)
      const forgotten = await postgres.plugin.forget?.(config, order(['user', 'anna-77']))
      assert.deepEqual([forgotten?.records, forgotten?.reports], [2, 1])
      assert.deepEqual(
        forgotten?.places.filter(({ found }) => found > 0),
        [],
      )
      assert.ok((forgotten?.unsearched ?? []).length > 0, 'what the server keeps is not claimed')
      assert.equal((await live.get('a1'))?.payload, null)
      assert.deepEqual((await live.get('ra'))?.references, [])
      assert.deepEqual(JSON.parse(Buffer.from((await live.get('b1'))?.payload ?? []).toString()), said('bert-88', 'orange'))
      await assertRefused('conflict', 'record_conflict', live.append([record('a1', said('anna-77', 'violet'))]))
      assert.deepEqual(await store.verify(() => undefined), [])
      assert.equal((await postgres.plugin.forget?.(config, order(['user', 'anna-77'])))?.records, 0)
      // Somebody who asked for a change is known by the session alone; the words are in the row of the step too.
      assert.equal((await postgres.plugin.forget?.(config, order(['session', 's-9'])))?.records, 1)
      const [, step] = await live.commits({ after: -1, limit: 9 })
      assert.deepEqual(step?.metrics, { training_request: { id: 't', text: '', session: '' }, note: 'kept' })
      const bytes = Number(server.sql(`SELECT coalesce(sum(octet_length(payload)), 0) FROM ${schema}.body WHERE scenario = 1`))
      assert.equal((await store.usage()).body_bytes, bytes)
    } finally {
      await store.close()
    }
  })

  it('says what of the value is left in documents and rows', async () => {
    const config = { url: server.url, schema, ...seal }
    const store = await postgres.plugin.make(config)
    try {
      await store.documents?.('scenarios/x/steps').write('1/notes.md', 'what bert-88 wanted')
      const places = (await postgres.plugin.forget?.(config, order(['user', 'bert-88'])))?.places ?? []
      assert.deepEqual(
        places.filter(({ found }) => found > 0).map(({ place }) => place),
        ['document scenarios/x/steps/1/notes.md'],
      )
    } finally {
      await store.close()
    }
  })
})
