/** An empty start: how long until the first answer, and the memory of a process that then has nothing to do. */

import { setTimeout as sleep } from 'node:timers/promises'
import type { Running } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { usageOf } from './cpu.ts'
import type { ContestantName } from './options.ts'
import { type Rig, startJsonUpstream } from './rig.ts'
import { rotated, tinyJob } from './rounds.ts'

export const START_WINDOW = 'empty start'
const IDLE_SECONDS = 5
/** By then nothing is left to do: the index of the search has taken in the one request, and its thread has ended. */
const INDEXED_SECONDS = 25
const IDLE_SECONDS_QUICK = 1

export async function takeStart(rig: Rig): Promise<void> {
  const upstream = await startJsonUpstream(rig)
  const contestants = rig.options.contestants.filter((name) => name !== 'direct')
  for (let round = 0; round < rig.options.rounds; round += 1) {
    for (const name of rotated(contestants, round)) {
      rig.progress(`start: round ${round + 1} of ${rig.options.rounds}, ${name}`)
      await startOnce(rig, upstream.port, round, name)
    }
  }
  await upstream.process.stop()
}

async function startOnce(rig: Rig, upstreamPort: number, round: number, name: ContestantName): Promise<void> {
  const site = rig.site(upstreamPort)
  const startedAt = performance.now()
  const running = await CONTESTANT[name].start(site).catch(() => undefined)
  if (running === undefined) return rig.progress(`start: going on without ${name}`)
  const healthMs = await answered(`http://127.0.0.1:${running.port}/healthz`, {}, startedAt)
  const requestMs = await firstRequest(rig, running, startedAt)
  await sleep((rig.options.quick ? IDLE_SECONDS_QUICK : idleSecondsOf(name)) * 1000)
  const { rssBytes, cpuMicros } = usageOf(running.process?.pid ?? 0)
  const metrics = { first_answer_ms: healthMs, first_request_ms: requestMs, cpu_ms: cpuMicros / 1000, rss_bytes: rssBytes }
  rig.samples.push({ part: 'start', round, who: name, window: START_WINDOW, metrics, failures: {} })
  await running.process?.kill()
  rig.clear(site)
}

const idleSecondsOf = (name: ContestantName): number => (name.startsWith('svc-') && name !== 'svc-memory' ? INDEXED_SECONDS : IDLE_SECONDS)

async function firstRequest(rig: Rig, running: Running, startedAt: number): Promise<number> {
  const { path, body } = tinyJob(rig, running, { concurrency: 1, seconds: 1 })
  const headers = { ...running.headers, 'content-type': 'application/json' }
  return answered(`http://127.0.0.1:${running.port}${path}`, { method: 'POST', headers, body }, startedAt)
}

async function answered(url: string, ask: RequestInit, startedAt: number): Promise<number> {
  await (await fetch(url, ask)).arrayBuffer()
  return performance.now() - startedAt
}
