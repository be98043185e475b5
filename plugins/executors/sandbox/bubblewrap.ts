/** Finds bubblewrap and builds its arguments: few files are visible in the sandbox, and fewer are writable. */
import { execFile } from 'node:child_process'
import { randomInt } from 'node:crypto'
import { existsSync, realpathSync, lchownSync, readFileSync, statSync } from 'node:fs'
import { chmod, mkdir, writeFile } from 'node:fs/promises'
import { delimiter, dirname, isAbsolute, join, relative, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { invalid, unavailable } from '../../../src/contract/index.ts'
import type { Folder } from '../common/folder.ts'
import { findProgram } from '../common/program.ts'
import { programsOf, toolchains } from '../common/toolchains.ts'
import { walk } from '../common/walk.ts'
import { everyPathTo, neededFolder, parents, systemFolders } from './exposed.ts'

/** Paths inside the sandbox. */
export const INSIDE = { root: '/episode', workspace: '/episode/workspace', socket: '/run/svc/model.sock', program: '/run/svc/inner.mjs' }
const PROGRAM = fileURLToPath(new URL('./entries/inner.mjs', import.meta.url))
/** The uid inside a user namespace. */
const USER_INSIDE = 1000
export const pathInside = (): string =>
  [dirname(process.execPath), '/usr/local/bin', '/usr/bin', '/bin', ...programsOf(toolchains())].join(delimiter)

/** Only these settings of the machine: folders beside them may hold keys. */
const SETTINGS = ['/etc/alternatives', '/etc/ssl/certs', '/etc/ssl/openssl.cnf', '/etc/ld.so.cache', '/etc/localtime']
const OWN_SETTINGS: Readonly<Record<string, (user: number) => string>> = {
  passwd: (user) => `agent:x:${user}:${user}::${INSIDE.root}:/bin/sh\nnobody:x:65534:65534::/:/bin/false\n`,
  group: (user) => `agent:x:${user}:\nnogroup:x:65534:\n`,
  hosts: () => '127.0.0.1 localhost episode\n::1 localhost\n',
  'nsswitch.conf': () => 'passwd: files\ngroup: files\nhosts: files\n',
}
/** Root outside owns these kernel files inside too: they must not be writable, */
const SEALED = ['sys', 'sysrq-trigger', 'irq', 'bus', 'fs', 'acpi', 'scsi', 'asound', 'driver', 'mtrr']
/** and these must not be readable. */
const HIDDEN = ['kcore', 'keys', 'key-users', 'kallsyms', 'latency_stats', 'sched_debug', 'slabinfo', 'timer_list', 'vmallocinfo']

const help = promisify(execFile)

export interface Bubblewrap {
  readonly path: string
  /** Whether it can disable user namespaces in the sandbox; otherwise the seccomp filter does. */
  readonly disablesNamespaces: boolean
}

/** The first on the service's PATH. */
export async function findBubblewrap(): Promise<Bubblewrap> {
  const path = findProgram('bwrap')
  if (path === null) throw unavailable('no_sandbox', 'bubblewrap is not installed; install it with: apt-get install bubblewrap')
  const { stdout } = await help(path, ['--help'], { env: {} })
  return { path, disablesNamespaces: stdout.includes('--disable-userns') }
}

export interface SandboxLayout {
  readonly folder: Folder
  /** The agent's uid outside; null: the service's. */
  readonly user: number | null
  /** Paths below the root that only the service may change. */
  readonly inputs: readonly string[]
  readonly needs: readonly string[]
  readonly hides: readonly string[]
  readonly statusFile: number
  readonly filterFile: number
}

/** Makes the episode's other writable folders beside its root, so that the disk limit covers them. */
export async function prepareFolder({ path, root, workspace }: Folder, user: number | null): Promise<void> {
  for (const name of ['tmp', 'shm', 'etc']) await mkdir(join(path, name))
  for (const [name, text] of Object.entries(OWN_SETTINGS)) await writeOpen(join(path, 'etc', name), text(user ?? USER_INSIDE))
  // Bubblewrap enters them before it changes the user, without root's rights.
  for (const folder of [root, workspace]) await chmod(folder, 0o755)
  for (const folder of [root, join(path, 'tmp'), join(path, 'shm')]) giveTo(user, folder)
}

/** Readable for the agent's user, whatever the service's umask is. */
async function writeOpen(path: string, text: string): Promise<void> {
  await writeFile(path, text)
  await chmod(path, 0o644)
}

/** Later mounts cover earlier ones. */
export function bubblewrapArguments(
  bubblewrap: Bubblewrap,
  { folder, user, inputs, needs, hides, statusFile, filterFile }: SandboxLayout,
): string[] {
  const hidden = everyPathTo(hides)
  const beside = (name: string): string => join(folder.path, name)
  return [
    ['--unshare-ipc', '--unshare-pid', '--unshare-net', '--unshare-uts', '--unshare-cgroup-try', '--hostname', 'episode'],
    ['--new-session', '--die-with-parent', '--clearenv', '--cap-drop', 'ALL'],
    user === null ? unprivileged(bubblewrap) : ['--cap-add', 'CAP_SETUID', '--cap-add', 'CAP_SETGID'],
    systemFolders(hidden),
    ...SETTINGS.map((path) => shown('--ro-bind-try', path)),
    ...Object.keys(OWN_SETTINGS).map((name) => shown('--ro-bind', beside(`etc/${name}`), `/etc/${name}`)),
    ['--proc', '/proc'],
    ...kernelFiles(SEALED).map((path) => shown('--ro-bind', path)),
    ...kernelFiles(HIDDEN).map((path) => shown('--ro-bind', '/dev/null', path)),
    ['--dev', '/dev', '--bind', beside('shm'), '/dev/shm', '--bind', beside('tmp'), '/tmp'],
    ...needs.map((path) => needed(path, folder, hidden)),
    shown('--ro-bind', process.execPath),
    shown('--ro-bind', PROGRAM, INSIDE.program),
    shown('--ro-bind', socketOf(folder), INSIDE.socket),
    shown('--bind', folder.root, INSIDE.root),
    ...inputs.map((path) => shown('--ro-bind', join(folder.root, path), `${INSIDE.root}/${path}`)),
    ['--remount-ro', '/dev', '--remount-ro', '/', '--chdir', INSIDE.workspace],
    ['--json-status-fd', `${statusFile}`],
    ['--seccomp', `${filterFile}`],
  ].flat()
}

/** A user namespace without nested ones. */
function unprivileged({ disablesNamespaces }: Bubblewrap): string[] {
  const user = ['--unshare-user', '--uid', `${USER_INSIDE}`, '--gid', `${USER_INSIDE}`]
  return disablesNamespaces ? [...user, '--disable-userns'] : user
}

const kernelFiles = (names: readonly string[]): string[] => names.map((name) => `/proc/${name}`).filter((path) => existsSync(path))

const shown = (how: '--bind' | '--ro-bind' | '--ro-bind-try', from: string, to = from): string[] => [...parents(to), how, from, to]

export const socketOf = ({ path }: Folder): string => join(path, 'model.sock')

/** A folder that contains the episode folders would expose them to each other. */
function needed(path: string, folder: Folder, hidden: readonly string[]): string[] {
  const way = relative(existsSync(path) ? realpathSync(path) : resolve(path), realpathSync(folder.path))
  if (!isAbsolute(path) || !way.startsWith('..'))
    throw invalid(
      'bad_need',
      'an agent cannot need a relative path, or a folder that holds the episodes; name the folder its program is in',
    )
  return neededFolder(resolve(path), hidden)
}

/** Far above the uids of people and services. */
const FIRST = 2_000_000_000
const COUNT = 65_536
const ALL_NUMBERS = /^\s*0\s+0\s+4294967295\s*$/
const SYS_ADMIN = 1n << 21n
/** Others may read and enter or run it. */
const OPEN_TO_ALL = 0o005
const SETPRIV = '/usr/bin/setpriv'
export const PRLIMIT = '/usr/bin/prlimit'

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

function giveTo(user: number | null, folder: string): void {
  if (user === null) return
  lchownSync(folder, user, user)
  for (const { path } of walk(folder)) lchownSync(path, user, user)
}
