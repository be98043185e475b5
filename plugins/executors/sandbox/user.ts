/** As whom an agent runs: where the service may choose, somebody who is nobody else, so that the kernel itself counts what is the agent's. */
import { randomInt } from 'node:crypto'
import { existsSync, lchownSync, readFileSync, statSync } from 'node:fs'
import { walk } from '../common/walk.ts'

/** Far above the numbers that people and services have. */
const FIRST = 2_000_000_000
const COUNT = 65_536
const ALL_NUMBERS = /^\s*0\s+0\s+4294967295\s*$/
const SYS_ADMIN = 1n << 21n
/** Others may read and enter it, or run it. */
const OPEN_TO_ALL = 0o005
const SETPRIV = '/usr/bin/setpriv'
const PRLIMIT = '/usr/bin/prlimit'

/**
 * A number of its own, where the service is root of the machine and others may read what the agent needs. Elsewhere null: the agent is whoever
 * runs the service, in a namespace of users that gives it no rights. That it is root outside must not happen where it can be helped: the
 * kernel lets root past some of its limits.
 */
export function chooseUser(needs: readonly string[]): number | null {
  return isMaster() && needs.every(isOpenToAll) ? FIRST + randomInt(COUNT) : null
}

/** What is not there is in nobody's way. */
function isOpenToAll(path: string): boolean {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: OPEN_TO_ALL }
  return (mode & OPEN_TO_ALL) === OPEN_TO_ALL
}

function isMaster(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(SETPRIV) || !ALL_NUMBERS.test(readFileSync('/proc/self/uid_map', 'latin1'))) return false
  const [, rights = '0'] = /^CapEff:\s+(\w+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  return (BigInt(`0x${rights}`) & SYS_ADMIN) !== 0n
}

/** What the first program of a sandbox is started by: as that user, who may have so many processes and threads. */
export function asUser(user: number | null, tasks: number): string[] {
  const become = ['--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--inh-caps=-all', '--no-new-privs', '--']
  return [...(user === null ? [] : [SETPRIV, ...become]), ...(existsSync(PRLIMIT) ? [PRLIMIT, `--nproc=${tasks}:${tasks}`, '--'] : [])]
}

/** The folder and what is in it. */
export function giveTo(user: number | null, folder: string): void {
  if (user === null) return
  lchownSync(folder, user, user)
  for (const { path } of walk(folder)) lchownSync(path, user, user)
}
