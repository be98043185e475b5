/** The used part of `pg`: loaded on first use from the folder that `svc store add postgres` made. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { PG_PACKAGE, storeFolder, unavailable, type Refusal } from '../../../src/contract/index.ts'

export type SqlValue = string | number | boolean | Uint8Array | null | readonly (string | number | Uint8Array | null)[]

export interface SqlQuery {
  /** A server keeps the plan of a statement that has a name. */
  readonly name?: string
  readonly text: string
  readonly values?: readonly SqlValue[]
  /** How long its answer is waited for, in milliseconds; absent: as the connection says. */
  readonly query_timeout?: number
}

export interface PgClient {
  // oxlint-disable-next-line typescript/no-unnecessary-type-parameters -- what a statement answers is known to who wrote it
  query<Row>(query: SqlQuery): Promise<{ readonly rows: Row[]; readonly rowCount: number | null }>
  on(event: 'error' | 'end', listener: (error?: Error) => void): void
  /** What lies below, for ending it at once. */
  readonly connection: { readonly stream: { destroy(): void }; on(event: 'error', listener: () => void): void }
  on(event: 'notification', listener: (message: { readonly payload?: string }) => void): void
}

export interface LoneClient extends PgClient {
  connect(): Promise<unknown>
  end(): Promise<void>
}

export interface PooledClient extends PgClient {
  /** With an error the connection is closed and not used again. */
  release(error?: Error): void
}

export interface PgPool {
  connect(): Promise<PooledClient>
  on(event: 'error', listener: (error: Error) => void): void
  on(event: 'connect', listener: (client: PooledClient) => void): void
  end(): Promise<void>
}

export interface ClientOptions {
  readonly host: string
  readonly port: number
  readonly database: string
  readonly user?: string
  readonly password?: string
  readonly ssl: false | { readonly rejectUnauthorized: boolean; readonly ca?: string }
  readonly application_name: string
  readonly options: string
  readonly connectionTimeoutMillis: number
  readonly query_timeout: number
  readonly keepAlive: boolean
  readonly keepAliveInitialDelayMillis: number
  /** A statement is sent without waiting for the answers to those before it. */
  readonly pipeline: boolean
  readonly types: { getTypeParser(oid: number, format?: string): unknown }
}

interface PoolOptions extends ClientOptions {
  readonly max: number
  readonly idleTimeoutMillis: number
  readonly Client: new () => LoneClient
  /** A connection is not used where this rejects. */
  readonly onConnect: (client: PgClient) => Promise<void>
}

export interface PgLibrary {
  readonly Client: new (options: ClientOptions) => LoneClient
  readonly Pool: new (options: PoolOptions) => PgPool
  readonly types: { getTypeParser(oid: number, format?: string): unknown }
}

let opened: Promise<PgLibrary> | null = null

export function openLibrary(): Promise<PgLibrary> {
  if (opened !== null) return opened
  const opening = load()
  opened = opening
  opening.catch(() => (opened = null))
  return opening
}

async function load(): Promise<PgLibrary> {
  const main = join(storeFolder('postgres', process.env), 'node_modules', PG_PACKAGE.name, 'lib/index.js')
  if (!existsSync(main))
    throw unavailable('store_not_installed', 'the postgres store is not installed on this machine; install it with: svc store add postgres')
  const module: unknown = await import(pathToFileURL(main).href).catch((error: unknown) => {
    throw notUsable(error)
  })
  const library: unknown = typeof module === 'object' && module !== null && 'default' in module ? module.default : null
  if (!isLibrary(library)) throw notUsable(null)
  return library
}

/** The folder was installed from its lock file, so nothing more is checked. */
const isLibrary = (library: unknown): library is PgLibrary =>
  typeof library === 'function' || (typeof library === 'object' && library !== null && 'Pool' in library)

const notUsable = (cause: unknown): Refusal =>
  unavailable('store_not_usable', 'the postgres store is installed, but cannot be loaded; run: svc store add postgres --force', { cause })
