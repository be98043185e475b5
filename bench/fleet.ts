/**
 * How much faster four workers are than one, on episodes that wait for the model; and with --kill, what comes of episodes whose workers are
 * killed every five seconds. Each worker is a process with the loop of `svc worker`. Run: node bench/fleet.ts [--kill] [--minutes 10]
 */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { hash } from 'node:crypto'
import { setTimeout as sleep } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { parseArgs } from 'node:util'
import { work, FleetRefusal } from '../src/worker/index.ts'
import { world } from '../test/support/world.ts'
import { OPEN_RECIPE } from '../test/spec/support/helpers.ts'

const PLAYS = 'bench'
const MODEL_MS = 500
const EPISODES = 64
const KILL_EVERY_MS = 5000

const { values } = parseArgs({
  options: {
    kill: { type: 'boolean', default: false },
    minutes: { type: 'string', default: '1' },
    worker: { type: 'string' },
    url: { type: 'string' },
  },
})
/** Its score follows from the episode, so that every play of it says the same. */
const scoreOf = (name: string): number => Number(hash('sha256', name).codePointAt(0)) % 2

if (values.worker !== undefined) await playAs(values.worker, values.url ?? '')
else await measure()

async function playAs(name: string, url: string): Promise<void> {
  const ask = async (path: string, body: object, signal: AbortSignal): Promise<unknown> => {
    const response = await fetch(`${url}${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(body),
      signal,
    })
    if (response.status !== 200) throw new FleetRefusal(response.status, await response.text())
    return response.json()
  }
  const never = new AbortController().signal
  const order = { name, slots: 1, players: [{ plays: PLAYS, play }], service: { url, ask }, tell: () => undefined }
  await work({ ...order, draining: never, stopping: never })
}

async function play({ name: episode }: Readonly<Record<string, unknown>>): Promise<object> {
  await sleep(MODEL_MS)
  return { score: scoreOf(String(episode)) }
}

async function measure(): Promise<void> {
  const here = await world({ settings: { recipe: OPEN_RECIPE } })
  await here.exchange('s')
  const workers = new Set<ChildProcess>()
  let started = 0
  const start = (): void => {
    started += 1
    const child = spawn(process.execPath, [fileURLToPath(import.meta.url), '--worker', `w${started}`, '--url', here.address], {
      stdio: 'ignore',
    })
    workers.add(child)
    child.once('exit', () => workers.delete(child))
  }
  const there = async (count: number): Promise<void> => {
    while (workers.size < count) start()
    for (;;) {
      const { workers: known } = (await here.get('/svc/fleet')).json
      if (Array.isArray(known) && known.length >= count) return
      await sleep(100)
    }
  }
  process.once('exit', () => workers.forEach((child) => child.kill('SIGKILL')))
  let offered = 0
  const playOne = async (): Promise<boolean> => {
    const name = `episode ${(offered += 1)}`
    const { json } = await here.post('/svc/scenarios/s/evaluation/episodes', {
      plays: PLAYS,
      priority: 'traffic',
      episode: { name },
      model: { name: 'm', api: 'openai' },
      seconds_max: 60,
    })
    return Object(json['result']).score === scoreOf(name)
  }
  const playAll = async (count: number): Promise<number> =>
    (await Promise.all(Array.from({ length: count }, playOne))).filter(Boolean).length
  const secondsFor = async (count: number): Promise<number> => {
    await there(count)
    const began = performance.now()
    await playAll(EPISODES)
    return (performance.now() - began) / 1000
  }
  if (values.kill) {
    await there(4)
    const until = Date.now() + Number(values.minutes) * 60_000
    let [right, all, killed] = [0, 0, 0]
    const killing = setInterval(() => {
      const [victim] = workers
      victim?.kill('SIGKILL')
      killed += 1
      start()
    }, KILL_EVERY_MS)
    while (Date.now() < until) {
      right += await playAll(EPISODES)
      all += EPISODES
    }
    clearInterval(killing)
    process.stdout.write(`${killed} workers killed: ${right} of ${all} episodes have the score of an undisturbed run\n`)
    if (right !== all) process.exitCode = 1
  } else {
    const [one, four] = [await secondsFor(1), await secondsFor(4)]
    process.stdout.write(
      `${EPISODES} episodes: one worker ${one.toFixed(1)} s, four ${four.toFixed(1)} s, ${(one / four).toFixed(2)} times as fast\n`,
    )
  }
  const ended = [...workers].map((child) => once(child, 'exit'))
  for (const child of workers) child.kill('SIGKILL')
  await Promise.all(ended)
  await here.close()
}
