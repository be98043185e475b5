/** Which cores the service may use, and which the load generator and the upstream, so that neither slows the other. */

import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'

/** Two for the service, at least one for each of the others. */
const CORES_NEEDED = 4
export const SERVICE_CORES = '0,1'

export function hasCoresApart(): boolean {
  return availableParallelism() >= CORES_NEEDED && spawnSync('taskset', ['--version']).status === 0
}

/** Moves all threads of a running process to the other cores. */
export function moveAway(pid: number): void {
  move(pid, `2-${availableParallelism() - 1}`)
}

export function moveBack(pid: number): void {
  move(pid, `0-${availableParallelism() - 1}`)
}

function move(pid: number, cores: string): void {
  const { status } = spawnSync('taskset', ['--all-tasks', '--cpu-list', '--pid', cores, String(pid)])
  if (status !== 0) throw new Error(`cannot move process ${pid} to the cores ${cores}`)
}
