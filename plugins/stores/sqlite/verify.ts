/** Reads back everything kept and answers with what is not as it was written. */
import type { DatabaseSync } from 'node:sqlite'
import type { Damage } from '../../../src/contract/index.ts'
import { wordsOf } from '../../../src/kit/index.ts'
import { StoreSeal, type SealSettings } from '../common/seal.ts'
import { BODY_COLUMNS, DamagedBody, openBody, readBody, WITH_BODY, type BodyColumns } from './bodies/bodies.ts'
import { isIntact } from './bodies/checksum.ts'
import { openForReading } from './open.ts'
import { Query } from './query.ts'
import { isDamage } from './refusals.ts'

/** Rows read under one snapshot: short, so that the log can be written back meanwhile. */
const ROWS_PER_SLICE = 256
const FINDINGS_MAX = 1000

type Progress = (checked: number, total: number) => void

interface CheckedRow extends BodyColumns {
  readonly sequence: number
  readonly agent_record_id: string
  readonly has_digest: number
}

export function verifyStore(directory: string, settings: SealSettings, progress: Progress): readonly Damage[] {
  const db = openForReading(directory)
  try {
    return [...checkStructure(db), ...checkScenarios(db, new StoreSeal(settings), progress)]
  } finally {
    db.close()
  }
}

function checkStructure(db: DatabaseSync): Damage[] {
  const findings = new Query<{ integrity_check: string }>(db, `PRAGMA integrity_check(${FINDINGS_MAX})`).all()
  return findings
    .map((row) => row.integrity_check)
    .filter((finding) => finding !== 'ok')
    .map((problem) => ({ scenario: '', agent_record_id: '', problem }))
}

function checkScenarios(db: DatabaseSync, seal: StoreSeal, progress: Progress): Damage[] {
  const scenarios = new Query<{ key: number; name: string; head: number }>(
    db,
    'SELECT key, name, head FROM scenario WHERE name IS NOT NULL ORDER BY key',
  )
  const isLive = new Query(db, 'SELECT 1 FROM scenario WHERE key = ? AND name IS NOT NULL')
  const live = scenarios.all()
  const total = live.reduce((sum, { head }) => sum + head, 0)
  const damages: Damage[] = []
  let checked = 0
  for (const { key, name, head } of live) {
    const found = checkReadable({ db, seal, key, scenario: name, head }, (rows) => progress((checked += rows), total))
    // Archived meanwhile: its rows are on their way out, and no gap is a damage.
    if (isLive.first(key) !== undefined) damages.push(...found)
  }
  return damages
}

interface CheckedScenario {
  readonly db: DatabaseSync
  readonly seal: StoreSeal
  readonly key: number
  readonly scenario: string
  readonly head: number
}

/** Pages that cannot be read end the check of a scenario, and are its damage. */
function checkReadable(checked: CheckedScenario, progress: (rows: number) => void): Damage[] {
  const damages: Damage[] = []
  try {
    checkRecords(checked, (damage) => damages.push({ scenario: checked.scenario, ...damage }), progress)
  } catch (error) {
    if (!isDamage(error)) throw error
    damages.push({ scenario: checked.scenario, agent_record_id: '', problem: `not all of its records can be read (${wordsOf(error)})` })
  }
  return damages
}

/** Up to the head known at the start; what comes in meanwhile is for the next time. */
function checkRecords(
  { db, seal, key, head }: CheckedScenario,
  found: (damage: Omit<Damage, 'scenario'>) => void,
  progress: (rows: number) => void,
): void {
  const slice = new Query<CheckedRow>(
    db,
    `SELECT r.sequence, r.agent_record_id, r.digest IS NOT NULL AS has_digest, ${BODY_COLUMNS}
     FROM record r ${WITH_BODY}
     WHERE r.scenario = ? AND r.sequence > ? AND r.sequence <= ? ORDER BY r.sequence LIMIT ${ROWS_PER_SLICE}`,
  )
  const report = (agent_record_id: string, problem: string): void => found({ agent_record_id, problem })
  let expected = 1
  for (let rows = ROWS_PER_SLICE; rows === ROWS_PER_SLICE; progress(rows)) {
    rows = 0
    for (const row of slice.each(key, expected - 1, head)) {
      if (row.sequence !== expected) report(row.agent_record_id, `sequence ${expected} is missing before ${row.sequence}`)
      const problem = problemOf(seal, row)
      if (problem !== null) report(row.agent_record_id, problem)
      expected = row.sequence + 1
      rows += 1
    }
  }
  if (expected !== head + 1) report('', `the newest sequence is ${expected - 1} and should be ${head}`)
}

function problemOf(seal: StoreSeal, row: CheckedRow): string | null {
  if (row.payload === null) return row.has_digest === 1 ? null : 'the body is missing and was not evicted'
  try {
    const checksum = openBody(seal, row)?.checksum ?? new Uint8Array()
    return isIntact(readBody(seal, row) ?? new Uint8Array(), checksum) ? null : 'the body does not match its checksum'
  } catch (error) {
    if (error instanceof DamagedBody) return error.message
    throw error
  }
}
