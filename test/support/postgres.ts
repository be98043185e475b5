/** A PostgreSQL server of a test's own, in a temporary folder, and the package that the store reaches it with. */
import { execFileSync, spawn, type ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { chownSync, existsSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { isInstalled } from '../../src/cli/package-install.ts'
import { installPostgres } from '../../src/cli/store-install.ts'
import { ENV, PG_PACKAGE, storeFolder } from '../../src/contract/index.ts'
import { demand } from '../needs/missing.ts'
import { freePort } from './listen.ts'

const STORES = join(import.meta.dirname, '../../node_modules/.cache/svc-stores')
/** Debian's place: a folder for each version. */
const VERSIONS = '/usr/lib/postgresql'
const VERSION_LEAST = 15
const USER = 'tester'
const PASSWORD = 'the-password-of-the-tester'
const LOOK_AGAIN_MS = 50
const LOOKS_MAX = 600

const folderOf = (): string => storeFolder('postgres', { ...process.env, [ENV.stores]: STORES })

export const isTestPgThere = (): boolean => isInstalled(folderOf(), PG_PACKAGE)
export const installTestPg = (): Promise<void> => installPostgres(folderOf(), process.env)

/** The folder of the newest server's programs; null where there is none. */
export function postgresPrograms(): string | null {
  const versions = existsSync(VERSIONS) ? readdirSync(VERSIONS).map(Number) : []
  const newest = Math.max(0, ...versions.filter((version) => version >= VERSION_LEAST))
  const folder = join(VERSIONS, String(newest), 'bin')
  return existsSync(join(folder, 'initdb')) ? folder : null
}

export interface PostgresServer {
  /** The folder of its socket, its data and what a test adds. */
  readonly folder: string
  readonly port: number
  /** With the password, by the socket. */
  readonly url: string
  /** The same, by the network of this machine. */
  readonly networkUrl: string
  /** As the owner of everything, in the database of that name. */
  sql(statement: string, database?: string): string
  /** kill -9. */
  kill(): Promise<void>
  start(): Promise<void>
  stop(): void
}

export interface ServerOptions {
  /** Lines of postgresql.conf. */
  readonly settings?: Readonly<Record<string, string | number>>
  /** Lines of pg_hba.conf. */
  readonly access?: readonly string[]
  /** It begins as a copy of that one, and follows it. */
  readonly standbyOf?: PostgresServer
  /** Absent: any that is free. */
  readonly port?: number
  /** Called with the folder of the data before the server starts. */
  readonly prepare?: (data: string) => void
}

/** The server does not run as root. */
function owner(): { readonly uid?: number; readonly gid?: number } {
  if (process.getuid?.() !== 0) return {}
  return { uid: idOf('-u'), gid: idOf('-g') }
}

const idOf = (option: string): number => Number(execFileSync('id', [option, 'nobody'], { encoding: 'utf8' }))

/** The caller stops it. `fsync` is on unless the settings say otherwise. */
export async function startPostgres({ settings = {}, access, standbyOf, prepare, ...given }: ServerOptions = {}): Promise<PostgresServer> {
  demand('postgres')
  demand('pg')
  process.env[ENV.stores] = STORES
  const programs = postgresPrograms() ?? ''
  const as = owner()
  const folder = mkdtempSync(join(tmpdir(), 'svc-pg-'))
  if (as.uid !== undefined && as.gid !== undefined) chownSync(folder, as.uid, as.gid)
  const data = join(folder, 'data')
  const secret = join(folder, 'password')
  writeFileSync(secret, PASSWORD, { mode: 0o644 })
  const quietly = { ...as, cwd: folder, stdio: 'pipe', env: { PATH: process.env['PATH'], LC_ALL: 'C.UTF-8' } } as const
  if (standbyOf === undefined)
    execFileSync(
      join(programs, 'initdb'),
      ['-D', data, '-U', USER, '-A', 'scram-sha-256', '--pwfile', secret, '-E', 'UTF8', '--no-sync'],
      quietly,
    )
  else
    execFileSync(
      join(programs, 'pg_basebackup'),
      ['-D', data, '-d', standbyOf.networkUrl, '-R', '--checkpoint=fast', '--no-sync', '--no-slot'],
      quietly,
    )
  const port = given.port ?? (await freePort())
  const lines = {
    listen_addresses: '127.0.0.1',
    port,
    unix_socket_directories: folder,
    shared_buffers: '32MB',
    max_connections: 200,
    ...settings,
  }
  const file = Object.entries(lines).map(([name, value]) => `${name} = '${value}'\n`)
  writeFileSync(join(data, 'postgresql.conf'), file.join(''), { mode: 0o644 })
  if (access !== undefined) writeFileSync(join(data, 'pg_hba.conf'), `${access.join('\n')}\n`, { mode: 0o644 })
  prepare?.(data)
  let running: ChildProcess | null = null
  const environment = { PATH: process.env['PATH'], PGPASSWORD: PASSWORD }
  const sql = (statement: string, database = 'postgres'): string =>
    execFileSync(
      join(programs, 'psql'),
      ['-h', folder, '-p', String(port), '-U', USER, '-d', database, '-At', '-v', 'ON_ERROR_STOP=1', '-c', statement],
      {
        encoding: 'utf8',
        env: environment,
        stdio: 'pipe',
      },
    ).trim()
  const launch = (): ChildProcess => spawn(join(programs, 'postgres'), ['-D', data], { ...quietly, stdio: 'ignore' })
  const start = async (): Promise<void> => {
    running = launch()
    for (let looks = 0; looks < LOOKS_MAX; looks += 1) {
      // What a killed one left may still end: until then the next one does not start.
      if (running.exitCode !== null) running = launch()
      if (isAnswering(sql)) return
      await sleep(LOOK_AGAIN_MS)
    }
    throw new Error('PostgreSQL did not start')
  }
  const kill = async (): Promise<void> => {
    if (running === null) return
    const ended = once(running, 'exit')
    running.kill('SIGKILL')
    running = null
    await ended
  }
  await start()
  return {
    folder,
    port,
    url: `postgres://${USER}:${PASSWORD}@localhost:${port}/postgres?host=${encodeURIComponent(folder)}`,
    networkUrl: `postgres://${USER}:${PASSWORD}@127.0.0.1:${port}/postgres`,
    sql,
    kill,
    start,
    stop: () => {
      running?.kill('SIGQUIT')
      rmSync(folder, { recursive: true, force: true })
    },
  }
}

function isAnswering(sql: PostgresServer['sql']): boolean {
  try {
    return sql('SELECT 1') === '1'
  } catch {
    return false
  }
}
