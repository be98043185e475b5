/** A person moves the head at one gateway: the answer comes once every live gateway serves it, or names those that do not. */
import { hostname } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { typeCommand } from '../../src/cli/testing/surroundings.ts'
import { LEDGER_RECIPE, textAt } from '../spec/support/helpers.ts'
import { sharedFolder } from '../support/folder.ts'
import { deploymentIn, Gateway, SCENARIO } from '../support/gateways.ts'
import { startLink, type Link } from '../support/link.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { until } from '../support/wait.ts'
import type { Answer } from '../support/world.ts'

const START_MS_MAX = 120_000
const MOVES = 6

const folder = sharedFolder()
let database: PostgresServer
let link: Link
/** Both have loaded a scenario of two releases. The second one reaches the database by the link. */
let a: Gateway
let b: Gateway
let releases: readonly [string, string]
let moves = 0

beforeAll(async () => {
  database = await startPostgres({ settings: { fsync: 'off' } })
  link = await startLink(database.port)
  const settings = { ...deploymentIn(folder, database, 'moved'), recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' }
  const behindLink = database.networkUrl.replace(`:${database.port}/`, `:${link.port}/`)
  ;[a, b] = await Promise.all([
    Gateway.start(join(folder, 'a'), settings),
    Gateway.start(join(folder, 'b'), { ...settings, 'storage.record_database_url': behindLink }),
  ])
  const created = await a.served()
  await a.post('/svc/train', { text: 'add a line', session: 's', release_id: 'r' })
  await until(async () => (await a.served()) !== created)
  releases = [created, await a.served()]
  await until(async () => (await b.served()) === releases[1])
}, START_MS_MAX)
afterAll(async () => {
  await Promise.all([a.kill(), b.kill()])
  link.close()
  database.stop()
})

/** To the release whose content the gateways do not serve. */
async function move(): Promise<Answer> {
  const moved = await a.rollback(releases[moves % 2 === 0 ? 0 : 1])
  moves += 1
  expect(moved.status, moved.text).toBe(200)
  return moved
}
const behind = ({ json }: Answer): unknown => json['gateways_behind']

async function expectServedAtOnce(): Promise<void> {
  const moved = await move()
  expect(behind(moved)).toEqual([])
  expect(await b.served()).toBe(textAt(moved.json, 'release_id'))
}

it('the answer comes once the other gateway serves it [movement.gateways]', async () => {
  for (let count = 0; count < MOVES; count += 1) await expectServedAtOnce()
})

it('with the notifications cut the other gateway finds it by its poll, and the answer waits for that [movement.gateways]', async () => {
  link.holdOpen('LISTEN')
  try {
    for (let count = 0; count < 2; count += 1) await expectServedAtOnce()
  } finally {
    link.release()
  }
})

it('a gateway that stands still is named, is not waited for once its lease is over, and serves it when it goes on [movement.gateways]', async () => {
  const before = await move()
  b.pause()
  try {
    const same = await a.rollback(textAt(before.json, 'release_id'))
    expect([same.json['step'], behind(same)]).toEqual([before.json['step'], undefined])
    expect(behind(await move())).toEqual([`${hostname()}:0`])
    const typed = await typeCommand(a.address, ['rollback', textAt(before.json, 'release_id'), '--scenario', SCENARIO, '--yes'])
    moves += 1
    expect([typed.exit, typed.err]).toEqual([0, [`not served yet by ${hostname()}:0, which follows as soon as it answers`]])
    await until(async () => JSON.stringify(behind(await move())) === '[]')
  } finally {
    b.goOn()
  }
  const moved = await move()
  await until(async () => (await b.served()) === textAt(moved.json, 'release_id'))
  await until(async () => JSON.stringify(behind(await move())) === '[]')
}, 60_000)
