/**
 * Files too large or too strange for git: kept beside it as git-lfs lays them out, `lfs/objects/ab/cd/<sha256>`, with a pointer of
 * three lines in the tree. A remote git repository gets the pointers alone.
 */
import { createHash } from 'node:crypto'
import { constants, copyFile, link, open, rename, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { invalid, isRefusal, printPointer, unavailable } from '../../../../src/contract/index.ts'
import type { Pointer } from '../../../../src/contract/index.ts'
import { hasCode, isMissing, makeFolder, sync, writeSynced } from '../../../../src/kit/index.ts'
import type { FolderUsage } from '../usage.ts'
import type { Workbench } from './workbench.ts'

const CHUNK_BYTES = 1024 * 1024
const READ_ONLY = 0o444
/** The file system cannot give the file a second name: another disk, too many names, or none at all. */
const UNLINKABLE = ['EXDEV', 'EMLINK', 'EPERM', 'ENOTSUP', 'ENOSYS', 'EOPNOTSUPP']

/** Where large files are that are not here. */
export interface LargeFilesBehind {
  /** Null when it is not there. What comes is compared with the pointer. */
  read(pointer: Pointer): Promise<AsyncIterable<Uint8Array> | null>
  /** Keeps the file at the path there too. Done before the file has its name here, so that what is here is there as well. */
  write(pointer: Pointer, path: string): Promise<void>
}

export class LargeFiles {
  readonly #repository: string
  readonly #workbench: Workbench
  readonly #behind: LargeFilesBehind | undefined
  readonly #usage: FolderUsage | undefined
  /** Two writers of equal bytes share one write. */
  readonly #inFlight = new Map<string, Promise<void>>()

  constructor(repository: string, workbench: Workbench, behind?: LargeFilesBehind, usage?: FolderUsage) {
    this.#repository = repository
    this.#workbench = workbench
    this.#behind = behind
    this.#usage = usage
  }

  /** The text that stands for the file from now on. Read twice, so that bytes kept already are not written again. */
  async keep(source: FileHandle, name: string): Promise<string> {
    const pointer = await digestOf(source)
    await this.#once(pointer, async (beside) => {
      await writeHashed(beside, chunksOf(source), pointer, () => changed(name))
      await this.#behind?.write(pointer, beside)
    })
    return printPointer(pointer)
  }

  /** Gives the kept file another name, read-only, after looking at every byte of it. */
  async place(pointer: Pointer, path: string): Promise<void> {
    const kept = this.#path(pointer)
    await this.#usage?.use(kept)
    await this.#bring(pointer)
    await checkKept(kept, pointer)
    try {
      await link(kept, path)
    } catch (error) {
      if (!hasCode(error, ...UNLINKABLE)) throw error
      await copyFile(kept, path, constants.COPYFILE_EXCL | constants.COPYFILE_FICLONE)
      await sync(path)
    }
  }

  /** Copies a file that is only behind to this machine. */
  async #bring(pointer: Pointer): Promise<void> {
    const behind = this.#behind
    if (behind === undefined || (await sizeOf(this.#path(pointer))) === pointer.bytes) return
    await this.#once(pointer, async (beside) => {
      const chunks = await behind.read(pointer)
      if (chunks === null) throw damaged(pointer, 'is missing')
      await writeHashed(beside, chunks, pointer, () => damaged(pointer, 'is not what was kept'))
    })
  }

  #once(pointer: Pointer, fill: (beside: string) => Promise<void>): Promise<void> {
    const running = this.#inFlight.get(pointer.sha256)
    if (running !== undefined) return running
    const write = this.#write(pointer, fill).finally(() => this.#inFlight.delete(pointer.sha256))
    this.#inFlight.set(pointer.sha256, write)
    return write
  }

  /** A file of the wrong size is damaged; writing its bytes again repairs it. */
  async #write(pointer: Pointer, fill: (beside: string) => Promise<void>): Promise<void> {
    const path = this.#path(pointer)
    if ((await sizeOf(path)) !== pointer.bytes) {
      await makeFolder(dirname(path))
      await this.#workbench.build(async (beside) => {
        await fill(beside)
        await rename(beside, path)
      })
      this.#usage?.grew(pointer.bytes)
    }
    await sync(dirname(path))
  }

  #path({ sha256 }: Pointer): string {
    return join(this.#repository, 'lfs', 'objects', sha256.slice(0, 2), sha256.slice(2, 4), sha256)
  }
}

async function writeHashed(path: string, chunks: AsyncIterable<Uint8Array>, { sha256 }: Pointer, otherwise: () => Error): Promise<void> {
  const hash = createHash('sha256')
  await writeSynced(path, hashing(chunks, hash), READ_ONLY)
  if (hash.digest('hex') !== sha256) throw otherwise()
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
