/** Whether the machine itself ran out of something. An episode within its limits is not to blame for that, so it is repeated and not scored. */
import { readFileSync, statfsSync, type StatsFs } from 'node:fs'
import { freemem, totalmem } from 'node:os'
import { unavailable, type EpisodeEnd } from '../../../src/contract/index.ts'
import { unlessGone } from './walk.ts'

const MIB = 1024 * 1024
/** Reserved for the service: this much, or a part of a small disk or memory. */
const FREE_DISK_BYTES_MIN = 256 * MIB
const FREE_DISK_PART_MIN = 1 / 20
const FREE_FILES_MIN = 1000
const FREE_MEMORY_BYTES_MIN = 128 * MIB
const FREE_MEMORY_PART_MIN = 1 / 50
/** Of all numbers that processes of the machine may have. */
const TASKS_PART_MAX = 0.95
/** An episode that alone holds so much of a disk filled it. */
const OWN_PART = 1 / 2

/** What the machine is short of, in words. */
export interface Shortage {
  readonly short: string
}
/** Why an episode is ended. */
export type Why = EpisodeEnd | Shortage

/** `ownBytes`: what the episode holds of the disk. */
export const diskShortage = (path: string, ownBytes: number): Why | null => shortageOf(statfsSync(path), ownBytes)

export function shortageOf({ bavail, blocks, bsize, files, ffree }: StatsFs, ownBytes: number): Why | null {
  const total = blocks * bsize
  if (bavail * bsize < Math.min(FREE_DISK_BYTES_MIN, total * FREE_DISK_PART_MIN))
    return ownBytes > total * OWN_PART ? 'disk' : { short: 'space on the disk of the temporary folder' }
  // Some file systems have no fixed number of files.
  return files > 0 && ffree < Math.min(FREE_FILES_MIN, files * FREE_DISK_PART_MIN)
    ? { short: 'files on the disk of the temporary folder' }
    : null
}

export function memoryShortage(): Shortage | null {
  if (freemem() < Math.min(FREE_MEMORY_BYTES_MIN, totalmem() * FREE_MEMORY_PART_MIN)) return { short: 'memory' }
  const tasks = Number(/\/(\d+)/.exec(text('/proc/loadavg'))?.[1] ?? 0)
  const most = Math.min(...['pid_max', 'threads-max'].map((name) => Number(text(`/proc/sys/kernel/${name}`)) || Infinity))
  return tasks > most * TASKS_PART_MAX ? { short: 'numbers for processes' } : null
}

const text = (path: string): string => unlessGone(() => readFileSync(path, 'latin1')) ?? ''

/** How many processes the kernel of this machine ended for want of memory; null where it does not say. */
export function endedForMemory(): number | null {
  const [, count] = /^oom_kill (\d+)$/m.exec(text('/proc/vmstat')) ?? []
  return count === undefined ? null : Number(count)
}

export const noRoom = ({ short }: Shortage): Error =>
  unavailable('no_room', `this machine ran out of ${short} while an episode ran; make room, the episode is repeated`)
