/** The git command: run with nothing of the surrounding environment that could point it elsewhere. */
import { spawn } from 'node:child_process'
import { childEnvironment, unavailable, unsupported } from '../../../src/contract/index.ts'

/** How long one git process may wait for a ref that another one is writing. */
export const REF_LOCK_WAIT_MILLIS = 5000
const GIT_TIMEOUT_SECONDS = 60
/** The first git that syncs refs: `core.fsync` exists since then. */
const VERSION_MIN = { major: 2, minor: 36 }

/** On the command line as well as in the repository's own settings: a foreign repository is written as durably. */
const SETTINGS = [
  'core.fsync=all',
  'core.fsyncMethod=batch',
  'gc.auto=0',
  `core.filesRefLockTimeout=${REF_LOCK_WAIT_MILLIS}`,
  `core.packedRefsTimeout=${REF_LOCK_WAIT_MILLIS}`,
  // Nothing in the repository makes git start a program or read another history.
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.commitGraph=false',
  'core.attributesFile=/dev/null',
  'fetch.recurseSubmodules=false',
  'push.recurseSubmodules=no',
  'protocol.ext.allow=never',
]
/** What fetched objects must be before they are kept, how they are kept (readable without git), and when a silent line is given up. */
const NETWORK_SETTINGS = ['fetch.fsckObjects=true', 'fetch.unpackLimit=1000000000', 'http.lowSpeedLimit=1', 'http.lowSpeedTime=30']
/** More than any content that is kept: a small pack may hold an object of any size. */
const OUTPUT_BYTES_MAX = 512 * 1024 * 1024
/** How git proves who it is to a remote, by itself, ssh or a credential helper: the owner's choice, so these pass. */
const CREDENTIALS =
  /^(?:GIT_SSH_COMMAND|GIT_SSH|GIT_ASKPASS|SSH_\w+|DISPLAY|DBUS_SESSION_BUS_ADDRESS|XDG_RUNTIME_DIR|GNUPGHOME|KRB5\w+|GH_TOKEN|GITHUB_TOKEN|GITLAB_TOKEN)$/
/** Any of them set means that the owner decided how ssh is called. */
const SSH_VARIABLES = ['GIT_SSH_COMMAND', 'GIT_SSH', 'SSH_ASKPASS']

export class GitError extends Error {
  readonly stderr: string

  constructor(command: string, stderr: string) {
    super(`git ${command} failed: ${stderr.trim()}`)
    this.name = 'GitError'
    this.stderr = stderr
  }
}

/** What git printed. The arguments are never a shell's. */
export function git(args: readonly string[], input = ''): Promise<Buffer> {
  return run(settingsFirst(SETTINGS, args), { input, environment: environment(), timeoutSeconds: GIT_TIMEOUT_SECONDS })
}

/** A command that talks to a remote. It cannot ask a person for a password: without one it fails. */
export async function gitOverNetwork(args: readonly string[], timeoutSeconds: number): Promise<Buffer> {
  const ssh = (await isSshChosen()) ? {} : { GIT_SSH_COMMAND: 'ssh -o BatchMode=yes' }
  const whole = settingsFirst([...SETTINGS, ...NETWORK_SETTINGS], args)
  return run(whole, { input: '', environment: { ...environment(CREDENTIALS), ...ssh }, timeoutSeconds })
}

const settingsFirst = (settings: readonly string[], args: readonly string[]): readonly string[] => [
  ...settings.flatMap((setting) => ['-c', setting]),
  ...args,
]

/** The variable would win over `core.sshCommand` of the owner's own git settings, so those are asked first. */
async function isSshChosen(): Promise<boolean> {
  if (SSH_VARIABLES.some((name) => process.env[name] !== undefined)) return true
  const printed = await git(['config', '--global', '--get', 'core.sshCommand']).catch(() => '')
  return printed.length > 0
}

const environment = (...also: readonly RegExp[]): NodeJS.ProcessEnv => ({
  ...childEnvironment(process.env, ...also),
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  // An object is what its id says, whatever refs/replace and grafts put in its place.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  GIT_ATTR_NOSYSTEM: '1',
})

interface Surroundings {
  readonly input: string
  readonly environment: NodeJS.ProcessEnv
  readonly timeoutSeconds: number
}

async function run(args: readonly string[], { input, environment: env, timeoutSeconds }: Surroundings): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  // A signal, not a timeout: the timer of a git that never started would hold the process.
  const child = spawn('git', args, { env, signal: AbortSignal.timeout(timeoutSeconds * 1000), stdio: 'pipe' })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= OUTPUT_BYTES_MAX) stdout.push(chunk)
    else child.kill('SIGKILL')
  })
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const command = args.find((arg, index) => !arg.startsWith('-') && args[index - 1] !== '-c') ?? ''
  child.on('error', (cause) => {
    if (cause.name === 'AbortError') reject(new GitError(command, `no end after ${timeoutSeconds} s`))
    else reject(unavailable('git_missing', 'git could not be started; install git 2.36 or newer', { cause }))
  })
  child.on('close', (code, signal) => {
    if (code === 0) resolve(Buffer.concat(stdout))
    else reject(new GitError(command, `${Buffer.concat(stderr).toString()} (${code ?? signal})`))
  })
  // A git that died early closes its input; its exit says why, the broken pipe does not.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return promise
}

export async function requireGit(): Promise<void> {
  checkVersion((await git(['--version'])).toString())
}

export function checkVersion(printed: string): void {
  const [, major, minor] = /(\d+)\.(\d+)/.exec(printed) ?? []
  const found = { major: Number(major ?? 0), minor: Number(minor ?? 0) }
  const enough = found.major > VERSION_MIN.major || (found.major === VERSION_MIN.major && found.minor >= VERSION_MIN.minor)
  if (enough) return
  const wanted = `${VERSION_MIN.major}.${VERSION_MIN.minor}`
  throw unsupported('git_too_old', `git ${found.major}.${found.minor} does not sync refs to the disk; install git ${wanted} or newer`)
}
