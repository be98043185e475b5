/** One JSON line per request and per event that an operator should see. Writing never waits for the reader. */
import { Writable } from 'node:stream'
import type { JsonObject } from '../contract/index.ts'
import { openWriter, type NonblockingWriter } from './nonblocking-writer.ts'

export interface Log {
  write(level: 'info' | 'warn' | 'error', event: string, fields: JsonObject): void
  flush(): void
  /** Lines dropped because the reader was too slow. */
  readonly dropped?: number
}

const STANDARD_ERROR = 2

/** Writes to standard error, so that standard output stays the command's own. */
export function makeLog(clock: () => number): Log {
  const lineOf = (level: string, event: string, fields: JsonObject): string =>
    `${JSON.stringify({ time: new Date(clock() * 1000).toISOString(), level, event, ...fields })}\n`
  const writer = (shared ??= takeStandardError((lines) => lineOf('warn', 'log_dropped', { lines })))
  return {
    write: (level, event, fields) => writer.write(lineOf(level, event, fields)),
    flush: () => writer.flush(),
    get dropped() {
      return writer.dropped
    },
  }
}

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
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      writer.write(String(chunk))
      done()
    },
  })
  return Object.assign(stream, { fd: STANDARD_ERROR, isTTY, columns })
}
