/**
 * Compresses, while the writer is idle, the bodies that were written as they came: those of older stores too. Each turn is a small transaction
 * of its own, so a crash leaves every body in the one form or the other, and a request waits for one turn at most.
 */
import type { DatabaseSync } from 'node:sqlite'
import type { StoreSeal } from '../../common/seal.ts'
import { decompress, IS_BASE, openBody, OWN_COLUMNS, sealBody, type OwnColumns, type PackedBody } from './bodies.ts'
import { isIntact } from './checksum.ts'
import type { StoreLedger } from '../writing/ledger.ts'
import { makePacking } from './pack.ts'
import { Query } from '../query.ts'
import type { Transact } from '../writing/transaction.ts'

/** Smaller ones hardly take less room. */
const BYTES_MIN = 2048
const ROWS_PER_TURN = 256
const BYTES_PER_TURN = 1024 * 1024
/** The writer counts as idle when nothing was appended for this long. */
const IDLE_MS = 100
/** After a turn it rests this many times as long as the turn took. */
const REST_SHARE = 4
/** Where the walk stands is saved with what it changed, or after this many bodies that it left alone. */
const UNSAVED_MAX = 16 * ROWS_PER_TURN
/** Housework does not wait for a lock. */
const NO_WAIT_MS = 0

interface WaitingBody extends OwnColumns {
  readonly age: number
  readonly id: string
  readonly name: string
  readonly key: number
  readonly session: string | null
  readonly payload: Uint8Array
  readonly is_base: number
}

interface CompressionNeeds {
  readonly db: DatabaseSync
  readonly ledger: StoreLedger
  readonly transact: Transact
  readonly seal: StoreSeal
}

export function makeCompression({ db, ledger, transact, seal }: CompressionNeeds) {
  const walk = makeWalk(db, ledger, seal)
  let place = walk.place()
  let timer: NodeJS.Timeout | null = null
  let newestSeen = -1

  return {
    /** Goes on once the writer is idle; may be called at any time. */
    soon: () => wait(IDLE_MS),
    stop() {
      if (timer !== null) clearTimeout(timer)
    },
  }

  function wait(milliseconds: number): void {
    timer ??= setTimeout(() => {
      timer = null
      next()
    }, milliseconds)
  }

  function next(): void {
    try {
      const isIdle = ledger.age === newestSeen
      newestSeen = ledger.age
      if (place < ledger.age) wait(isIdle ? turn() : IDLE_MS)
    } catch {
      // The disk or a lock does not let us: the next append brings the next try.
    }
  }

  /** Answers how long to rest. */
  function turn(): number {
    const begun = performance.now()
    place = transact(() => walk.turn(place), NO_WAIT_MS)
    return (performance.now() - begun) * REST_SHARE
  }
}

function makeWalk(db: DatabaseSync, ledger: StoreLedger, seal: StoreSeal) {
  const findPlace = new Query<{ age: number }>(db, 'SELECT age FROM compression')
  const savePlace = db.prepare('UPDATE compression SET age = ?')
  const findWaiting = new Query<WaitingBody>(
    db,
    `SELECT b.age, r.agent_record_id AS id, s.name, s.key, json_extract(r.summary, '$.session') AS session, ${OWN_COLUMNS},
            ${IS_BASE} AS is_base
     FROM body b JOIN scenario s ON s.key = b.scenario JOIN record r ON r.scenario = b.scenario AND r.sequence = b.sequence
     WHERE b.age > ? AND b.age <= ? AND b.size IS NULL AND length(b.payload) >= ${BYTES_MIN} AND s.name IS NOT NULL
     ORDER BY b.age LIMIT 1`,
  )
  const rewrite = db.prepare('UPDATE body SET payload = ?, size = ?, checksum = ?, sealed = ? WHERE age = ?')
  const insertBase = db.prepare('INSERT INTO body_base (age, base, prefix) VALUES (?, ?, ?)')
  const packing = makePacking(db, ledger.bases, seal)

  return { place: () => findPlace.first()?.age ?? 0, turn }

  /** Inside a transaction; answers the age that it got to. */
  function turn(from: number): number {
    const end = Math.min(ledger.age, from + ROWS_PER_TURN)
    let reached = from
    let bytes = 0
    while (reached < end && bytes < BYTES_PER_TURN) {
      const waiting = findWaiting.first(reached, end)
      reached = waiting?.age ?? end
      if (waiting === undefined) break
      bytes += waiting.payload.byteLength
      shrink(waiting)
    }
    if (bytes > 0 || Math.floor(reached / UNSAVED_MAX) > Math.floor(from / UNSAVED_MAX)) savePlace.run(reached)
    return reached
  }

  /** A damaged body stays as it is, for the check to find. */
  function shrink(waiting: WaitingBody): void {
    const { age, id, name, key, session, is_base } = waiting
    const account = ledger.find(name)
    const own = opened(waiting)
    if (account === null || own === null || !isIntact(own.payload, own.checksum)) return
    const { payload } = own
    const packed = packing.later({ age, scenario: key, session }, payload, is_base === 1)
    if (packed === null || !isWhole(packed, payload)) return
    const body = sealBody(seal, key, id, { payload: packed.payload, original: payload })
    rewrite.run(body.payload, packed.size, body.checksum, body.sealed, age)
    if (packed.base !== null) insertBase.run(age, packed.base, packed.prefix)
    ledger.change(account, account.head, body.payload.byteLength - waiting.payload.byteLength)
  }

  function opened(waiting: WaitingBody): ReturnType<typeof openBody> {
    try {
      return openBody(seal, waiting)
    } catch {
      return null
    }
  }

  /** Before the original goes, what takes its place is read back. */
  function isWhole({ payload, size, base, prefix }: PackedBody, original: Uint8Array): boolean {
    const bytes = base === null ? null : (ledger.bases.get(base)?.bytes ?? null)
    try {
      return size !== null && decompress(payload, size, bytes, prefix ?? 0).equals(original)
    } catch {
      return false
    }
  }
}
