/** The file that is imported: opened once, hashed whole, and watched for changes until the end. */
import { createHash } from 'node:crypto'
import type { BigIntStats } from 'node:fs'
import { open, stat } from 'node:fs/promises'
import type { FileHandle } from 'node:fs/promises'
import { ImportFailure } from './failure.ts'

const NEWLINE = 0x0a
const CHUNK_BYTES = 1024 * 1024

interface Look {
  readonly inode: bigint
  readonly size: bigint
  readonly changed: bigint
}

export class SourceFile implements AsyncDisposable {
  readonly #path: string
  readonly #file: FileHandle
  readonly #look: Look

  private constructor(path: string, file: FileHandle, look: Look) {
    this.#path = path
    this.#file = file
    this.#look = look
  }

  static async open(path: string): Promise<SourceFile> {
    const found = await stat(path).catch(() => null)
    if (found === null) throw new ImportFailure(`${path} cannot be found`)
    if (!found.isFile()) throw new ImportFailure(`${path} is not a file; an import must be able to start again in the middle`)
    const file = await open(path, 'r')
    return new SourceFile(path, file, lookOf(await file.stat({ bigint: true })))
  }

  get bytes(): number {
    return Number(this.#look.size)
  }

  /** The hash of all of it, and how many lines end before that offset. */
  async identify(offset: number): Promise<{ readonly sha256: string; readonly linesBefore: number }> {
    const hash = createHash('sha256')
    let linesBefore = 0
    let position = 0
    for await (const chunk of this.read(0)) {
      hash.update(chunk)
      linesBefore += countLines(chunk.subarray(0, Math.max(0, offset - position)))
      position += chunk.length
    }
    await this.requireUnchanged()
    return { sha256: hash.digest('hex'), linesBefore }
  }

  async *read(from: number): AsyncGenerator<Buffer> {
    let position = from
    while (position < this.bytes) {
      const { buffer, bytesRead } = await this.#file.read(
        Buffer.allocUnsafe(CHUNK_BYTES),
        0,
        Math.min(CHUNK_BYTES, this.bytes - position),
        position,
      )
      if (bytesRead === 0) throw changed(this.#path)
      position += bytesRead
      yield buffer.subarray(0, bytesRead)
    }
  }

  /** By the name, not the open file: one that was replaced under its name has changed as well. */
  async requireUnchanged(): Promise<void> {
    const now = await lookAt(this.#path)
    const same = now.inode === this.#look.inode && now.size === this.#look.size && now.changed === this.#look.changed
    if (!same) throw changed(this.#path)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#file.close()
  }
}

async function lookAt(path: string): Promise<Look> {
  const found = await stat(path, { bigint: true }).catch(() => null)
  if (found === null) throw changed(path)
  return lookOf(found)
}

const lookOf = (found: BigIntStats): Look => ({ inode: found.ino, size: found.size, changed: found.mtimeNs })

function countLines(bytes: Buffer): number {
  let count = 0
  for (let at = bytes.indexOf(NEWLINE); at >= 0; at = bytes.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

const changed = (path: string): ImportFailure =>
  new ImportFailure(`${path} changed while it was imported; leave it alone until the import is done, or import a copy`)
