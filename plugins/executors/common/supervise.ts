/** Supervises a command until all its processes ended: reads its output, and kills it at a limit or an abort. */
import type { ChildProcess } from 'node:child_process'
import { once } from 'node:events'
import { constants } from 'node:os'
import type { Readable } from 'node:stream'
import { setImmediate as turn } from 'node:timers/promises'
import { unavailable, type Episode, type EpisodeEnd } from '../../../src/contract/index.ts'
import { codeOf } from '../../../src/kit/index.ts'
import { noRoom, type Why } from './room.ts'

const PRINTED_BYTES_MAX = 16 * 1024 * 1024
/** How long to wait for the last output; another process may hold the pipe open. */
const LAST_WORDS_MS = 1000
/** Node's longest timer. */
const TIMER_MS_MAX = 2 ** 31 - 1
/** Shell exit codes: command not found, and the base for signals. */
export const EXIT_NOT_STARTED = 127
const EXIT_SIGNALLED = 128

/** The machine's fault, not the command's. */
const NO_ROOM: ReadonlySet<string> = new Set(['EAGAIN', 'ENOMEM', 'EMFILE', 'ENFILE'])

export type CommandEnd = Omit<Episode, 'trajectory'>

export interface Supervision {
  readonly timeoutSeconds: number
  readonly signal: AbortSignal
  /** Kills all processes of the command. May be called repeatedly. */
  readonly kill: () => void
  /** Kills what is left, and resolves when no process is left. */
  readonly allEnded: () => Promise<void>
  /** Starts checking the limits; returns how to stop. */
  readonly watch: (end: (why: Why) => void) => () => void
}

/** Returns however the command ends; throws on an abort, or when the machine is to blame. */
export async function supervise(child: ChildProcess, { timeoutSeconds, signal, kill, allEnded, watch }: Supervision): Promise<CommandEnd> {
  let ended: Why | null = null
  const end = (why: Why): void => {
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
    await allEnded()
    const [stdout = '', stderr = ''] = await Promise.all(read.map((words) => words()))
    signal.throwIfAborted()
    const why = exitCode === null ? 'start' : episodeEnd(ended)
    return { exitCode: exitCode ?? EXIT_NOT_STARTED, stdout, stderr, ...(why !== null && { ended: why }) }
  } finally {
    clearTimeout(timer)
    unwatch()
    signal.removeEventListener('abort', kill)
  }
}

/** Throws where the machine is to blame. */
function episodeEnd(why: Why | null): EpisodeEnd | null {
  if (typeof why === 'object' && why !== null) throw noRoom(why)
  return why
}

/** Collects the beginning of the output; the returned function waits for its end. */
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
    // This thread may have been busy: read what arrived in time.
    for (let before = -1; before !== room;) {
      before = room
      await turn()
    }
    stream?.destroy()
    return Buffer.concat(parts).toString()
  }
}

async function exitOf(child: ChildProcess): Promise<number | null> {
  try {
    const [code, signal]: unknown[] = await once(child, 'exit')
    if (typeof code === 'number') return code
    return EXIT_SIGNALLED + (Object.entries(constants.signals).find(([name]) => name === signal)?.[1] ?? 0)
  } catch (error) {
    const code = codeOf(error) ?? ''
    if (NO_ROOM.has(code)) throw unavailable('no_process', `this machine has no room for another process (${code}); raise its limits`)
    return null
  }
}
