/** CPU time and memory of a process and its children, from /proc. */

import { readdirSync, readFileSync } from 'node:fs'

/** Linux reports CPU time in hundredths of a second. */
const MICROS_PER_TICK = 10_000
const KIB = 1024

interface Stat {
  readonly pid: number
  readonly parent: number
  readonly cpuMicros: number
  readonly nice: number
}

export interface Usage {
  readonly cpuMicros: number
  readonly rssBytes: number
  readonly rssPeakBytes: number
  /** CPU time of the living threads of the root process, by thread name. */
  readonly threads: ReadonlyMap<string, number>
}

export function usageOf(root: number): Usage {
  const tree = treeOf(root)
  return {
    cpuMicros: tree.reduce((sum, stat) => sum + stat.cpuMicros, 0),
    rssBytes: tree.reduce((sum, stat) => sum + memoryOf(stat.pid, 'VmRSS'), 0),
    rssPeakBytes: tree.reduce((sum, stat) => sum + memoryOf(stat.pid, 'VmHWM'), 0),
    threads: threadsOf(root),
  }
}

/** CPU time of each living thread at this priority, of a process and its children. */
export function cpuAtNice(root: number, nice: number): ReadonlyMap<number, number> {
  const threads = treeOf(root).flatMap(({ pid }) =>
    namesIn(`/proc/${pid}/task`).flatMap((thread) => statOf(`/proc/${pid}/task/${thread}/stat`)),
  )
  return new Map(threads.filter((thread) => thread.nice === nice).map((thread) => [thread.pid, thread.cpuMicros]))
}

/** CPU time of all other processes so far, including steal time. */
export function cpuOfOthers(): number {
  const [, ...ticks] = readOrEmpty('/proc/stat').split('\n', 1).join('').split(/ +/).map(Number)
  const [user = 0, nice = 0, system = 0, , , irq = 0, softIrq = 0, stolen = 0] = ticks
  return (user + nice + system + irq + softIrq + stolen) * MICROS_PER_TICK - usageOf(process.pid).cpuMicros
}

/** The children of a process, their children and so on. */
export function pidsUnder(root: number): readonly number[] {
  return treeOf(root)
    .map(({ pid }) => pid)
    .filter((pid) => pid !== root)
}

function treeOf(root: number): readonly Stat[] {
  const all = readdirSync('/proc')
    .filter((name) => /^\d+$/.test(name))
    .flatMap((name) => statOf(`/proc/${name}/stat`))
  const found = all.filter((stat) => stat.pid === root)
  // Grows while it is walked: children are appended.
  for (const known of found) found.push(...all.filter((stat) => stat.parent === known.pid))
  return found
}

/** A process includes ended threads; one that is gone gives an empty list. */
function statOf(path: string): Stat[] {
  const text = readOrEmpty(path)
  if (text === '') return []
  // The name in brackets may hold spaces, so the fields start after the last bracket.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  const cpuMicros = (Number(fields[11]) + Number(fields[12])) * MICROS_PER_TICK
  return [{ pid: Number.parseInt(text, 10), parent: Number(fields[1]), cpuMicros, nice: Number(fields[16]) }]
}

function threadsOf(pid: number): ReadonlyMap<string, number> {
  const byName = new Map<string, number>()
  for (const thread of namesIn(`/proc/${pid}/task`)) {
    const name = readOrEmpty(`/proc/${pid}/task/${thread}/comm`).trim()
    const [stat] = statOf(`/proc/${pid}/task/${thread}/stat`)
    byName.set(name, (byName.get(name) ?? 0) + (stat?.cpuMicros ?? 0))
  }
  return byName
}

function memoryOf(pid: number, field: 'VmRSS' | 'VmHWM'): number {
  return Number(new RegExp(`${field}:\\s+(\\d+)`).exec(readOrEmpty(`/proc/${pid}/status`))?.[1] ?? 0) * KIB
}

function namesIn(path: string): readonly string[] {
  try {
    return readdirSync(path)
  } catch {
    return []
  }
}

function readOrEmpty(path: string): string {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return ''
  }
}
