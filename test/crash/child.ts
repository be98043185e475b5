/** Starts the service as a child on the run's own data, and kills it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { argumentsOf, dataPlaceIn, settingsOf, type DataPlace } from '../support/settings.ts'

export interface Place extends DataPlace {
  readonly log: string
}

export function placeIn(directory: string): Place {
  return { ...dataPlaceIn(directory), log: join(directory, 'service.log') }
}

/** A service that is starting or running. */
export interface Child {
  /** Null when it ended before it was ready. */
  readonly address: Promise<string | null>
  /** Its exit code; null when a signal ended it. */
  readonly ended: Promise<number | null>
  stop(): void
  /** At once: the service alone, as when it runs out of memory, or with every git it started, as when its container or machine goes. */
  kill(who: Victim): void
}
export type Victim = 'service' | 'family'

const ENTRY = fileURLToPath(new URL('service.ts', import.meta.url))

export function startChild(place: Place, upstreamUrl: string): Child {
  const args = argumentsOf(settingsOf(place, upstreamUrl))
  const log = openSync(place.log, 'a')
  // A process group of its own, so that it can be killed with its children and without us.
  const child = spawn(process.execPath, [ENTRY, ...args], { stdio: ['ignore', 'pipe', log], detached: true })
  closeSync(log)
  const killAll = (): void => killFamily(child)
  process.once('exit', killAll)
  const ended = once(child, 'exit').then(([code]: unknown[]) => {
    process.off('exit', killAll)
    return typeof code === 'number' ? code : null
  })
  return {
    address: Promise.race([firstLine(child), ended.then(() => null)]),
    ended,
    stop: () => void child.kill('SIGTERM'),
    kill: (who) => (who === 'family' ? killAll() : void child.kill('SIGKILL')),
  }
}

function killFamily({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Gone already, all of them.
  }
}

async function firstLine(child: ChildProcess): Promise<string> {
  let text = ''
  for await (const part of child.stdout ?? []) {
    text += String(part)
    if (text.includes('\n')) break
  }
  return text.trim()
}
