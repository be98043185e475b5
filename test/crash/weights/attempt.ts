/** One run: all three start over the recording, the last report begins a job, one of them is killed, and everything is left to itself. */
import { setTimeout as sleep } from 'node:timers/promises'
import { join } from 'node:path'
import { performance } from 'node:perf_hooks'
import { listIn, textIn } from '../http.ts'
import type { JsonObject } from '../../../src/contract/index.ts'
import { LAST_INDEX, LAST_ROUND, landed, PARENT_STEP, report, say, until, type Recording, type Said } from './client.ts'
import { readLeft, type Left } from './left.ts'
import type { Point } from './points.ts'
import { Trio, type Victim } from './trio.ts'

export interface Attack {
  readonly who: Victim
  readonly point: Point
  /** Null: it is killed at the point, where the job waits for it. Otherwise so long after it, while the job goes on. */
  readonly afterMs: number | null
}

export interface Outcome extends Left {
  /** What the published weights say, taking the likeliest word each time. */
  readonly answer: string
  /** Adapters in the engine at the end. */
  readonly adapters: readonly string[]
  /** Of the service, when it was asked to stop. */
  readonly exitCode: number | null
  readonly seconds: number
}

const REACHED_MS_MAX = 60_000

/** Throws when it never comes to rest. */
export async function attempt(within: string, recording: Recording, attack: Attack | null): Promise<Outcome> {
  const began = performance.now()
  const trio = await Trio.open(join(within, nameOf(attack)), recording.model, recording.directory)
  try {
    if (attack === null) await begin(trio, recording)
    else await beginAndKill(trio, recording, attack)
    await landed(trio, PARENT_STEP + 1)
    const said = await answered(trio)
    const adapters = await adaptersIn(trio.engineUrl)
    const exitCode = await trio.stop()
    const left = await readLeft(trio, said.receipt)
    return { ...left, answer: said.text, adapters, exitCode, seconds: (performance.now() - began) / 1000 }
  } finally {
    await trio.end()
  }
}

export const nameOf = (attack: Attack | null): string =>
  attack === null ? 'undisturbed' : `${attack.who}-${attack.point}${attack.afterMs === null ? '' : `-${attack.afterMs}`}`

/** The answer may be lost with the service: that it was stored is seen from the job that it began. */
async function begin(trio: Trio, { lastReceipt }: Recording): Promise<void> {
  await report(trio, LAST_ROUND, lastReceipt, LAST_INDEX)
}

async function beginAndKill(trio: Trio, recording: Recording, { who, point, afterMs }: Attack): Promise<void> {
  const { promise: reached, resolve } = Promise.withResolvers<void>()
  trio.onPoint((passed) => {
    if (passed === point) resolve()
  })
  if (afterMs === null) trio.holdAt(point)
  const begun = begin(trio, recording)
  await Promise.race([reached, inVain(point)])
  if (afterMs !== null) await sleep(afterMs)
  await trio.kill(who)
  // The others go on at once, and find no process where it was.
  trio.letGoOn()
  await begun
  await trio.start(who)
}

async function inVain(point: Point): Promise<never> {
  await sleep(REACHED_MS_MAX, undefined, { ref: false })
  throw new Error(`the job never reached ${point}`)
}

/** A client that is turned away tries again. */
async function answered(trio: Trio): Promise<Said> {
  let said: Said | null = null
  await until('a request is answered', async () => {
    said = await say(trio, { temperature: 0 })
    return said !== null
  })
  return said ?? { receipt: '', text: '' }
}

async function adaptersIn(engineUrl: string): Promise<readonly string[]> {
  const listed: JsonObject = Object(await (await fetch(`${engineUrl}/v1/models`)).json())
  return listIn(listed, 'data')
    .filter(({ parent }) => parent !== null)
    .map((model) => textIn(model, 'id'))
}
