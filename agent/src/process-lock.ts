/** A lock that a process holds until it lets go or dies: a link whose target names the process, because a link is there whole or not at all. */
import { randomUUID } from 'node:crypto'
import { readlink, symlink, unlink } from 'node:fs/promises'
import { setTimeout as sleep } from 'node:timers/promises'
import { isAlive } from '@svc-ai/client/shared'
import { hasCode, ignoring } from './failure.ts'
import type { Terminal } from './terminal.ts'

export interface Lock {
  release(): Promise<void>
}

const LOOK_MILLISECONDS = 200

/** One process at a time: a second one reports that it waits. */
export async function oneAtATime<T>(path: string, terminal: Terminal, work: () => Promise<T>): Promise<T> {
  let lock = await takeLock(path)
  if (lock === null) terminal.warn(`another install is under way, waiting for it (if there is none, remove ${path})`)
  while (lock === null) {
    await sleep(LOOK_MILLISECONDS)
    lock = await takeLock(path)
  }
  try {
    return await work()
  } finally {
    await lock.release()
  }
}

/** Whether a process that is alive holds it. */
export async function isHeld(path: string): Promise<boolean> {
  const holder = await holderOf(path)
  return holder !== null && isAlive(Number.parseInt(holder, 10))
}

/** Null while another process holds it. */
export async function takeLock(path: string): Promise<Lock | null> {
  try {
    await symlink(`${process.pid}-${randomUUID()}`, path)
    return { release: () => unlinkIfThere(path) }
  } catch (error) {
    if (!hasCode(error, 'EEXIST')) throw error
  }
  const holder = await holderOf(path)
  if (holder !== null && isAlive(Number.parseInt(holder, 10))) return null
  if (holder !== null && !(await clear(path, holder))) return null
  return takeLock(path)
}

/**
 * What a dead process left. Two that both saw it dead must not both take it away, or the second would take away the lock that the first has got
 * meanwhile: so this too is done under a lock, one that is about this dead holder alone.
 */
async function clear(path: string, holder: string): Promise<boolean> {
  const lock = await takeLock(`${path}.${holder.slice(-12)}`)
  if (lock === null) return false
  try {
    if ((await holderOf(path)) === holder) await unlinkIfThere(path)
    return true
  } finally {
    await lock.release()
  }
}

const holderOf = (path: string): Promise<string | null> => readlink(path).catch(ignoring('ENOENT', 'ENOTDIR', 'EINVAL'))

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch(ignoring('ENOENT'))
}
