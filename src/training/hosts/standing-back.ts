/** A process that gives way to those that answer requests. */
import { spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'
import { childEnvironment } from '../../contract/index.ts'

/** Low enough that accepting a record never waits for a busy trainer. */
const NICENESS = 15

/**
 * For this process, all its threads, V8's helpers among them, and what they start. A low niceness is not enough where every core has a busy
 * trainer: the scheduler lets it finish its slice of a few milliseconds. A thread of the idle class gives way at once, and one core is never
 * given to trainers, so that a request that passes several threads finds it free. Without the commands, which Linux alone has, only the
 * niceness applies.
 */
export function standBack(): void {
  // One that stands back further already may not come forward.
  if (getPriority() < NICENESS) setPriority(NICENESS)
  if (process.platform !== 'linux') return
  tryCommand('chrt', ['--idle', '--all-tasks', '--pid', '0', String(process.pid)])
  const [, ...cores] = coresIn(readFileSync('/proc/self/status', 'latin1'))
  if (cores.length > 0) tryCommand('taskset', ['--all-tasks', '--cpu-list', '--pid', cores.join(','), String(process.pid)])
}

function tryCommand(program: string, args: readonly string[]): void {
  spawn(program, args, { env: childEnvironment(process.env), stdio: 'ignore' })
    .on('error', () => undefined)
    .unref()
}

/** The cores that a process may run on, from its state in /proc; none where that does not say. */
export function coresIn(status: string): readonly number[] {
  const [, list = ''] = /^Cpus_allowed_list:\s*([\d,-]+)$/m.exec(status) ?? []
  return list.split(',').flatMap((part) => {
    const [first = Number.NaN, last = first] = part.split('-').map(Number)
    return part === '' ? [] : Array.from({ length: last - first + 1 }, (_, index) => first + index)
  })
}
