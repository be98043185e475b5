/** What scenarios keep beside records and rows, over one PostgreSQL and one bucket: what one gateway keeps, the others use. */
import { randomBytes } from 'node:crypto'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { temporaryFolder } from '../support/folder.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { BUCKET, startS3, type S3Server } from '../support/s3.ts'
import type { Settings } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { ownWorld, type World } from '../support/world.ts'
import { INBOX_RECIPE, named } from '../spec/support/helpers.ts'

let database: PostgresServer
let s3: S3Server
beforeAll(async () => {
  ;[database, s3] = await Promise.all([startPostgres({ settings: { fsync: 'off' } }), startS3()])
})
afterAll(() => {
  database.stop()
  s3.stop()
})

let deployments = 0
const folders: string[] = []

/** Two gateways of a new deployment, each with a folder of its own. */
async function two(more: Settings = {}): Promise<readonly [World, World]> {
  deployments += 1
  const settings: Settings = {
    'storage.record_backend': 'postgres',
    'storage.record_database_url': database.url,
    'storage.record_settings.schema': `state_${deployments}`,
    'storage.record_settings.connections': 3,
    'storage.artifact_repository': `s3://${BUCKET}/state-${deployments}`,
    ...s3.settings,
    ...more,
  }
  const start = (): Promise<World> => {
    const folder = join(temporaryFolder(), 'records')
    folders.push(folder)
    return ownWorld({ settings: { ...settings, 'storage.agent_record_dir': folder } })
  }
  return [await start(), await start()]
}

const count = (kind: string): number =>
  Number(database.sql(`SELECT count(*) FROM state_${deployments}.document WHERE owner LIKE 'scenarios/%/${kind}'`))
const SECRET = { 'storage.secret_key': randomBytes(32).toString('base64') }
const KEY = 'sk-the-key-of-one-scenario-alone'
const isKeySent = async (world: World): Promise<boolean> => {
  await world.exchange('s')
  return world.upstream.received.at(-1)?.headers['authorization'] === `Bearer ${KEY}`
}

it(
  'a model chosen at one gateway holds at the other, with its key, which the database has only encrypted',
  { timeout: 120_000 },
  async () => {
    const [a, b] = await two(SECRET)
    for (const world of [a, b]) await world.exchange('s')
    expect((await a.post('/svc/scenarios/s/update', { model: { api_key: KEY } })).status).toBe(200)
    expect(await isKeySent(a)).toBe(true)
    await until(() => isKeySent(b))
    expect(
      database.sql(`SELECT count(*) FROM state_${deployments}.document WHERE position('${KEY}' in convert_from(value, 'UTF8')) > 0`),
    ).toBe('0')
  },
)

it('a key of a model is refused where it could not be encrypted, in one line with the fix', { timeout: 120_000 }, async () => {
  const [a] = await two()
  const refused = await a.post('/svc/scenarios', { name: 's', model: { api_key: KEY } })
  expect([refused.status, refused.text]).toEqual([501, expect.stringContaining('SVC_SECRET_KEY')])
  expect((await a.post('/svc/scenarios', { name: 's', model: { model: 'other' } })).status).toBe(201)
})

it('gateways with folders of their own sign with one key', { timeout: 120_000 }, async () => {
  await two(SECRET)
  expect(database.sql(`SELECT count(*) FROM state_${deployments}.document WHERE owner = 'deployment'`)).toBe('1')
  expect(folders.slice(-2).map((folder) => existsSync(join(folder, 'signing-key.json')))).toEqual([false, false])
})

it(
  'a proposal made at one gateway is tried by the one that trains, and its step record is read at both',
  { timeout: 240_000 },
  async () => {
    const [a, b] = await two({
      recipe: `${INBOX_RECIPE}#threaded`,
      'data.training_mode': 'hybrid',
      'evolution.seed': JSON.stringify([{ id: 'tone', name: 'rules', config: { text: 'Be brief.' } }]),
      'evolution.adapter': 'native',
      'evolution.proposals_dir': join(temporaryFolder(), 'proposals'),
      'evolution.step_record_dir': join(temporaryFolder(), 'steps'),
    })
    const headers = named('s')
    // The first to load it trains it.
    for (const world of [a, b]) await world.exchange('s')
    const mutations = [{ op: 'create', id: 'more', options: { name: 'rules', config: { text: 'Say please.' } } }]
    const offered = await b.post('/svc/harness/proposals', { mutations, reason: '', session: 's', release_id: 'r' }, headers)
    expect(offered.json).toMatchObject({ admitted: true })
    await b.post('/svc/train', { text: 'Say please.', session: 's', release_id: 'r' }, headers)
    for (const world of [a, b]) {
      const path = '/svc/harness/releases/1/records'
      await until(async () => (await world.get(path, headers)).text.includes('mutations.json'))
      expect((await world.get(`${path}?path=mutations.json`, headers)).text).toContain('Say please.')
    }
    expect([count('proposals'), count('steps') > 2]).toEqual([1, true])
  },
)
