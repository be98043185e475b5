/** What an agent's sessions take on the disk: several at once, turn by turn, through the service; then it is stopped and its database is measured. */

import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { recordsIn, type Running } from './contestant.ts'
import { CONTESTANT } from './contestants.ts'
import { usageOf } from './cpu.ts'
import { usedBytes } from './disk.ts'
import { type Rig, startJsonUpstream } from './rig.ts'
import { sessionBodies } from './session.ts'

const SESSIONS = 4
const TURNS = 100
const LOOK_SECONDS = 2
const LOOKS_MAX = 30
/** Of a core. */
const IDLE_SHARE = 0.05
export const SESSIONS_WINDOW = `${SESSIONS} sessions of ${TURNS} turns`

export async function takeSessions(rig: Rig): Promise<void> {
  const upstream = await startJsonUpstream(rig)
  for (const name of rig.options.contestants.filter((each) => each === 'svc-durable' || each === 'svc-before')) {
    rig.progress(`sessions: ${SESSIONS_WINDOW}, ${name}`)
    const site = rig.site(upstream.port)
    const running = await CONTESTANT[name].start(site)
    const before = usageOf(running.process?.pid ?? 0).cpuMicros
    const sent = await playSessions(rig, running)
    const cpu = usageOf(running.process?.pid ?? 0).cpuMicros - before
    await untilIdle(running)
    await running.process?.stop()
    const stored = usedBytes(join(recordsIn(site), 'records.sqlite3'))
    const metrics = {
      requests: SESSIONS * TURNS,
      sent_bytes: sent / SESSIONS,
      stored_bytes: stored / SESSIONS,
      stored_share: stored / sent,
      cpu_micros: cpu / (SESSIONS * TURNS),
    }
    rig.samples.push({ part: 'sessions', round: 0, who: name, window: SESSIONS_WINDOW, metrics, failures: {} })
    rig.clear(site)
  }
  await upstream.process.stop()
}

/** Returns how many bytes were sent. */
async function playSessions(rig: Rig, { port, headers }: Running): Promise<number> {
  const sessions = Array.from({ length: SESSIONS }, (_, seed) => sessionBodies({ turns: TURNS, seed }, rig.options.format))
  const url = `http://127.0.0.1:${port}${rig.format.path}`
  let sent = 0
  for (let turn = 0; turn < TURNS; turn += 1) {
    const bodies = sessions.flatMap((session) => {
      const next = session.next()
      return next.done === true ? [] : [next.value]
    })
    await Promise.all(
      bodies.map(async (body) => {
        const answer = await fetch(url, { method: 'POST', headers: { ...headers, 'content-type': 'application/json' }, body })
        await answer.arrayBuffer()
        if (!answer.ok) throw new Error(`a turn of a session was answered with ${answer.status}`)
        sent += Buffer.byteLength(body)
      }),
    )
  }
  return sent
}

/** The store may go on packing what it has: until it uses no CPU to speak of. */
async function untilIdle({ process: service }: Running): Promise<void> {
  const used = (): number => usageOf(service?.pid ?? 0).cpuMicros
  for (let looks = 0, before = used(); looks < LOOKS_MAX; looks += 1) {
    await sleep(LOOK_SECONDS * 1000)
    const now = used()
    if ((now - before) / 1e6 < LOOK_SECONDS * IDLE_SHARE) return
    before = now
  }
}
