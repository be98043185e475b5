/** The writer's housework, a turn at a time: rows of archived scenarios go first, then the bodies that capacity has no room for. */
import type { DatabaseSync } from 'node:sqlite'
import { HOUSEKEEPING_ROWS_PER_TURN, type Losses } from '../../../../src/contract/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import type { RecordArchive } from './archive.ts'
import { IS_BASE, WITH_BASE } from '../bodies/bodies.ts'
import type { StoreLedger } from './ledger.ts'
import { Query } from '../query.ts'
import { makeRemoveBody, REMOVED_COLUMNS, type RemovedColumns } from './remove.ts'
import type { Transact } from './transaction.ts'
import type { LossNotice } from '../messages/wire.ts'

/** Over capacity by more than this share, groups wait until eviction has caught up, so that the bound is a bound. */
const LAG_SHARE_MAX = 1 / 16
/** Housework does not wait for a lock. */
const NO_WAIT_MS = 0

interface TidyNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly transact: Transact
  readonly archive: RecordArchive
  readonly seal: StoreSeal
  readonly capacityBytes: number
  readonly onLoss: (lost: LossNotice) => void
}

export function makeTidy({ db, ledger, transact, archive, seal, capacityBytes, onLoss }: TidyNeeds) {
  const evict = makeEvict(db, ledger, seal, capacityBytes)
  const lagBytesMax = capacityBytes * LAG_SHARE_MAX

  /** One turn; false when there is nothing to do, or the disk or a lock does not let us: then the next group brings the next try. */
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

/** Digesting reads every byte, so a turn of large bodies ends before its rows are used up. */
const EVICTED_BYTES_PER_TURN = 16 * 1024 * 1024

interface OldestColumns extends RemovedColumns {
  readonly name: string
}

/**
 * One turn, inside a transaction: takes bodies until capacity holds or the turn is over, the oldest first; one that others refer to goes
 * after the last of them. Also a lone body larger than all capacity goes.
 */
function makeEvict(db: DatabaseSync, ledger: StoreLedger, seal: StoreSeal, capacityBytes: number): () => LossNotice {
  const findOldest = new Query<OldestColumns>(
    db,
    `SELECT s.name, ${REMOVED_COLUMNS} FROM body b ${WITH_BASE}
     JOIN scenario s ON s.key = b.scenario JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence
     WHERE NOT ${IS_BASE} ORDER BY b.age LIMIT 1`,
  )
  const removeBody = makeRemoveBody(db, ledger, seal)
  const countLoss = db.prepare(
    `UPDATE scenario SET lost_records = lost_records + 1, lost_bytes = lost_bytes + ?1,
       lost_first_sequence = coalesce(lost_first_sequence, ?2), lost_last_sequence = ?2 WHERE key = ?3`,
  )

  return () => {
    const lost = new Map<string, Losses>()
    let turnBytes = 0
    for (let rows = 0; rows < HOUSEKEEPING_ROWS_PER_TURN && turnBytes < EVICTED_BYTES_PER_TURN; rows += 1) {
      if (ledger.bodyBytes <= capacityBytes) break
      const oldest = findOldest.first()
      if (oldest === undefined) break
      const bytes = evict(oldest)
      turnBytes += bytes
      const before = lost.get(oldest.name) ?? { records: 0, bytes: 0 }
      lost.set(oldest.name, { records: before.records + 1, bytes: before.bytes + bytes })
    }
    return [...lost]
  }

  function evict(oldest: OldestColumns): number {
    const account = ledger.find(oldest.name)
    if (account === null) throw new Error('a body of an archived scenario met eviction before its removal')
    const bytes = removeBody(account, oldest)
    countLoss.run(bytes, oldest.sequence, account.key)
    return bytes
  }
}
