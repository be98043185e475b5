/** Every read of the store, one prepared statement each. A scenario that does not exist reads as an empty one. */
import type { DatabaseSync } from 'node:sqlite'
import type { CommitPage, Losses, RecordPage, RequestType, ScenarioSettings } from '../../../../src/contract/index.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { BODY_COLUMNS, readBody, WITH_BODY, type BodyColumns } from '../bodies/bodies.ts'
import { makeChain } from './chain.ts'
import { makeDeploymentQueries } from '../deployment.ts'
import { makeExpired } from '../writing/expire.ts'
import { makePending } from './pending.ts'
import { KEY, Query } from '../query.ts'
import { COMMIT_COLUMNS, commitRow, RECORD_COLUMNS, recordRow, type CommitColumns, type RecordColumns } from '../rows.ts'
import type { ReaderAnswers } from '../messages/wire.ts'

export type Queries = ReturnType<typeof makeQueries>

export function makeQueries(db: DatabaseSync, seal: StoreSeal) {
  return {
    ...makeStoreQueries(db),
    ...makeRecordQueries(db, seal),
    pending: makePending(db, seal),
    expired: makeExpired(db),
    commits: makeCommits(db),
    ...makeChain(db),
    ...makeDeploymentQueries(db),
  }
}

function makeStoreQueries(db: DatabaseSync) {
  const selectNames = new Query<{ name: string }>(db, 'SELECT name FROM scenario WHERE name IS NOT NULL ORDER BY name')
  const selectUsage = new Query<ReaderAnswers['usage']>(
    db,
    `SELECT coalesce(sum(head) FILTER (WHERE name IS NOT NULL), 0) AS records,
            coalesce(sum(body_bytes) FILTER (WHERE name IS NOT NULL), 0) AS body_bytes,
            coalesce(sum(lost_records), 0) AS lost_records, coalesce(sum(lost_bytes), 0) AS lost_bytes,
            coalesce(sum(expired_records), 0) AS expired_records, coalesce(sum(expired_bytes), 0) AS expired_bytes FROM scenario`,
  )
  const selectLosses = new Query<Losses>(db, 'SELECT lost_records AS records, lost_bytes AS bytes FROM scenario WHERE name = ?')
  const selectEarlier = new Query<{ key: number }>(db, 'SELECT key FROM scenario WHERE archived_name = ? LIMIT 1')
  const selectSettings = new Query<ScenarioSettings>(db, `SELECT training_mode FROM setting WHERE scenario = ${KEY}`)
  return {
    settings: (scenario: string): ScenarioSettings => ({ training_mode: null, ...selectSettings.first(scenario) }),
    scenarios: (): ReaderAnswers['scenarios'] => selectNames.all().map((row) => row.name),
    usage: (): ReaderAnswers['usage'] => ({ records: 0, body_bytes: 0, lost_records: 0, lost_bytes: 0, ...selectUsage.first() }),
    losses: (scenario: string): Losses => ({ records: 0, bytes: 0, ...selectLosses.first(scenario) }),
    hadEarlier: (scenario: string): boolean => selectEarlier.first(scenario) !== undefined,
  }
}

function makeRecordQueries(db: DatabaseSync, seal: StoreSeal) {
  const selectType = new Query<{ request_type: RequestType }>(
    db,
    `SELECT request_type FROM record WHERE scenario = ${KEY} AND agent_record_id = ?`,
  )
  const selectRecord = new Query<RecordColumns & BodyColumns>(
    db,
    `SELECT ${RECORD_COLUMNS}, ${BODY_COLUMNS} FROM record r ${WITH_BODY}
     WHERE r.scenario = ${KEY} AND r.agent_record_id = ?`,
  )
  const [oldestFirst, newestFirst] = [makePages(db, '>', 'ASC'), makePages(db, '<', 'DESC')]

  return {
    records(scenario: string, { limit, type, session, ...from }: RecordPage): ReaderAnswers['records'] {
      const kind = { type, session }
      const rows = 'after' in from ? oldestFirst(scenario, from.after, limit, kind) : newestFirst(scenario, from.before, limit, kind)
      return rows.map(recordRow)
    },
    types(scenario: string, ids: readonly string[]): ReaderAnswers['types'] {
      const found = new Map<string, RequestType>()
      for (const id of ids) {
        const row = selectType.first(scenario, id)
        if (row !== undefined) found.set(id, row.request_type)
      }
      return found
    },
    get(scenario: string, id: string): ReaderAnswers['get'] {
      const row = selectRecord.first(scenario, id)
      return row === undefined ? null : { ...recordRow(row), payload: readBody(seal, row) }
    },
  }
}

interface Kind {
  readonly type: RequestType | undefined
  readonly session: string | undefined
}

function makePages(db: DatabaseSync, side: '>' | '<', order: 'ASC' | 'DESC') {
  const pageOf = (condition: string, index = '') =>
    new Query<RecordColumns>(
      db,
      `SELECT ${RECORD_COLUMNS} FROM record r ${index} WHERE r.scenario = ${KEY} ${condition} AND r.sequence ${side} ?
       ORDER BY r.sequence ${order} LIMIT ?`,
    )
  const selectPage = pageOf('')
  const selectInferences = pageOf(`AND r.request_type = 'inference'`)
  // Left to itself SQLite walks the sequence here, past every inference there is.
  const selectOfType = pageOf(`AND r.request_type = ? AND r.request_type <> 'inference'`, 'INDEXED BY record_by_type')

  const selectOfSession = pageOf(`AND json_extract(r.summary, '$.session') = ?`, 'INDEXED BY record_by_session')

  return (scenario: string, from: number, limit: number, { type, session }: Kind): readonly RecordColumns[] => {
    if (session !== undefined) return selectOfSession.all(scenario, session, from, limit)
    if (type === undefined) return selectPage.all(scenario, from, limit)
    if (type === 'inference') return selectInferences.all(scenario, from, limit)
    return selectOfType.all(scenario, type, from, limit)
  }
}

function makeCommits(db: DatabaseSync): (scenario: string, page: CommitPage) => ReaderAnswers['commits'] {
  const selectPage = new Query<CommitColumns>(
    db,
    `SELECT ${COMMIT_COLUMNS} FROM commit_row WHERE scenario = ${KEY} AND step > ? ORDER BY step LIMIT ?`,
  )
  const selectNewest = new Query<CommitColumns>(
    db,
    `SELECT ${COMMIT_COLUMNS} FROM commit_row WHERE scenario = ${KEY} AND step < ? ORDER BY step DESC LIMIT ?`,
  )
  const selectRow = new Query<CommitColumns>(db, `SELECT ${COMMIT_COLUMNS} FROM commit_row WHERE scenario = ${KEY} AND step = ?`)
  const selectSteps = new Query<{ step: number }>(
    db,
    `SELECT step FROM consumed WHERE scenario = ${KEY} AND agent_record_id = ? AND step > ? ORDER BY step LIMIT ?`,
  )

  return (scenario, page) => {
    if ('before' in page) return selectNewest.all(scenario, page.before, page.limit).map(commitRow)
    const { after, limit, ids } = page
    if (ids === undefined) return selectPage.all(scenario, after, limit).map(commitRow)
    const steps = new Set(ids.flatMap((id) => selectSteps.all(scenario, id, after, limit).map((row) => row.step)))
    return [...steps]
      .sort((a, b) => a - b)
      .slice(0, limit)
      .flatMap((step) => selectRow.all(scenario, step).map(commitRow))
  }
}
