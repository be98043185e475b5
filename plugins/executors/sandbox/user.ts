/** The user that an agent runs as: a uid of its own where possible, so that the kernel's limits apply per agent. */
import { randomInt } from 'node:crypto'
import { existsSync, lchownSync, readFileSync, statSync } from 'node:fs'
import { walk } from '../common/walk.ts'

/** Far above the uids of people and services. */
const FIRST = 2_000_000_000
const COUNT = 65_536
const ALL_NUMBERS = /^\s*0\s+0\s+4294967295\s*$/
const SYS_ADMIN = 1n << 21n
/** Others may read and enter or run it. */
const OPEN_TO_ALL = 0o005
const SETPRIV = '/usr/bin/setpriv'
const PRLIMIT = '/usr/bin/prlimit'

/**
 * A random uid where the service is root of the machine and others may read what the agent needs. Elsewhere null: the service's user in a user
 * namespace without rights. The agent should not be root outside, since the kernel exempts root from some limits.
 */
export function chooseUser(needs: readonly string[]): number | null {
  return isMaster() && needs.every(isOpenToAll) ? FIRST + randomInt(COUNT) : null
}

/** A missing path is no obstacle. */
function isOpenToAll(path: string): boolean {
  const { mode } = statSync(path, { throwIfNoEntry: false }) ?? { mode: OPEN_TO_ALL }
  return (mode & OPEN_TO_ALL) === OPEN_TO_ALL
}

function isMaster(): boolean {
  if (process.getuid?.() !== 0 || !existsSync(SETPRIV) || !ALL_NUMBERS.test(readFileSync('/proc/self/uid_map', 'latin1'))) return false
  const [, rights = '0'] = /^CapEff:\s+(\w+)/m.exec(readFileSync('/proc/self/status', 'latin1')) ?? []
  return (BigInt(`0x${rights}`) & SYS_ADMIN) !== 0n
}

/** The command prefix that sets the user and the limit of processes and threads. */
export function asUser(user: number | null, tasks: number): string[] {
  const become = ['--reuid', `${user}`, '--regid', `${user}`, '--clear-groups', '--inh-caps=-all', '--no-new-privs', '--']
  return [...(user === null ? [] : [SETPRIV, ...become]), ...(existsSync(PRLIMIT) ? [PRLIMIT, `--nproc=${tasks}:${tasks}`, '--'] : [])]
}

export function giveTo(user: number | null, folder: string): void {
  if (user === null) return
  lchownSync(folder, user, user)
  for (const { path } of walk(folder)) lchownSync(path, user, user)
}
