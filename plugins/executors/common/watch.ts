/** Checks the limits of a running episode periodically. */
import type { EpisodeEnd } from '../../../src/contract/index.ts'
import { measureDisk } from './disk.ts'
import type { Folder } from './folder.ts'
import type { EpisodeLimits } from './limits.ts'
import { measureProcesses, measureUnnamed, type Processes, type Unnamed } from './processes.ts'

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
