/** Connections to the database: a pool for statements and transactions, and single ones for listening. */
import { openLibrary, type ClientOptions, type LoneClient, type PgClient, type PgLibrary, type PgPool, type SqlQuery } from './library.ts'
import { Pipe } from './pipe.ts'
import { isAway, refusalOf, StandbyServer } from './refusals.ts'
import type { DatabaseHost, PostgresSettings } from './settings.ts'

const CONNECT_MS_MAX = 5000
/** Above what the server allows a statement: this one is for a link that is cut without a word. */
const ANSWER_MS_MAX = 40_000
const IDLE_MS_MAX = 30_000
/** A link that was cut without a word while nothing was said on it is found out some seconds later. */
const KEEP_ALIVE_MS = 10_000
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
  readonly #hosts: Hosts
  readonly #Client: new () => LoneClient
  readonly #pool: PgPool
  readonly #open = new Set<PgClient>()

  constructor(library: PgLibrary, settings: PostgresSettings) {
    const hosts = new Hosts(settings.address.hosts)
    this.#hosts = hosts
    const options = clientOptions(library, settings)
    // The pool hides the password in its own options, so that no copy of those has it.
    this.#Client = class extends library.Client {
      constructor() {
        super({ ...options, ...hosts.now })
        // The library leaves the link open where it has no password to answer with. The server would wait for one, and could drop no database meanwhile.
        this.connection.on('error', () => this.connection.stream.destroy())
      }
    }
    this.#pool = new library.Pool({
      ...options,
      Client: this.#Client,
      onConnect: (client) => this.#refuseStandby(client),
      max: settings.connections,
      idleTimeoutMillis: IDLE_MS_MAX,
    })
    // One that is cut while it waits, in the pool or between two statements, is told by the next use of it. Without a listener it would end the process.
    this.#pool.on('error', () => undefined)
    this.#pool.on('connect', (client) => this.#watch(client))
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
    const client = await this.#connected(() => this.#pool.connect())
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

  /** A connection of the pool for statements that do not wait for each other's answers; failures as they are. */
  pipe(): Pipe {
    return new Pipe(() => this.#connected(() => this.#pool.connect()))
  }

  /** One beside the pool, which the caller ends. */
  async single(): Promise<LoneClient> {
    return this.#connected(async () => {
      const client = new this.#Client()
      // Told by the statement that fails, and by the event `end`.
      this.#watch(client)
      await client.connect()
      await this.#refuseStandby(client).catch(async (error: unknown) => {
        await client.end()
        throw error
      })
      return client
    })
  }

  /** Ends every connection at once, since nothing is heard on them: what runs on them fails as on a link that is gone. */
  cut(): void {
    for (const client of this.#open) client.connection.stream.destroy()
  }

  async close(): Promise<void> {
    await this.#pool.end()
  }

  /** Each host in turn, until one takes connections and is no standby. */
  async #connected<T>(connect: () => Promise<T>): Promise<T> {
    for (let left = this.#hosts.count; ; left -= 1) {
      const tried = this.#hosts.now
      try {
        return await connect()
      } catch (error) {
        if (isAway(error)) this.#hosts.leave(tried)
        if (left <= 1 || !isAway(error)) throw error
      }
    }
  }

  /** Of several hosts one alone is the primary; of a single one the first write finds out. */
  async #refuseStandby(client: PgClient): Promise<void> {
    if (this.#hosts.count === 1) return
    const { rows } = await client.query<{ isStandby: boolean }>({
      text: 'SELECT pg_is_in_recovery() AS "isStandby"',
      query_timeout: CONNECT_MS_MAX,
    })
    if (rows[0]?.isStandby === true) throw new StandbyServer()
  }

  #watch(client: PgClient): void {
    this.#open.add(client)
    client.on('error', () => undefined)
    client.on('end', () => this.#open.delete(client))
  }
}

/** The hosts of the address, of which one is used until it is left. */
class Hosts {
  readonly #hosts: PostgresSettings['address']['hosts']
  #at = 0

  constructor(hosts: PostgresSettings['address']['hosts']) {
    this.#hosts = hosts
  }

  get count(): number {
    return this.#hosts.length
  }

  get now(): DatabaseHost {
    return this.#hosts[this.#at] ?? this.#hosts[0]
  }

  /** Of several that find it out at once the first one moves on. */
  leave(host: DatabaseHost): void {
    if (host === this.now) this.#at = (this.#at + 1) % this.count
  }
}

function throwRefusal(error: unknown): never {
  throw refusalOf(error)
}

function clientOptions(library: PgLibrary, { address, schema }: PostgresSettings): ClientOptions {
  const { hosts, database, user, password, tls, authority } = address
  const options = Object.entries({ ...SERVER_SETTINGS, search_path: schema }).map(([name, value]) => `-c ${name}=${value}`)
  return {
    ...hosts[0],
    database,
    ...(user !== undefined && { user }),
    ...(password !== undefined && { password }),
    ssl: tls === 'disable' ? false : { rejectUnauthorized: tls === 'verify-full', ...(authority !== undefined && { ca: authority }) },
    application_name: 'svc',
    options: options.join(' '),
    connectionTimeoutMillis: CONNECT_MS_MAX,
    query_timeout: ANSWER_MS_MAX,
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    pipeline: true,
    types: { getTypeParser: (oid, format) => (oid === BIGINT ? Number : library.types.getTypeParser(oid, format)) },
  }
}
