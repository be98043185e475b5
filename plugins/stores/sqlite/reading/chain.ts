/** Reads of the rows that made a release. Each names its index: left to itself SQLite may walk every row of the scenario. */
import type { DatabaseSync } from 'node:sqlite'
import type { ChainPage, Commit } from '../../../../src/contract/index.ts'
import { KEY, Query } from '../query.ts'
import { COMMIT_COLUMNS, commitRow, type CommitColumns } from '../rows.ts'
import type { ReaderAnswers } from '../messages/wire.ts'

const IS_RELEASED = `release <> 'null'`
const IS_PUBLISHED = `${IS_RELEASED} AND pending = 0 AND outcome = 'published'`
const IS_HELD = `${IS_RELEASED} AND pending = 1`
const IS_AGAIN = `${IS_RELEASED} AND rollback_target_release_id IS NOT NULL AND rollback_target_release_id = ?`

export function makeChain(db: DatabaseSync) {
  const [oldestFirst, newestFirst] = [makePages(db, '>', 'ASC'), makePages(db, '<', 'DESC')]
  // One statement, so that both rows are of one moment.
  const selectHead = new Query<CommitColumns>(
    db,
    `SELECT ${COMMIT_COLUMNS} FROM commit_row WHERE scenario = ${KEY} AND step IN (
       (SELECT max(step) FROM commit_row WHERE scenario = ${KEY}),
       (SELECT max(step) FROM commit_row INDEXED BY commit_published WHERE scenario = ${KEY} AND ${IS_PUBLISHED})) ORDER BY step`,
  )
  const selectMaker = new Query<CommitColumns>(
    db,
    `SELECT ${COMMIT_COLUMNS} FROM commit_row INDEXED BY commit_by_release
     WHERE scenario = ${KEY} AND ${IS_RELEASED} AND json_extract(release, '$.release_id') = ? ORDER BY step LIMIT 1`,
  )

  return {
    head(scenario: string): ReaderAnswers['head'] {
      const rows = selectHead.all(scenario, scenario, scenario).map(commitRow)
      const newest = rows.at(-1)
      return newest === undefined ? null : { newest, published: rows.find(isPublished) ?? null }
    },
    chain(scenario: string, { limit, only, ...from }: ChainPage): ReaderAnswers['chain'] {
      const rows = 'after' in from ? oldestFirst(scenario, from.after, limit, only) : newestFirst(scenario, from.before, limit, only)
      return rows.map(commitRow)
    },
    release(scenario: string, id: string): ReaderAnswers['release'] {
      const row = selectMaker.first(scenario, id)
      return row === undefined ? null : commitRow(row)
    },
  }
}

function makePages(db: DatabaseSync, side: '>' | '<', order: 'ASC' | 'DESC') {
  const pageOf = (index: string, condition: string) =>
    new Query<CommitColumns>(
      db,
      `SELECT ${COMMIT_COLUMNS} FROM commit_row INDEXED BY ${index} WHERE scenario = ${KEY} AND ${condition} AND step ${side} ?
       ORDER BY step ${order} LIMIT ?`,
    )
  const selectReleased = pageOf('commit_released', IS_RELEASED)
  const selectPublished = pageOf('commit_published', IS_PUBLISHED)
  const selectHeld = pageOf('commit_held', IS_HELD)
  const selectAgain = pageOf('commit_by_target', IS_AGAIN)

  return (scenario: string, from: number, limit: number, only: ChainPage['only']): readonly CommitColumns[] => {
    if (typeof only === 'object') return selectAgain.all(scenario, only.target, from, limit)
    const select = only === undefined ? selectReleased : only === 'published' ? selectPublished : selectHeld
    return select.all(scenario, from, limit)
  }
}

const isPublished = ({ release, pending, outcome }: Commit): boolean => release !== null && !pending && outcome === 'published'
