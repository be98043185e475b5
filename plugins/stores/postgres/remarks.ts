/** What an operator should know of the server: what it may lose, and what it has too little of. */
import type { StoreRemark } from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'

interface ServerColumns {
  readonly standbys: string
  readonly fsync: string
  readonly full_page_writes: string
  readonly connections: number
  readonly used: number
}

const SERVER = `SELECT current_setting('synchronous_standby_names') AS standbys, current_setting('fsync') AS fsync,
  current_setting('full_page_writes') AS full_page_writes,
  current_setting('max_connections')::integer - current_setting('superuser_reserved_connections')::integer AS connections,
  (SELECT coalesce(sum(numbackends), 0)::integer FROM pg_stat_database) AS used`

/** `wanted` is how many connections one gateway takes. */
export async function remarksOn(connections: Database, wanted: number): Promise<readonly StoreRemark[]> {
  const [server] = await connections.rows<ServerColumns>({ text: SERVER })
  return server === undefined ? [] : remarksOf(server, wanted)
}

export function remarksOf(server: ServerColumns, wanted: number): readonly StoreRemark[] {
  return [
    ...(server.standbys === ''
      ? [
          {
            found: 'PostgreSQL has no synchronous standby: what was acknowledged is lost with its disk',
            fix: 'set up a standby and name it in synchronous_standby_names; or know that backups are all there is',
          },
        ]
      : []),
    ...(['fsync', 'full_page_writes'] as const)
      .filter((name) => server[name] === 'off')
      .map((name) => ({
        found: `${name} of PostgreSQL is off: what was acknowledged is lost when its machine stops`,
        fix: `turn ${name} on`,
      })),
    ...(server.used + wanted > server.connections
      ? [
          {
            found: `PostgreSQL takes ${server.connections} connections, of which ${server.used} are used, and one more gateway wants ${wanted}`,
            fix: 'raise its max_connections, or lower storage.record_settings.connections or svc.listeners',
          },
        ]
      : []),
  ]
}
