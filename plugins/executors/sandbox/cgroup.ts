/** Control groups (version 2): the kernel's own limit of what all processes of an episode hold together, socket buffers and nameless files included. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { EpisodeLimits } from '../common/limits.ts'
import { tasksMax } from '../common/processes.ts'

const CONTROLLERS = '+memory +pids'
/** A quarter of what a group has by default. */
const CPU_WEIGHT = '25'
const ENTER = 'echo $$ > "$1"'
const REMOVE_EVERY_MS = 5
const REMOVES_MAX = 400

export interface ControlGroup {
  /** Where a process writes its number to enter it. */
  readonly entrance: string
  /** Kills every process in it. */
  kill(): void
  /** Whether the kernel ended a process in it for want of memory. */
  ranOut(): boolean
  remove(): Promise<void>
}

let parent: string | null | undefined

/** The folder in which groups with limits can be made; null where there is none. Once per process. */
export function groupParent(find: () => string | null = findParent): string | null {
  return (parent ??= find())
}

/** Null where none can be made. */
export function makeGroup(name: string, limits: EpisodeLimits, place: string | null = groupParent()): ControlGroup | null {
  if (place === null) return null
  const path = join(place, name)
  try {
    mkdirSync(path)
    write(path, 'memory.max', `${limits.memoryBytes}`)
    write(path, 'pids.max', `${tasksMax(limits)}`)
  } catch {
    attempt(() => rmdirSync(path))
    return null
  }
  // Not every kernel has these.
  attempt(() => write(path, 'memory.swap.max', '0'))
  attempt(() => write(path, 'memory.oom.group', '1'))
  attempt(() => write(path, 'cpu.weight', CPU_WEIGHT))
  return {
    entrance: join(path, 'cgroup.procs'),
    kill: () => attempt(() => write(path, 'cgroup.kill', '1')),
    ranOut: () => /^oom_kill [1-9]/m.test(read(join(path, 'memory.events'))),
    remove: () => remove(path),
  }
}

/** The groups above this process, from the root on: one that has the controllers for its children, or lets them be switched on. */
function findParent(): string | null {
  const [, mount = ''] = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(read('/proc/self/mountinfo')) ?? []
  const [, own = '/'] = /^0::(\/.*)$/m.exec(read('/proc/self/cgroup')) ?? []
  if (mount === '') return null
  const above = pathsTo(own).map((path) => join(mount, path))
  return above.find((folder) => isFit(folder)) ?? null
}

const pathsTo = (path: string): readonly string[] => (path === '/' ? ['/'] : [...pathsTo(dirname(path)), path])

function isFit(folder: string): boolean {
  const has = (): boolean => ['memory', 'pids'].every((name) => read(join(folder, 'cgroup.subtree_control')).split(/\s/).includes(name))
  if (!has()) attempt(() => write(folder, 'cgroup.subtree_control', CONTROLLERS))
  if (!has()) return false
  const probe = join(folder, `svc-probe-${process.pid}`)
  try {
    mkdirSync(probe)
    write(probe, 'memory.max', 'max')
    // Who may make a group may still not be allowed to move a process into it.
    return spawnSync('/bin/sh', ['-c', ENTER, 'sh', join(probe, 'cgroup.procs')], { env: {} }).status === 0
  } catch {
    return false
  } finally {
    attempt(() => rmdirSync(probe))
  }
}

const write = (folder: string, name: string, value: string): void => writeFileSync(join(folder, name), value)

function read(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch {
    return ''
  }
}

function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}

/** A group is busy until its last process is gone for good. */
async function remove(path: string): Promise<void> {
  for (let tries = 0; tries < REMOVES_MAX; tries += 1) {
    try {
      return rmdirSync(path)
    } catch {
      await wait(REMOVE_EVERY_MS)
    }
  }
}
