/** Everything below a folder, however it is named; links are met and never followed. */
import { lstatSync, opendirSync, type Stats } from 'node:fs'

const DEPTH_MAX = 64
/** The system takes 4096 bytes; with this much, any name in the folder still fits. */
const FOLDER_PATH_BYTES_MAX = 3072

export interface Found {
  /** Bytes, since a name need not be Unicode. */
  readonly path: Buffer
  readonly stats: Stats
  /** A folder that is not entered, because it lies deeper than anybody works. */
  readonly isTooDeep: boolean
}

/** A folder is met before it is entered, so whoever walks may open it first. What vanishes on the way or is closed is left out. */
export function* walk(folder: string): Generator<Found> {
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

/** One at a time: a folder may hold more names than there is memory for. */
function* namesIn(folder: string): Generator<string> {
  const names = unlessGone(() => opendirSync(bytes(folder), { encoding: 'latin1' }))
  if (names === null) return
  try {
    for (let entry = names.readSync(); entry !== null; entry = names.readSync()) yield entry.name
  } finally {
    names.closeSync()
  }
}

/** Latin-1 has a letter for every byte, so no name is lost on the way. */
const bytes = (path: string): Buffer => Buffer.from(path, 'latin1')

const GONE: ReadonlySet<unknown> = new Set(['ENOENT', 'ENOTDIR', 'EACCES', 'ESRCH'])

/** Null when what was looked at ended or went in the meantime, or is closed to us. */
export function unlessGone<T>(look: () => T): T | null {
  try {
    return look()
  } catch (error) {
    if (error instanceof Error && 'code' in error && GONE.has(error.code)) return null
    throw error
  }
}
