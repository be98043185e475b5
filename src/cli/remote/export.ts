/**
 * `svc records --export FILE`: every record with its payload, one JSON object per line, in their order. What is not whole yet lies in
 * FILE.partial, and the next run goes on from there.
 */
import { counted, whole } from '../../presentation/index.ts'
import { createReadStream, existsSync } from 'node:fs'
import { open, rename, type FileHandle } from 'node:fs/promises'
import { ServiceFailure, type RecordRow, type Svc } from '@svc-ai/client'
import { conflict, ROUTE_PREFIX, unavailable } from '../../contract/index.ts'
import { startBar, type Bar } from '../bar.ts'
import { jsonLine, jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'

const PAGE_ROWS = 50
const AT_ONCE = 8
/** Records hold what people wrote: they are their owner's alone. */
export const RECORDS_MODE = 0o600

export interface Export {
  readonly scenario: string
  readonly file: string
  readonly json?: boolean
}

export async function exportRecords(svc: Svc, wanted: Export, surroundings: Surroundings): Promise<number> {
  const partial = `${wanted.file}.partial`
  try {
    if (existsSync(wanted.file))
      throw conflict('file_there', `${shellWord(wanted.file)} is there already: move it away, or name another file`)
    const kept = existsSync(partial) ? await wholeLines(partial) : NOTHING
    await requireSameScenario(svc, kept, partial)
    const records = await goOn({ svc, scenario: wanted.scenario, partial, kept }, surroundings)
    await rename(partial, wanted.file)
    report(wanted, records, kept, surroundings)
    return EXIT.fine
  } catch (error) {
    if (!(error instanceof Error) || !('syscall' in error) || !('code' in error)) throw error
    const problem = `${shellWord(partial)} cannot be written (${String(error.code)})`
    throw unavailable('export_failed', `${problem}: fix that, then run this again; it continues where it stopped`)
  }
}

function report({ scenario, file, json }: Export, records: number, kept: Kept, surroundings: Surroundings): void {
  if (json === true) {
    surroundings.out(jsonText({ scenario, file, records }, 2))
    return
  }
  const earlier = kept.records === 0 ? '' : ` (${whole(kept.records)} of them by an earlier run)`
  surroundings.out(`${counted(records, 'record')} of ${oneLine(scenario)} written to ${shellWord(file)}${earlier}`)
}

/** How far a file is right: line n holds record n, and ends. */
interface Kept {
  readonly records: number
  readonly bytes: number
  readonly lastLine: string
}
const NOTHING: Kept = { records: 0, bytes: 0, lastLine: '' }

/** A run that was killed may have left half a line, and two runs at once any mixture; whatever comes after the last right line is written anew. */
async function wholeLines(partial: string): Promise<Kept> {
  let kept = NOTHING
  for await (const line of endedLines(partial)) {
    if (!line.startsWith(beginningOf(kept.records + 1))) break
    kept = { records: kept.records + 1, bytes: kept.bytes + Buffer.byteLength(line) + 1, lastLine: line }
  }
  return kept
}

/** A line without its end was not written to its end. Put together once it has one: it may be megabytes long. */
async function* endedLines(path: string): AsyncGenerator<string> {
  let begun: string[] = []
  for await (const part of createReadStream(path, 'utf8')) {
    const [first = '', ...others] = String(part).split('\n')
    begun.push(first)
    for (const next of others) {
      yield begun.join('')
      begun = [next]
    }
  }
}

/** The last record that was written must be the one of that number here. */
async function requireSameScenario(svc: Svc, { records, lastLine }: Kept, partial: string): Promise<void> {
  if (records === 0) return
  const [row] = (await svc.records({ after_sequence: records - 1, limit: 1 })).records
  if (row === undefined || idIn(lastLine) !== row.agent_record_id)
    throw conflict('other_export', `${shellWord(partial)} was begun for other records: remove it, or name another file`)
}

/** Null for what is no record at all. */
function idIn(line: string): unknown {
  try {
    const record: Partial<RecordRow> = JSON.parse(line)
    return record.agent_record_id
  } catch {
    return null
  }
}

interface Work {
  readonly svc: Svc
  readonly scenario: string
  readonly partial: string
  readonly kept: Kept
}

async function goOn(work: Work, surroundings: Surroundings): Promise<number> {
  const handle = await open(work.partial, 'a', RECORDS_MODE)
  const bar = startBar(surroundings)
  try {
    await handle.truncate(work.kept.bytes)
    const records = await writeAll(work, handle, bar.at)
    await handle.sync()
    return records
  } finally {
    bar.end()
    await handle.close()
  }
}

async function writeAll({ svc, scenario, kept }: Work, handle: FileHandle, progress: Bar['at']): Promise<number> {
  const total = await newestOf(svc)
  let { records, bytes } = kept
  for await (const { lines, through } of recordLines(svc, scenario, records)) {
    await requireAlone(handle, bytes)
    await handle.appendFile(lines)
    records = through
    bytes += Buffer.byteLength(lines)
    progress(records, Math.max(total, records))
  }
  await requireAlone(handle, bytes)
  return records
}

/** The sequence of the newest record; 0 where there is none. */
export const newestOf = async (svc: Svc): Promise<number> => (await svc.records({ order: 'newest', limit: 1 })).records[0]?.sequence ?? 0

/** The records after that sequence as lines, a few at a time. */
export async function* recordLines(
  svc: Svc,
  scenario: string,
  after: number,
): AsyncGenerator<{ readonly lines: string; readonly through: number }> {
  let through = after
  for (;;) {
    const page = await svc.records({ after_sequence: through, limit: PAGE_ROWS })
    for (const rows of chunked(page.records)) {
      const lines = (await Promise.all(rows.map((row) => lineOf(svc, scenario, row)))).join('')
      through = rows.at(-1)?.sequence ?? through
      yield { lines, through }
    }
    if (page.next === null) return
  }
}

function chunked(rows: readonly RecordRow[]): readonly (readonly RecordRow[])[] {
  return Array.from({ length: Math.ceil(rows.length / AT_ONCE) }, (_, at) => rows.slice(at * AT_ONCE, (at + 1) * AT_ONCE))
}

/** The service's own text, so that no number is read and written again. A body that was evicted to make room is null. */
async function lineOf(svc: Svc, scenario: string, row: RecordRow): Promise<string> {
  const path = `${ROUTE_PREFIX}/scenarios/${encodeURIComponent(scenario)}/records/${encodeURIComponent(row.agent_record_id)}`
  const text = await svc.text(path).catch((error: unknown) => {
    if (error instanceof ServiceFailure && error.code === 'record_expired') return JSON.stringify({ ...row, payload: null })
    throw error
  })
  const line = jsonLine(text)
  if (!line.startsWith(beginningOf(row.sequence)))
    throw unavailable('odd_answer', 'the service sent something that is no record: try again')
  return `${line}\n`
}

/** The sequence in a line, by which an export is continued. */
const beginningOf = (sequence: number): string => `{"sequence":${sequence},`

/** Two exports into one file would mix their lines: each notices the other by a length that is not its own. */
async function requireAlone(handle: FileHandle, bytes: number): Promise<void> {
  if ((await handle.stat()).size !== bytes)
    throw conflict('two_exports', 'another export writes to the same file: wait until it is done, and run this again')
}
