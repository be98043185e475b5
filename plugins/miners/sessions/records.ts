/** Reads exported records, a line of JSON each: exchanges into conversations, reports by the exchanges that they quote. */
import { createReadStream } from 'node:fs'
import { invalid, isObject, type Json, type JsonObject, type MiningOrder } from '../../../src/contract/index.ts'
import { codeOf } from '../../../src/kit/index.ts'
import { Threads, type Thread } from '../../../src/sessions/index.ts'

export interface SessionReport {
  readonly score: number | null
  readonly feedback: Json
}
export interface Recorded {
  readonly threads: readonly Thread[]
  /** By the exchange, the newest last. */
  readonly reports: ReadonlyMap<string, readonly SessionReport[]>
}

/** Longer lines are no records that a task could be made of. */
const LINE_BYTES_MAX = 32 * 1024 * 1024
const REPORTS_MAX = 200_000
const LINES_BETWEEN_WORDS = 1000

export async function readRecorded({ source, report, signal }: Pick<MiningOrder, 'source' | 'report' | 'signal'>): Promise<Recorded> {
  const threads = new Threads()
  const reports = new Map<string, SessionReport[]>()
  let [lines, unread] = [0, 0]
  for await (const line of linesOf(source, signal)) {
    lines += 1
    const record = line === null ? null : recordIn(line)
    if (record === null) unread += 1
    else if ('report' in record) keepReport(reports, record)
    else threads.add(record.id, record.payload)
    if (lines % LINES_BETWEEN_WORDS === 0) report(`${lines} records read`)
  }
  const all = threads.all()
  if (all.length === 0 && unread > 0)
    throw invalid('no_records', `${JSON.stringify(source)} holds no record; write some into it: svc records --export`)
  report(`${lines} records, ${all.length} conversations${unread > 0 ? `; ${unread} lines could not be read` : ''}`)
  return { threads: all, reports }
}

type RecordRead =
  | { readonly id: string; readonly payload: JsonObject }
  | { readonly report: SessionReport; readonly references: readonly string[] }

/** Null for what is no exchange and no report, or lost its body. */
function recordIn(line: string): RecordRead | null {
  const record = objectIn(line)
  const { agent_record_id: id, request_type: type, payload } = record ?? {}
  if (typeof id !== 'string' || !isObject(payload)) return null
  if (type === 'inference') return { id, payload }
  if (type !== 'report') return null
  const { score, feedback, references } = payload
  const quoted = Array.isArray(record?.['references']) ? record['references'] : Array.isArray(references) ? references : []
  return {
    report: { score: typeof score === 'number' ? score : null, feedback: feedback ?? null },
    references: quoted.filter((each) => typeof each === 'string'),
  }
}

function objectIn(line: string): JsonObject | null {
  try {
    const value: Json = JSON.parse(line)
    return isObject(value) ? value : null
  } catch {
    return null
  }
}

function keepReport(reports: Map<string, SessionReport[]>, { report, references }: Extract<RecordRead, { report: SessionReport }>): void {
  for (const id of references) {
    if (reports.size >= REPORTS_MAX && !reports.has(id)) continue
    reports.set(id, [...(reports.get(id) ?? []).slice(-1), report])
  }
}

const LINE_END = 10

/** Null for a line that is too long, which is never held whole. */
async function* linesOf(path: string, signal: AbortSignal): AsyncGenerator<string | null> {
  let parts: Buffer[] = []
  let bytes = 0
  const take = (): string | null => {
    const line = bytes > LINE_BYTES_MAX ? null : Buffer.concat(parts).toString('utf8')
    parts = []
    bytes = 0
    return line
  }
  try {
    for await (const chunk of createReadStream(path, { signal })) {
      const given: Buffer = chunk
      let from = 0
      for (let end = given.indexOf(LINE_END); end >= 0; end = given.indexOf(LINE_END, from)) {
        bytes += end - from
        parts.push(given.subarray(from, end))
        yield take()
        from = end + 1
      }
      bytes += given.length - from
      if (bytes <= LINE_BYTES_MAX) parts.push(given.subarray(from))
      else parts = []
    }
  } catch (error) {
    signal.throwIfAborted()
    throw invalid(
      'no_records',
      `${JSON.stringify(path)} cannot be read (${codeOf(error) ?? 'it failed'}); name a file of svc records --export`,
    )
  }
  if (bytes > 0) yield take()
}
