/** Control groups (version 2): the kernel's own limit of what all processes of an episode hold together, socket buffers and nameless files included. */
import { spawnSync } from 'node:child_process'
import { mkdirSync, readFileSync, rmdirSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { setTimeout as wait } from 'node:timers/promises'
import type { EpisodeLimits } from '../common/limits.ts'
import { tasksMax } from '../common/processes.ts'
import { isScopeFit, scopeOf, type ControlGroup } from './scope.ts'

const CONTROLLERS = '+memory +pids'
/** The lowest. */
const CPU_WEIGHT = '1'
const ENTER = 'echo $$ > "$1"'
/** The group of the service itself, where it leaves its own so that others fit beside it. */
const OWN_GROUP = 'svc-service'
const REMOVE_EVERY_MS = 5
const REMOVES_MAX = 400

/** How groups with limits are made on this machine: in a folder of the kernel's, or by the user's systemd. */
export type GroupMaker = { readonly kind: 'folder'; readonly path: string } | { readonly kind: 'scope' }

let maker: GroupMaker | null | undefined

/** Decided once per process; null where no group can be made. */
export function groupMaker(find: () => GroupMaker | null = findMaker): GroupMaker | null {
  if (maker === undefined) maker = find()
  return maker
}

/** Null where none can be made. */
export function makeGroup(name: string, limits: EpisodeLimits, how: GroupMaker | null = groupMaker()): ControlGroup | null {
  if (how === null) return null
  return how.kind === 'scope' ? scopeOf(name, limits) : groupIn(how.path, name, limits)
}

function groupIn(parent: string, name: string, limits: EpisodeLimits): ControlGroup | null {
  const path = join(parent, name)
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
    prefix: [],
    env: {},
    kill: () => attempt(() => write(path, 'cgroup.kill', '1')),
    ranOut: () => /^oom_kill [1-9]/m.test(read(join(path, 'memory.events'))),
    remove: () => remove(path),
  }
}

const SYSTEM = { mountinfo: '/proc/self/mountinfo', cgroup: '/proc/self/cgroup', hasScopes: isScopeFit }

/** A group that has the controllers for its children or lets them be switched on, then systemd, then the service's own group without the service. */
export function findMaker({ mountinfo, cgroup, hasScopes }: typeof SYSTEM = SYSTEM): GroupMaker | null {
  const [, mount = ''] = /^\S+ \S+ \S+ \S+ (\S+) .* - cgroup2 /m.exec(read(mountinfo)) ?? []
  const [, own = '/'] = /^0::(\/.*)$/m.exec(read(cgroup)) ?? []
  if (mount === '') return null
  const above = pathsTo(own).map((path) => join(mount, path))
  const path = above.find((folder) => isFit(folder))
  if (path !== undefined) return { kind: 'folder', path }
  if (hasScopes(mount)) return { kind: 'scope' }
  const around = join(mount, own)
  return isFitOnceLeft(around) ? { kind: 'folder', path: around } : null
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

/** A group with processes cannot limit its children, so the service moves into a child of the one that was given to it. */
function isFitOnceLeft(folder: string): boolean {
  const child = join(folder, OWN_GROUP)
  const move = (from: string, to: string): void => {
    for (const pid of read(join(from, 'cgroup.procs')).split('\n').filter(Boolean)) attempt(() => write(to, 'cgroup.procs', pid))
  }
  try {
    mkdirSync(child, { recursive: true })
  } catch {
    return false
  }
  move(folder, child)
  if (isFit(folder)) return true
  move(child, folder)
  attempt(() => rmdirSync(child))
  return false
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
