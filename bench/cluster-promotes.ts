/**
 * Four gateways as processes over one PostgreSQL: how long the move of a head takes until its answer, which comes once all four serve it, with
 * notifications and with the connections cut that listen. After each answer the other three are asked which release they serve. Needs
 * PostgreSQL's programs. Exit code 1 where a move was answered too late or too early. Run: npm run bench:cluster:promotes -- [moves]
 */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { LEDGER_RECIPE, textAt } from '../test/spec/support/helpers.ts'
import { deploymentIn, Gateway } from '../test/support/gateways.ts'
import { startLink } from '../test/support/link.ts'
import { startPostgres } from '../test/support/postgres.ts'
import { until } from '../test/support/wait.ts'
import { percentile } from './stats.ts'

const [moves = 100] = process.argv.slice(2).map(Number)
const OTHERS = ['b', 'c', 'd']
const [SECONDS_MAX, CUT_SECONDS_MAX] = [1, 2]

const folder = mkdtempSync(join(tmpdir(), 'promotes-bench-'))
const server = await startPostgres()
const link = await startLink(server.port)
const settings = { ...deploymentIn(folder, server, 'promotes'), recipe: LEDGER_RECIPE, 'data.training_mode': 'manual' }
const linked = { ...settings, 'storage.record_database_url': server.networkUrl.replace(`:${server.port}/`, `:${link.port}/`) }
const first = await Gateway.start(join(folder, 'a'), settings)
const others = await Promise.all(OTHERS.map((name) => Gateway.start(join(folder, name), linked)))
try {
  const releases = await twoReleases()
  const isSoon = await measure('with NOTIFY', releases, SECONDS_MAX)
  link.holdOpen('LISTEN')
  const isSoonCut = await measure('with NOTIFY cut', releases, CUT_SECONDS_MAX)
  process.exitCode = isSoon && isSoonCut ? 0 : 1
} finally {
  await Promise.all([first, ...others].map((gateway) => gateway.kill()))
  link.close()
  server.stop()
  rmSync(folder, { recursive: true, force: true })
}

/** All have loaded the scenario when this resolves. */
async function twoReleases(): Promise<readonly [string, string]> {
  const created = await first.served()
  await first.post('/svc/train', { text: 'add a line', session: 's', release_id: 'r' })
  await until(async () => (await first.served()) !== created)
  const trained = await first.served()
  for (const gateway of others) await until(async () => (await gateway.served()) === trained)
  return [created, trained]
}

async function measure(what: string, releases: readonly [string, string], secondsMax: number): Promise<boolean> {
  const waits: number[] = []
  let behind = 0
  let stale = 0
  for (let move = 0; move < moves; move += 1) {
    // At another moment of the others' polls each time.
    await sleep(Math.random() * 100)
    const begin = performance.now()
    const { json } = await first.rollback(releases[move % 2 === 0 ? 0 : 1])
    waits.push(performance.now() - begin)
    if (JSON.stringify(json['gateways_behind']) !== '[]') behind += 1
    const served = await Promise.all(others.map((gateway) => gateway.served()))
    stale += served.filter((release) => release !== textAt(json, 'release_id')).length
  }
  const sorted = waits.toSorted((a, b) => a - b)
  const shown = ([0.5, 0.99, 1] as const).map((share) => `p${share * 100} ${percentile(sorted, share).toFixed(0)} ms`)
  console.log(
    `a move is served by four gateways, ${what}: ${shown.join(', ')}, of ${moves}; ${behind} named a gateway, ${stale} answers were stale`,
  )
  return percentile(sorted, 0.99) <= secondsMax * 1000 && behind === 0 && stale === 0
}
