/** Connections to the database: a pool for statements and transactions, and single ones for listening. */
import { openLibrary, type ClientOptions, type LoneClient, type PgClient, type PgLibrary, type PgPool, type SqlQuery } from './library.ts'
import { isAway, refusalOf } from './refusals.ts'
import type { PostgresSettings } from './settings.ts'

const CONNECT_MS_MAX = 5000
/** Above what the server allows a statement: this one is for a link that is cut without a word. */
const ANSWER_MS_MAX = 40_000
const IDLE_MS_MAX = 30_000
/**
 * Commits are durable whatever the server's default says. One that stands still within a transaction, with its locks, is ended: a paused
 * process must not hold up the others.
 */
const SERVER_SETTINGS = {
  synchronous_commit: 'on',
  statement_timeout: '30s',
  lock_timeout: '15s',
  idle_in_transaction_session_timeout: '10s',
  default_transaction_isolation: 'read\\ committed',
  client_min_messages: 'error',
}
const BIGINT = 20

export class Database {
  readonly #library: PgLibrary
  readonly #options: ClientOptions
  readonly #pool: PgPool

  constructor(library: PgLibrary, settings: PostgresSettings) {
    this.#library = library
    this.#options = clientOptions(library, settings)
    this.#pool = new library.Pool({ ...this.#options, max: settings.connections, idleTimeoutMillis: IDLE_MS_MAX })
    // One that is cut while it waits, in the pool or between two statements, is told by the next use of it. Without a listener it would end the process.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => client.on('error', () => undefined))
  }

  static async open(settings: PostgresSettings): Promise<Database> {
    return new Database(await openLibrary(), settings)
  }

  /** One statement, which is a transaction of its own and may be repeated. What fails comes out as a refusal. */
  async rows<Row>(query: SqlQuery): Promise<readonly Row[]> {
    const run = (): Promise<readonly Row[]> => this.use(async (client) => (await client.query<Row>(query)).rows)
    // A connection of the pool may have been cut while it waited there.
    return run()
      .catch((error: unknown) => (isAway(error) ? run() : throwRefusal(error)))
      .catch(throwRefusal)
  }

  /** One transaction, undone when the work throws. What fails comes out as a refusal. */
  async transaction<T>(work: (client: PgClient) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    return this.rawTransaction(work, begin).catch(throwRefusal)
  }

  /** Like `transaction`, with failures as they are. */
  rawTransaction<T>(work: (client: PgClient) => Promise<T>, begin = 'BEGIN'): Promise<T> {
    return this.use(async (client) => {
      await client.query({ text: begin })
      try {
        const result = await work(client)
        await client.query({ text: 'COMMIT' })
        return result
      } catch (error) {
        if (!isAway(error)) await client.query({ text: 'ROLLBACK' })
        throw error
      }
    })
  }

  /** A connection of the pool for as long as the work takes; failures as they are. */
  async use<T>(work: (client: PgClient) => Promise<T>): Promise<T> {
    const client = await this.#pool.connect()
    let broken: Error | undefined
    try {
      return await work(client)
    } catch (error) {
      if (error instanceof Error && isAway(error)) broken = error
      throw error
    } finally {
      client.release(broken)
    }
  }

  /** One beside the pool, which the caller ends. */
  async single(): Promise<LoneClient> {
    const client = new this.#library.Client(this.#options)
    // Told by the statement that fails, and by the event `end`.
    client.on('error', () => undefined)
    await client.connect()
    return client
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }
}

function throwRefusal(error: unknown): never {
  throw refusalOf(error)
}

function clientOptions(library: PgLibrary, { address, schema }: PostgresSettings): ClientOptions {
  const { host, port, database, user, password, tls, authority } = address
  const options = Object.entries({ ...SERVER_SETTINGS, search_path: schema }).map(([name, value]) => `-c ${name}=${value}`)
  return {
    host,
    port,
    database,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ssl: tls === 'disable' ? false : { rejectUnauthorized: tls === 'verify-full', ...(authority !== undefined && { ca: authority }) },
    application_name: 'svc',
    options: options.join(' '),
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    types: { getTypeParser: (oid, format) => (oid === BIGINT ? Number : library.types.getTypeParser(oid, format)) },
  }
}
