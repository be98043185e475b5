/** A lock that a process holds until it lets go or dies: a link whose target names the process, because a link is there whole or not at all. */
import { randomUUID } from 'node:crypto'
import { readlink, symlink, unlink } from 'node:fs/promises'
import { isAlive } from '@svc-ai/client/shared'
import { hasCode } from './failure.ts'

export interface Lock {
  release(): Promise<void>
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

async function holderOf(path: string): Promise<string | null> {
  try {
    return await readlink(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EINVAL')) return null
    throw error
  }
}

async function unlinkIfThere(path: string): Promise<void> {
  await unlink(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
}
