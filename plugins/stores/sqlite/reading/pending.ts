/** What no step of a component has consumed yet, each record with what it quotes. */
import type { DatabaseSync } from 'node:sqlite'
import { PENDING_PAGE_BYTES_MAX, PENDING_RECORD_BYTES_MAX } from '../../../../src/contract/index.ts'
import type { PendingPage, PendingRecord, QuotedRecord, RequestType, StoredRecord } from '../../../../src/contract/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BASE, type BodyColumns } from '../bodies/bodies.ts'
import { Query } from '../query.ts'
import { parseReferences, RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'

/** Every row crosses to the event loop, which reads them in one go: a page of long reports ends here before it holds requests up. */
const QUOTED_ROWS_MAX = 4096

const TYPES: readonly RequestType[] = ['inference', 'report', 'train']

interface FoundColumns extends RecordColumns {
  readonly scenario: number
  readonly age: number | null
  readonly body_bytes: number
}

interface QuotedColumns extends FoundColumns {
  readonly consumed: number
}

/** Sizes come with the rows and bodies after them, so that no body is read that the page has no room for. */
const FOUND_COLUMNS = `${RECORD_COLUMNS}, r.scenario, r.age, coalesce(b.size, length(b.payload), 0) AS body_bytes`
const WITH_BODY = 'LEFT JOIN body b ON b.age = r.age'
const CONSUMED = `EXISTS (SELECT 1 FROM consumed c
  WHERE c.scenario = r.scenario AND c.agent_record_id = r.agent_record_id AND c.component = ?2)`

export function makePending(db: DatabaseSync, seal: StoreSeal): (scenario: string, page: PendingPage) => readonly PendingRecord[] {
  const selectPending = makeSelectPending(db)
  const selectQuoted = new Query<QuotedColumns>(
    db,
    `SELECT ${FOUND_COLUMNS}, ${CONSUMED} AS consumed FROM record r ${WITH_BODY} WHERE r.scenario = ?1 AND r.agent_record_id = ?3`,
  )
  const selectBody = new Query<BodyColumns>(db, `SELECT ${BODY_COLUMNS} FROM body b ${WITH_BASE} WHERE b.age = ?`)

  /** The walk is not over before the last lookup, so all of them read the same snapshot. */
  return (scenario, page) => {
    const found: PendingRecord[] = []
    let bytes = 0
    let quotedRows = 0
    for (const row of selectPending(scenario, page)) {
      const quoted = parseReferences(row.references).flatMap((id) => selectQuoted.all(row.scenario, page.component, id))
      const own = bodyBytes([row, ...quoted])
      const isTooLarge = own > PENDING_RECORD_BYTES_MAX
      bytes += isTooLarge ? 0 : own
      quotedRows += quoted.length
      if (found.length > 0 && (bytes > PENDING_PAGE_BYTES_MAX || quotedRows > QUOTED_ROWS_MAX)) break
      found.push(isTooLarge ? withoutBodies(row, quoted) : { ...whole(row), quoted: quoted.map(wholeQuoted) })
    }
    return found
  }

  /** A body that cannot be read back counts as lost, so that the rest goes on. */
  function whole(row: FoundColumns): StoredRecord {
    const body = row.age === null ? undefined : selectBody.first(row.age)
    return { ...recordRow(row), payload: body === undefined ? null : readWholeBody(seal, body) }
  }

  function wholeQuoted(row: QuotedColumns): QuotedRecord {
    return { ...whole(row), consumed: row.consumed === 1 }
  }
}

function withoutBodies(row: FoundColumns, quoted: readonly QuotedColumns[]): PendingRecord {
  const bare = quoted.map((each) => ({ ...recordRow(each), payload: null, consumed: each.consumed === 1 }))
  return { ...recordRow(row), payload: null, quoted: bare, too_large: true }
}

/** A walk per type, each along an index from the cursor on, merged as they go: what lies before the cursor or past the page is not read. */
function makeSelectPending(db: DatabaseSync): (scenario: string, page: PendingPage) => Iterable<FoundColumns> {
  const prepared = new Map<string, Query<FoundColumns>>()
  return (scenario, { types, component, after, limit }) => {
    const walks = TYPES.filter((type) => types.includes(type)).map(walkOf)
    if (walks.length === 0) return []
    const sql = `${walks.join(' UNION ALL ')} ORDER BY r.sequence LIMIT ?4`
    const query = prepared.get(sql) ?? new Query<FoundColumns>(db, sql)
    prepared.set(sql, query)
    return query.each(scenario, component, after, limit)
  }
}

/** Inferences are the bulk and go by sequence. The others have an index of their own; it holds no inference, and the condition must say so too. */
function walkOf(type: RequestType): string {
  const [index, condition] = type === 'inference' ? ['', ''] : ['INDEXED BY record_by_type', `AND r.request_type <> 'inference'`]
  return `SELECT ${FOUND_COLUMNS} FROM record r ${index} ${WITH_BODY}
    WHERE r.scenario = (SELECT key FROM scenario WHERE name = ?1) AND r.request_type = '${type}' ${condition}
      AND r.sequence > ?3 AND NOT ${CONSUMED}`
}

const bodyBytes = (rows: readonly FoundColumns[]): number => rows.reduce((sum, row) => sum + row.body_bytes, 0)
