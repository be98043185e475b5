/** Measures the disk's own durable append, the baseline for every durable latency. */

import { closeSync, fdatasyncSync, openSync, rmSync, writeSync } from 'node:fs'
import { join } from 'node:path'
import { spread } from './stats.ts'

const APPEND_BYTES = 4096

export interface DiskSpeed {
  readonly p50Ms: number
  readonly p99Ms: number
  readonly perSecond: number
}

/** Appends and syncs for `seconds`, without other load. */
export function measureDisk(directory: string, seconds: number): DiskSpeed {
  const path = join(directory, 'append-and-sync')
  const file = openSync(path, 'w')
  const bytes = Buffer.alloc(APPEND_BYTES, 'a')
  const times: number[] = []
  const startedAt = performance.now()
  let before = startedAt
  while (before - startedAt < seconds * 1000) {
    writeSync(file, bytes)
    fdatasyncSync(file)
    const after = performance.now()
    times.push(after - before)
    before = after
  }
  closeSync(file)
  rmSync(path)
  const { p50, p99 } = spread(times)
  return { p50Ms: p50, p99Ms: p99, perSecond: (times.length / (before - startedAt)) * 1000 }
}
