/** The search over a book: it reads through all of it. */
import type { FoundRecords, ListedRecord, RecordExcerpt, RecordRow, SearchQuery } from '../../../src/contract/index.ts'
import { hasTerms, searchTerms, searchWords } from '../../../src/kit/index.ts'
import { excerptOf, factsOfQuery, factsOfRecord, shownExcerpt, type Excerpt } from '../../../src/excerpts/index.ts'
import type { Kept } from './book.ts'

interface ReadRecord {
  readonly row: RecordRow
  readonly excerpt: Excerpt
  readonly score: number | null
}

export function findIn(records: readonly Kept[], query: SearchQuery): FoundRecords {
  const fits = makeFits(query)
  const scores = scoresIn(records)
  const rows: ListedRecord[] = []
  for (const kept of records.slice(0, Math.max(0, query.before - 1)).toReversed()) {
    const read = readRecord(kept, scores)
    if (read === null || !fits(read)) continue
    if (rows.length === query.limit) return { rows, next: rows.at(-1)?.sequence ?? null, waiting: 0 }
    rows.push({ ...kept.row, excerpt: shown(read) })
  }
  return { rows, next: null, waiting: 0 }
}

export function excerptsOf(records: readonly Kept[], sequences: readonly number[]): ReadonlyMap<number, RecordExcerpt> {
  const scores = scoresIn(records)
  return new Map(
    sequences.flatMap((sequence) => {
      const kept = records[sequence - 1]
      const read = kept === undefined ? null : readRecord(kept, scores)
      return read === null ? [] : [[sequence, shown(read)]]
    }),
  )
}

/** Of reports, by what they quote: the newest counts. */
function scoresIn(records: readonly Kept[]): ReadonlyMap<string, number> {
  const scores = new Map<string, number>()
  for (const { row } of records) if (row.score !== null) for (const id of row.references) scores.set(id, row.score)
  return scores
}

/** Null once the body was evicted. */
function readRecord(kept: Kept, scores: ReadonlyMap<string, number>): ReadRecord | null {
  const { row, payload } = kept
  if (payload === null) return null
  return { row, excerpt: excerptOf(row.request_type, payload), score: row.score ?? scores.get(row.agent_record_id) ?? null }
}

const shown = ({ excerpt, score }: ReadRecord): RecordExcerpt => ({ ...shownExcerpt(excerpt), ...(score !== null && { score }) })

function makeFits(query: SearchQuery): (read: ReadRecord) => boolean {
  const { scoreMin, scoreMax, since = -Infinity, until = Infinity } = query
  const [terms, facts] = [searchTerms(query.text ?? ''), factsOfQuery(query)]
  return ({ row, excerpt, score }) => {
    const isScored = scoreMin === undefined && scoreMax === undefined ? true : isBetween(score, scoreMin, scoreMax)
    if (!isScored || row.created_at < since || row.created_at > until) return false
    const own = new Set(factsOfRecord(row, excerpt))
    return facts.every((fact) => own.has(fact)) && hasTerms([searchWords(excerpt.input), searchWords(excerpt.output)], terms)
  }
}

const isBetween = (score: number | null, least = -Infinity, most = Infinity): boolean => score !== null && score >= least && score <= most
