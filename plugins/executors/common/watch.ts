/** Looks at a running episode again and again, until it is past a limit. */
import type { EpisodeEnd } from '../../../src/contract/index.ts'
import { measureDisk } from './disk.ts'
import type { Folder } from './folder.ts'
import type { Limits } from './limits.ts'
import { measureProcesses, measureUnnamed, type Processes, type Unnamed } from './processes.ts'

const PROCESSES_EVERY_MS = 100
const DISK_EVERY_MS = 250
/** A look that takes long is followed by a rest this many times as long, so that looking never is the work. */
const REST = 4

/** The answer ends it. */
export function watch(folder: Folder, processes: Processes, limits: Limits, end: (why: EpisodeEnd) => void): () => void {
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

/** A look that fails, for want of open files or on a broken disk, is followed by the next; what was left is looked over at the end once more. */
function unlessBroken(look: () => EpisodeEnd | null): EpisodeEnd | null {
  try {
    return look()
  } catch {
    return null
  }
}
