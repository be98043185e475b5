/** Stays with a command from its start until nothing of it runs any more: reads what it prints, and ends it at a limit or an abort. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { unavailable, type Episode, type EpisodeEnd } from '../../../src/contract/index.ts'

const PRINTED_BYTES_MAX = 16 * 1024 * 1024
/** What a dead command printed last is in the pipe already; a pipe that somebody else holds open is not waited for. */
const LAST_WORDS_MS = 1000
/** The longest that a timer of Node can wait. */
const TIMER_MS_MAX = 2 ** 31 - 1
/** What shells answer for a command that is not there, and what they add to the number of the signal that ended one. */
export const EXIT_NOT_STARTED = 127
const EXIT_SIGNALLED = 128

/** Not the command's fault. */
const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])

export type Ended = Omit<Episode, 'trajectory'>

export interface Attendance {
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
  /** Tells everything of the command to end. May be called often, also when nothing is left. */
  readonly kill: () => void
  /** Resolves when nothing is left, having killed what was. */
  readonly buried: () => Promise<void>
  /** Begins to look for what is past a limit; the answer stops it. */
  readonly watch: (end: (why: EpisodeEnd) => void) => () => void
}

/** However the command ends is an answer; an abort throws, and a machine that has no room for it. */
export async function attend(child: ChildProcess, { timeoutSeconds, signal, kill, buried, watch }: Attendance): Promise<Ended> {
  let ended: EpisodeEnd | null = null
  const end = (why: EpisodeEnd): void => {
    ended ??= why
    kill()
  }
  const read = [child.stdout, child.stderr].map((stream) => reader(stream ?? null, () => end('output')))
  const timer = setTimeout(() => end('time'), Math.min(timeoutSeconds * 1000, TIMER_MS_MAX))
  const unwatch = watch(end)
  signal.addEventListener('abort', kill)
  if (signal.aborted) kill()
  try {
    const exitCode = await exitOf(child)
    await buried()
    const [stdout = '', stderr = ''] = await Promise.all(read.map((words) => words()))
    signal.throwIfAborted()
    const why = exitCode === null ? 'start' : ended
    return { exitCode: exitCode ?? EXIT_NOT_STARTED, stdout, stderr, ...(why !== null && { ended: why }) }
  } finally {
    clearTimeout(timer)
    unwatch()
    signal.removeEventListener('abort', kill)
  }
}

/** Reads along and keeps the beginning; the answer waits for the last words. */
function reader(stream: Readable | null, onTooMuch: () => void): () => Promise<string> {
  const parts: Buffer[] = []
  let room = PRINTED_BYTES_MAX
  stream?.on('data', (part: Buffer) => {
    if (part.length > room) onTooMuch()
    parts.push(part.subarray(0, room))
    room -= Math.min(room, part.length)
  })
  const closed =
    stream === null ? Promise.resolve() : new Promise<void>((resolve) => stream.on('close', resolve).on('error', () => resolve()))
  return async () => {
    const { promise: late, resolve } = Promise.withResolvers<void>()
    const timer = setTimeout(resolve, LAST_WORDS_MS)
    await Promise.race([closed, late])
    clearTimeout(timer)
    // A thread that was busy meanwhile is late itself, and has not read yet what was there in time.
    for (let before = -1; before !== room;) {
      before = room
      await turn()
    }
    stream?.destroy()
    return Buffer.concat(parts).toString()
  }
}

/** Null when it could not be started. */
async function exitOf(child: ChildProcess): Promise<number | null> {
  try {
    const [code, signal]: unknown[] = await once(child, 'exit')
    if (typeof code === 'number') return code
    return EXIT_SIGNALLED + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0)
  } catch (error) {
    const code = error instanceof Error && 'code' in error ? String(error.code) : ''
    if (NO_ROOM.has(code)) throw unavailable('no_process', `this machine has no room for another process (${code}); raise its limits`)
    return null
  }
}
