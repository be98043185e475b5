/** Walks a folder with any file names, without following links. */
import { lstatSync, opendirSync, type Stats } from 'node:fs'
import { hasCode } from '../../../src/kit/index.ts'

const DEPTH_MAX = 64
/** Leaves room for any file name within the system's 4096 bytes. */
const FOLDER_PATH_BYTES_MAX = 3072

export interface WalkedFile {
  /** Bytes, since a name need not be Unicode. */
  readonly path: Buffer
  readonly stats: Stats
  /** A folder that is too deep to enter. */
  readonly isTooDeep: boolean
}

/** Yields a folder before entering it, so that the caller may chmod it. Skips what vanished or is unreadable. */
export function* walk(folder: string): Generator<WalkedFile> {
  const open = [{ path: Buffer.from(folder).toString('latin1'), depth: 1 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { path: parent, depth } = next
    for (const name of namesIn(parent)) {
      const path = `${parent}/${name}`
      const stats = unlessGone(() => lstatSync(bytes(path)))
      if (stats === null) continue
      const isTooDeep = stats.isDirectory() && (depth > DEPTH_MAX || path.length > FOLDER_PATH_BYTES_MAX)
      yield { path: bytes(path), stats, isTooDeep }
      if (stats.isDirectory() && !isTooDeep) open.push({ path, depth: depth + 1 })
    }
  }
}

/** Streams the names: a folder may hold more than fit into memory. */
function* namesIn(folder: string): Generator<string> {
  const names = unlessGone(() => opendirSync(bytes(folder), { encoding: 'latin1' }))
  if (names === null) return
  try {
    for (let entry = names.readSync(); entry !== null; entry = names.readSync()) yield entry.name
  } finally {
    names.closeSync()
  }
}

/** Latin-1 keeps every byte of a name. */
const bytes = (path: string): Buffer => Buffer.from(path, 'latin1')

/** Null when the file or process is gone or not readable. */
export function unlessGone<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (hasCode(error, 'ENOENT', 'ENOTDIR', 'EACCES', 'ESRCH')) return null
    throw error
  }
}
