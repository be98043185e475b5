/** Reads a foreign git repository: runs no hook, contacts no remote and writes nothing, whatever its configuration says. */
import { spawn, type ChildProcessByStdio } from 'node:child_process'
import { hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { childEnvironment, unavailable } from '../../contract/index.ts'

const TIMEOUT_MILLISECONDS = 600_000
const OUTPUT_BYTES_MAX = 256 * 1024 * 1024

/** Safe as an argument of git. */
export const isCommitId = (text: unknown): text is string => typeof text === 'string' && /^[0-9a-f]{40}$/.test(text)

export interface GitObject {
  readonly type: string
  readonly body: Buffer
}

export async function gitRefs(repository: string, prefix: string): Promise<ReadonlyMap<string, string>> {
  const printed = await run(repository, ['for-each-ref', '--format=%(objectname) %(refname)', prefix], '')
  const lines = printed.toString().split('\n').filter(Boolean)
  return new Map(lines.map((line): [string, string] => [line.slice(line.indexOf(' ') + 1), line.slice(0, line.indexOf(' '))]))
}

/** In the order asked; null for missing objects. */
export async function gitObjects(repository: string, names: readonly string[]): Promise<readonly (GitObject | null)[]> {
  if (names.length === 0) return []
  const printed = await run(repository, ['cat-file', '--batch'], `${names.join('\n')}\n`)
  const found: (GitObject | null)[] = []
  for (let at = 0; found.length < names.length;) {
    const end = printed.indexOf(0x0a, at)
    if (end === -1) break
    const [, id, type, size] = /^([0-9a-f]{40}) (\w+) (\d+)$/.exec(printed.subarray(at, end).toString()) ?? []
    const bytes = Number(size ?? 0)
    const body = printed.subarray(end + 1, end + 1 + bytes)
    // Git does not hold packed bytes against their id.
    if (type !== undefined && hash('sha1', Buffer.concat([Buffer.from(`${type} ${bytes}\0`), body])) !== id)
      throw new Error(`object ${id} of the repository is damaged; run git fsck there`)
    found.push(type === undefined ? null : { type, body })
    at = end + 1 + (type === undefined ? 0 : bytes + 1)
  }
  return found
}

/** Every file of a commit. A file whose size git does not know is missing. */
export async function gitFiles(repository: string, commit: string) {
  const printed = await run(repository, ['ls-tree', '-r', '-z', '-l', '--full-tree', commit], '')
  return printed
    .toString()
    .split('\0')
    .filter(Boolean)
    .map((line) => {
      const [mode = '', , id = '', size = ''] = line.slice(0, line.indexOf('\t')).split(/ +/)
      return { mode, id, bytes: /^\d+$/.test(size) ? Number(size) : -1, path: line.slice(line.indexOf('\t') + 1) }
    })
}

/** Streams the blob, however large. */
export async function gitBlobTo(repository: string, id: string, path: string): Promise<void> {
  const child = start(repository, ['cat-file', 'blob', id])
  child.stdin.end()
  const ended = exitOf(child)
  await pipeline(child.stdout, createWriteStream(path, { flags: 'wx', mode: 0o600 }))
  await ended
}

async function run(repository: string, args: readonly string[], input: string): Promise<Buffer> {
  const child = start(repository, args)
  const ended = exitOf(child)
  // The exit code says why; a broken input pipe does not.
  child.stdin.on('error', () => undefined)
  child.stdin.end(input)
  const chunks: Buffer[] = []
  let bytes = 0
  for await (const chunk of child.stdout) {
    const piece = Buffer.from(chunk)
    chunks.push(piece)
    bytes += piece.length
    if (bytes <= OUTPUT_BYTES_MAX) continue
    child.kill()
    await ended.catch(() => undefined)
    throw new Error(`git ${args[0]} prints more than ${OUTPUT_BYTES_MAX} bytes`)
  }
  await ended
  return Buffer.concat(chunks)
}

type Git = ChildProcessByStdio<Writable, Readable, Readable>

/** Missing objects are never fetched, since the repository itself names the program that fetches them. */
function start(repository: string, args: readonly string[]): Git {
  const env = {
    ...childEnvironment(process.env),
    LC_ALL: 'C',
    GIT_CONFIG_NOSYSTEM: '1',
    GIT_CONFIG_GLOBAL: '/dev/null',
    GIT_ALLOW_PROTOCOL: 'none',
    GIT_NO_LAZY_FETCH: '1',
    GIT_NO_REPLACE_OBJECTS: '1',
    GIT_GRAFT_FILE: '/dev/null',
    GIT_OPTIONAL_LOCKS: '0',
    GIT_TERMINAL_PROMPT: '0',
  }
  const settings = ['-c', 'safe.directory=*', '-c', 'core.fsmonitor=false', `--git-dir=${repository}`]
  return spawn('git', [...settings, ...args], { env, timeout: TIMEOUT_MILLISECONDS, stdio: ['pipe', 'pipe', 'pipe'] })
}

function exitOf(child: Git): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  let words = ''
  child.stderr.on('data', (chunk: Buffer) => (words = (words + chunk.toString()).slice(0, 2000)))
  child.on('error', (cause) => reject(unavailable('git_missing', 'git could not be started; install git 2.36 or newer', { cause })))
  child.on('close', (code) => {
    if (code === 0) resolve()
    else reject(new Error(words.trim().split('\n', 1).join('') || `git ended with ${code}`))
  })
  promise.catch(() => undefined)
  return promise
}
