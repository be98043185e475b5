/**
 * Copies the rows and records of a scenario from one store to another. What is there already is left as it is, so that a copy that was
 * stopped or killed goes on where it was; what both sides hold is compared in the end, byte by byte.
 */
import { isDeepStrictEqual } from 'node:util'
import {
  conflict,
  unknown,
  type Commit,
  type NewRecord,
  type RecordRow,
  type ScenarioStore,
  type StoredRecord,
} from '../../contract/index.ts'
import { Slots } from '../../kit/index.ts'

const RECORDS_PER_PAGE = 200
const COMMITS_PER_PAGE = 100
/** No more than a store has connections: who waits for one too long is refused. */
const READS_AT_ONCE = 4
/** Bodies that one append holds, beyond its first record. */
const APPEND_BYTES_MAX = 8 * 1024 * 1024

export interface CopySides {
  readonly from: ScenarioStore
  readonly to: ScenarioStore
  readonly signal: AbortSignal
  /** So many rows more are copied, or compared. */
  readonly progress: (rows: number) => void
}

/** What there is to copy: what comes in later is for the next copy. */
export interface CopyEnd {
  readonly step: number
  readonly sequence: number
}

interface SideCounts {
  readonly records: number
  readonly steps: number
}

export interface CopiedScenario {
  readonly source: SideCounts
  readonly target: SideCounts
  /** How many of the target's this run added. */
  readonly added: SideCounts
  /** Records whose bodies capacity took. They are left behind, since nothing could be compared with what is sent again. */
  readonly evicted: number
  /** What is not the same on both sides, each by its id or step. */
  readonly differences: readonly string[]
}

/** Rows first: every record that a row up to that step consumed has a number up to that sequence then. */
export async function endOf(scenario: ScenarioStore): Promise<CopyEnd | null> {
  const head = await scenario.head()
  if (head === null) return null
  return { step: head.newest.step, sequence: (await newestRow(scenario))?.sequence ?? 0 }
}

const newestRow = async (scenario: ScenarioStore): Promise<RecordRow | undefined> =>
  (await scenario.records({ before: Number.MAX_SAFE_INTEGER, limit: 1 }))[0]

export async function copyScenario(sides: CopySides, end: CopyEnd): Promise<CopiedScenario> {
  const begun = await beginning(sides)
  const records = await copyRecords(sides, end)
  const steps = begun + (await copyCommits(sides, end))
  return { ...(await compare(sides, end)), added: { records, steps } }
}

/** The creation row, without which there is no scenario. Answers how many rows were added. */
async function beginning({ from, to }: CopySides): Promise<number> {
  const [created] = await from.commits({ after: -1, limit: 1 })
  if (created === undefined) throw unknown('unknown_scenario', 'the scenario was archived meanwhile; start again')
  const [there] = await to.commits({ after: -1, limit: 1 })
  if (there === undefined) {
    await to.commit(created)
    return 1
  }
  if (!isDeepStrictEqual(withoutTotals(there), withoutTotals(created)))
    throw conflict('other_scenario', 'the target has another scenario of this name; give the copy another name with --as')
  return 0
}

async function copyRecords(sides: CopySides, end: CopyEnd): Promise<number> {
  const { from, to, signal, progress } = sides
  let after = await sequenceReached(from, to)
  let added = 0
  progress(after)
  while (after < end.sequence) {
    signal.throwIfAborted()
    const rows = upTo(end, await from.records({ after, limit: RECORDS_PER_PAGE }))
    const last = rows.at(-1)
    if (last === undefined) break
    for (const group of groupsOf(await bodiesOf(from, rows))) {
      await to.append(group)
      added += group.length
    }
    progress(rows.length)
    after = last.sequence
  }
  return added
}

/** Where in the source the newest record of the target is. */
async function sequenceReached(from: ScenarioStore, to: ScenarioStore): Promise<number> {
  const newest = await newestRow(to)
  if (newest === undefined) return 0
  const source = await from.get(newest.agent_record_id)
  if (source !== null) return source.sequence
  throw conflict(
    'other_records',
    'the target has records that the source does not have; a service went on with it, so give the copy another name with --as',
  )
}

const upTo = (end: CopyEnd, rows: readonly RecordRow[]): readonly RecordRow[] => rows.filter(({ sequence }) => sequence <= end.sequence)

/** One for each row; null where there is none. */
function bodiesOf(scenario: ScenarioStore, rows: readonly RecordRow[]): Promise<readonly (StoredRecord | null)[]> {
  const slots = new Slots(READS_AT_ONCE)
  return Promise.all(rows.map(({ agent_record_id }) => slots.run(() => scenario.get(agent_record_id))))
}

/** In their order, without those whose bodies are gone. */
function groupsOf(records: readonly (StoredRecord | null)[]): readonly (readonly NewRecord[])[] {
  const groups: NewRecord[][] = []
  let bytes = Infinity
  for (const stored of records) {
    if (stored === null || stored.payload === null) continue
    const { sequence: _, payload, ...record } = { ...stored, payload: stored.payload }
    if (bytes + payload.byteLength > APPEND_BYTES_MAX) {
      groups.push([])
      bytes = 0
    }
    groups.at(-1)?.push({ ...record, payload })
    bytes += payload.byteLength
  }
  return groups
}

async function copyCommits({ from, to, signal }: CopySides, end: CopyEnd): Promise<number> {
  const first = (await to.head())?.newest.step ?? -1
  let step = first
  while (step < end.step) {
    signal.throwIfAborted()
    const rows = (await from.commits({ after: step, limit: COMMITS_PER_PAGE })).filter((row) => row.step <= end.step)
    if (rows.length === 0) break
    for (const row of rows) {
      await to.commit(row)
      step = row.step
    }
  }
  return step - first
}

async function compare(sides: CopySides, end: CopyEnd): Promise<Omit<CopiedScenario, 'added'>> {
  const differences: string[] = []
  const source = { records: 0, steps: 0 }
  const target = { records: 0, steps: 0 }
  let evicted = 0
  for (let after = 0; after < end.sequence;) {
    sides.signal.throwIfAborted()
    const rows = upTo(end, await sides.from.records({ after, limit: RECORDS_PER_PAGE }))
    const last = rows.at(-1)
    if (last === undefined) break
    const [mine, theirs] = await Promise.all([bodiesOf(sides.from, rows), bodiesOf(sides.to, rows)])
    for (const [index, { agent_record_id }] of rows.entries()) {
      const [record, copy] = [mine[index] ?? null, theirs[index] ?? null]
      source.records += 1
      if (copy !== null) target.records += 1
      if (record?.payload === null) evicted += 1
      else if (record === null || copy === null || !isSameRecord(record, copy)) differences.push(`record ${agent_record_id}`)
    }
    sides.progress(rows.length)
    after = last.sequence
  }
  for (let after = -1; after < end.step;) {
    const [mine, theirs] = await Promise.all([commitsAfter(sides.from, after, end), commitsAfter(sides.to, after, end)])
    const last = mine.at(-1)
    if (last === undefined) break
    const copies = new Map(theirs.map((row) => [row.step, row]))
    source.steps += mine.length
    target.steps += theirs.length
    for (const row of mine)
      if (!isDeepStrictEqual(withoutTotals(row), withoutTotals(copies.get(row.step)))) differences.push(`step ${row.step}`)
    after = last.step
  }
  return { source, target, evicted, differences }
}

const commitsAfter = async (scenario: ScenarioStore, after: number, end: CopyEnd): Promise<readonly Commit[]> =>
  (await scenario.commits({ after, limit: COMMITS_PER_PAGE })).filter(({ step }) => step <= end.step)

/** Numbers differ where records before were left behind. */
function isSameRecord(record: StoredRecord, copy: StoredRecord): boolean {
  if (record.payload === null || copy.payload === null || Buffer.compare(record.payload, copy.payload) !== 0) return false
  return isDeepStrictEqual({ ...record, payload: null }, { ...copy, payload: null, sequence: record.sequence })
}

/** Totals are derived, and may have been worked out on one side alone. */
function withoutTotals(row: Commit | undefined): Omit<Commit, 'totals'> | undefined {
  if (row === undefined) return undefined
  const { totals: _, ...rest } = row
  return rest
}
