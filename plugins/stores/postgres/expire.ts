/** Removes bodies for their age, a few with each call, by one member at a time. */
import { HOUSEKEEPING_ROWS_PER_TURN, type Expired, type ExpiryPage } from '../../../src/contract/index.ts'
import type { StoreSeal } from '../common/seal.ts'
import type { PgClient } from './library.ts'
import { bytesOf } from './rows.ts'
import { evict, EVICTED_BYTES_PER_TURN, OLD_BODY_COLUMNS, TIDY_LOCK, type OldBody } from './tidy.ts'

const ROWS_PER_PAGE = 4096

/** Sequences have no gaps, so a page is a stretch of them. */
export async function expire(client: PgClient, seal: StoreSeal, scenario: string, { madeBefore, below }: ExpiryPage): Promise<Expired> {
  // What evicts for capacity takes the same one, so that no body is removed twice.
  await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext(current_schema()))', values: [TIDY_LOCK] })
  const { rows: heads } = await client.query<{ key: number; head: number }>({
    text: 'SELECT key, head FROM scenario WHERE name = $1',
    values: [bytesOf(scenario)],
  })
  const [found] = heads
  if (found === undefined) return { records: 0, bytes: 0, next: null }
  const end = Math.min(below, found.head + 1)
  const start = Math.max(1, end - ROWS_PER_PAGE)
  const { rows } = await client.query<OldBody>({
    text: `SELECT ${OLD_BODY_COLUMNS} FROM record r JOIN body b ON b.age = r.age JOIN scenario s ON s.key = r.scenario
           WHERE r.scenario = $1 AND r.sequence >= $2 AND r.sequence < $3 AND r.created_at < $4
           ORDER BY r.sequence DESC LIMIT ${HOUSEKEEPING_ROWS_PER_TURN}`,
    values: [found.key, start, end, madeBefore],
  })
  const taken = withinBytes(rows)
  const lost = await evict(client, seal, taken, 'expired')
  const isWhole = taken.length === rows.length && rows.length < HOUSEKEEPING_ROWS_PER_TURN
  const next = isWhole ? start : (taken.at(-1)?.sequence ?? start)
  return { ...(lost.get(scenario) ?? { records: 0, bytes: 0 }), next: next === 1 ? null : next }
}

/** A lone body larger than a turn goes too. */
function withinBytes(bodies: readonly OldBody[]): readonly OldBody[] {
  let bytes = 0
  const end = bodies.findIndex((body, index) => (bytes += body.bytes) > EVICTED_BYTES_PER_TURN && index > 0)
  return end === -1 ? bodies : bodies.slice(0, end)
}
