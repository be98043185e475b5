/** Starts the service as a child on the run's own data, and kills it. */
import { spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { argumentsOf, dataPlaceIn, type DataPlace, type Settings } from '../support/settings.ts'

export interface Place extends DataPlace {
  readonly log: string
}

export function placeIn(directory: string): Place {
  return { ...dataPlaceIn(directory), log: join(directory, 'service.log') }
}

/** A service that is starting or running. */
export type Child = ReturnType<typeof startChild>
export type Victim = 'service' | 'family'

export interface Start {
  readonly settings: Settings
  /** The file it runs; by default the service as it is. */
  readonly entry?: string
  readonly environment?: Readonly<Record<string, string>>
  /** It said something beside its address. */
  readonly onSaid?: (line: string) => void
}

const SERVICE = fileURLToPath(new URL('service.ts', import.meta.url))

/** Most of a start is compiling. What one has compiled serves the next, so that kills meet the work and not the compiler. */
const COMPILED = join(tmpdir(), 'svc-crash-compiled')

export function startChild(place: Place, { settings, entry = SERVICE, environment = {}, onSaid = () => undefined }: Start) {
  const log = openSync(place.log, 'a')
  // A process group of its own, so that it can be killed with its children and without us.
  const child = spawn(process.execPath, [entry, ...argumentsOf(settings)], {
    stdio: ['ignore', 'pipe', log],
    detached: true,
    env: { ...process.env, NODE_COMPILE_CACHE: COMPILED, ...environment },
  })
  closeSync(log)
  const killAll = (): void => killFamily(child)
  process.once('exit', killAll)
  // Not before everything it said was heard.
  const ended = once(child, 'close').then(([code]: unknown[]) => {
    process.off('exit', killAll)
    return typeof code === 'number' ? code : null
  })
  return {
    /** Null when it ended before it was ready. */
    address: Promise.race([addressOf(child, onSaid), ended.then(() => null)]),
    /** Its exit code; null when a signal ended it. */
    ended,
    stop: () => void child.kill('SIGTERM'),
    /** Stands still from here on, without a word. */
    pause: () => void child.kill('SIGSTOP'),
    /** Goes on after it stopped itself, or was. */
    goOn: () => void child.kill('SIGCONT'),
    /** At once: the service alone, as when it runs out of memory, or with every git it started, as when its container or machine goes. */
    kill: (who: Victim) => (who === 'family' ? killAll() : void child.kill('SIGKILL')),
  }
}

function killFamily({ pid }: ChildProcess): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL')
  } catch {
    // Gone already, all of them.
  }
}

/** Its address is the one line that begins with a scheme; what it says else is passed on, also what it says before. */
function addressOf({ stdout }: ChildProcess, onSaid: (line: string) => void): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>()
  if (stdout !== null) createInterface(stdout).on('line', (line) => (line.startsWith('http') ? resolve(line) : onSaid(line)))
  return promise
}
