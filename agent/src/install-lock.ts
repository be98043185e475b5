/** One at a time, across processes: the second one says so and waits. */
import { setTimeout as sleep } from 'node:timers/promises'
import { takeLock, type Lock } from './process-lock.ts'
import type { Terminal } from './terminal.ts'

const LOOK_MILLISECONDS = 200

export async function oneAtATime<T>(path: string, terminal: Terminal, work: () => Promise<T>): Promise<T> {
  const lock = (await takeLock(path)) ?? (await waitFor(path, terminal))
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

async function waitFor(path: string, terminal: Terminal): Promise<Lock> {
  terminal.warn(`another install is under way, waiting for it (if there is none, remove ${path})`)
  for (;;) {
    await sleep(LOOK_MILLISECONDS)
    const lock = await takeLock(path)
    if (lock !== null) return lock
  }
}
