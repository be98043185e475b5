/** Has the server read back everything kept, and answers with what is not as it was written. */
import type { Damage } from '../../../src/contract/index.ts'
import { Unopened, type StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'
import { openBody, type KeptBody } from './sealed.ts'

const ROWS_PER_SLICE = 256

interface CheckedRow {
  readonly sequence: number
  readonly id: Buffer
  /** Null without a body. */
  readonly matches: boolean | null
  readonly isEvicted: boolean
  /** Of an encrypted body. */
  readonly sealedAge: number | null
}

interface LiveScenario {
  readonly key: number
  readonly name: Buffer
  readonly head: number
}

export async function verifyStore(
  connections: Database,
  seal: StoreSeal,
  signal: AbortSignal,
  progress: (checked: number, total: number) => void,
): Promise<readonly Damage[]> {
  const live = await connections.rows<LiveScenario>({ text: 'SELECT key, name, head FROM scenario WHERE name IS NOT NULL ORDER BY key' })
  const total = live.reduce((sum, { head }) => sum + head, 0)
  const damages: Damage[] = []
  let checked = 0
  for (const scenario of live)
    damages.push(...(await checkRecords({ connections, seal, signal }, scenario, (rows) => progress((checked += rows), total))))
  return damages
}

/** Up to the head known at the start; what comes in meanwhile is for the next time. Rows of an archived scenario stay, so that its archiving is no damage. */
interface Checking {
  readonly connections: Database
  readonly seal: StoreSeal
  readonly signal: AbortSignal
}

async function checkRecords(
  { connections, seal, signal }: Checking,
  { key, name, head }: LiveScenario,
  progress: (rows: number) => void,
): Promise<readonly Damage[]> {
  const damages: Damage[] = []
  const report = (id: string, problem: string): void => void damages.push({ scenario: name.toString(), agent_record_id: id, problem })
  let expected = 1
  for (let isOver = false; !isOver;) {
    signal.throwIfAborted()
    const rows = await selectSlice(connections, key, expected - 1, head)
    for (const row of rows) {
      const id = row.id.toString()
      if (row.sequence !== expected) report(id, `sequence ${expected} is missing before ${row.sequence}`)
      if (row.matches === false) report(id, 'the body does not match its checksum')
      const unopened = row.matches === true && row.sealedAge !== null ? await problemOf(connections, seal, key, id, row.sealedAge) : null
      if (unopened !== null) report(id, unopened)
      if (row.matches === null && !row.isEvicted) report(id, 'the body is missing and was not evicted')
      expected = row.sequence + 1
    }
    progress(rows.length)
    isOver = rows.length < ROWS_PER_SLICE
  }
  if (expected !== head + 1) report('', `the newest sequence is ${expected - 1} and should be ${head}`)
  return damages
}

/** The server has no key, so the body is opened here. */
async function problemOf(connections: Database, seal: StoreSeal, key: number, id: string, age: number): Promise<string | null> {
  const [body] = await connections.rows<KeptBody>({ text: 'SELECT payload, size FROM body WHERE age = $1', values: [age] })
  try {
    if (body !== undefined) openBody(seal, key, id, body)
    return null
  } catch (error) {
    if (error instanceof Unopened) return error.message
    throw error
  }
}

const selectSlice = (connections: Database, key: number, after: number, head: number): Promise<readonly CheckedRow[]> =>
  connections.rows<CheckedRow>({
    name: 'verify',
    text: `SELECT r.sequence, r.id, sha256(b.payload) = b.checksum AS matches, e.sequence IS NOT NULL AS "isEvicted",
             CASE WHEN b.size IS NOT NULL THEN b.age END AS "sealedAge"
           FROM record r LEFT JOIN body b ON b.age = r.age LEFT JOIN evicted e ON e.scenario = r.scenario AND e.sequence = r.sequence
           WHERE r.scenario = $1 AND r.sequence > $2 AND r.sequence <= $3 ORDER BY r.sequence LIMIT ${ROWS_PER_SLICE}`,
    values: [key, after, head],
  })
