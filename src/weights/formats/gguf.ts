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
  | { readonly type: 'u64' | 'i64'; readonly value: bigint }
  | { readonly type: 'bool'; readonly value: boolean }
  | { readonly type: 'string'; readonly value: string }
  | { readonly type: 'array'; readonly of: GgufElement; readonly value: readonly GgufItem[] }
export type GgufItem = number | bigint | boolean | string
export type GgufElement = GgufNumber | 'u64' | 'i64' | 'bool' | 'string'
type GgufNumber = 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32' | 'f32' | 'f64'

export const GGUF_MAGIC = 'GGUF'
export const GGUF_VERSION = 3
/** The kinds of values, each at the place of its number in a file. */
export const VALUE_TYPES = ['u8', 'i8', 'u16', 'i16', 'u32', 'i32', 'f32', 'bool', 'string', 'array', 'u64', 'i64', 'f64'] as const
/** Of each kind of tensor that is written here. */
export const TENSOR_TYPES = { F32: 0, F16: 1 } as const
/** Where a file says nothing else, every tensor begins at a multiple of it. */
export const ALIGNMENT_BYTES = 32

/** Keys and tensors in the order they come. */
export function writeGguf({ metadata, tensors }: Gguf): Buffer {
  let offset = 0
  const infos = tensors.map(({ name, type, shape, bytes }) => {
    const info = [
      text(name),
      word(shape.length),
      ...shape.toReversed().map((size) => long(BigInt(size))),
      word(TENSOR_TYPES[type]),
      long(BigInt(offset)),
    ]
    offset += bytes.byteLength + padding(bytes.byteLength)
    return info
  })
  const pairs = [...metadata].map(([key, value]) => [text(key), typeNumber(value.type), ...valueBytes(value)])
  const head = Buffer.concat([
    Buffer.from(GGUF_MAGIC),
    word(GGUF_VERSION),
    long(BigInt(tensors.length)),
    long(BigInt(metadata.size)),
    ...pairs.flat(),
    ...infos.flat(),
  ])
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
  const bytes = Buffer.alloc(8)
  switch (type) {
    case 'string':
      return text(String(item))
    case 'bool':
    case 'u8':
      return bytes.subarray(0, bytes.writeUInt8(Number(item)))
    case 'i8':
      return bytes.subarray(0, bytes.writeInt8(Number(item)))
    case 'u16':
      return bytes.subarray(0, bytes.writeUInt16LE(Number(item)))
    case 'i16':
      return bytes.subarray(0, bytes.writeInt16LE(Number(item)))
    case 'u32':
      return word(Number(item))
    case 'i32':
      return bytes.subarray(0, bytes.writeInt32LE(Number(item)))
    case 'f32':
      return bytes.subarray(0, bytes.writeFloatLE(Number(item)))
    case 'f64':
      return bytes.subarray(0, bytes.writeDoubleLE(Number(item)))
    case 'u64':
      return long(BigInt(item))
    default:
      return bytes.subarray(0, bytes.writeBigInt64LE(BigInt(item)))
  }
}

function word(value: number): Buffer {
  const bytes = Buffer.alloc(4)
  bytes.writeUInt32LE(value)
  return bytes
}

function long(value: bigint): Buffer {
  const bytes = Buffer.alloc(8)
  bytes.writeBigUInt64LE(value)
  return bytes
}
