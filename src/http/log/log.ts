/** One line per request and per event that an operator should see: JSON, or for a person at a terminal. Writing never waits for the reader. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'
import { Writable } from 'node:stream'
import type { JsonObject } from '../../contract/index.ts'
import { hasCode, hiddenAsJson, withoutSecrets } from '../../kit/index.ts'
import { personLine, type LineStyle } from './log-lines.ts'

export type LogLevel = 'info' | 'warn' | 'error'

export interface Log {
  /** `at` is when it happened, where that is not now. */
  write(level: LogLevel, event: string, fields: JsonObject, at?: number): void
  flush(): void
  /** Lines dropped because the reader was too slow. */
  readonly dropped?: number
}

const STANDARD_ERROR = 2

/** A log as it is, or one on standard error: as lines for a person where a style is given, else as JSON. */
export const openLog = (clock: () => number, given: Log | LineStyle | undefined): Log =>
  screenedLog(given === undefined || !('write' in given) ? makeLog(clock, given) : given)

/** Warnings and errors quote others, so they are written without secrets and without the keys of this service. Lines of requests hold only ours. */
export function screenedLog(log: Log): Log {
  return {
    write: (level, event, fields, at) => log.write(level, event, level === 'info' ? fields : cleaned(fields), at),
    flush: () => log.flush(),
    get dropped() {
      return log.dropped ?? 0
    },
  }
}

const cleaned = (fields: JsonObject): JsonObject =>
  JSON.parse(JSON.stringify(fields, (_, value: unknown) => (typeof value === 'string' ? withoutSecrets(value) : value)))

/** Writes to standard error, so that standard output stays the command's own. `lines`: for a person; null for programs, as JSON. */
export function makeLog(clock: () => number, lines: LineStyle | null = null): Log {
  const lineOf = (level: string, event: string, fields: JsonObject, at = clock()): string | null =>
    lines === null ? logLine({ time: timeText(at), level, event, ...fields }) : personLine(level, event, fields, at, lines)
  const writer = (shared ??= takeStandardError((count) => lineOf('warn', 'log_dropped', { lines: count }) ?? ''))
  return {
    write: (level, event, fields, at) => {
      const line = lineOf(level, event, fields, at)
      if (line !== null) writer.write(line)
    },
    flush: () => writer.flush(),
    get dropped() {
      return writer.dropped
    },
  }
}

/** Lines of one second share all but the milliseconds: printing a date takes longer than printing the rest of a line. */
let printedSecond = { second: Number.NaN, text: '' }

export function timeText(at: number): string {
  const ms = Math.floor(at * 1000)
  const second = Math.floor(ms / 1000)
  if (second !== printedSecond.second) printedSecond = { second, text: new Date(second * 1000).toISOString().slice(0, -'000Z'.length) }
  return `${printedSecond.text}${String(ms - second * 1000).padStart(3, '0')}Z`
}

/** Names that clients chose are shown on the operator's terminal. */
export const logLine = (fields: JsonObject): string => `${hiddenAsJson(JSON.stringify(fields))}\n`

/** A process has one standard error, so all its logs share one writer. */
let shared: NonblockingWriter | null = null

/**
 * Everything else that this process and its threads print there goes through the same writer: a plug-in's line that waited for a reader
 * would stop the service too.
 */
function takeStandardError(droppedLine: (lines: number) => string): NonblockingWriter {
  const writer = openWriter(STANDARD_ERROR, droppedLine)
  Object.defineProperty(process, 'stderr', { value: standardError(writer), configurable: true })
  // The last lines before an exit or a crash matter most.
  process.once('exit', () => writer.flush())
  return writer
}

function standardError(writer: NonblockingWriter): Writable {
  const { isTTY, columns } = process.stderr
  const lines = wholeLines((text) => writer.write(withoutSecrets(text)))
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      lines.take(String(chunk))
      done()
    },
  })
  // Before the writer's own listener, which writes the last lines.
  process.prependListener('exit', () => lines.end())
  return Object.assign(stream, { fd: STANDARD_ERROR, isTTY, columns })
}

/** A line that its printer does not end is passed on after this time, or at this length. */
const LINE_ENDS_AFTER_MS = 1000
const LINE_CHARACTERS_MAX = 64 * 1024

/** A secret that is printed in pieces is found once its line is whole. */
export function wholeLines(pass: (text: string) => void): { take(text: string): void; end(): void } {
  let rest = ''
  let timer: NodeJS.Timeout | null = null
  const end = (): void => {
    if (timer !== null) clearTimeout(timer)
    timer = null
    if (rest !== '') pass(rest)
    rest = ''
  }
  return {
    take(text) {
      rest += text
      const after = rest.lastIndexOf('\n') + 1
      if (after > 0) pass(rest.slice(0, after))
      rest = rest.slice(after)
      if (rest.length > LINE_CHARACTERS_MAX) end()
      else if (rest !== '') timer ??= setTimeout(end, LINE_ENDS_AFTER_MS).unref()
    },
    end,
  }
}

const WRITE_AFTER_MS = 20
const WRITE_AFTER_BYTES = 64 * 1024
const TRY_AGAIN_MS = 50
/** Bytes buffered for a reader that does not read. */
const WAITING_BYTES_MAX = 1024 * 1024
/** How long the last lines of a process wait for a reader. */
const LAST_LINES_MS = 1000
const LAST_LINES_LOOK_MS = 10

interface NonblockingWriter {
  write(text: string): void
  flush(): void
  readonly dropped: number
}

/** The notice is the line that says how many lines were dropped before it. */
function openWriter(descriptor: number, notice: (lines: number) => string): NonblockingWriter {
  const target = nonblocking(descriptor)
  let waiting: Buffer[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | null = null
  let isBlocked = false
  let dropped = 0
  let unreported = 0

  function drop(lines: number): void {
    dropped += lines
    unreported += lines
  }

  function take(text: string): void {
    const line = Buffer.from(text)
    waiting.push(line)
    bytes += line.length
  }

  function pump(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    isBlocked = false
    try {
      while (waiting.length > 0) advance(writeSync(target, Buffer.concat(waiting)))
      if (unreported === 0) return
      take(notice(unreported))
      unreported = 0
      later(WRITE_AFTER_MS)
    } catch (error) {
      if (hasCode(error, 'EAGAIN')) {
        isBlocked = true
        later(TRY_AGAIN_MS)
        return
      }
      // A reader that is gone, or a full disk, must not stop the service.
      drop(linesIn(Buffer.concat(waiting)))
      waiting = []
      bytes = 0
    }
  }

  function advance(written: number): void {
    const rest = Buffer.concat(waiting).subarray(written)
    waiting = rest.length === 0 ? [] : [rest]
    bytes = rest.length
  }

  function later(milliseconds: number): void {
    timer ??= setTimeout(pump, milliseconds).unref()
  }

  return {
    write(text) {
      if (bytes + text.length > WAITING_BYTES_MAX) {
        drop(linesIn(text))
        later(TRY_AGAIN_MS)
        return
      }
      if (unreported > 0) {
        take(notice(unreported))
        unreported = 0
      }
      take(text)
      if (bytes >= WRITE_AFTER_BYTES && !isBlocked) pump()
      else later(WRITE_AFTER_MS)
    },
    flush() {
      pump()
      if (waiting.length > 0 && !isBlocked) pump()
      for (let waited = 0, before = bytes; waiting.length > 0 && waited < LAST_LINES_MS; waited += LAST_LINES_LOOK_MS) {
        Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, LAST_LINES_LOOK_MS)
        pump()
        if (bytes < before) waited = 0
        before = bytes
      }
    },
    get dropped() {
      return dropped
    },
  }
}

/**
 * A file never blocks. A pipe or a terminal is opened again, so that only our own opening is non-blocking. When that fails (a socket, a pipe of
 * another user), Node's own stream makes the descriptor itself non-blocking.
 */
function nonblocking(descriptor: number): number {
  const opened = fstatSync(descriptor)
  if (opened.isFile()) return descriptor
  if (!opened.isSocket()) {
    try {
      return openSync(`/proc/self/fd/${descriptor}`, constants.O_WRONLY | constants.O_NONBLOCK | constants.O_NOCTTY)
    } catch {
      // Not ours to open.
    }
  }
  if (!opened.isCharacterDevice()) held.push(new Socket({ fd: descriptor, readable: false, writable: true }).on('error', () => undefined))
  return descriptor
}

/** Kept, since a collected stream closes its descriptor. */
const held: Socket[] = []

function linesIn(text: string | Buffer): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return Math.max(lines, 1)
}
