/** SQLite's failures in the words of the contract. */
import { Refusal, unavailable } from '../../../src/contract/index.ts'

const SQLITE = {
  busy: 5,
  locked: 6,
  noMemory: 7,
  readOnly: 8,
  ioError: 10,
  corrupt: 11,
  full: 13,
  cannotOpen: 14,
  protocol: 15,
  notADatabase: 26,
} as const
/** Growing the shared-memory file failed: the disk is full, and nothing of ours was lost. */
const IO_ERROR_SHARED_MEMORY_SIZE = 4874

const STORAGE_CODES: ReadonlySet<number> = new Set(Object.values(SQLITE))
const BUSY_CODES: ReadonlySet<number> = new Set([SQLITE.busy, SQLITE.locked, SQLITE.protocol])
const DAMAGE_CODES: ReadonlySet<number> = new Set([SQLITE.corrupt, SQLITE.notADatabase])
const STORE_BUSY_RETRY_AFTER_SECONDS = 1

export const storageFailed = (cause?: unknown): Refusal =>
  unavailable('storage_failed', 'the record store failed to write and refuses all writes; check its disk, then restart the service', {
    cause,
  })

const storeBusy = (cause: unknown): Refusal =>
  unavailable(
    'store_busy',
    'another program holds a lock on records.sqlite3; end its transaction or close it (a database shell, a copy in progress), then send the request again',
    { cause, retryAfterSeconds: STORE_BUSY_RETRY_AFTER_SECONDS },
  )

export const readFailed = (cause: unknown): Refusal =>
  isBusy(cause)
    ? storeBusy(cause)
    : unavailable('storage_failed', 'the record store failed to read; check its disk and verify the store', { cause })

/** Whoever is told of it has the index made anew. */
export const indexDamaged = (cause: unknown): Refusal =>
  unavailable('store_damaged', 'the index of the search is damaged and is made anew; search again later', { cause })

/** What the disk did to a write, or null when the error is not the disk's. */
export function writeRefusal(error: unknown): Refusal | null {
  const code = resultCode(error)
  if (code === null || !STORAGE_CODES.has(code & 0xff)) return null
  if (isBusy(error)) return storeBusy(error)
  if (isFull(error)) {
    return unavailable('disk_full', 'the disk of the record store is full; free space and send the request again', { cause: error })
  }
  return storageFailed(error)
}

export function openRefusal(error: unknown): Refusal {
  if (error instanceof Refusal) return error
  const primary = primaryCode(error)
  if (isDamage(error)) {
    const cure = 'restore it from a backup, or move it away to start empty'
    return unavailable('store_damaged', `records.sqlite3 is not a whole database; ${cure}`, { cause: error })
  }
  if (isBusy(error)) {
    return unavailable(
      'store_busy',
      'another program holds a lock on records.sqlite3; end its transaction or close it (a database shell, a copy in progress), then start again',
      { cause: error },
    )
  }
  if (isFull(error)) {
    return unavailable('disk_full', 'the disk of the record directory is full; free space and start again', { cause: error })
  }
  if (primary === SQLITE.cannotOpen || primary === SQLITE.readOnly || isFileError(error)) return unwritable(error)
  return unavailable('storage_failed', `the record store cannot be opened: ${error instanceof Error ? error.message : 'unknown error'}`, {
    cause: error,
  })
}

export function isFull(error: unknown): boolean {
  return primaryCode(error) === SQLITE.full || resultCode(error) === IO_ERROR_SHARED_MEMORY_SIZE
}

/** Another program holds a lock, or takes it over and over: nothing was written, and it passes. */
export const isBusy = (error: unknown): boolean => BUSY_CODES.has(primaryCode(error) ?? 0)

/** What is there is not what was written: nothing may be built on it. */
export const isDamage = (error: unknown): boolean => DAMAGE_CODES.has(primaryCode(error) ?? 0)

export const storeInUse = (): Refusal =>
  unavailable('store_in_use', 'another process uses this record directory; stop it, or give each service a directory of its own')

export const newerStore = (found: number, known: number): Refusal =>
  unavailable('newer_store', `the record store has format ${found}, this version reads up to ${known}; start the version that wrote it`)

const unwritable = (cause: unknown): Refusal =>
  unavailable('directory_unwritable', 'the record directory cannot be written; give its owner write access or configure another one', {
    cause,
  })

const isFileError = (error: unknown): boolean => error instanceof Error && 'syscall' in error

function resultCode(error: unknown): number | null {
  return error instanceof Error && 'errcode' in error && typeof error.errcode === 'number' ? error.errcode : null
}

function primaryCode(error: unknown): number | null {
  const code = resultCode(error)
  return code === null ? null : code & 0xff
}
