/** Every read of a scenario but of what is pending. A scenario that does not exist reads as an empty one. */
import type {
  ChainPage,
  Commit,
  CommitPage,
  Losses,
  RecordPage,
  RecordRow,
  RequestType,
  ScenarioHead,
  ScenarioSettings,
  StoredRecord,
  StoreUsage,
} from '../../../src/contract/index.ts'
import { Unopened, type StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'
import type { SqlValue } from './library.ts'
import { bytesOf, COMMIT_COLUMNS, commitRow, RECORD_COLUMNS, recordRow, type CommitTuple, type RecordTuple } from './rows.ts'
import { openBody, unreadable, type KeptBody } from './sealed.ts'

/** The scenario of that name, as the first value. */
const KEY = '(SELECT key FROM scenario WHERE name = $1)'

const IS_RELEASED = 'c.release_id IS NOT NULL'
const IS_PUBLISHED = `${IS_RELEASED} AND NOT c.pending AND c.outcome = 'published'`
const IS_HELD = `${IS_RELEASED} AND c.pending`

export class RecordQueries {
  readonly #connections: Database
  readonly #seal: StoreSeal

  constructor(connections: Database, seal: StoreSeal) {
    this.#connections = connections
    this.#seal = seal
  }

  async scenarios(): Promise<readonly string[]> {
    const rows = await this.#connections.rows<{ name: Buffer }>(
      statement('names', 'SELECT name FROM scenario WHERE name IS NOT NULL ORDER BY name'),
    )
    return rows.map(({ name }) => name.toString())
  }

  async usage(): Promise<Omit<StoreUsage, 'capacity_bytes'>> {
    const [usage] = await this.#connections.rows<Omit<StoreUsage, 'capacity_bytes'>>(
      statement(
        'usage',
        `SELECT coalesce(sum(head) FILTER (WHERE name IS NOT NULL), 0)::bigint AS records,
                coalesce(sum(body_bytes) FILTER (WHERE name IS NOT NULL), 0)::bigint AS body_bytes,
                coalesce(sum(lost_records), 0)::bigint AS lost_records, coalesce(sum(lost_bytes), 0)::bigint AS lost_bytes,
                coalesce(sum(expired_records), 0)::bigint AS expired_records, coalesce(sum(expired_bytes), 0)::bigint AS expired_bytes FROM scenario`,
      ),
    )
    return usage ?? { records: 0, body_bytes: 0, lost_records: 0, lost_bytes: 0 }
  }

  async losses(scenario: string): Promise<Losses> {
    const sql = 'SELECT lost_records AS records, lost_bytes AS bytes FROM scenario WHERE name = $1'
    const [losses] = await this.#connections.rows<Losses>(statement('losses', sql, bytesOf(scenario)))
    return losses ?? { records: 0, bytes: 0 }
  }

  async hadEarlier(scenario: string): Promise<boolean> {
    const sql = 'SELECT key FROM scenario WHERE archived_name = $1 LIMIT 1'
    return (await this.#connections.rows(statement('earlier', sql, bytesOf(scenario)))).length > 0
  }

  async settings(scenario: string): Promise<ScenarioSettings> {
    const sql = 'SELECT training_mode FROM scenario WHERE name = $1'
    const [settings] = await this.#connections.rows<ScenarioSettings>(statement('settings', sql, bytesOf(scenario)))
    return settings ?? { training_mode: null }
  }

  async types(scenario: string, ids: readonly string[]): Promise<ReadonlyMap<string, RequestType>> {
    if (ids.length === 0) return new Map()
    const rows = await this.#connections.rows<{ id: Buffer; type: RequestType }>(
      statement(
        'types',
        `SELECT id, type FROM record WHERE scenario = ${KEY} AND id = ANY($2::bytea[])`,
        bytesOf(scenario),
        ids.map(bytesOf),
      ),
    )
    return new Map(rows.map(({ id, type }) => [id.toString(), type]))
  }

  async get(scenario: string, id: string): Promise<StoredRecord | null> {
    const [row] = await this.#connections.rows<RecordTuple & KeptBody & { scenario: number }>(
      statement(
        'get',
        `SELECT ${RECORD_COLUMNS}, r.scenario, b.payload, b.size FROM record r LEFT JOIN body b ON b.age = r.age
         WHERE r.scenario = ${KEY} AND r.id = $2`,
        bytesOf(scenario),
        bytesOf(id),
      ),
    )
    return row === undefined ? null : { ...recordRow(row), payload: this.#opened(row.scenario, id, row) }
  }

  #opened(scenario: number, id: string, body: KeptBody): Buffer | null {
    try {
      return openBody(this.#seal, scenario, id, body)
    } catch (error) {
      throw error instanceof Unopened ? unreadable(error) : error
    }
  }

  async records(scenario: string, page: RecordPage): Promise<readonly RecordRow[]> {
    const { limit, type, session } = page
    const { side, order, from } = directionOf(page)
    // The condition of an index must be said too, or it is not used.
    const isOther = type !== undefined && type !== 'inference' ? `AND r.type <> 'inference'` : ''
    const [kind, value] =
      session !== undefined
        ? ['AND r.session = $4', [bytesOf(session)]]
        : type !== undefined
          ? [`AND r.type = $4 ${isOther}`, [type]]
          : ['', []]
    const sql = `SELECT ${RECORD_COLUMNS} FROM record r WHERE r.scenario = ${KEY} AND r.sequence ${side} $2 ${kind} ORDER BY r.sequence ${order} LIMIT $3`
    const rows = await this.#connections.rows<RecordTuple>({ text: sql, values: [bytesOf(scenario), from, limit, ...value] })
    return rows.map(recordRow)
  }

  async commits(scenario: string, page: CommitPage): Promise<readonly Commit[]> {
    const { side, order, from } = directionOf(page)
    const values: SqlValue[] = [bytesOf(scenario), from, page.limit]
    const ids = 'ids' in page ? page.ids : undefined
    if (ids !== undefined) values.push(ids.map(bytesOf))
    const consumed = ids === undefined ? '' : `AND c.step IN (SELECT step FROM consumed WHERE scenario = ${KEY} AND id = ANY($4::bytea[]))`
    return this.#commits(`c.step ${side} $2::bigint ${consumed} ORDER BY c.step ${order} LIMIT $3`, values)
  }

  /** One statement, so that both rows are of one moment. */
  async head(scenario: string): Promise<ScenarioHead | null> {
    const rows = await this.#commits(`c.step IN (${newestOf('')}, ${newestOf(`AND ${IS_PUBLISHED}`)}) ORDER BY c.step`, [bytesOf(scenario)])
    const newest = rows.at(-1)
    return newest === undefined ? null : { newest, published: rows.find(isPublished) ?? null }
  }

  async chain(scenario: string, page: ChainPage): Promise<readonly Commit[]> {
    const { limit, only } = page
    const { side, order, from } = directionOf(page)
    const values: SqlValue[] = [bytesOf(scenario), from, limit]
    if (typeof only === 'object') values.push(bytesOf(only.target))
    return this.#commits(`${chainCondition(only)} AND c.step ${side} $2::bigint ORDER BY c.step ${order} LIMIT $3`, values)
  }

  async release(scenario: string, id: string): Promise<Commit | null> {
    const [row] = await this.#commits(`${IS_RELEASED} AND c.release_id = $2 ORDER BY c.step LIMIT 1`, [bytesOf(scenario), bytesOf(id)])
    return row ?? null
  }

  async #commits(condition: string, values: readonly SqlValue[]): Promise<readonly Commit[]> {
    const sql = `SELECT ${COMMIT_COLUMNS} FROM commit_row c WHERE c.scenario = ${KEY} AND ${condition}`
    return (await this.#connections.rows<CommitTuple>({ text: sql, values })).map(commitRow)
  }
}

const newestOf = (condition: string): string =>
  `(SELECT c.step FROM commit_row c WHERE c.scenario = ${KEY} ${condition} ORDER BY c.step DESC LIMIT 1)`

const statement = (name: string, text: string, ...values: readonly SqlValue[]) => ({ name, text, values })

function directionOf(page: { readonly after: number } | { readonly before: number }) {
  return 'after' in page
    ? ({ side: '>', order: 'ASC', from: page.after } as const)
    : ({ side: '<', order: 'DESC', from: page.before } as const)
}

function chainCondition(only: ChainPage['only']): string {
  if (only === undefined) return IS_RELEASED
  if (only === 'published') return IS_PUBLISHED
  return only === 'held' ? IS_HELD : `${IS_RELEASED} AND c.target = $4`
}

const isPublished = ({ release, pending, outcome }: Commit): boolean => release !== null && !pending && outcome === 'published'
