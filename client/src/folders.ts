/**
 * Folders by their paths. `mkdirp` makes one with its parents: Node's own recursive mkdir never ends in a file system that answers ENOENT in a folder that is there, as
 * /proc does.
 */
import { mkdirSync, realpathSync, statSync } from 'node:fs'
import { mkdir, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'

export interface FolderMode {
  /** Of each folder that is made. */
  readonly mode?: number
}

/** The topmost folder that was not there; null where all were. */
export async function mkdirp(path: string, options: FolderMode = {}): Promise<string | null> {
  const missing: string[] = []
  for (let each = resolve(path); !(await isFolder(each)); each = dirname(each)) missing.unshift(each)
  for (const [index, each] of missing.entries())
    await mkdir(each, options).catch(async (error: unknown) => {
      if (!isFileAbove(error, missing, index) && !(await isFolder(each))) throw error
    })
  return missing[0] ?? null
}

export function mkdirpSync(path: string, options: FolderMode = {}): string | null {
  const missing: string[] = []
  for (let each = resolve(path); !isFolderSync(each); each = dirname(each)) missing.unshift(each)
  for (const [index, each] of missing.entries())
    try {
      mkdirSync(each, options)
    } catch (error) {
      if (!isFileAbove(error, missing, index) && !isFolderSync(each)) throw error
    }
  return missing[0] ?? null
}

/** The next call then says ENOTDIR, which names the cause. */
const isFileAbove = (error: unknown, missing: readonly string[], index: number): boolean =>
  index < missing.length - 1 && error instanceof Error && 'code' in error && error.code === 'EEXIST'

/** Also where a link leads to one. */
const isFolder = (path: string): Promise<boolean> =>
  stat(path).then(
    (found) => found.isDirectory(),
    () => false,
  )

function isFolderSync(path: string): boolean {
  try {
    return statSync(path).isDirectory()
  } catch {
    return false
  }
}

/** Without links. Also of what is not there yet: the part that is there without links, the rest as it is spelt. */
export function realPath(path: string): string {
  try {
    return realpathSync(path)
  } catch (error) {
    if (!isAbsence(error) || dirname(path) === path) throw error
    return join(realPath(dirname(path)), basename(path))
  }
}

const isAbsence = (error: unknown): boolean => error instanceof Error && 'code' in error && error.code === 'ENOENT'
