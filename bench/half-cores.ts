/**
 * Two cores of half the speed for the service, where the machine has no more than two: each of its threads gets half a core at most, and all of
 * them one. What is left is for the load generator and the upstream. By the kernel's groups for CPU time, version 1.
 */
import { existsSync, mkdirSync, readdirSync, rmdirSync, writeFileSync } from 'node:fs'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'

const GROUPS = '/sys/fs/cgroup/cpu'
/** Short, so that a thread that has used up its share waits for a few milliseconds at most. */
const PERIOD_MICROS = 10_000

const made = new Set<string>()
process.on('exit', () => {
  for (const group of [...made].toReversed()) unlessItFails(() => rmdirSync(group))
})

export function canHalveCores(): boolean {
  const probe = join(GROUPS, `svc-bench-${process.pid}`)
  return availableParallelism() > 1 && existsSync(GROUPS) && unlessItFails(() => limit(probe, 0.5))
}

/** Of a process that runs. The threads that it starts later share with the one that starts them. */
export function halveCores(pid: number): void {
  const all = join(GROUPS, `svc-bench-${pid}`)
  limit(all, 1)
  for (const thread of readdirSync(`/proc/${pid}/task`)) {
    const own = join(all, thread)
    limit(own, 0.5)
    // A helper thread may have ended meanwhile.
    unlessItFails(() => writeFileSync(join(own, 'tasks'), thread))
  }
}

function limit(group: string, cores: number): void {
  mkdirSync(group, { recursive: true })
  made.add(group)
  writeFileSync(join(group, 'cpu.cfs_period_us'), String(PERIOD_MICROS))
  writeFileSync(join(group, 'cpu.cfs_quota_us'), String(PERIOD_MICROS * cores))
}

function unlessItFails(run: () => void): boolean {
  try {
    run()
    return true
  } catch {
    return false
  }
}
