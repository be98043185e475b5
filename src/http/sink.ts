/** Writes to a descriptor without ever waiting for whoever reads it: what finds no room is dropped and counted, and the reader is told how much. */
import { constants, fstatSync, openSync, writeSync } from 'node:fs'
import { Socket } from 'node:net'

const WRITE_AFTER_MS = 20
const WRITE_AFTER_BYTES = 64 * 1024
const TRY_AGAIN_MS = 50
/** What waits for a reader that does not read. */
const WAITING_BYTES_MAX = 1024 * 1024
/** How long the last lines of a process wait for a reader that reads nothing. */
const LAST_LINES_MS = 1000
const LAST_LINES_LOOK_MS = 10

export interface Sink {
  write(text: string): void
  /** Writes what waits; before an exit, as far as somebody reads. */
  flush(): void
  /** Lines that nobody will ever read. */
  readonly dropped: number
}

/** The notice is the line that tells how many were dropped before it. */
export function openSink(descriptor: number, notice: (lines: number) => string): Sink {
  const target = neverWaiting(descriptor)
  let waiting: Buffer[] = []
  let bytes = 0
  let timer: NodeJS.Timeout | null = null
  let isBlocked = false
  let dropped = 0
  let untold = 0

  function drop(lines: number): void {
    dropped += lines
    untold += lines
  }

  function take(text: string): void {
    const line = Buffer.from(text)
    waiting.push(line)
    bytes += line.length
  }

  /** As much as goes out now. */
  function pump(): void {
    if (timer !== null) clearTimeout(timer)
    timer = null
    isBlocked = false
    try {
      while (waiting.length > 0) advance(writeSync(target, Buffer.concat(waiting)))
      if (untold === 0) return
      take(notice(untold))
      untold = 0
      later(WRITE_AFTER_MS)
    } catch (error) {
      if (isCode(error, 'EAGAIN')) {
        isBlocked = true
        later(TRY_AGAIN_MS)
        return
      }
      // The reader is gone for good, or the disk is full: that must not stop the service.
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
      if (untold > 0) {
        take(notice(untold))
        untold = 0
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
 * A file takes what it is given. A pipe or a terminal is opened once more, so that only this opening never waits and nobody who shares the old one
 * is surprised; where that cannot be (a socket, a pipe of another user), Node's own stream sets the descriptor itself to never wait.
 */
function neverWaiting(descriptor: number): number {
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

/** Let go of, a stream closes its descriptor. */
const held: Socket[] = []

const isCode = (error: unknown, code: string): boolean => error instanceof Error && 'code' in error && error.code === code

function linesIn(text: string | Buffer): number {
  let lines = 0
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1
  return Math.max(lines, 1)
}
