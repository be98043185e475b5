/** Checks the limits of a running episode: measures what its processes use, from /proc, and its disk. */
import { readdirSync, readFileSync, readlinkSync, statSync } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import type { EpisodeEnd } from '../../../src/contract/index.ts'
import { measureDisk } from './disk.ts'
import type { Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'
import { unlessGone } from './walk.ts'

const KIB = 1024
const BLOCK_BYTES = 512
/** The average; a single program may have more. */
const THREADS_PER_PROCESS = 8
/** Open files use kernel memory that counts for no process. */
const OPEN_FILES_MAX = 16_384
/** Memory reserved for the service. */
const FREE_BYTES_MIN = 128 * KIB * KIB
const FREE_PART_MIN = 1 / 50

/** The kernel's hard limit: above ours, so that exceeding ours is seen, and still harmless to the machine. */
export const tasksMax = ({ processes }: EpisodeLimits): number => 2 * processes * THREADS_PER_PROCESS

/** The /proc folder of each process of the episode. */
export type Processes = () => readonly string[]

/** The exceeded limit, or null. Shared memory is counted for each process. */
function measureProcesses(processes: readonly string[], limits: EpisodeLimits, unnamedBytes: number): EpisodeEnd | null {
  if (processes.length > limits.processes) return 'processes'
  if (freemem() < Math.min(FREE_BYTES_MIN, totalmem() * FREE_PART_MIN)) return 'memory'
  let threads = 0
  let bytes = unnamedBytes
  for (const process of processes) {
    const status = unlessGone(() => readFileSync(`${process}/status`, 'latin1')) ?? ''
    threads += numberOf(status, 'Threads')
    bytes += KIB * (numberOf(status, 'RssAnon') + numberOf(status, 'RssShmem') + numberOf(status, 'VmSwap'))
    if (threads > limits.processes * THREADS_PER_PROCESS) return 'processes'
    if (bytes > limits.memoryBytes) return 'memory'
  }
  return null
}

function numberOf(status: string, name: string): number {
  return Number(new RegExp(`^${name}:\\s+(\\d+)`, 'm').exec(status)?.[1] ?? 0)
}

interface Unnamed {
  readonly diskBytes: number
  readonly memoryBytes: number
  /** Too many files are open. */
  readonly isTooMany: boolean
}

/** Measures deleted and anonymous files that are still open, which a walk of the folder does not find. */
function measureUnnamed(processes: readonly string[]): Unnamed {
  const seen = new Set<string>()
  let diskBytes = 0
  let memoryBytes = 0
  let files = 0
  for (const folder of processes.map((process) => `${process}/fd`)) {
    for (const name of unlessGone(() => readdirSync(folder)) ?? []) {
      if ((files += 1) > OPEN_FILES_MAX) return { diskBytes, memoryBytes, isTooMany: true }
      const target = unlessGone(() => readlinkSync(`${folder}/${name}`)) ?? ''
      if (!target.endsWith(' (deleted)')) continue
      const stats = unlessGone(() => statSync(`${folder}/${name}`))
      if (stats === null || seen.has(`${stats.dev} ${stats.ino}`)) continue
      seen.add(`${stats.dev} ${stats.ino}`)
      if (target.startsWith('/memfd:')) memoryBytes += stats.blocks * BLOCK_BYTES
      else diskBytes += stats.blocks * BLOCK_BYTES
    }
  }
  return { diskBytes, memoryBytes, isTooMany: false }
}

const PROCESSES_EVERY_MS = 100
const DISK_EVERY_MS = 250
/** After a slow check, wait this many times as long. */
const REST = 4

/** Returns how to stop it. */
export function watch(folder: Folder, processes: Processes, limits: EpisodeLimits, end: (why: EpisodeEnd) => void): () => void {
  let unnamed: Unnamed = { diskBytes: 0, memoryBytes: 0, isTooMany: false }
  const stops = [
    again(PROCESSES_EVERY_MS, () => measureProcesses(processes(), limits, unnamed.memoryBytes), end),
    again(
      DISK_EVERY_MS,
      () => {
        unnamed = measureUnnamed(processes())
        return unnamed.isTooMany ? 'files' : measureDisk(folder, limits, unnamed.diskBytes)
      },
      end,
    ),
  ]
  return () => {
    for (const stop of stops) stop()
  }
}

function again(everyMs: number, look: () => EpisodeEnd | null, end: (why: EpisodeEnd) => void): () => void {
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
function unlessBroken(look: () => EpisodeEnd | null): EpisodeEnd | null {
  try {
    return look()
  } catch {
    return null
  }
}
