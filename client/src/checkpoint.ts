/** How far an import is, in a small file beside the source: only ever the old position or the new one, whatever happens. */
import { open, readFile, rename, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { ImportFailure } from './failure.ts'
import { mkdirp } from './folders.ts'

const VERSION = 1

/** What the position belongs to. Neither the token nor any record is ever in here. */
export interface Identity {
  readonly url: string
  readonly scenario: string
  readonly sha256: string
  readonly size: number
}
export interface Position {
  /** The first byte that is not acknowledged. */
  readonly offset: number
  /** Acknowledged rows of the source, those already present at the service included. */
  readonly count: number
}
export type Checkpoint = Identity & Position

export async function readCheckpoint(path: string): Promise<Checkpoint | null> {
  const text = await readFile(path, 'utf8').catch((error: unknown) => {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return null
    throw new ImportFailure(`the progress file ${path} cannot be read`, { cause: error })
  })
  if (text === null) return null
  const found = parse(text)
  if (found === null) throw new ImportFailure(`${path} is not a progress file of this command; remove it, or name another with --progress`)
  return found
}

/** A position in one file says nothing about another, nor about another destination. */
export function requireSame(path: string, found: Checkpoint, identity: Identity): void {
  const differs = found.sha256 !== identity.sha256 || found.size !== identity.size ? 'source' : null
  const other = differs ?? (found.url !== identity.url ? 'url' : found.scenario !== identity.scenario ? 'scenario' : null)
  if (other === null) return
  throw new ImportFailure(`the progress file ${path} belongs to another ${other}; remove it to start over, or name another with --progress`)
}

/** What is written beside has one name, which the lock makes this run's own: however often an import is killed, at most one is left behind. */
export async function writeCheckpoint(path: string, { url, scenario, sha256, size, offset, count }: Checkpoint): Promise<void> {
  const folder = dirname(path)
  await mkdirp(folder)
  const beside = join(folder, `.${basename(path)}.part`)
  try {
    await writeSynced(beside, `${JSON.stringify({ version: VERSION, url, scenario, sha256, size, offset, count }, null, 2)}\n`)
    await rename(beside, path)
  } catch (error) {
    await rm(beside, { force: true })
    throw new ImportFailure(`the progress file ${path} cannot be written`, { cause: error })
  }
  await syncFolder(folder)
}

function parse(text: string): Checkpoint | null {
  try {
    const value: unknown = JSON.parse(text)
    return isCheckpoint(value) ? value : null
  } catch {
    return null
  }
}

function isCheckpoint(value: unknown): value is Checkpoint {
  if (typeof value !== 'object' || value === null) return false
  const found: Partial<Record<keyof Checkpoint | 'version', unknown>> = value
  const words = [found.url, found.scenario, found.sha256].every((word) => typeof word === 'string')
  const { size, offset, count } = found
  return found.version === VERSION && words && isCount(size) && isCount(offset) && isCount(count) && offset <= size
}

const isCount = (value: unknown): value is number => Number.isSafeInteger(value) && Number(value) >= 0

async function writeSynced(path: string, text: string): Promise<void> {
  await rm(path, { force: true })
  const file = await open(path, 'wx')
  try {
    await file.writeFile(text)
    await file.sync()
  } finally {
    await file.close()
  }
}

async function syncFolder(folder: string): Promise<void> {
  const handle = await open(folder, 'r')
  try {
    await handle.sync()
  } finally {
    await handle.close()
  }
}
