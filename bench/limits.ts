/** What limits cost: the same load on a service without any, and on one with ten thousand tokens and every limit on, by turns in each round. */

import { hash } from 'node:crypto'
import sqlite from '../plugins/stores/sqlite/index.ts'
import { BODY_BYTES_MAX, TOKENS_MAX } from '../src/contract/index.ts'
import { recordsIn, SCENARIO, type Running } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { usageOf } from './cpu.ts'
import type { JsonResult } from './jobs.ts'
import { costMetrics, type Rig, startJsonUpstream } from './rig.ts'
import { rotated, tinyJob } from './rounds.ts'

export const WITHOUT_LIMITS = 'no limits'
export const WITH_LIMITS = `${TOKENS_MAX.toLocaleString('en')} tokens, all limits`

/** Each with a token of its own. */
const CONNECTIONS = 32
const WARM_UP_SECONDS = 3
const WARM_UP_SECONDS_QUICK = 1
const MADE_AT_ONCE = 500
/** Never reached. */
const PLENTY = 1_000_000_000

const SETTINGS = Object.fromEntries(
  ['token', 'scenario'].flatMap((whose) =>
    ['requests_per_minute', 'tokens_per_minute', 'cost_per_day', 'concurrent_requests'].map((limit) => [
      `--limits.${whose}.${limit}`,
      String(PLENTY),
    ]),
  ),
)
const PRICES = { '--limits.prices.other.input': '1', '--limits.prices.other.output': '2' }

const secretOf = (index: number): string => `svc_token_of_the_bench_${index}`

export async function takeLimits(rig: Rig): Promise<void> {
  const { contestants, rounds, quick } = rig.options
  if (!contestants.includes('svc-durable')) return
  const upstream = await startJsonUpstream(rig)
  const plainSite = rig.site(upstream.port)
  const limitedSite = rig.site(upstream.port, { settings: { ...SETTINGS, ...PRICES } })
  rig.progress(`limits: making ${TOKENS_MAX} tokens`)
  await makeTokens(recordsIn(limitedSite))
  const start = CONTESTANT['svc-durable'].start
  const plain = await start(plainSite)
  const limited = await start(limitedSite)
  const sides = [
    { window: WITHOUT_LIMITS, running: plain, headers: () => plain.headers },
    { window: WITH_LIMITS, running: limited, headers: tokenHeaders },
  ] as const
  for (const { running, headers } of sides) await load(rig, running, headers, quick ? WARM_UP_SECONDS_QUICK : WARM_UP_SECONDS)
  for (let round = 0; round < rounds; round += 1) {
    for (const { window, running, headers } of rotated(sides, round)) {
      rig.progress(`limits: round ${round + 1} of ${rounds}, ${window}`)
      const { metrics, failures } = await measured(rig, running, headers)
      rig.samples.push({ part: 'limits', round, who: 'svc-durable', window, metrics, failures })
    }
  }
  for (const { running } of sides) await running.process?.kill()
  for (const site of [plainSite, limitedSite]) rig.clear(site)
  await upstream.process.stop()
}

const tokenHeaders = (connection: number): Readonly<Record<string, string>> => ({
  authorization: `Bearer ${secretOf(connection * Math.floor(TOKENS_MAX / CONNECTIONS))}`,
  'x-svc-scenario': SCENARIO,
})

async function makeTokens(directory: string): Promise<void> {
  const store = await sqlite.plugin.make({ directory, capacity_bytes: BODY_BYTES_MAX })
  const make = (index: number): Promise<void> => {
    const row = { name: `t${index}`, role: 'serve', scenarios: null, created_at: 1, created_by: 'bench', expires_at: null } as const
    const entry = {
      id: row.name,
      at: 1,
      by: null,
      role: null,
      from: null,
      action: 'createToken',
      scenario: null,
      target: row.name,
      before: null,
      after: null,
    }
    return store.deployment.changeToken({ name: row.name, before: null, after: { ...row, digest: hash('sha256', secretOf(index)) } }, entry)
  }
  for (let made = 0; made < TOKENS_MAX; made += MADE_AT_ONCE)
    await Promise.all(Array.from({ length: Math.min(MADE_AT_ONCE, TOKENS_MAX - made) }, (_, index) => make(made + index)))
  await store.close()
}

type HeadersOf = (connection: number) => Readonly<Record<string, string>>

function load(rig: Rig, running: Running, headers: HeadersOf, seconds: number): Promise<readonly JsonResult[]> {
  const job = tinyJob(rig, running, { concurrency: 1, seconds })
  return Promise.all(Array.from({ length: CONNECTIONS }, (_, at) => rig.generator.run({ ...job, headers: headers(at) })))
}

async function measured(rig: Rig, running: Running, headers: HeadersOf) {
  const pid = running.process?.pid ?? 0
  const before = usageOf(pid)
  const results = await load(rig, running, headers, rig.options.seconds)
  const after = usageOf(pid)
  const requests = results.reduce((sum, result) => sum + result.requests, 0)
  const failures = Object.assign({}, ...results.map((result) => result.failures))
  const { rssBytes, rssPeakBytes } = after
  const cost = { cpuMicros: after.cpuMicros - before.cpuMicros, rssBytes, rssPeakBytes, threads: {} }
  return { metrics: { requests, per_second: requests / rig.options.seconds, ...costMetrics(cost, requests) }, failures }
}
