/**
 * Files too large or too strange for git: kept beside it as git-lfs lays them out, `lfs/objects/ab/cd/<sha256>`, with a pointer of
 * three lines in the tree. They stay on this machine: a remote repository gets the pointers alone.
 */
import { createHash } from 'node:crypto'
import { constants, copyFile, link, open, rename, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invalid, isRefusal, printPointer, unavailable } from '../../../../src/contract/index.ts'
import type { Pointer } from '../../../../src/contract/index.ts'
import { hasCode, isMissing, makeFolder, sync, writeSynced } from '../../../../src/kit/index.ts'
import type { Workbench } from './workbench.ts'

const CHUNK_BYTES = 1024 * 1024
const READ_ONLY = 0o444
/** The file system cannot give the file a second name: another disk, too many names, or none at all. */
const UNLINKABLE = ['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']

export class LargeFiles {
  readonly #repository: string
  readonly #workbench: Workbench
  /** Two writers of equal bytes share one write. */
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(repository: string, workbench: Workbench) {
    this.#repository = repository
    this.#workbench = workbench
  }

  /** The text that stands for the file from now on. Read twice, so that bytes kept already are not written again. */
  async keep(source: FileHandle, name: string): Promise<string> {
    const pointer = await digestOf(source)
    const running = this.#inFlight.get(pointer.sha256)
    const write = running ?? this.#write(source, name, pointer).finally(() => this.#inFlight.delete(pointer.sha256))
    this.#inFlight.set(pointer.sha256, write)
    await write
    return printPointer(pointer)
  }

  /** Gives the kept file another name, read-only, after looking at every byte of it. */
  async place(pointer: Pointer, path: string): Promise<void> {
    const kept = this.#path(pointer)
    await checkKept(kept, pointer)
    try {
      await link(kept, path)
    } catch (error) {
      if (!hasCode(error, ...UNLINKABLE)) throw error
      await copyFile(kept, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
      await sync(path)
    }
  }

  /** A file of the wrong size is damaged; writing its bytes again repairs it. */
  async #write(source: FileHandle, name: string, pointer: Pointer): Promise<void> {
    const path = this.#path(pointer)
    if ((await sizeOf(path)) !== pointer.bytes) {
      await makeFolder(dirname(path))
      await this.#workbench.build(async (beside) => {
        const hash = createHash('sha256')
        await writeSynced(beside, hashing(chunksOf(source), hash), READ_ONLY)
        if (hash.digest('hex') !== pointer.sha256) throw changed(name)
        await rename(beside, path)
      })
    }
    await sync(dirname(path))
  }

  #path({ sha256 }: Pointer): string {
    return join(this.#repository, 'lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }
}

async function digestOf(source: FileHandle): Promise<Pointer> {
  const hash = createHash('sha256')
  let bytes = 0
  for await (const chunk of hashing(chunksOf(source), hash)) bytes += chunk.length
  return { sha256: hash.digest('hex'), bytes }
}

const chunksOf = (source: FileHandle): AsyncIterable<Uint8Array> =>
  source.createReadStream({ start: 0, autoClose: false, highWaterMark: CHUNK_BYTES })

async function* hashing(chunks: AsyncIterable<Uint8Array>, hash: { update(chunk: Uint8Array): unknown }): AsyncIterable<Uint8Array> {
  for await (const chunk of chunks) {
    hash.update(chunk)
    yield chunk
  }
}

async function sizeOf(path: string): Promise<number | null> {
  try {
    return (await stat(path)).size
  } catch (error) {
    if (isMissing(error)) return null
    throw error
  }
}

async function checkKept(path: string, pointer: Pointer): Promise<void> {
  try {
    const file = await open(path)
    try {
      const found = await digestOf(file)
      if (found.sha256 !== pointer.sha256) throw damaged(pointer, 'is not what was kept')
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isRefusal(error)) throw error
    throw damaged(pointer, isMissing(error) ? 'is not on this machine' : 'cannot be read', error)
  }
}

const damaged = ({ sha256 }: Pointer, what: string, cause?: unknown): Error =>
  unavailable('content_damaged', `large file ${sha256} of the content ${what}; bring it back from a copy of the repository's lfs folder`, {
    cause,
  })

const changed = (name: string): Error =>
  invalid('bad_checkpoint', `file ${JSON.stringify(name)} changed while the checkpoint was taken; take it after the last write to it`)
