/** The git command on a repository that is not trusted: only reads of objects, and no setting of the repository is in force. */
import { spawn } from 'node:child_process'
import { unavailable } from '../../../src/contract/index.ts'

const GIT_TIMEOUT_SECONDS = 120
const OUTPUT_BYTES_MAX = 128 * 1024 * 1024
const STDERR_CHARACTERS_MAX = 2000

/** Nothing makes git start a program, ask a person or reach a network. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.commitGraph=false',
  'core.attributesFile=/dev/null',
  'protocol.allow=never',
]

export class GitFailure extends Error {}

export interface GitCall {
  readonly input?: string
  /** The user's own settings are read, such as `safe.directory`. */
  readonly asUser?: boolean
  readonly signal: AbortSignal
}

/** What git printed. The arguments are never a shell's. */
export async function git(args: readonly string[], { input = '', asUser = false, signal }: GitCall): Promise<Buffer> {
  signal.throwIfAborted()
  const { promise, resolve, reject } = Promise.withResolvers<Buffer>()
  const timeout = AbortSignal.timeout(GIT_TIMEOUT_SECONDS * 1000)
  const words = [...SETTINGS.flatMap((setting) => ['-c', setting]), ...args]
  const child = spawn('git', words, {
    env: environment(asUser),
    signal: AbortSignal.any([signal, timeout]),
    killSignal: 'SIGKILL',
    stdio: 'pipe',
  })
  const stdout: Buffer[] = []
  let [bytes, stderr] = [0, '']
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= OUTPUT_BYTES_MAX) stdout.push(chunk)
    else child.kill('SIGKILL')
  })
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, STDERR_CHARACTERS_MAX)))
  child.on('error', (cause) => {
    if (cause.name !== 'AbortError') reject(unavailable('git_missing', 'git could not be started; install git 2.36 or newer', { cause }))
    else reject(signal.aborted ? signal.reason : new GitFailure(`git did not end within ${GIT_TIMEOUT_SECONDS} s`))
  })
  child.on('close', (code, killed) =>
    code === 0 ? resolve(Buffer.concat(stdout)) : reject(new GitFailure(`${stderr.trim()} (${code ?? killed})`)),
  )
  // A git that died early closes its input; its exit says why.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return promise
}

function environment(asUser: boolean): NodeJS.ProcessEnv {
  const { PATH, HOME, TMPDIR } = process.env
  return {
    ...(PATH !== undefined && { PATH }),
    ...(TMPDIR !== undefined && { TMPDIR }),
    ...(asUser && HOME !== undefined ? { HOME } : { GIT_CONFIG_GLOBAL: '/dev/null', GIT_CONFIG_NOSYSTEM: '1' }),
    LC_ALL: 'C',
    GIT_TERMINAL_PROMPT: '0',
    GIT_NO_LAZY_FETCH: '1',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_ATTR_NOSYSTEM: '1',
  }
}
