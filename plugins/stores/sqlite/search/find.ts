/** Answers searches out of the index, and reads what it does not have yet from the records. */
import type { DatabaseSync } from 'node:sqlite'
import type { FoundRecords, ListedRecord, RecordExcerpt, SearchQuery } from '../../../../src/contract/index.ts'
import { excerptOf, shownExcerpt } from '../../../../src/excerpts/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BODY, type BodyColumns } from '../bodies/bodies.ts'
import { Query } from '../query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'
import { matchOf } from './facts.ts'
import { idOf, sequenceOf } from './file.ts'

/** Bodies that one page of excerpts may read, where the index has none yet. */
const BODIES_BYTES_MAX = 8 * 1024 * 1024

/** How far one page looks for words within bounds: through so many records at a time, until it is full or so long after it began. */
export interface PageReach {
  readonly records: number
  readonly milliseconds: number
}
const PAGE_REACH: PageReach = { records: 20_000, milliseconds: 80 }

export function makeFind(
  index: DatabaseSync | null,
  records: DatabaseSync,
  reach = PAGE_REACH,
): (scenario: string, query: SearchQuery) => FoundRecords {
  const selectScenario = new Query<{ key: number; head: number }>(records, 'SELECT key, head FROM scenario WHERE name = ?')
  const selectRow = new Query<RecordColumns>(
    records,
    `SELECT ${RECORD_COLUMNS} FROM record r WHERE r.scenario = ? AND r.sequence = ? AND r.age IS NOT NULL`,
  )

  return (name, query) => {
    const scenario = selectScenario.first(name)
    if (scenario === undefined) return { rows: [], next: null, waiting: 0 }
    if (index === null) return { rows: [], next: null, waiting: scenario.head }
    const selectPlace = new Query<{ place: number }>(index, `SELECT place FROM scenario WHERE key = ? AND newest <> ''`)
    const place = selectPlace.first(scenario.key)?.place ?? 0
    return { ...page(index, scenario.key, query, place), waiting: Math.max(0, scenario.head - place) }
  }

  function page(from: DatabaseSync, key: number, query: SearchQuery, place: number): Omit<FoundRecords, 'waiting'> {
    const excerptAt = makeStoredExcerpt(from)
    const { limit } = query
    const highest = idOf(key, Math.min(query.before - 1, place))
    const { ids, reached } = makeSelect(from, query, reach)(idOf(key, 1), highest, limit + 1)
    const rows = ids.flatMap((id): readonly ListedRecord[] => {
      // What was evicted since is found no longer.
      const columns = selectRow.first(key, sequenceOf(id))
      return columns === undefined ? [] : [{ ...recordRow(columns), ...excerptOfRow(excerptAt(id)) }]
    })
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    if (rows.length > limit && last !== undefined) return { rows: shown, next: last.sequence }
    return { rows: shown, next: reached === null ? null : sequenceOf(reached) }
  }
}

const excerptOfRow = (excerpt: RecordExcerpt | null): Pick<ListedRecord, 'excerpt'> => (excerpt === null ? {} : { excerpt })

interface SelectedIds {
  readonly ids: readonly number[]
  /** The lowest that was looked at; null where nothing is left below. */
  readonly reached: number | null
}
type SelectIds = (lowest: number, highest: number, limit: number) => SelectedIds

/** Ids from the highest down. */
function makeSelect(index: DatabaseSync, query: SearchQuery, reach: PageReach): SelectIds {
  const { scoreMin, scoreMax, since, until } = query
  const bounds = [
    ['d.score >= ?', scoreMin],
    ['d.score <= ?', scoreMax],
    ['d.created_at >= ?', since],
    ['d.created_at <= ?', until],
  ] as const
  const given = bounds.flatMap(([sql, value]) => (value === undefined ? [] : [{ sql, value }]))
  const narrowing = given.map(({ sql }) => ` AND ${sql}`).join('')
  const values = given.map(({ value }) => value)
  const match = matchOf(query)
  const words = match === null ? [] : [match]
  const select = new Query<{ id: number }>(
    index,
    match === null ? withBounds(narrowing) : given.length === 0 ? WITH_WORDS : withBoth(narrowing),
  )
  const selectIds: SelectIds = (lowest, highest, limit) => {
    const ids = select.all(...words, lowest, highest, ...values, limit).map(({ id }) => id)
    return { ids, reached: ids.length === limit ? (ids.at(-1) ?? null) : null }
  }
  return match === null || given.length === 0 ? selectIds : withinReach(selectIds, reach)
}

const withBounds = (narrowing: string): string => `SELECT d.id FROM doc d WHERE d.id BETWEEN ? AND ?${narrowing} ORDER BY d.id DESC LIMIT ?`

const OF_WORDS = 'SELECT rowid AS id FROM words WHERE words MATCH ? AND rowid BETWEEN ? AND ?'
const WITH_WORDS = `${OF_WORDS} ORDER BY rowid DESC LIMIT ?`

/** The words are looked up first, and of those records the score and the time. */
const withBoth = (narrowing: string): string =>
  `WITH candidate AS MATERIALIZED (${OF_WORDS})
   SELECT c.id FROM candidate c CROSS JOIN doc d ON d.id = c.id WHERE true${narrowing} ORDER BY c.id DESC LIMIT ?`

/** Of many records with the words few may be within the bounds, or none: the page ends early then, and the next one goes on. */
const withinReach =
  (select: SelectIds, { records, milliseconds }: PageReach): SelectIds =>
  (lowest, highest, limit) => {
    const begun = performance.now()
    const ids: number[] = []
    for (let top = highest; top >= lowest;) {
      const bottom = Math.max(lowest, top - records + 1)
      const found = select(bottom, top, limit - ids.length)
      ids.push(...found.ids)
      if (found.reached !== null) return { ids, reached: found.reached }
      if (bottom > lowest && performance.now() - begun >= milliseconds) return { ids, reached: bottom }
      top = bottom - 1
    }
    return { ids, reached: null }
  }

interface ExcerptColumns {
  readonly input: string
  readonly output: string
  readonly tags: string | null
  readonly cost: number | null
  readonly score: number | null
}

function makeStoredExcerpt(index: DatabaseSync): (id: number) => RecordExcerpt | null {
  const select = new Query<ExcerptColumns>(
    index,
    'SELECT e.input, e.output, e.tags, e.cost, d.score FROM excerpt e JOIN doc d ON d.id = e.id WHERE e.id = ?',
  )
  return (id) => {
    const found = select.first(id)
    if (found === undefined) return null
    const { input, output, cost, score } = found
    const tags: RecordExcerpt['tags'] = found.tags === null ? {} : JSON.parse(found.tags)
    return { input, output, tags, ...(score !== null && { score }), ...(cost !== null && { cost }) }
  }
}

export function makeExcerpts(
  index: DatabaseSync | null,
  records: DatabaseSync,
  seal: StoreSeal,
): (scenario: string, sequences: readonly number[]) => ReadonlyMap<number, RecordExcerpt> {
  const selectKey = new Query<{ key: number }>(records, 'SELECT key FROM scenario WHERE name = ?')
  const selectBody = new Query<RecordColumns & BodyColumns>(
    records,
    `SELECT ${RECORD_COLUMNS}, ${BODY_COLUMNS} FROM record r ${WITH_BODY} WHERE r.scenario = ? AND r.sequence = ? AND r.age IS NOT NULL`,
  )
  const selectLength = new Query<{ bytes: number }>(
    records,
    `SELECT coalesce(b.size, length(b.payload)) AS bytes FROM record r JOIN body b ON b.age = r.age WHERE r.scenario = ? AND r.sequence = ?`,
  )

  return (name, sequences) => {
    const key = selectKey.first(name)?.key
    if (key === undefined) return new Map()
    const stored = index === null ? null : makeStoredExcerpt(index)
    let room = BODIES_BYTES_MAX
    const found = sequences.flatMap((sequence) => {
      const bytes = selectLength.first(key, sequence)?.bytes
      if (bytes === undefined) return []
      const known = stored?.(idOf(key, sequence))
      if (known !== null && known !== undefined) return [[sequence, known] as const]
      room -= bytes
      const columns = room < 0 ? undefined : selectBody.first(key, sequence)
      return columns === undefined ? [] : [[sequence, readExcerpt(seal, columns)] as const]
    })
    return new Map(found)
  }
}

function readExcerpt(seal: StoreSeal, columns: RecordColumns & BodyColumns): RecordExcerpt {
  const { request_type, score } = recordRow(columns)
  return { ...shownExcerpt(excerptOf(request_type, readWholeBody(seal, columns) ?? new Uint8Array())), ...(score !== null && { score }) }
}
