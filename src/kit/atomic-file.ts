/** A file that is either the old one or the new one, whenever the machine dies: write beside, sync, rename, sync the folder. */
import { access, lstat, open, realpath, rename, rm, stat, unlink, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { hasCode, isMissing } from './error-code.ts'
import { newId } from './ids.ts'
import { mkdirp } from '@svc-ai/client/folders'

export type FileContent = string | Uint8Array | AsyncIterable<Uint8Array>

export async function writeAtomicFile(path: string, content: FileContent, mode = 0o644): Promise<void> {
  const folder = dirname(path)
  await makeFolder(folder)
  const beside = join(folder, `.${basename(path)}.${newId()}`)
  try {
    await writeSynced(beside, content, mode)
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
  await sync(folder)
}

/** A file that a person named. A link stays one. What is no plain file, such as /dev/stdout or a pipe, must not be replaced by one. */
export async function writeNamedFile(path: string, text: string): Promise<void> {
  const found = await stat(path).catch(() => null)
  if (found?.isFile() === false) await writeFile(path, text)
  else await writeAtomicFile(found === null ? path : await realpath(path), text)
}

export async function removeFile(path: string): Promise<void> {
  try {
    await unlink(path)
  } catch (error) {
    if (hasCode(error, 'ENOENT')) return
    throw error
  }
  await sync(dirname(path))
}

/** A new folder that is lost with the power takes its files along, so each one is synced into its parent. */
export async function makeFolder(folder: string): Promise<void> {
  const first = await mkdirp(folder)
  if (first === null) return
  for (let made = resolve(folder); made.length >= first.length; made = dirname(made)) await sync(dirname(made))
}

/** A new file; there must be none of that name. */
export async function writeSynced(path: string, content: FileContent, mode = 0o644): Promise<void> {
  const file = await open(path, 'wx', mode)
  try {
    await file.writeFile(content)
    await file.sync()
  } finally {
    await file.close()
  }
}

/** Whether there is a file or a folder at the path. */
export async function exists(path: string): Promise<boolean> {
  try {
    await access(path)
    return true
  } catch (error) {
    if (isMissing(error)) return false
    throw error
  }
}

/** Whether the path itself is a folder: a link to one is none. */
export const isFolder = (path: string): Promise<boolean> =>
  lstat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

/** A file or a folder. */
export async function sync(path: string): Promise<void> {
  const handle = await open(path, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
