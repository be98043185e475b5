/** A service with several listener threads over PostgreSQL: each thread sees every change, takes few connections, and kill -9 loses no receipt. */
import { isDeepStrictEqual } from 'node:util'
import { afterAll, beforeAll, expect, it, onTestFinished } from 'vitest'
import { serveCommand } from '../../../test/support/command.ts'
import { makePlace } from '../../../test/support/place.ts'
import { startPostgres, type PostgresServer } from '../../../test/support/postgres.ts'
import type { Settings } from '../../../test/support/settings.ts'
import { until } from '../../../test/support/wait.ts'
import { ownWorld, send, type Answer, type World } from '../../../test/support/world.ts'
import { bearer, named, textAt } from '../../../test/spec/support/helpers.ts'
import { ENV } from '../../../src/contract/index.ts'

const LISTENERS = 2
const CONNECTIONS = 3
/** One for questions, one for its thread. */
const OF_THE_SEARCH = 2
/** So many connections meet both threads, but once in a million runs. */
const REQUESTS = 20
const CLIENTS = 8
const RECEIPTS_BEFORE_KILL = 60
const CHAT = '/v1/chat/completions'
const BODY = { model: 'm', messages: [] }
const TOKEN = 'admin-token-of-the-test'
const ADMIN = bearer(TOKEN)

let server: PostgresServer
beforeAll(async () => {
  server = await startPostgres()
})
afterAll(() => server.stop())

const over = (schema: string): Settings => ({
  'svc.listeners': LISTENERS,
  'svc.token': TOKEN,
  'storage.record_backend': 'postgres',
  'storage.record_database_url': server.url,
  'storage.record_settings.schema': schema,
  'storage.record_settings.connections': CONNECTIONS,
})

/** Each on a connection of its own, so that every thread answers some. */
const askAll = (here: World, token: string, scenario: string): Promise<readonly Answer[]> =>
  Promise.all(Array.from({ length: REQUESTS }, () => here.post(CHAT, BODY, { ...bearer(token), ...named(scenario) })))
const statuses = (answers: readonly Answer[]): ReadonlySet<number> => new Set(answers.map(({ status }) => status))

it('every thread records and sees tokens and promotes, and each takes three connections', async () => {
  const here = await ownWorld({ settings: over('threads') })
  await here.post('/svc/scenarios', { name: 's' }, ADMIN)
  const answers = await askAll(here, TOKEN, 's')
  expect(statuses(answers)).toEqual(new Set([200]))
  expect(here.log.filter(({ event }) => event === 'one_listener')).toEqual([])
  expect(server.sql('SELECT count(*), max(sequence) FROM threads.record')).toBe(`${REQUESTS}|${REQUESTS}`)
  expect(Number(server.sql(`SELECT count(*) FROM pg_stat_activity WHERE application_name = 'svc'`))).toBeLessThanOrEqual(
    CONNECTIONS + 1 + OF_THE_SEARCH + LISTENERS * 3,
  )
  const token = textAt((await here.post('/svc/tokens', { name: 'one', role: 'serve', scenarios: ['s'] }, ADMIN)).json, 'token')
  expect(statuses(await askAll(here, token, 's'))).toEqual(new Set([200]))
  await here.ask('DELETE', '/svc/tokens/one', { headers: ADMIN })
  expect(statuses(await askAll(here, token, 's'))).toEqual(new Set([401]))
  const [created = ''] = await releasesOf(here, answers)
  const back = await here.post('/svc/scenarios/s/rollback', { release_id: created }, ADMIN)
  const promoted = textAt(back.json, 'release_id')
  await until(async () => isDeepStrictEqual(await releasesOf(here, await askAll(here, TOKEN, 's')), new Set([promoted])))
})

/** By which the answers were made, as their records say. */
async function releasesOf(here: World, answers: readonly Answer[]): Promise<ReadonlySet<string>> {
  const records = answers.map(({ headers }) => here.get(`/svc/scenarios/s/records/${String(headers['x-svc-agent-record-id'])}`, ADMIN))
  return new Set((await Promise.all(records)).map(({ json }) => textAt(json, 'artifact_ref')))
}

it('kill -9 loses no receipt, whichever thread gave it', { timeout: 120_000 }, async () => {
  const place = await makePlace()
  const environment = { [ENV.stores]: process.env[ENV.stores] ?? '' }
  const first = await serveCommand(place.args(over('killed')), environment)
  const receipts = new Set<string>()
  const clients = Array.from({ length: CLIENTS }, async () => {
    for (;;) {
      const answer = await send(first.address, 'POST', CHAT, { headers: { ...ADMIN, ...named('s') }, body: BODY }).catch(() => null)
      if (answer === null) return
      if (answer.status === 200) receipts.add(String(answer.headers['x-svc-agent-record-id']))
    }
  })
  await until(() => receipts.size > RECEIPTS_BEFORE_KILL)
  first.command.signal('SIGKILL')
  await Promise.all(clients)
  const again = await serveCommand(place.args(over('killed')), environment)
  onTestFinished(async () => {
    again.command.signal('SIGTERM')
    await again.command.ended
  })
  const stored = new Set(server.sql(`SELECT convert_from(id, 'UTF8') FROM killed.record`).split('\n'))
  expect([...receipts].filter((receipt) => !stored.has(receipt))).toEqual([])
  for (const receipt of [...receipts].slice(0, 5))
    expect((await send(again.address, 'GET', `/svc/scenarios/s/records/${receipt}`, { headers: ADMIN })).status).toBe(200)
})
