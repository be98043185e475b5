/** Unpacks an untrusted archive: only regular files, only inside one folder. */
import { open } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { Readable, pipeline } from 'node:stream'
import { createGunzip } from 'node:zlib'
import { invalid, pathProblem, type Refusal } from '../../contract/index.ts'
import { codeOf, mkdirp } from '../../kit/index.ts'

/** A stream is destroyed when unpacking ends, well or not. */
export type TarArchive = Uint8Array | Readable
export interface ArchiveLimits {
  readonly filesMax: number
  readonly bytesMax: number
}

const BLOCK_BYTES = 512
const EXTENDED_BYTES_MAX = 64 * 1024
/** What a path that is fine on paper may still meet on a disk. */
const PATH_ERRORS: ReadonlySet<unknown> = new Set(['EEXIST', 'EISDIR', 'ENOTDIR', 'ENAMETOOLONG', 'EINVAL', 'EILSEQ'])

/** Plain tar, or gzip around it. The folder must be there, and empty. */
export async function unpackTar(archive: TarArchive, directory: string, limits: ArchiveLimits): Promise<void> {
  const source = archive instanceof Readable ? archive : Readable.from([archive])
  const blocks = new Blocks(plainBytes(source), limits.bytesMax)
  try {
    await unpack(blocks, directory, limits.filesMax)
  } catch (error) {
    throw asRefusal(error)
  } finally {
    await blocks.end()
    letGo(source)
  }
}

/** Some streams emit an error when they are destroyed before their end; it is ignored. */
export function letGo(archive: TarArchive): void {
  if (archive instanceof Readable) archive.on('error', () => undefined).destroy()
}

async function unpack(blocks: Blocks, directory: string, filesMax: number): Promise<void> {
  let extended: Extended = {}
  for (let files = 0; ;) {
    const header = await blocks.take(BLOCK_BYTES)
    if (header.every((byte) => byte === 0)) return blocks.drain()
    const entry = readHeader(header, extended)
    extended = {}
    if (entry.type === 'x') extended = readExtended(await blocks.take(padded(entry.bytes, EXTENDED_BYTES_MAX)), entry.bytes)
    else if (entry.type === 'g') await blocks.take(padded(entry.bytes, EXTENDED_BYTES_MAX))
    else if (entry.type === '0') {
      if (++files > filesMax) throw broken(`it may hold at most ${filesMax} files`)
      await writeEntry(blocks, directory, entry)
    } else if (entry.type !== '5') throw broken('it may hold regular files and folders alone, no links or devices')
  }
}

interface Extended {
  readonly path?: string
  readonly bytes?: number
}

function readHeader(header: Buffer, extended: Extended) {
  if (numberIn(header, 148, 8) !== checksum(header)) throw broken('the checksum of a header is wrong')
  const type = header.toString('latin1', 156, 157).replace('\0', '0')
  // Before 'ustar' and in GNU's own form there is something else where the prefix would be.
  const prefix = header.toString('latin1', 257, 263) === 'ustar\0' ? textIn(header, 345, 155) : ''
  const name = textIn(header, 0, 100)
  const path = extended.path ?? (prefix === '' ? name : `${prefix}/${name}`)
  return { type, path, bytes: extended.bytes ?? numberIn(header, 124, 12) }
}

/** Of all bytes, with blanks where the sum itself is. */
function checksum(header: Buffer): number {
  return header.reduce((sum, byte, index) => sum + (index >= 148 && index < 156 ? 32 : byte), 0)
}

function textIn(header: Buffer, start: number, length: number): string {
  const field = header.subarray(start, start + length)
  const end = field.indexOf(0)
  return field.toString('utf8', 0, end < 0 ? length : end)
}

/** Octal digits, or binary where the first bit is set. */
function numberIn(header: Buffer, start: number, length: number): number {
  if (header[start] === 0x80) return whole(header.readBigUInt64BE(start + length - 8))
  const digits = textIn(header, start, length).trim()
  if (!/^[0-7]{0,12}$/.test(digits)) throw broken('a number in a header is no number')
  return digits === '' ? 0 : Number.parseInt(digits, 8)
}

function whole(value: bigint): number {
  if (value > Number.MAX_SAFE_INTEGER) throw broken('a number in a header is too large')
  return Number(value)
}

/** Lines of `length key=value`, the length in bytes and counting itself. */
function readExtended(block: Buffer, bytes: number): Extended {
  let extended: Extended = {}
  for (let rest = block.subarray(0, bytes); rest.length > 0;) {
    const [, length, key] = /^(\d{1,6}) ([^=\n]+)=/.exec(rest.toString('latin1', 0, 256)) ?? []
    if (length === undefined || key === undefined || Number(length) <= length.length + key.length + 2 || Number(length) > rest.length)
      throw broken('an extended header is no list of keys and values')
    const value = rest.toString('utf8', length.length + key.length + 2, Number(length) - 1)
    if (key === 'path') extended = { ...extended, path: value }
    if (key === 'size' && !/^\d{1,15}$/.test(value)) throw broken('a size in an extended header is no number')
    if (key === 'size') extended = { ...extended, bytes: Number(value) }
    rest = rest.subarray(Number(length))
  }
  return extended
}

function padded(bytes: number, bytesMax: number): number {
  if (bytes > bytesMax) throw broken(`an extended header may be at most ${bytesMax} bytes`)
  return Math.ceil(bytes / BLOCK_BYTES) * BLOCK_BYTES
}

async function writeEntry(
  blocks: Blocks,
  directory: string,
  { path, bytes }: { readonly path: string; readonly bytes: number },
): Promise<void> {
  const relative = path.replace(/^(?:\.\/)+/, '')
  const problem = pathProblem(relative)
  if (problem !== null) throw broken(`the path of a file ${problem}`)
  const target = join(directory, relative)
  await mkdirp(dirname(target))
  // Nothing there yet, or it is refused: a name that is there twice would let the second one hide the first.
  const file = await open(target, 'wx')
  try {
    for await (const part of blocks.parts(bytes)) await file.writeFile(part)
  } finally {
    await file.close()
  }
  await blocks.take(-bytes & (BLOCK_BYTES - 1))
}

/** The archive's bytes in the lengths that its headers ask for, and never more than its limit. */
class Blocks {
  readonly #parts: AsyncIterator<Uint8Array>
  readonly #bytesMax: number
  #held: Buffer = Buffer.alloc(0)
  #bytes = 0

  constructor(parts: AsyncIterable<Uint8Array>, bytesMax: number) {
    this.#parts = parts[Symbol.asyncIterator]()
    this.#bytesMax = bytesMax
  }

  async take(length: number): Promise<Buffer> {
    const parts: Buffer[] = []
    for await (const part of this.parts(length)) parts.push(part)
    return Buffer.concat(parts)
  }

  async *parts(length: number): AsyncGenerator<Buffer, void, undefined> {
    for (let missing = length; missing > 0;) {
      if (this.#held.length === 0 && !(await this.#more())) throw broken('it ends too early')
      const part = this.#held.subarray(0, missing)
      this.#held = this.#held.subarray(part.length)
      missing -= part.length
      yield part
    }
  }

  /** To the end, so that what carries the archive can be checked to its own. */
  async drain(): Promise<void> {
    while (await this.#more());
  }

  async end(): Promise<void> {
    await this.#parts.return?.().catch(() => undefined)
  }

  async #more(): Promise<boolean> {
    const { done, value } = await this.#parts.next()
    if (done === true) return false
    this.#bytes += value.length
    if (this.#bytes > this.#bytesMax) throw broken(`unpacked it may be at most ${this.#bytesMax} bytes`)
    this.#held = Buffer.from(value.buffer, value.byteOffset, value.length)
    return true
  }
}

async function* plainBytes(source: Readable): AsyncGenerator<Uint8Array, void, undefined> {
  const parts: AsyncIterator<Uint8Array> = source[Symbol.asyncIterator]()
  const first = await firstBytes(parts)
  const whatFollows = joined(first, parts)
  yield* first[0] === 0x1f && first[1] === 0x8b ? pipeline(Readable.from(whatFollows), createGunzip(), () => undefined) : whatFollows
}

async function firstBytes(parts: AsyncIterator<Uint8Array>): Promise<Buffer> {
  let first = Buffer.alloc(0)
  while (first.length < 2) {
    const { done, value } = await parts.next()
    if (done === true) break
    first = Buffer.concat([first, value])
  }
  return first
}

async function* joined(first: Buffer, parts: AsyncIterator<Uint8Array>): AsyncGenerator<Uint8Array, void, undefined> {
  yield first
  for (let next = await parts.next(); next.done !== true; next = await parts.next()) yield next.value
}

function asRefusal(error: unknown): unknown {
  const code = codeOf(error)
  if (typeof code === 'string' && code.startsWith('Z_')) return broken('its compression is damaged')
  return PATH_ERRORS.has(code) ? broken('the path of a file is there twice, or no disk takes it') : error
}

const broken = (rule: string): Refusal => invalid('bad_archive', `the archive cannot be unpacked: ${rule}`)
