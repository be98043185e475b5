/** One JSON line per request and per event worth an operator's eye. Nobody waits for whoever reads them. */
import { Writable } from 'node:stream'
import type { JsonObject } from '../contract/index.ts'
import { openSink, type Sink } from './sink.ts'

export interface Log {
  write(level: 'info' | 'warn' | 'error', event: string, fields: JsonObject): void
  flush(): void
  /** Lines that found no room because nobody read the log. */
  readonly dropped?: number
}

const STANDARD_ERROR = 2

/** Writes to standard error, so that standard output stays the command's own. */
export function makeLog(clock: () => number): Log {
  const lineOf = (level: string, event: string, fields: JsonObject): string =>
    `${JSON.stringify({ time: new Date(clock() * 1000).toISOString(), level, event, ...fields })}\n`
  const sink = (shared ??= takeStandardError((lines) => lineOf('warn', 'log_dropped', { lines })))
  return {
    write: (level, event, fields) => sink.write(lineOf(level, event, fields)),
    flush: () => sink.flush(),
    get dropped() {
      return sink.dropped
    },
  }
}

/** A process has one standard error, so all its logs share one way to it. */
let shared: Sink | null = null

/**
 * From here on everything else that this process and its threads print there goes the same way: one line of a plug-in that waits for a
 * reader would stop the service as surely as one of ours.
 */
function takeStandardError(droppedLine: (lines: number) => string): Sink {
  const sink = openSink(STANDARD_ERROR, droppedLine)
  Object.defineProperty(process, 'stderr', { value: standardError(sink), configurable: true })
  // What was said right before an exit or a crash is what somebody will look for.
  process.once('exit', () => sink.flush())
  return sink
}

function standardError(sink: Sink): Writable {
  const { isTTY, columns } = process.stderr
  const stream = new Writable({
    decodeStrings: false,
    write(chunk: string | Buffer, _encoding, done) {
      sink.write(String(chunk))
      done()
    },
  })
  return Object.assign(stream, { fd: STANDARD_ERROR, isTTY, columns })
}
