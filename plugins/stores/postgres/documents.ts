/** Documents that every process with this database sees. */
import { DOCUMENT_BYTES_MAX, documentTooLarge, type Documents, type Fence, type ListedDocument } from '../../../src/contract/index.ts'
import { checkFence } from './commit.ts'
import type { Database } from './connections.ts'
import type { PgClient } from './library.ts'

/** Of this store, among all advisory locks of the database. */
const DOCUMENT_LOCK = 0x73_76_63_05

interface DocumentCalls {
  readonly read: <T>(work: (connections: Database) => Promise<T>) => Promise<T>
  /** In a transaction. Once more after it succeeded without our knowing: then the work is told so. */
  readonly change: <T>(work: (client: PgClient, isAgain: boolean) => Promise<T>) => Promise<T>
}

export function openDocuments({ read, change }: DocumentCalls, owner: string, fence?: Fence): Documents {
  /** One change of a document at a time, and none of an owner whose lease was overtaken. */
  const changed = <T>(paths: readonly string[], work: (client: PgClient, isAgain: boolean) => Promise<T>): Promise<T> =>
    change(async (client, isAgain) => {
      if (fence !== undefined) await checkFence(client, fence)
      for (const path of paths.toSorted()) await lock(client, owner, path)
      return work(client, isAgain)
    })
  return {
    read: (path, from = 0) => read((connections) => readDocument(connections, owner, path, from)),
    async write(path, text, before) {
      const bytes = Buffer.from(text)
      refuseLarge(path, bytes.length)
      return changed([path], async (client, isAgain) => {
        const found = before === undefined ? null : await wholeOf(client, owner, path)
        if (isAgain && found?.equals(bytes) === true) return true
        if (before !== undefined && !isAs(found, before)) return false
        await removeDocument(client, owner, path)
        await client.query({ text: INSERT, values: [owner, path, 0, bytes] })
        return true
      })
    },
    append: (path, text) =>
      changed([path], async (client) => {
        const bytes = Buffer.from(text)
        const start = await lengthOf(client, owner, path)
        refuseLarge(path, start + bytes.length)
        await client.query({ text: INSERT, values: [owner, path, start, bytes] })
      }),
    move: (from, to) =>
      changed([from, to], async (client, isAgain) => {
        if (!(await isThere(client, owner, from))) return isAgain && (await isThere(client, owner, to))
        await removeDocument(client, owner, to)
        await client.query({ text: 'UPDATE document SET path = $3 WHERE owner = $1 AND path = $2', values: [owner, from, to] })
        return true
      }),
    remove: (path) =>
      changed([path], async (client) => {
        await removeDocument(client, owner, path)
        await client.query({ text: `DELETE FROM document WHERE owner = $1 AND ${BELOW}`, values: [owner, ...bounds(path)] })
      }),
    list: (folder) => read((connections) => listDocuments(connections, owner, folder)),
  }
}

const INSERT = 'INSERT INTO document (owner, path, start, value) VALUES ($1, $2, $3, $4)'
/** In the order of bytes `0` follows `/`. */
const BELOW = 'path >= $2 AND path < $3'
const bounds = (folder: string): readonly [string, string] => (folder === '' ? ['', '\u{10ffff}'] : [`${folder}/`, `${folder}0`])

function refuseLarge(path: string, bytes: number): void {
  if (bytes > DOCUMENT_BYTES_MAX) throw documentTooLarge(path, DOCUMENT_BYTES_MAX)
}

async function lock(client: PgClient, owner: string, path: string): Promise<void> {
  await client.query({
    text: 'SELECT pg_advisory_xact_lock($1, hashtext($2))',
    values: [DOCUMENT_LOCK, JSON.stringify([owner, path])],
  })
}

async function readDocument(connections: Database, owner: string, path: string, from: number): Promise<Uint8Array | null> {
  const parts = await connections.rows<{ start: number; value: Buffer }>({
    text: `SELECT start, value FROM document WHERE owner = $1 AND path = $2 AND (start + octet_length(value) > $3 OR start = 0) ORDER BY start`,
    values: [owner, path, from],
  })
  if (parts.length === 0) return null
  return Buffer.concat(parts.map(({ start, value }) => value.subarray(Math.max(0, from - start))))
}

async function wholeOf(client: PgClient, owner: string, path: string): Promise<Buffer | null> {
  const { rows } = await client.query<{ value: Buffer }>({
    text: 'SELECT value FROM document WHERE owner = $1 AND path = $2 ORDER BY start',
    values: [owner, path],
  })
  return rows.length === 0 ? null : Buffer.concat(rows.map(({ value }) => value))
}

const isAs = (found: Buffer | null, before: string | null): boolean =>
  found === null || before === null ? found === before : found.equals(Buffer.from(before))

async function isThere(client: PgClient, owner: string, path: string): Promise<boolean> {
  const { rows } = await client.query({ text: 'SELECT 1 FROM document WHERE owner = $1 AND path = $2 LIMIT 1', values: [owner, path] })
  return rows.length > 0
}

async function lengthOf(client: PgClient, owner: string, path: string): Promise<number> {
  const { rows } = await client.query<{ length: number }>({
    text: 'SELECT start + octet_length(value) AS length FROM document WHERE owner = $1 AND path = $2 ORDER BY start DESC LIMIT 1',
    values: [owner, path],
  })
  return rows[0]?.length ?? 0
}

async function removeDocument(client: PgClient, owner: string, path: string): Promise<void> {
  await client.query({ text: 'DELETE FROM document WHERE owner = $1 AND path = $2', values: [owner, path] })
}

async function listDocuments(connections: Database, owner: string, folder: string): Promise<readonly ListedDocument[]> {
  const skipped = folder === '' ? 0 : folder.length + 1
  return connections.rows<ListedDocument>({
    text: `SELECT split_part(substr(path, $4), '/', 1) COLLATE "C" AS name, bool_or(strpos(substr(path, $4), '/') > 0) AS "isFolder",
             sum(octet_length(value))::bigint AS bytes FROM document
           WHERE owner = $1 AND ${BELOW} GROUP BY 1 ORDER BY 1`,
    values: [owner, ...bounds(folder), skipped + 1],
  })
}
