/** Scopes of the user's systemd: a control group for a service that may make none itself. */
import { spawnSync } from 'node:child_process'
import { endedForMemory, memoryShortage } from '../common/room.ts'
import type { EpisodeLimits } from '../common/limits.ts'
import { tasksMax } from '../common/processes.ts'

const CPU_WEIGHT = 1
/** Signals that were not ours: the kernel's, and then that of systemd, which ends the rest of a scope. */
const KILLED: ReadonlySet<number> = new Set([137, 143])
const PROBE = { memoryBytes: 64 * 1024 * 1024, tasks: 77 }
const PROBE_TIMEOUT_MS = 10_000
/** Prints the limits of the group it is in, from the folder of the kernel's groups. */
const PRINT = 'group=$(sed -n s/^0:://p /proc/self/cgroup); cat "$1$group/memory.max" "$1$group/pids.max"'

export interface ControlGroup {
  /** Where a process writes its number to enter it. */
  readonly entrance: string
  /** The words before a command that is to run in it. */
  readonly prefix: readonly string[]
  /** What these need of the environment. */
  readonly env: Readonly<Record<string, string>>
  /** Kills every process in it. */
  kill(): void
  /** Whether the kernel ended a process in it for want of memory. */
  ranOut(exitCode: number): boolean
  remove(): Promise<void>
}

/** Started by systemd, so that no process has to be moved: only its owner may move one out of a session. */
export function scopeOf(name: string, limits: EpisodeLimits): ControlGroup {
  const before = endedForMemory()
  return {
    entrance: '/dev/null',
    // What systemd-run needs of the environment is not for the sandbox, which can read that of its starter.
    prefix: [...wordsOf(name, limits.memoryBytes, tasksMax(limits)), '/usr/bin/env', '-i'],
    env: busOf(process.env),
    kill: () => undefined,
    // The group is gone with its last process, so the machine is asked, which was not short itself.
    ranOut: (exitCode) => KILLED.has(exitCode) && before !== null && (endedForMemory() ?? 0) > before && memoryShortage() === null,
    remove: async () => undefined,
  }
}

/** Whether the user's systemd makes scopes whose limits the kernel holds. */
export function isScopeFit(mount: string): boolean {
  const [program = '', ...words] = wordsOf(`svc-probe-${process.pid}`, PROBE.memoryBytes, PROBE.tasks)
  const env = { PATH: '/usr/bin:/bin', ...busOf(process.env) }
  const { stdout } = spawnSync(program, [...words, '/bin/sh', '-c', PRINT, 'sh', mount], {
    env,
    encoding: 'utf8',
    timeout: PROBE_TIMEOUT_MS,
    stdio: ['ignore', 'pipe', 'ignore'],
  })
  return stdout === `${PROBE.memoryBytes}\n${PROBE.tasks}\n`
}

function wordsOf(name: string, memoryBytes: number, tasks: number): readonly string[] {
  const limits = [`MemoryMax=${memoryBytes}`, 'MemorySwapMax=0', `TasksMax=${tasks}`, `CPUWeight=${CPU_WEIGHT}`]
  const settings = limits.flatMap((limit) => ['--property', limit])
  return ['systemd-run', '--user', '--scope', '--quiet', '--collect', `--unit=${name}`, ...settings, '--']
}

/** How the user's systemd is reached. */
function busOf({ XDG_RUNTIME_DIR: folder, DBUS_SESSION_BUS_ADDRESS: bus }: NodeJS.ProcessEnv): Readonly<Record<string, string>> {
  const path = folder ?? `/run/user/${process.getuid?.() ?? 0}`
  return { XDG_RUNTIME_DIR: path, ...(bus !== undefined && { DBUS_SESSION_BUS_ADDRESS: bus }) }
}
