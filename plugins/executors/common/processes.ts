/** Checks the limits of a running episode: measures what its processes use, from /proc, and its disk. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { measureDisk } from './disk.ts'
import { memoryShortage, type Why } from './room.ts'
import type { Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'
import { unlessGone } from './walk.ts'

const KIB = 1024
const BLOCK_BYTES = 512
/** The average; a single program may have more. */
const THREADS_PER_PROCESS = 8
/** Open files use kernel memory that counts for no process. */
const OPEN_FILES_MAX = 16_384
/** What all pipes of a user may hold together, by the kernel's default. */
const PIPES_BYTES_MAX = 64 * KIB * KIB
const PIPE_BYTES = 64 * KIB
/** A descriptor that stays on its way between processes is being hidden. */
const IN_FLIGHT_LOOKS_MAX = 4

/** The kernel's hard limit: above ours, so that exceeding ours is seen, and still harmless to the machine. */
export const tasksMax = ({ processes }: EpisodeLimits): number => 2 * processes * THREADS_PER_PROCESS

/** The /proc folder of each process of the episode. */
export type Processes = () => readonly string[]

/** The exceeded limit, or null. Shared memory is counted for each process; tables of pages too, which a program may have many of for little memory. */
function measureProcesses(processes: readonly string[], limits: EpisodeLimits, otherBytes: number): Why | null {
  if (processes.length > limits.processes) return 'processes'
  let threads = 0
  let bytes = otherBytes
  for (const process of processes) {
    const status = unlessGone(() => readFileSync(`${process}/status`, 'latin1')) ?? ''
    threads += numberOf(status, 'Threads')
    bytes += KIB * (numberOf(status, 'RssAnon') + numberOf(status, 'RssShmem') + numberOf(status, 'VmSwap') + numberOf(status, 'VmPTE'))
    if (threads > limits.processes * THREADS_PER_PROCESS) return 'processes'
  }
  return bytes > limits.memoryBytes ? 'memory' : memoryShortage()
}

function numberOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
}

interface Unnamed {
  readonly diskBytes: number
  readonly memoryBytes: number
  /** Too many files are open. */
  readonly isTooMany: boolean
  /** Whether a socket holds descriptors that no process has received yet: what they lead to is in no list. */
  readonly hasInFlight: boolean
}

/** Measures deleted and anonymous files that are still open, which a walk of the folder does not find. */
function measureUnnamed(processes: readonly string[]): Unnamed {
  const seen = new Set<string>()
  let diskBytes = 0
  let memoryBytes = 0
  let files = 0
  let hasInFlight = false
  const pipes = new Set<string>()
  const known = () => ({ diskBytes, memoryBytes: memoryBytes + Math.min(pipes.size * PIPE_BYTES, PIPES_BYTES_MAX), hasInFlight })
  for (const folder of processes.map((process) => `${process}/fd`)) {
    for (const name of unlessGone(() => readdirSync(folder)) ?? []) {
      if ((files += 1) > OPEN_FILES_MAX) return { ...known(), isTooMany: true }
      const target = unlessGone(() => readlinkSync(`${folder}/${name}`)) ?? ''
      if (target.startsWith('pipe:')) pipes.add(target)
      if (target.startsWith('socket:')) hasInFlight ||= holdsDescriptors(`${folder}info/${name}`)
      if (!target.endsWith(' (deleted)')) continue
      const stats = unlessGone(() => statSync(`${folder}/${name}`))
      if (stats === null || seen.has(`${stats.dev} ${stats.ino}`)) continue
      seen.add(`${stats.dev} ${stats.ino}`)
      if (target.startsWith('/memfd:')) memoryBytes += stats.blocks * BLOCK_BYTES
      else diskBytes += stats.blocks * BLOCK_BYTES
    }
  }
  return { ...known(), isTooMany: false }
}

const holdsDescriptors = (info: string): boolean => /^scm_fds:\s+[1-9]/m.test(unlessGone(() => readFileSync(info, 'latin1')) ?? '')

const PROCESSES_EVERY_MS = 100
const DISK_EVERY_MS = 250
/** After a slow check, wait this many times as long. */
const REST = 4

export interface Watched {
  readonly folder: Folder
  readonly processes: Processes
  readonly limits: EpisodeLimits
  /** What the kernel holds for them beside their own memory, where it is known. */
  readonly socketBytes?: () => number
}

/** Returns how to stop it. */
export function watch({ folder, processes, limits, socketBytes = () => 0 }: Watched, end: (why: Why) => void): () => void {
  let unnamed: Unnamed = { diskBytes: 0, memoryBytes: 0, isTooMany: false, hasInFlight: false }
  let inFlightLooks = 0
  const stops = [
    again(PROCESSES_EVERY_MS, () => measureProcesses(processes(), limits, unnamed.memoryBytes + socketBytes()), end),
    again(
      DISK_EVERY_MS,
      () => {
        unnamed = measureUnnamed(processes())
        inFlightLooks = unnamed.hasInFlight ? inFlightLooks + 1 : 0
        return unnamed.isTooMany || inFlightLooks > IN_FLIGHT_LOOKS_MAX ? 'files' : measureDisk(folder, limits, unnamed.diskBytes)
      },
      end,
    ),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function again(everyMs: number, look: () => Why | null, end: (why: Why) => void): () => void {
  const next = (restMs: number): NodeJS.Timeout =>
    setTimeout(() => {
      const before = performance.now()
      const past = unlessBroken(look)
      if (past !== null) end(past)
      else timer = next(Math.max(everyMs, REST * (performance.now() - before)))
    }, restMs)
  let timer = next(everyMs)
  return () => clearTimeout(timer)
}

/** A failed check is ignored: the next one follows, and the files are checked again at the end. */
function unlessBroken(look: () => Why | null): Why | null {
  try {
    return look()
  } catch {
    return null
  }
}
