/** Reads a release's files from the original's repository and writes them as our content: without its manifest, with the harness entries. */
import { createHash } from 'node:crypto'
import { constants, createReadStream, existsSync } from 'node:fs'
import { copyFile, lstat, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { pipeline } from 'node:stream/promises'
import {
  isLargeFile,
  ORIGINAL,
  pathProblem,
  readPointer,
  TEXT_FILE_BYTES_MAX,
  type Adapter,
  type Entry,
  type Files,
  type Release,
} from '../../contract/index.ts'
import { entriesIn, withEntries } from '../../harness/index.ts'
import { gitBlobTo, gitFiles, gitObjects } from '../source/git.ts'
import type { Target } from './target.ts'
import { mkdirp } from '../../kit/index.ts'

/** Files of git and of the original's bookkeeping, which are not served. */
const BOOKKEEPING: ReadonlySet<string> = new Set([ORIGINAL.manifest, '.gitattributes'])
const BLOBS_AT_ONCE = 64
const FILES_MAX = 100_000

export interface Wanted {
  readonly repository: string
  readonly releaseId: string
  readonly entries: readonly Entry[] | null
  readonly adapter: Adapter | undefined
  /** The component folders of the recipe; empty without components. */
  readonly components: readonly string[]
  /** The component that the entries belong to. */
  readonly harness: string | null
  /** The recipe's seed: when its files match, its entries are known. */
  readonly seed: Files
  readonly withoutEntries: () => void
}

export interface Contents extends Pick<Release, 'content_id' | 'components'> {
  /** Its texts, with the entries. */
  readonly texts: Files
}

/** Throws when the content is not complete; nothing is kept in part. */
export async function takeContents(wanted: Wanted, target: Target): Promise<Contents> {
  const folder = await mkdtemp(join(tmpdir(), 'svc-import-'))
  try {
    return await writeContents(await readFiles(wanted, folder), wanted, target)
  } finally {
    await rm(folder, { recursive: true, force: true })
  }
}

/** The content of a scenario of which nothing else is known. */
export function seedContents(wanted: Shape, target: Target): Promise<Contents> {
  return writeContents({ folder: '', texts: wanted.seed, large: [] }, wanted, target)
}

type Shape = Omit<Wanted, 'repository' | 'releaseId'>

async function writeContents(taken: Taken, wanted: Shape, target: Target): Promise<Contents> {
  if (wanted.components.length === 0) return write(taken, '', wanted, target)
  const outside = [...Object.keys(taken.texts), ...taken.large].find(
    (path) => !wanted.components.some((name) => path.startsWith(`${name}/`)),
  )
  if (outside !== undefined) throw new Error(`${quoted(outside)} lies outside the folders ${wanted.components.join(', ')}`)
  const parts: Record<string, string> = {}
  const all: Record<string, string> = {}
  for (const name of wanted.components) {
    const { content_id, texts } = await write(taken, `${name}/`, wanted, target)
    parts[name] = content_id
    for (const [path, text] of Object.entries(texts)) all[`${name}/${path}`] = text
  }
  return { content_id: await target.write({ kind: 'composed', components: parts }), components: parts, texts: all }
}

type Taken = Awaited<ReturnType<typeof readFiles>>

async function readFiles({ repository, releaseId }: Wanted, folder: string) {
  const listed = (await gitFiles(repository, releaseId)).filter(({ path }) => !BOOKKEEPING.has(path))
  if (listed.length > FILES_MAX) throw new Error(`it holds more than ${FILES_MAX} files`)
  for (const file of listed) refuseOdd(file)
  const texts: Record<string, string> = {}
  const large: string[] = []
  for (let at = 0; at < listed.length; at += BLOBS_AT_ONCE) {
    const some = listed.slice(at, at + BLOBS_AT_ONCE)
    const small = some.filter(({ bytes }) => bytes <= TEXT_FILE_BYTES_MAX)
    const blobs = await gitObjects(
      repository,
      small.map(({ id }) => id),
    )
    for (const [index, file] of small.entries()) {
      const body = blobs[index]?.body
      if (body === undefined) throw new Error(`${quoted(file.path)} is not in the repository`)
      const pointer = readPointer(body)
      if (pointer === null && !isLargeFile(file.path, body)) {
        texts[file.path] = body.toString()
        continue
      }
      large.push(file.path)
      const to = await placeFor(folder, file.path)
      if (pointer === null) await writeFile(to, body, { flag: 'wx' })
      else await takeLarge(repository, pointer, file.path, to)
    }
    for (const file of some.filter(({ bytes }) => bytes > TEXT_FILE_BYTES_MAX)) {
      large.push(file.path)
      await gitBlobTo(repository, file.id, await placeFor(folder, file.path))
    }
  }
  return { folder, texts, large }
}

function refuseOdd({ mode, path, bytes }: Awaited<ReturnType<typeof gitFiles>>[number]): void {
  const problem = pathProblem(path)
  if (problem !== null) throw new Error(`path ${quoted(path)} ${problem}`)
  if (mode === '120000') throw new Error(`${quoted(path)} is a symbolic link`)
  if (mode === '160000') throw new Error(`${quoted(path)} is a repository of its own`)
  if (bytes < 0) throw new Error(`${quoted(path)} is not in the repository`)
}

/** git-lfs keeps large files next to the objects, by digest. */
async function takeLarge(
  repository: string,
  pointer: { readonly sha256: string; readonly bytes: number },
  path: string,
  to: string,
): Promise<void> {
  const { sha256, bytes } = pointer
  const from = join(repository, 'lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  if (!existsSync(from)) throw new Error(`the bytes of ${quoted(path)} are not in lfs/objects: the repository has its pointer alone`)
  const found = await lstat(from)
  // A link could lead to any file of this machine, and a pipe has no end.
  if (!found.isFile()) throw new Error(`the bytes of ${quoted(path)} in lfs/objects are a link or no plain file`)
  if (found.size !== bytes) throw new Error(`the bytes of ${quoted(path)} in lfs/objects are not whole`)
  await copyFile(from, to, constants.COPYFILE_FICLONE)
  if ((await digestOf(to)) !== sha256) throw new Error(`the bytes of ${quoted(path)} in lfs/objects are not what its pointer says`)
}

async function digestOf(path: string): Promise<string> {
  const digest = createHash('sha256')
  await pipeline(createReadStream(path), digest)
  return digest.digest('hex')
}

async function placeFor(folder: string, path: string): Promise<string> {
  const place = join(folder, path)
  await mkdirp(dirname(place))
  return place
}

async function write({ folder, texts, large }: Taken, prefix: string, wanted: Shape, target: Target): Promise<Contents> {
  const inside = (paths: readonly string[]): readonly string[] => paths.filter((path) => path.startsWith(prefix))
  const own = Object.fromEntries(inside(Object.keys(texts)).map((path) => [path.slice(prefix.length), texts[path] ?? '']))
  const files = prefix === '' || prefix === `${wanted.harness}/` ? completed(own, prefix, wanted) : own
  if (inside(large).length === 0) return { content_id: await target.write({ kind: 'files', files }), texts: files }
  for (const [path, text] of Object.entries(files)) await writeFile(await placeFor(folder, prefix + path), text)
  return { content_id: await target.write({ kind: 'checkpoint', path: join(folder, prefix) }), texts: files }
}

/** Files without entries may match the seed, whose entries are known. */
function completed(files: Files, prefix: string, { adapter, entries, seed, withoutEntries }: Shape): Files {
  if (entries !== null) return withEntries(adapter, files, entries)
  const own = Object.fromEntries(
    Object.entries(seed).flatMap(([path, text]) => (path.startsWith(prefix) ? [[path.slice(prefix.length), text]] : [])),
  )
  const isSame = Object.entries(files).every(([path, text]) => own[path] === text)
  const whole = isSame && Object.keys(own).length === Object.keys(files).length + 1 ? own : files
  if (adapter !== undefined && !holdsEntries(adapter, whole)) withoutEntries()
  return whole
}

function holdsEntries(adapter: Adapter, files: Files): boolean {
  try {
    return entriesIn(adapter, files).length >= 0
  } catch {
    return false
  }
}

const quoted = (path: string): string => JSON.stringify(path)
