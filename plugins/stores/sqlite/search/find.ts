/** Answers searches out of the index, and reads what it does not have yet from the records. */
import type { DatabaseSync } from 'node:sqlite'
import type { FoundRecords, ListedRecord, RecordExcerpt, SearchQuery } from '../../../../src/contract/index.ts'
import { excerptOf, shownExcerpt } from '../../../../src/excerpts/index.ts'
import { BODY_COLUMNS, readWholeBody, WITH_BODY, type BodyColumns } from '../bodies.ts'
import { Query } from '../query.ts'
import { RECORD_COLUMNS, recordRow, type RecordColumns } from '../rows.ts'
import { matchOf } from './facts.ts'
import { idOf, sequenceOf } from './file.ts'

/** A page looks through the newest records first, and then through ever longer stretches, until it is full or this time is over. */
const SECONDS_MAX = 0.12
const STRETCH_FIRST = 65_536
const STRETCH_GROWTH = 4
/** Bodies that one page of excerpts may read, where the index has none yet. */
const BODIES_BYTES_MAX = 8 * 1024 * 1024

export function makeFind(index: DatabaseSync | null, records: DatabaseSync): (scenario: string, query: SearchQuery) => FoundRecords {
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
    const [select, excerptAt] = [makeSelect(from, query), makeStoredExcerpt(from)]
    const { limit } = query
    const begun = performance.now()
    const rows: ListedRecord[] = []
    let upper = Math.min(query.before - 1, place)
    for (let stretch = STRETCH_FIRST; upper > 0 && rows.length <= limit; stretch *= STRETCH_GROWTH) {
      if (performance.now() - begun > SECONDS_MAX * 1000) break
      const lower = Math.max(1, upper - stretch + 1)
      const wanted = limit + 1 - rows.length
      const ids = select(idOf(key, lower), idOf(key, upper), wanted)
      for (const id of ids) {
        // What was evicted since is found no longer.
        const columns = selectRow.first(key, sequenceOf(id))
        if (columns !== undefined) rows.push({ ...recordRow(columns), ...excerptOfRow(excerptAt(id)) })
      }
      const lowest = ids.at(-1)
      upper = ids.length === wanted && lowest !== undefined ? sequenceOf(lowest) - 1 : lower - 1
    }
    const shown = rows.slice(0, limit)
    const last = shown.at(-1)
    if (rows.length > limit && last !== undefined) return { rows: shown, next: last.sequence }
    return { rows: shown, next: upper > 0 ? upper + 1 : null }
  }
}

const excerptOfRow = (excerpt: RecordExcerpt | null): Pick<ListedRecord, 'excerpt'> => (excerpt === null ? {} : { excerpt })

type SelectIds = (lowest: number, highest: number, limit: number) => readonly number[]

/** Ids from the highest down. The words are looked up first, and of those records the score and the time where they are asked for. */
function makeSelect(index: DatabaseSync, query: SearchQuery): SelectIds {
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
  if (match === null) {
    const select = new Query<{ id: number }>(
      index,
      `SELECT d.id FROM doc d WHERE d.id BETWEEN ? AND ?${narrowing} ORDER BY d.id DESC LIMIT ?`,
    )
    return (lowest, highest, limit) => select.all(lowest, highest, ...values, limit).map(({ id }) => id)
  }
  const joined = narrowing === '' ? '' : 'CROSS JOIN doc d ON d.id = w.rowid'
  const select = new Query<{ id: number }>(
    index,
    `SELECT w.rowid AS id FROM words w ${joined} WHERE w.words MATCH ? AND w.rowid BETWEEN ? AND ?${narrowing}
     ORDER BY w.rowid DESC LIMIT ?`,
  )
  return (lowest, highest, limit) => select.all(match, lowest, highest, ...values, limit).map(({ id }) => id)
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
      return columns === undefined ? [] : [[sequence, readExcerpt(columns)] as const]
    })
    return new Map(found)
  }
}

function readExcerpt(columns: RecordColumns & BodyColumns): RecordExcerpt {
  const { request_type, score } = recordRow(columns)
  return { ...shownExcerpt(excerptOf(request_type, readWholeBody(columns) ?? new Uint8Array())), ...(score !== null && { score }) }
}
