/** What no step of a component has consumed yet, each record with what it quotes, all of one moment. */
import { PENDING_PAGE_BYTES_MAX, PENDING_RECORD_BYTES_MAX } from '../../../src/contract/index.ts'
import type { PendingPage, PendingRecord, RequestType, StoredRecord } from '../../../src/contract/index.ts'
import type { StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'
import { bytesOf, RECORD_COLUMNS, recordRow, type RecordTuple } from './rows.ts'
import { openWhole, type KeptBody } from './sealed.ts'

/** A page of long reports ends here before it holds requests up. */
const QUOTED_ROWS_MAX = 4096
const TYPES: readonly RequestType[] = ['inference', 'report', 'train']
const SNAPSHOT = 'BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY'

interface FoundColumns extends RecordTuple {
  readonly scenario: number
  readonly age: number
  readonly body_bytes: number
}

interface QuotedColumns extends FoundColumns {
  readonly consumed: boolean
}

/** Sizes come with the rows and bodies after them, so that no body is read that the page has no room for. */
const FOUND_COLUMNS = `${RECORD_COLUMNS}, r.scenario, r.age, coalesce(b.size, octet_length(b.payload), 0) AS body_bytes`
const WITH_BODY = 'LEFT JOIN body b ON b.age = r.age'

export function readPending(
  connections: Database,
  seal: StoreSeal,
  scenario: string,
  page: PendingPage,
): Promise<readonly PendingRecord[]> {
  return connections.transaction(async (client) => {
    const found = await selectPending(client, scenario, page)
    const rows = withinQuotes(found)
    const quoted = await selectQuoted(client, rows, page.component)
    const kept = withinBytes(rows.map((row) => ({ row, quoted: (row.refs ?? []).flatMap((id) => quoted.get(id) ?? []) })))
    const ages = new Set(
      kept.flatMap(({ row, quoted: others, isTooLarge }) => (isTooLarge ? [] : [row.age, ...others.map(({ age }) => age)])),
    )
    const bodies = await selectBodies(client, [...ages])
    // The payload is a copy for each: it is the caller's to change.
    const whole = (columns: FoundColumns): StoredRecord => {
      const body = bodies.get(columns.age)
      const row = recordRow(columns)
      // One that cannot be read counts as lost, so that the rest goes on.
      const payload = body === undefined ? null : openWhole(seal, columns.scenario, row.agent_record_id, body)
      return { ...row, payload: payload === null ? null : new Uint8Array(payload) }
    }
    return kept.map(({ row, quoted: others, isTooLarge }) => ({
      ...whole(row),
      quoted: others.map((each) => ({ ...whole(each), consumed: each.consumed })),
      ...(isTooLarge && {
        payload: null,
        quoted: others.map((each) => ({ ...recordRow(each), payload: null, consumed: each.consumed })),
        too_large: true as const,
      }),
    }))
  }, SNAPSHOT)
}

/** A walk per type, each along an index from the cursor on. */
async function selectPending(
  client: PgClient,
  scenario: string,
  { types, component, after, limit }: PendingPage,
): Promise<readonly FoundColumns[]> {
  const walks = TYPES.filter((type) => types.includes(type)).map(walkOf)
  if (walks.length === 0) return []
  const { rows } = await client.query<FoundColumns>({
    text: `SELECT * FROM (${walks.join(' UNION ALL ')}) walks ORDER BY sequence LIMIT $4`,
    values: [bytesOf(scenario), bytesOf(component), after, limit],
  })
  return rows
}

/** Inferences are the bulk and go by sequence. The others have an index of their own; it holds no inference, and the condition must say so too. */
function walkOf(type: RequestType): string {
  return `(SELECT ${FOUND_COLUMNS} FROM record r ${WITH_BODY}
    WHERE r.scenario = (SELECT key FROM scenario WHERE name = $1) AND r.type = '${type}' ${type === 'inference' ? '' : `AND r.type <> 'inference'`}
      AND r.sequence > $3 AND NOT ${consumedBy('$2')} ORDER BY r.sequence LIMIT $4)`
}

const consumedBy = (component: string): string =>
  `EXISTS (SELECT 1 FROM consumed c WHERE c.scenario = r.scenario AND c.id = r.id AND c.component = ${component})`

function withinQuotes(found: readonly FoundColumns[]): readonly FoundColumns[] {
  let quotes = 0
  const end = found.findIndex((row, index) => (quotes += row.refs?.length ?? 0) > QUOTED_ROWS_MAX && index > 0)
  return end === -1 ? found : found.slice(0, end)
}

async function selectQuoted(
  client: PgClient,
  rows: readonly FoundColumns[],
  component: string,
): Promise<ReadonlyMap<string, QuotedColumns>> {
  const [first] = rows
  const ids = new Set(rows.flatMap(({ refs }) => refs ?? []))
  if (first === undefined || ids.size === 0) return new Map()
  const { rows: quoted } = await client.query<QuotedColumns>({
    text: `SELECT ${FOUND_COLUMNS}, ${consumedBy('$2')} AS consumed FROM record r ${WITH_BODY} WHERE r.scenario = $1 AND r.id = ANY($3::bytea[])`,
    values: [first.scenario, bytesOf(component), [...ids].map(bytesOf)],
  })
  return new Map(quoted.map((row) => [row.id.toString(), row]))
}

interface FoundRecord {
  readonly row: FoundColumns
  readonly quoted: readonly QuotedColumns[]
}

function withinBytes(found: readonly FoundRecord[]): readonly (FoundRecord & { readonly isTooLarge: boolean })[] {
  let bytes = 0
  const sized = found.map((each) => {
    const own = [each.row, ...each.quoted].reduce((sum, { body_bytes }) => sum + body_bytes, 0)
    const isTooLarge = own > PENDING_RECORD_BYTES_MAX
    bytes += isTooLarge ? 0 : own
    return { ...each, isTooLarge, bytes }
  })
  const end = sized.findIndex((each, index) => index > 0 && each.bytes > PENDING_PAGE_BYTES_MAX)
  return end === -1 ? sized : sized.slice(0, end)
}

async function selectBodies(client: PgClient, ages: readonly number[]): Promise<ReadonlyMap<number, KeptBody>> {
  if (ages.length === 0) return new Map()
  const { rows } = await client.query<KeptBody & { age: number }>({
    text: 'SELECT age, payload, size FROM body WHERE age = ANY($1::bigint[])',
    values: [ages],
  })
  return new Map(rows.map((row) => [row.age, row]))
}
