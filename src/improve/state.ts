/** The folder of a repository's runs under the user's data directory: the result of each stage, written whole, and a lock that ends with its process. */
import { hash } from 'node:crypto'
import { readFile, realpath, rm } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { invalid, PRODUCT, unavailable } from '../contract/index.ts'
import { codeOf, hasCode, isMissing, mkdirp, writeAtomicFile } from '../kit/index.ts'

export interface ImproveState {
  readonly folder: string
  /** Null where the stage has no result yet. A damaged file counts as none. */
  read(name: string): Promise<unknown>
  write(name: string, value: unknown): Promise<void>
  /** Forgets all stages, and keeps the lock. */
  clear(): Promise<void>
  close(): void
}

const LOCK = 'lock.db'
const PARTS = ['run', 'service', 'tasks']
const PRIVATE = 0o700

/** Throws Refusal where another process holds it, or where it cannot be written. */
export async function openState(repository: string, environment: Readonly<Record<string, string | undefined>>): Promise<ImproveState> {
  const folder = join(dataDirectory(environment), 'improve', await nameOf(repository))
  const lock = await hold(folder)
  const pathOf = (name: string): string => join(folder, 'run', `${name}.json`)
  return {
    folder,
    async read(name) {
      try {
        const value: unknown = JSON.parse(await readFile(pathOf(name), 'utf8'))
        return value
      } catch (error) {
        if (isMissing(error) || error instanceof SyntaxError) return null
        throw error
      }
    },
    write: (name, value) => writeAtomicFile(pathOf(name), `${JSON.stringify(value, null, 2)}\n`, 0o600),
    // What says how far the run came goes first: a clearing that is killed leaves a run that begins anew.
    async clear() {
      for (const part of PARTS) await rm(join(folder, part), { recursive: true, force: true })
    },
    close: () => {
      if (lock.isOpen) lock.close()
    },
  }
}

function dataDirectory({ XDG_DATA_HOME: data = '', HOME: home = '' }: Readonly<Record<string, string | undefined>>): string {
  if (data.startsWith('/')) return join(data, PRODUCT)
  if (home !== '') return join(home, '.local/share', PRODUCT)
  throw invalid(
    'no_data_directory',
    'neither HOME nor XDG_DATA_HOME is set, so there is no place for the state of a run; set XDG_DATA_HOME',
  )
}

/** The folder's own name for people, and its whole path for the machine. */
async function nameOf(repository: string): Promise<string> {
  const whole = await realpath(repository).catch(() => resolve(repository))
  const words = basename(whole)
    .replaceAll(/[^\w.-]+/g, '-')
    .slice(0, NAME_CHARACTERS_MAX)
  return `${words}-${hash('sha256', whole).slice(0, DIGEST_CHARACTERS)}`
}
const NAME_CHARACTERS_MAX = 40
const DIGEST_CHARACTERS = 12

/** The system releases a lock of SQLite when its process ends, in whatever way. */
async function hold(folder: string): Promise<DatabaseSync> {
  let database: DatabaseSync | null = null
  try {
    await mkdirp(folder, { mode: PRIVATE })
    database = new DatabaseSync(join(folder, LOCK))
    database.exec('PRAGMA journal_mode = DELETE; BEGIN EXCLUSIVE')
    return database
  } catch (cause) {
    database?.close()
    if (isBusy(cause)) throw unavailable('already_running', `another ${PRODUCT} improve works on this repository; wait for it, or stop it`)
    const why = cause instanceof Error && codeOf(cause) === SQLITE_ERROR ? cause.message : (codeOf(cause) ?? 'unwritable')
    throw unavailable('no_state', `the state of a run cannot be kept in ${folder} (${why}); set XDG_DATA_HOME to a folder of yours`, {
      cause,
    })
  }
}

const SQLITE_ERROR = 'ERR_SQLITE_ERROR'
const SQLITE_BUSY = 5
const isBusy = (error: unknown): boolean =>
  hasCode(error, SQLITE_ERROR) && error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
