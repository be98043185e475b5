/** What was installed, as the wrapper finds it again: the installation without the texts of its files, and where everything was put. */
import { createHash } from 'node:crypto'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { lineOf, Stop } from './failure.ts'
import type { Installation } from './installation.ts'
import { inFolder } from './places.ts'
import { PRIVATE, readIfThere } from './whole-file.ts'

const FORMAT = 1

export interface InstallRecord extends Omit<Installation, 'files' | 'install'> {
  readonly install: Omit<Installation['install'], 'lock' | 'native'>
  readonly format: typeof FORMAT
  /** Path to the SHA-256 of the tree's text. A path that the binding names too holds the bound text instead. */
  readonly files: Readonly<Record<string, string>>
  /** Absolute, without links. */
  readonly destination: string
  readonly prefix: string
  /** The agent's program, absolute. */
  readonly executable: string
}

export function recordOf(installation: Installation, destination: string, prefix: string): InstallRecord {
  const { lock: _, native: __, ...install } = installation.install
  const files = Object.entries(installation.files).map(([path, text]) => [path, createHash('sha256').update(text).digest('hex')])
  const executable = join(prefix, install.binary_path)
  return { format: FORMAT, ...installation, install, files: Object.fromEntries(files), destination, prefix, executable }
}

/** Throws one line when there is none, or none that can be read. */
export async function readRecord(folder: string): Promise<InstallRecord> {
  const record = await readIfThere(inFolder(folder).record).catch((error: unknown) => {
    throw new Stop(`the record of this install cannot be read: ${lineOf(error) ?? 'it failed'}`, { cause: error })
  })
  const found = record === null ? null : parse(record)
  if (found !== null) return found
  const problem = record === null ? 'is gone' : 'was not written by this version'
  throw new Stop(`the record of this install (${inFolder(folder).record}) ${problem}; run the install script of the service again`)
}

/** Null when there is none that this version can read: then there is nothing to compare with. */
export async function recordIfThere(folder: string): Promise<InstallRecord | null> {
  const record = await readIfThere(inFolder(folder).record)
  return record === null ? null : parse(record)
}

/** An install on this machine. */
export interface FoundInstall {
  readonly folder: string
  readonly record: InstallRecord
}

/** Every install in a folder of installs whose record this version can read. */
export async function installsIn(installs: string): Promise<readonly FoundInstall[]> {
  const folders = (await foldersIn(installs)).map(async (folder) => ({ folder, record: await recordIfThere(folder).catch(() => null) }))
  return (await Promise.all(folders)).flatMap(({ folder, record }) => (record === null ? [] : [{ folder, record }]))
}

/** The folders directly below this one, without links. */
export async function foldersIn(folder: string): Promise<readonly string[]> {
  const entries = await readdir(folder, { withFileTypes: true })
  return entries.flatMap((entry) => (entry.isDirectory() ? [join(folder, entry.name)] : []))
}

export const recordFile = (folder: string, record: InstallRecord) => ({
  path: inFolder(folder).record,
  text: `${JSON.stringify(record, null, 2)}\n`,
  mode: PRIVATE,
})

/** The file is ours and in a folder of ours alone: its format vouches for the rest. */
function parse(text: string): InstallRecord | null {
  try {
    const value: InstallRecord | null = JSON.parse(text)
    return typeof value === 'object' && value !== null && value.format === FORMAT && typeof value.destination === 'string' ? value : null
  } catch {
    return null
  }
}
