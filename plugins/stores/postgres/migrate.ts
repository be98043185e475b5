/** Brings an empty or older database to the newest tables, by one process at a time. */
import { readFileSync } from 'node:fs'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'
import { newerStore, olderServer } from './refusals.ts'

const SCHEMA_VERSION = 9
const SERVER_VERSION_LEAST = 15
const MIGRATION_LOCK = 0x73_76_63_03

export async function migrate(connections: Database, schema: string): Promise<void> {
  await connections.transaction(async (client) => {
    await refuseOlderServer(client)
    await client.query({ text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))', values: [MIGRATION_LOCK, schema] })
    const version = await versionOf(client, schema)
    if (version > SCHEMA_VERSION) throw newerStore(version, SCHEMA_VERSION)
    for (let next = version + 1; next <= SCHEMA_VERSION; next += 1) {
      await client.query({ text: readFileSync(new URL(`./schema/${String(next).padStart(4, '0')}.sql`, import.meta.url), 'utf8') })
      await client.query({ text: 'UPDATE format SET version = $1', values: [next] })
    }
    await openFleetTables(client)
  })
}

/** They hold nothing but the moment, so they have no version: another shape of them gets another name. */
async function openFleetTables(client: PgClient): Promise<void> {
  const { rows } = await client.query<{ found: string | null }>({ text: `SELECT to_regclass('fleet_call')::text AS found` })
  if (rows[0]?.found == null) await client.query({ text: readFileSync(new URL('./schema/fleet.sql', import.meta.url), 'utf8') })
}

async function refuseOlderServer(client: PgClient): Promise<void> {
  const { rows } = await client.query<{ number: string; shown: string }>({
    text: `SELECT current_setting('server_version_num') AS number, current_setting('server_version') AS shown`,
  })
  const [version] = rows
  if (version !== undefined) checkServer(version)
}

export function checkServer({ number, shown }: { readonly number: string; readonly shown: string }): void {
  if (Number(number) < SERVER_VERSION_LEAST * 10_000) throw olderServer(shown, SERVER_VERSION_LEAST)
}

/** 0 for a database that holds nothing of ours yet: then there is a place for it from here on. */
async function versionOf(client: PgClient, schema: string): Promise<number> {
  const { rows: schemas } = await client.query({ text: 'SELECT 1 FROM pg_namespace WHERE nspname = $1', values: [schema] })
  // Without the right to make one, an empty one that the owner made will do.
  if (schemas.length === 0) await client.query({ text: `CREATE SCHEMA ${schema}` })
  const { rows: tables } = await client.query({
    text: `SELECT 1 FROM pg_tables WHERE schemaname = $1 AND tablename = 'format'`,
    values: [schema],
  })
  if (tables.length === 0) {
    await client.query({ text: `CREATE TABLE ${schema}.format (version integer NOT NULL)` })
    await client.query({ text: 'INSERT INTO format VALUES (0)' })
  }
  // With the name of the schema: a schema that the user may not use is left out of the search, and the table would seem to be missing.
  const { rows } = await client.query<{ version: number }>({ text: `SELECT version FROM ${schema}.format` })
  return rows[0]?.version ?? 0
}
