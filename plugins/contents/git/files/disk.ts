/** Writing so that it is still there after the power went: data first, then the name, then the folder that holds the name. */
import { randomUUID } from 'node:crypto'
import { access, mkdir, open, rename } from 'node:fs/promises'
import { dirname } from 'node:path'

export async function writeSynced(path: string, bytes: Uint8Array | string | AsyncIterable<Uint8Array>, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(bytes)
    await file.datasync()
  } finally {
    await file.close()
  }
}

export async function replaceSynced(path: string, text: string): Promise<void> {
  const beside = `${path}.${randomUUID()}`
  await writeSynced(beside, text)
  await rename(beside, path)
  await syncFolder(dirname(path))
}

export async function syncFile(path: string): Promise<void> {
  const file = await open(path, 'r')
  try {
    await file.datasync()
  } finally {
    await file.close()
  }
}

/** Every folder on the way too, each name of a new one synced. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdir(folder, { recursive: true })
  if (first === undefined) return
  for (let made = folder; made.length >= first.length; made = dirname(made)) await syncFolder(dirname(made))
}

export async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}

export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** A file that is not there, or a path that leads through something that is no folder. */
export function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && (error.code === 'ENOENT' || error.code === 'ENOTDIR')
}
