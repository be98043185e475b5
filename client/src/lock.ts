/** One run per progress file. The lock is the system's own, taken through SQLite: it goes when its holder dies, however it dies. */
import { dirname } from 'node:path'
import { DatabaseSync } from 'node:sqlite'
import { ImportFailure } from './failure.ts'
import { LOCK_SUFFIX } from './names.ts'
import { mkdirpSync } from './folders.ts'

const SQLITE_BUSY = 5

/**
 * The file stays behind, empty: removing it would let a third run lock a new file of that name while a second one still holds the
 * old.
 */
export function takeLock(progress: string): Disposable {
  mkdirpSync(dirname(progress))
  const path = `${progress}${LOCK_SUFFIX}`
  const database = new DatabaseSync(path, { open: false, timeout: 0 })
  try {
    database.open()
    database.exec('BEGIN EXCLUSIVE')
  } catch (error) {
    if (database.isOpen) database.close()
    const busy = error instanceof Error && 'errcode' in error && error.errcode === SQLITE_BUSY
    throw new ImportFailure(busy ? `another import holds ${progress}; wait until it is done` : `${path} cannot be locked`, { cause: error })
  }
  return { [Symbol.dispose]: () => database.close() }
}
