/** GGUF files, version 3: what one holds, and how it is written. */

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
export type GgufNumber = keyof typeof NUMBERS
export type GgufLong = keyof typeof LONGS

export const GGUF_MAGIC = 'GGUF'
export const GGUF_VERSION = 3
/** The kinds of values, each at the index of its number in a file. */
export const VALUE_TYPES = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'array', 'u64', 'i64', 'f64'] as const
export const TENSOR_TYPES = { F32: 0, F16: 1 } as const
/** Unless a file sets another, every tensor begins at a multiple of it. */
export const ALIGNMENT_BYTES = 32

/** For each kind, the bytes of a value, and the name of the buffer methods that read and write it. */
export const NUMBERS = {
  u8: [1, 'UInt8'],
  i8: [1, 'Int8'],
  u16: [2, 'UInt16LE'],
  i16: [2, 'Int16LE'],
  u32: [4, 'UInt32LE'],
  i32: [4, 'Int32LE'],
  f32: [4, 'FloatLE'],
  f64: [8, 'DoubleLE'],
} as const
export const LONGS = { u64: 'BigUInt64LE', i64: 'BigInt64LE' } as const

/** Keys and tensors in the given order. */
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
