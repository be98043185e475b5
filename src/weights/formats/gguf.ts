/** GGUF files, version 3: how one is written, and how its head is read. The tensors themselves stay on the disk. */
import { open } from 'node:fs/promises'
import { invalid, type Refusal } from '../../contract/index.ts'
import { elementsOf } from './tensor.ts'

export interface Gguf {
  readonly metadata: ReadonlyMap<string, GgufValue>
  readonly tensors: readonly GgufTensor[]
}
export interface GgufTensor {
  readonly name: string
  readonly type: 'F32' | 'F16'
  /** Outermost first; the file has it the other way round. */
  readonly shape: readonly number[]
  readonly bytes: Uint8Array
}
export type GgufValue =
  | { readonly type: GgufNumber; readonly value: number }
  | { readonly type: GgufLong; readonly value: bigint }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly of: GgufElement; readonly value: readonly GgufItem[] }
export type GgufItem = number | bigint | boolean | string
export type GgufElement = GgufNumber | GgufLong | 'bool' | 'string'
type GgufNumber = keyof typeof NUMBERS
type GgufLong = keyof typeof LONGS

const GGUF_MAGIC = 'GGUF'
const GGUF_VERSION = 3
/** The kinds of values, each at the index of its number in a file. */
const VALUE_TYPES = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'array', 'u64', 'i64', 'f64'] as const
const TENSOR_TYPES = { F32: 0, F16: 1 } as const
/** Unless a file sets another, every tensor begins at a multiple of it. */
const ALIGNMENT_BYTES = 32

/** For each kind, the bytes of a value, and the name of the buffer methods that read and write it. */
const NUMBERS = {
  u8: [1, 'UInt8'],
  i8: [1, 'Int8'],
  u16: [2, 'UInt16LE'],
  i16: [2, 'Int16LE'],
  u32: [4, 'UInt32LE'],
  i32: [4, 'Int32LE'],
  f32: [4, 'FloatLE'],
  f64: [8, 'DoubleLE'],
} as const
const LONGS = { u64: 'BigUInt64LE', i64: 'BigInt64LE' } as const

export function writeGguf({ metadata, tensors }: Gguf): Buffer {
  let offset = 0
  const infos = tensors.map(({ name, type, shape, bytes }) => {
    const sizes = shape.toReversed().map((size) => long(BigInt(size)))
    const info = [text(name), word(shape.length), ...sizes, word(TENSOR_TYPES[type]), long(BigInt(offset))]
    offset += bytes.byteLength + padding(bytes.byteLength)
    return info
  })
  const pairs = [...metadata].map(([key, value]) => [text(key), typeNumber(value.type), ...valueBytes(value)])
  const counts = [long(BigInt(tensors.length)), long(BigInt(metadata.size))]
  const head = Buffer.concat([Buffer.from(GGUF_MAGIC), word(GGUF_VERSION), ...counts, ...pairs.flat(), ...infos.flat()])
  const data = tensors.flatMap(({ bytes }) => [bytes, Buffer.alloc(padding(bytes.byteLength))])
  return Buffer.concat([head, Buffer.alloc(padding(head.length)), ...data])
}

const padding = (length: number): number => (ALIGNMENT_BYTES - (length % ALIGNMENT_BYTES)) % ALIGNMENT_BYTES

function text(value: string): Buffer {
  const bytes = Buffer.from(value)
  return Buffer.concat([long(BigInt(bytes.length)), bytes])
}

const typeNumber = (type: GgufValue['type']): Buffer => word(VALUE_TYPES.indexOf(type))

function valueBytes(value: GgufValue): readonly Buffer[] {
  if (value.type !== 'array') return [itemBytes(value.type, value.value)]
  return [typeNumber(value.of), long(BigInt(value.value.length)), ...value.value.map((item) => itemBytes(value.of, item))]
}

function itemBytes(type: GgufElement, item: GgufItem): Buffer {
  if (type === 'string') return text(String(item))
  const bytes = Buffer.alloc(8)
  if (type === 'u64' || type === 'i64') return bytes.subarray(0, bytes[`write${LONGS[type]}`](BigInt(item)))
  const [, method] = NUMBERS[type === 'bool' ? 'u8' : type]
  return bytes.subarray(0, bytes[`write${method}`](Number(item)))
}

const word = (value: number): Buffer => itemBytes('u32', value)
const long = (value: bigint): Buffer => itemBytes('u64', value)

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
