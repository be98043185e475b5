/** Reads a foreign git repository: runs no hook, contacts no remote and writes nothing, whatever its configuration says. */
import { hash } from 'node:crypto'
import { createWriteStream } from 'node:fs'
import { runGit, streamGit } from '../../git/index.ts'

/** The folders belong to the user of the original system. */
const CALL = { settings: ['safe.directory=*'], timeoutSeconds: 600, outputBytesMax: 256 * 1024 * 1024 }

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
export const gitBlobTo = (repository: string, id: string, path: string): Promise<void> =>
  streamGit([`--git-dir=${repository}`, 'cat-file', 'blob', id], createWriteStream(path, { flags: 'wx', mode: 0o600 }), CALL)

const run = (repository: string, args: readonly string[], input: string): Promise<Buffer> =>
  runGit([`--git-dir=${repository}`, ...args], { ...CALL, input })
