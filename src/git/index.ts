/**
 * Git: the one way to start the git command, on repositories that are not trusted: nothing in one makes git start a program, ask a person,
 * read another history or reach a network.
 * Does not know what is in a repository. Files of a working tree are no business of its callers: reading them starts the repository's filters.
 */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { childEnvironment, unavailable } from '../contract/index.ts'

const TIMEOUT_SECONDS = 120
const OUTPUT_BYTES_MAX = 128 * 1024 * 1024
const STDERR_CHARACTERS_MAX = 20_000

/** On the command line, where they win over those of the repository. */
const SETTINGS = [
  'core.hooksPath=/dev/null',
  'core.fsmonitor=false',
  'core.commitGraph=false',
  'core.attributesFile=/dev/null',
  'protocol.ext.allow=never',
]

const ENVIRONMENT = {
  LC_ALL: 'C',
  GIT_TERMINAL_PROMPT: '0',
  GIT_ATTR_NOSYSTEM: '1',
  // An object is what its id says, whatever refs/replace and grafts put in its place.
  GIT_NO_REPLACE_OBJECTS: '1',
  GIT_GRAFT_FILE: '/dev/null',
  // The repository itself names the program that would fetch a missing object.
  GIT_NO_LAZY_FETCH: '1',
  GIT_OPTIONAL_LOCKS: '0',
}
const OFFLINE = { GIT_ALLOW_PROTOCOL: 'none' }
const NOBODY = { GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null' }

export interface GitCall {
  readonly input?: string
  /** Further settings, each as `name=value`. */
  readonly settings?: readonly string[]
  /** Whether the settings of the user and the machine are read: their name, `safe.directory`, credentials. */
  readonly asUser?: boolean
  /** Whether it may talk to a remote. */
  readonly overNetwork?: boolean
  /** Variables of this process that are passed on, beside those that every program gets. */
  readonly passes?: RegExp
  readonly environment?: Readonly<Record<string, string>>
  readonly timeoutSeconds?: number
  readonly outputBytesMax?: number
  readonly signal?: AbortSignal
}

export class GitFailure extends Error {
  readonly stderr: string

  constructor(command: string, stderr: string) {
    super(`git ${command} failed: ${stderr.trim()}`)
    this.name = 'GitFailure'
    this.stderr = stderr
  }
}

/** What git printed. The arguments are never a shell's. */
export async function runGit(args: readonly string[], call: GitCall = {}): Promise<Buffer> {
  const { outputBytesMax = OUTPUT_BYTES_MAX } = call
  const tooMuch = new AbortController()
  const { child, ended } = start(args, call, tooMuch.signal)
  const chunks: Buffer[] = []
  let bytes = 0
  child.stdout.on('data', (chunk: Buffer) => {
    bytes += chunk.length
    if (bytes <= outputBytesMax) chunks.push(chunk)
    else tooMuch.abort(new GitFailure(commandIn(args), `it prints more than ${outputBytesMax} bytes`))
  })
  await ended
  return Buffer.concat(chunks)
}

/** The same for output of any size. */
export async function streamGit(args: readonly string[], into: Writable, call: GitCall = {}): Promise<void> {
  const { child, ended } = start(args, call)
  await Promise.all([pipeline(child.stdout, into), ended])
}

type Git = ChildProcessByStdio<Writable, Readable, Readable>

function start(
  args: readonly string[],
  call: GitCall,
  ...stops: readonly AbortSignal[]
): { readonly child: Git; readonly ended: Promise<void> } {
  const { input = '', settings = [], timeoutSeconds = TIMEOUT_SECONDS, signal } = call
  signal?.throwIfAborted()
  const wanted = AbortSignal.any([...stops, ...(signal === undefined ? [] : [signal])])
  const words = [...[...SETTINGS, ...settings].flatMap((setting) => ['-c', setting]), ...args]
  // A signal, not a timeout: the timer of a git that never started would hold the process.
  const timeout = AbortSignal.timeout(timeoutSeconds * 1000)
  const child = spawn('git', words, {
    env: environmentOf(call),
    signal: AbortSignal.any([wanted, timeout]),
    killSignal: 'SIGKILL',
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  const ended = endOf(child, (cause, stderr, code) => {
    if (cause === null) return new GitFailure(commandIn(args), `${stderr} (${code})`)
    if (cause.name !== 'AbortError') return unavailable('git_missing', 'git could not be started; install git 2.36 or newer', { cause })
    return wanted.aborted ? wanted.reason : new GitFailure(commandIn(args), `no end after ${timeoutSeconds} s`)
  })
  // A git that died early closes its input; its exit says why, the broken pipe does not.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  return { child, ended }
}

const environmentOf = ({ asUser = false, overNetwork = false, passes, environment = {} }: GitCall): NodeJS.ProcessEnv => ({
  ...childEnvironment(process.env, ...(passes === undefined ? [] : [passes])),
  ...ENVIRONMENT,
  ...(overNetwork ? {} : OFFLINE),
  ...(asUser ? {} : NOBODY),
  ...environment,
})

type ErrorOf = (cause: Error | null, stderr: string, code: number | string | null) => unknown

function endOf(child: Git, errorOf: ErrorOf): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let stderr = ''
  child.stderr.on('data', (chunk: Buffer) => (stderr = (stderr + chunk.toString()).slice(0, STDERR_CHARACTERS_MAX)))
  child.on('error', (cause) => {
    reject(errorOf(cause, stderr, null))
    // A program that git started may hold them open.
    for (const stream of [child.stdout, child.stderr]) stream.destroy()
  })
  child.on('close', (code, killed) => (code === 0 ? resolve() : reject(errorOf(null, stderr, code ?? killed))))
  return promise
}

const TAKES_A_WORD: ReadonlySet<string | undefined> = new Set(['-c', '-C'])

const commandIn = (args: readonly string[]): string =>
  args.find((arg, index) => !arg.startsWith('-') && !TAKES_A_WORD.has(args[index - 1])) ?? ''
