/** The head of a GGUF file: its keys, and where its tensors are. The tensors themselves stay on the disk. */
import { open } from 'node:fs/promises'
import { invalid, type Refusal } from '../../contract/index.ts'
import { elementsOf } from './tensor.ts'
import {
  ALIGNMENT_BYTES,
  GGUF_MAGIC,
  GGUF_VERSION,
  LONGS,
  NUMBERS,
  TENSOR_TYPES,
  VALUE_TYPES,
  type GgufElement,
  type GgufItem,
  type GgufValue,
} from './gguf.ts'

export interface GgufHead {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: readonly GgufPlace[]
}
interface GgufPlace {
  readonly name: string
  /** A number of the format: quantised ones are of many kinds. */
  readonly type: number
  /** Outermost first. */
  readonly shape: readonly number[]
  /** From the beginning of the file. */
  readonly offset: number
}

/** Several times what the largest vocabularies take. */
const HEAD_BYTES_MAX = 64 * 1024 * 1024
const ARRAY_ITEMS_MAX = 4 * 1024 * 1024
const DIMENSIONS_MAX = 4

export async function readGgufFile(path: string): Promise<GgufHead> {
  const file = await open(path, 'r')
  try {
    const { size } = await file.stat()
    const head = Buffer.allocUnsafeSlow(Math.min(size, HEAD_BYTES_MAX))
    const { bytesRead } = await file.read(head, 0, head.length, 0)
    return readGguf(head.subarray(0, bytesRead), size)
  } finally {
    await file.close()
  }
}

/** From the first bytes of a file of this size. No count is believed: a list ends where the bytes do. */
export function readGguf(bytes: Buffer, fileBytes: number): GgufHead {
  const cursor = new Cursor(bytes)
  if (cursor.take(4).toString('latin1') !== GGUF_MAGIC) throw broken(`it must begin with ${GGUF_MAGIC}`)
  const version = cursor.word()
  // Version 2 is laid out alike.
  if (version !== GGUF_VERSION && version !== 2) throw broken('its version must be 2 or 3')
  const tensorCount = cursor.count()
  const keyCount = cursor.count()
  const metadata = readMetadata(cursor, keyCount)
  const infos: GgufPlace[] = []
  for (let index = 0; index < tensorCount; index++) infos.push(readInfo(cursor))
  const alignment = alignmentOf(metadata)
  const start = Math.ceil(cursor.position / alignment) * alignment
  const tensors = infos.map((info) => ({ ...info, offset: start + info.offset }))
  for (const tensor of tensors) checkPlace(tensor, alignment, fileBytes)
  return { metadata, tensors }
}

function readMetadata(cursor: Cursor, count: number): ReadonlyMap<string, GgufValue> {
  const metadata = new Map<string, GgufValue>()
  for (let index = 0; index < count; index++) {
    const key = cursor.text()
    if (metadata.has(key)) throw broken('a key is there twice')
    metadata.set(key, readValue(cursor))
  }
  return metadata
}

function readValue(cursor: Cursor): GgufValue {
  const type = VALUE_TYPES[cursor.word()]
  if (type === undefined) throw broken('a value is of an unknown type')
  if (type !== 'array') return readItem(cursor, type)
  const of = VALUE_TYPES[cursor.word()]
  if (of === undefined || of === 'array') throw broken('a list must hold plain values')
  const count = cursor.count()
  if (count > ARRAY_ITEMS_MAX) throw broken(`a list may hold at most ${ARRAY_ITEMS_MAX} values`)
  return { type, of, value: Array.from({ length: count }, (): GgufItem => readItem(cursor, of).value) }
}

function readItem(cursor: Cursor, type: GgufElement): Exclude<GgufValue, { type: 'array' }> {
  if (type === 'string') return { type, value: cursor.text() }
  if (type === 'bool') return { type, value: cursor.take(1).readUInt8() !== 0 }
  if (type === 'u64' || type === 'i64') return { type, value: cursor.take(8)[`read${LONGS[type]}`]() }
  const [bytes, method] = NUMBERS[type]
  return { type, value: cursor.take(bytes)[`read${method}`]() }
}

function readInfo(cursor: Cursor): GgufPlace {
  const name = cursor.text()
  const dimensions = cursor.word()
  if (dimensions > DIMENSIONS_MAX) throw broken(`a tensor may have at most ${DIMENSIONS_MAX} dimensions`)
  const shape = Array.from({ length: dimensions }, () => cursor.count()).toReversed()
  return { name, shape, type: cursor.word(), offset: cursor.count() }
}

function alignmentOf(metadata: ReadonlyMap<string, GgufValue>): number {
  const stated = metadata.get('general.alignment')
  if (stated === undefined) return ALIGNMENT_BYTES
  if (stated.type !== 'u32' || stated.value < 8 || stated.value % 8 !== 0) throw broken('general.alignment must be a multiple of 8')
  return stated.value
}

/** Of quantised tensors only the beginning is looked at: how long they are depends on their kind. */
function checkPlace({ name, type, shape, offset }: GgufPlace, alignment: number, fileBytes: number): void {
  const width = type === TENSOR_TYPES.F32 ? 4 : type === TENSOR_TYPES.F16 ? 2 : 0
  const about = `tensor ${JSON.stringify(name)}`
  if (offset % alignment !== 0) throw broken(`${about} must begin at a multiple of ${alignment} bytes`)
  if (offset + elementsOf(shape) * width > fileBytes) throw broken(`${about} must lie inside the file`)
}

/** Where the next bytes are. */
class Cursor {
  readonly #bytes: Buffer
  position = 0

  constructor(bytes: Buffer) {
    this.#bytes = bytes
  }

  take(length: number): Buffer {
    const end = this.position + length
    if (end > this.#bytes.length) throw broken('it ends inside its head, or its head is too long')
    const taken = this.#bytes.subarray(this.position, end)
    this.position = end
    return taken
  }

  word(): number {
    return this.take(4).readUInt32LE()
  }

  /** More than this many of anything is in no file. */
  count(): number {
    const value = this.take(8).readBigUInt64LE()
    if (value > Number.MAX_SAFE_INTEGER) throw broken('a number in its head is too large')
    return Number(value)
  }

  text(): string {
    return this.take(this.count()).toString()
  }
}

const broken = (rule: string): Refusal => invalid('bad_gguf', `the file is no GGUF file: ${rule}; make it again, or download it again`)
