/** The git command: run with nothing of the surrounding environment that could point it elsewhere. */
import { spawn } from 'node:child_process'
import { unavailable, unsupported } from '../../../src/contract/index.ts'

/** How long one git process may wait for a ref that another one is writing. */
export const REF_LOCK_WAIT_MILLIS = 5000
const GIT_TIMEOUT_MILLIS = 60_000
/** The first git that syncs refs: `core.fsync` exists since then. */
const VERSION_MIN = { major: 2, minor: 36 }

/** On the command line as well as in the repository's own settings: a repository made by somebody else is written as durably. */
const SETTINGS = [
  'core.fsync=all',
  'core.fsyncMethod=batch',
  'gc.auto=0',
  `core.filesRefLockTimeout=${REF_LOCK_WAIT_MILLIS}`,
  `core.packedRefsTimeout=${REF_LOCK_WAIT_MILLIS}`,
]

export class GitError extends Error {
  readonly stderr: string

  constructor(command: string, stderr: string) {
    super(`git ${command} failed: ${stderr.trim()}`)
    this.name = 'GitError'
    this.stderr = stderr
  }
}

/** What git printed. The arguments are never a shell's. */
export async function git(args: readonly string[], input = ''): Promise<Buffer> {
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const child = spawn('git', [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args], {
    env: environment(),
    // A signal, not a timeout: the timer of a git that never started would hold the process.
    signal: AbortSignal.timeout(GIT_TIMEOUT_MILLIS),
    stdio: 'pipe',
  })
  const stdout: Buffer[] = []
  const stderr: Buffer[] = []
  child.stdout.on('data', (chunk: Buffer) => stdout.push(chunk))
  child.stderr.on('data', (chunk: Buffer) => stderr.push(chunk))
  const command = args.find((arg) => !arg.startsWith('-')) ?? ''
  child.on('error', (cause) => {
    if (cause.name === 'AbortError') reject(new GitError(command, `no end after ${GIT_TIMEOUT_MILLIS / 1000} s`))
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

function environment(): NodeJS.ProcessEnv {
  const kept = Object.entries(process.env).filter(([name]) => !name.startsWith('GIT_'))
  return { ...Object.fromEntries(kept), LC_ALL: 'C', GIT_TERMINAL_PROMPT: '0' }
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
