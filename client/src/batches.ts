/** Lines to batches: as many envelopes as the caps allow, each still the text it was in the file. */
import { ImportFailure } from './failure.ts'

interface Line {
  /** Counted from 1, blank ones included, as an editor shows it. */
  readonly number: number
  readonly id: string
  /** The envelope as it stands in the file: never printed anew, so that no number loses a digit on the way. */
  readonly text: string
}

export interface ImportBatch {
  readonly lines: readonly Line[]
  /** Where the next batch begins. */
  readonly end: number
}

export interface Caps {
  readonly batchRecordsMax: number
  readonly batchBytesMax: number
}

const PREFIX = '{"records":['
const SUFFIX = ']}'
const FRAME_BYTES = PREFIX.length + SUFFIX.length
const NEWLINE = 0x0a
/** White space around an envelope is not sent; a line beyond this many times the cap is too long, whatever part of it is white space. */
const LONGEST = 2

export const bodyOf = (batch: ImportBatch): string => PREFIX + batch.lines.map((line) => line.text).join(',') + SUFFIX

/** What comes before a bad line is still yielded; then the line stops everything. */
export async function* readBatches(chunks: AsyncIterable<Buffer>, start: Start, caps: Caps): AsyncGenerator<ImportBatch> {
  let lines: Line[] = []
  let bytes = FRAME_BYTES
  let end = start.offset
  for await (const raw of readLines(chunks, start, caps.batchBytesMax)) {
    const line = attempt(() => parseLine(raw, caps.batchBytesMax))
    if (line === null) continue
    const size = 'failure' in line ? Infinity : Buffer.byteLength(line.text) + 1
    if (lines.length > 0 && (lines.length === caps.batchRecordsMax || bytes + size - 1 > caps.batchBytesMax)) {
      yield { lines, end }
      lines = []
      bytes = FRAME_BYTES
    }
    if ('failure' in line) throw line.failure
    lines.push(line)
    bytes += size
    end = raw.end
  }
  if (lines.length > 0) yield { lines, end }
}

export interface Start {
  readonly offset: number
  readonly linesBefore: number
}

interface RawLine {
  readonly number: number
  readonly bytes: Buffer
  readonly end: number
}

/** A line that cannot fit is handed on as soon as that is known, so that a file without line ends is not read into memory. */
async function* readLines(chunks: AsyncIterable<Buffer>, start: Start, bytesMax: number): AsyncGenerator<RawLine> {
  let number = start.linesBefore
  let offset = start.offset
  let held: Buffer = Buffer.alloc(0)
  for await (const chunk of chunks) {
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
    let from = 0
    for (let at = held.indexOf(NEWLINE); at >= 0; at = held.indexOf(NEWLINE, from)) {
      number += 1
      yield { number, bytes: held.subarray(from, at), end: offset + at + 1 }
      from = at + 1
    }
    held = held.subarray(from)
    offset += from
    if (held.length > bytesMax * LONGEST) yield { number: number + 1, bytes: held, end: offset + held.length }
  }
  if (held.length > 0) yield { number: number + 1, bytes: held, end: offset + held.length }
}

const utf8 = new TextDecoder('utf-8', { fatal: true })

/** Null for a blank line. A byte order mark at the start of the file is no part of its first line. */
function parseLine(raw: RawLine, bytesMax: number): Line | null {
  if (raw.bytes.length > bytesMax * LONGEST) throw tooLong(raw, bytesMax)
  const text = decode(raw).trim()
  if (text === '') return null
  if (Buffer.byteLength(text) + FRAME_BYTES > bytesMax) throw tooLong(raw, bytesMax)
  return { number: raw.number, id: recordId(raw, parseJson(raw, text)), text }
}

function decode(raw: RawLine): string {
  try {
    return utf8.decode(raw.bytes)
  } catch {
    throw bad(raw, 'is not valid UTF-8')
  }
}

function parseJson(raw: RawLine, text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    throw bad(raw, 'is not valid JSON')
  }
}

/** Only what a safe retry needs; everything else about an envelope is for the service to judge. */
function recordId(raw: RawLine, envelope: unknown): string {
  if (typeof envelope !== 'object' || envelope === null || Array.isArray(envelope)) throw bad(raw, 'is not a JSON object')
  const id = 'agent_record_id' in envelope ? envelope.agent_record_id : undefined
  if (typeof id !== 'string' || id.trim() === '') throw bad(raw, 'has no agent_record_id; without a stable id it could be stored twice')
  return id
}

const tooLong = (raw: RawLine, bytesMax: number): ImportFailure =>
  bad(raw, `does not fit into a batch of ${bytesMax} bytes; raise --max-batch-bytes (at most 1048575) or shorten the line`)

const bad = (raw: RawLine, problem: string): ImportFailure => new ImportFailure(`line ${raw.number} ${problem}`)

function attempt<T>(parse: () => T): T | { readonly failure: unknown } {
  try {
    return parse()
  } catch (failure) {
    return { failure }
  }
}
