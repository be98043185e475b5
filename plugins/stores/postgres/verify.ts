/** Has the server read back everything kept, and answers with what is not as it was written. */
import type { Damage } from '../../../src/contract/index.ts'
import type { Database } from './connections.ts'

const ROWS_PER_SLICE = 256

interface CheckedRow {
  readonly sequence: number
  readonly id: Buffer
  /** Null without a body. */
  readonly matches: boolean | null
  readonly isEvicted: boolean
}

interface LiveScenario {
  readonly key: number
  readonly name: Buffer
  readonly head: number
}

export async function verifyStore(
  connections: Database,
  signal: AbortSignal,
  progress: (checked: number, total: number) => void,
): Promise<readonly Damage[]> {
  const live = await connections.rows<LiveScenario>({ text: 'SELECT key, name, head FROM scenario WHERE name IS NOT NULL ORDER BY key' })
  const total = live.reduce((sum, { head }) => sum + head, 0)
  const damages: Damage[] = []
  let checked = 0
  for (const scenario of live)
    damages.push(...(await checkRecords(connections, signal, scenario, (rows) => progress((checked += rows), total))))
  return damages
}

/** Up to the head known at the start; what comes in meanwhile is for the next time. Rows of an archived scenario stay, so that its archiving is no damage. */
async function checkRecords(
  connections: Database,
  signal: AbortSignal,
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
      if (row.matches === null && !row.isEvicted) report(id, 'the body is missing and was not evicted')
      expected = row.sequence + 1
    }
    progress(rows.length)
    isOver = rows.length < ROWS_PER_SLICE
  }
  if (expected !== head + 1) report('', `the newest sequence is ${expected - 1} and should be ${head}`)
  return damages
}

const selectSlice = (connections: Database, key: number, after: number, head: number): Promise<readonly CheckedRow[]> =>
  connections.rows<CheckedRow>({
    name: 'verify',
    text: `SELECT r.sequence, r.id, sha256(b.payload) = b.checksum AS matches, e.sequence IS NOT NULL AS "isEvicted"
           FROM record r LEFT JOIN body b ON b.age = r.age LEFT JOIN evicted e ON e.scenario = r.scenario AND e.sequence = r.sequence
           WHERE r.scenario = $1 AND r.sequence > $2 AND r.sequence <= $3 ORDER BY r.sequence LIMIT ${ROWS_PER_SLICE}`,
    values: [key, after, head],
  })
