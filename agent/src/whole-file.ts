/** Small files that are there whole or not at all, whatever happens while they are written. */
import { randomUUID } from 'node:crypto'
import { lstat, open, readdir, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ifAbsent } from './failure.ts'

export const PRIVATE = 0o600
export const SHARED = 0o644
export const EXECUTABLE = 0o755

export interface WholeFile {
  readonly path: string
  readonly text: string
  readonly mode: number
}

/** The folder must exist. The umask narrows the mode. What stood at the path is replaced, a link never followed. */
export async function writeWhole({ path, text, mode }: WholeFile): Promise<void> {
  const beside = join(dirname(path), `${unfinishedName(path)}${randomUUID()}`)
  try {
    const file = await open(beside, 'wx', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw error
  }
}

/** What the names of a file begin with while it is written. */
const unfinishedName = (path: string): string => `.${basename(path).slice(0, 100)}.`

/** What a killed process left of files in this folder. No process may be writing any of them meanwhile. */
export async function removeUnfinished(folder: string, paths: readonly string[]): Promise<void> {
  const beginnings = paths.map(unfinishedName)
  const left = (await readdir(folder)).filter((name) => beginnings.some((beginning) => name.startsWith(beginning)))
  await Promise.all(left.map((name) => rm(join(folder, name), { force: true })))
}

/** Whether the file is on disk as it should be, and not readable by others. */
export async function isWritten({ path, text, mode }: WholeFile): Promise<boolean> {
  const found = await lstat(path).catch(ifAbsent)
  const bytes = Buffer.from(text)
  if (found === null || !found.isFile() || found.size !== bytes.length || (found.mode & 0o777 & ~mode) !== 0) return false
  return (await readFile(path).catch(ifAbsent))?.equals(bytes) ?? false
}

/** Reads a path where anything may stand: null for what is no plain file, or a longer one. A pipe would be read for ever. */
export async function readPlain(path: string, bytesMax: number): Promise<string | null> {
  const found = await lstat(path).catch(ifAbsent)
  return found !== null && found.isFile() && found.size <= bytesMax ? readIfThere(path) : null
}

/** Null when there is no such file. */
export const readIfThere = (path: string): Promise<string | null> => readFile(path, 'utf8').catch(ifAbsent)
