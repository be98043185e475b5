/** A folder of this machine taken into the repository as it is: small texts as blobs, everything else as large files. */
import { isUtf8 } from 'node:buffer'
import { constants, open, readdir, realpath, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { TEXT_FILE_BYTES_MAX, invalid, isLargeFile, pathProblem } from '../../../../src/contract/index.ts'
import { makeObject } from '../objects/object.ts'
import type { Objects } from '../objects/objects.ts'
import type { Leaf } from '../objects/tree.ts'
import type { LargeFiles } from './large.ts'

const TAKERS = 4
/** A link put in a file's place is not followed, and a pipe put there is not waited for. */
const AS_IT_IS = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK

interface Source {
  readonly name: string
  readonly path: string
}

/** Every file is durable when this resolves. The path itself may be a link, which is followed. */
export async function takeCheckpoint(path: string, objects: Objects, large: LargeFiles): Promise<readonly (readonly [string, Leaf])[]> {
  const sources = await sourcesAt(path)
  if (sources.length === 0) throw invalid('bad_checkpoint', 'the checkpoint holds no file; write its files before offering it')
  const leaves: (readonly [string, Leaf])[] = []
  const queue = oneByOne(sources)
  const takers = Array.from({ length: TAKERS }, async () => {
    for (const source of queue) leaves.push([source.name, await take(source, objects, large)])
  })
  // Nothing goes on behind a refusal: a file in progress ends first.
  await Promise.allSettled(takers)
  await Promise.all(takers)
  return leaves
}

async function sourcesAt(path: string): Promise<readonly Source[]> {
  const root = await realpath(path).catch(() => null)
  if (root === null) throw invalid('bad_checkpoint', 'the checkpoint does not exist; name a folder or a file of this machine')
  if (!(await stat(root)).isDirectory()) return [checkedSource(basename(path), root)]
  const sources: Source[] = []
  let level: readonly Source[] = [{ name: '', path: root }]
  while (level.length > 0) {
    const entries = (await Promise.all(level.map(entriesOf))).flat()
    sources.push(...entries.filter((entry) => !entry.folder))
    level = entries.filter((entry) => entry.folder)
  }
  return sources
}

async function entriesOf(folder: Source): Promise<readonly (Source & { readonly folder: boolean })[]> {
  const entries = await readdir(folder.path, { withFileTypes: true, encoding: 'buffer' }).catch(() => null)
  if (entries === null) throw refused(folder.name, 'cannot be read; let the service read it')
  return entries.map((entry) => {
    const name = folder.name === '' ? entry.name.toString() : `${folder.name}/${entry.name.toString()}`
    if (!isUtf8(entry.name)) throw refused(name, 'has a name that is not Unicode; rename it')
    if (!entry.isFile() && !entry.isDirectory()) throw refused(name, 'is neither a file nor a folder; put the file itself there')
    return { ...checkedSource(name, join(folder.path, entry.name.toString())), folder: entry.isDirectory() }
  })
}

function checkedSource(name: string, path: string): Source {
  const problem = pathProblem(name)
  if (problem !== null) throw invalid('bad_path', `path ${JSON.stringify(name)} ${problem}`)
  return { name, path }
}

/** A taker that fails ends the sequence for all of them, as leaving a loop over a generator does. */
function* oneByOne(sources: readonly Source[]): Generator<Source> {
  yield* sources
}

async function take(source: Source, objects: Objects, large: LargeFiles): Promise<Leaf> {
  const blob = makeObject('blob', await textOf(source, large))
  await objects.add(blob)
  return { id: blob.id, kind: 'file' }
}

/** What the tree holds in the file's place: its own text, or the pointer to it. */
async function textOf(source: Source, large: LargeFiles): Promise<Uint8Array> {
  const file = await open(source.path, AS_IT_IS).catch(() => null)
  if (file === null) throw refused(source.name, 'cannot be read as a plain file; put the file itself there and let the service read it')
  try {
    if (!(await file.stat()).isFile()) throw refused(source.name, 'is not a plain file; put the file itself there')
    const text = await smallTextOf(file, source.name)
    return text ?? Buffer.from(await large.keep(file, source.name))
  } finally {
    await file.close()
  }
}

/** However large the file is, no more of it is read here than shows that it is large. */
async function smallTextOf(file: FileHandle, name: string): Promise<Buffer | null> {
  const buffer = Buffer.alloc(TEXT_FILE_BYTES_MAX + 1)
  const bytes = buffer.subarray(0, await fill(file, buffer))
  return isLargeFile(name, bytes) ? null : bytes
}

async function fill(file: FileHandle, buffer: Buffer): Promise<number> {
  let filled = 0
  while (filled < buffer.length) {
    const { bytesRead } = await file.read(buffer, filled, buffer.length - filled, filled)
    if (bytesRead === 0) break
    filled += bytesRead
  }
  return filled
}

const refused = (name: string, problem: string): Error => invalid('bad_checkpoint', `${JSON.stringify(name)} of the checkpoint ${problem}`)
