/** The writer's housework, a turn at a time: rows of archived scenarios go first, then the bodies that capacity has no room for. */
import type { DatabaseSync } from 'node:sqlite'
import type { RecordArchive } from './archive.ts'
import { makeEvict } from './evict.ts'
import type { StoreLedger } from './ledger.ts'
import type { Transact } from './transaction.ts'
import type { LossNotice } from './wire.ts'

/** Over capacity by more than this share, groups wait until eviction has caught up, so that the bound is a bound. */
const LAG_SHARE_MAX = 1 / 16
/** Housework waits for nobody's lock. */
const NO_WAIT_MS = 0

export interface Tidy {
  /** One turn; false when there is nothing to do, or the disk or a lock does not let us: then the next group brings the next try. */
  turn(): boolean
  catchUp(): void
}

export interface TidyNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly transact: Transact
  readonly archive: RecordArchive
  readonly capacityBytes: number
  readonly onLoss: (lost: LossNotice) => void
}

export function makeTidy({ db, ledger, transact, archive, capacityBytes, onLoss }: TidyNeeds): Tidy {
  const evict = makeEvict(db, ledger, capacityBytes)
  const lagBytesMax = capacityBytes * LAG_SHARE_MAX

  function turn(): boolean {
    try {
      if (archive.hasRowsToClear()) transact(() => archive.clear(), NO_WAIT_MS)
      else if (ledger.bodyBytes > capacityBytes) onLoss(transact(evict, NO_WAIT_MS))
      else return false
      return true
    } catch {
      return false
    }
  }

  return {
    turn,
    catchUp() {
      while (ledger.bodyBytes > capacityBytes + lagBytesMax && turn());
    },
  }
}
