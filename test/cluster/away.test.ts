/** The bucket hangs: what is served goes on at every gateway, and what waits lands once it is back. `npm run test:cluster:away` takes a minute of it. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { LEDGER_RECIPE, textAt } from '../spec/support/helpers.ts'
import { trainee } from '../spec/support/trainee.ts'
import { temporaryFolder } from '../support/folder.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { BUCKET, startS3, type S3Server } from '../support/s3.ts'
import { until } from '../support/wait.ts'
import { ownWorld, type World } from '../support/world.ts'

const AWAY_SECONDS = Number(process.env['AWAY_SECONDS'] ?? 5)

let database: PostgresServer
let s3: S3Server
beforeAll(async () => {
  ;[database, s3] = await Promise.all([startPostgres({ settings: { fsync: 'off' } }), startS3()])
})
afterAll(() => {
  database.stop()
  s3.stop()
})

const start = (): Promise<World> =>
  ownWorld({
    settings: {
      'storage.record_backend': 'postgres',
      'storage.record_database_url': database.url,
      'storage.record_settings.connections': 3,
      'storage.artifact_repository': `s3://${BUCKET}/away`,
      'storage.agent_record_dir': join(temporaryFolder(), 'records'),
      ...s3.settings,
      recipe: LEDGER_RECIPE,
      'data.training_mode': 'manual',
    },
  })

const releaseServed = async (here: World): Promise<string> => {
  const id = await here.exchange('s')
  return textAt((await here.get(`/svc/scenarios/s/records/${id}`)).json, 'artifact_ref')
}

it(
  `a bucket that hangs for ${AWAY_SECONDS} s takes nothing of what is served, and a step that was asked for meanwhile lands after it`,
  { timeout: 180_000 + AWAY_SECONDS * 2000 },
  async () => {
    const gateways = [await start(), await start()] as const
    const [a, b] = gateways
    await a.exchange('s')
    await trainee(a, 's').asked('add a line')
    const trained = await releaseServed(a)
    await until(async () => (await releaseServed(b)) === trained)
    s3.pause()
    const asked = await trainee(b, 's').ask('add another line')
    const since = performance.now()
    const served = new Set<string>()
    while (performance.now() - since < AWAY_SECONDS * 1000) for (const here of gateways) served.add(await releaseServed(here))
    expect([...served]).toEqual([trained])
    s3.resume()
    await trainee(b, 's').consumer(asked)
    for (const here of gateways) await until(async () => (await releaseServed(here)) !== trained)
  },
)
