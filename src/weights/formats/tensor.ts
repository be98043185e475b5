/** A tensor as bytes, little end first as every machine this runs on has them, and as the numbers they stand for. */
import { invalid } from '../../contract/index.ts'

export interface Tensor {
  readonly dtype: Dtype
  /** Outermost first. */
  readonly shape: readonly number[]
  readonly bytes: Uint8Array
}

/** By the number of bytes of one element, with the names of safetensors. */
const DTYPES = {
  1: ['BOOL', 'U8', 'I8', 'F8_E4M3', 'F8_E5M2'],
  2: ['U16', 'I16', 'F16', 'BF16'],
  4: ['U32', 'I32', 'F32'],
  8: ['U64', 'I64', 'F64'],
} as const
export type Dtype = (typeof DTYPES)[keyof typeof DTYPES][number]

const ELEMENT_BYTES: ReadonlyMap<unknown, number> = new Map(
  Object.entries(DTYPES).flatMap(([bytes, names]) => names.map((name) => [name, Number(bytes)])),
)

export const isDtype = (name: unknown): name is Dtype => ELEMENT_BYTES.has(name)

export const elementBytes = (dtype: Dtype): number => ELEMENT_BYTES.get(dtype) ?? 0

/** How many elements; past 2^53 it is no longer exact, and then no file is long enough for it either. */
export const elementsOf = (shape: readonly number[]): number => shape.reduce((product, size) => product * size, 1)

/** F32 is looked at in place; what is stored otherwise, or askew, is copied. */
export function floatsOf({ dtype, bytes }: Tensor): Float32Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength)
  const count = bytes.byteLength / elementBytes(dtype)
  if (dtype === 'F32') return bytes.byteOffset % 4 === 0 ? new Float32Array(bytes.buffer, bytes.byteOffset, count) : copied(bytes)
  if (dtype === 'F64') return Float32Array.from({ length: count }, (_, index) => view.getFloat64(index * 8, true))
  if (dtype === 'BF16') return filled(count, (index) => view.getUint16(index * 2, true) << 16)
  if (dtype === 'F16') return filled(count, (index) => widened(view.getUint16(index * 2, true)))
  throw invalid('bad_tensor', `it must hold floating-point numbers (F32, F16, BF16 or F64), not ${dtype}`)
}

export const bytesOf = (floats: Float32Array): Uint8Array => new Uint8Array(floats.buffer, floats.byteOffset, floats.byteLength)

function copied(bytes: Uint8Array): Float32Array {
  return new Float32Array(new Uint8Array(bytes).buffer)
}

function filled(count: number, bitsAt: (index: number) => number): Float32Array {
  const bits = new Uint32Array(count)
  for (let index = 0; index < count; index++) bits[index] = bitsAt(index)
  return new Float32Array(bits.buffer)
}

const one = new Float32Array(1)
const oneBits = new Uint32Array(one.buffer)

/** The bits of an F32 from those of an F16: shifted into place they are too small by 2^112, the subnormal ones included. */
function widened(half: number): number {
  const sign = (half & 0x8000) << 16
  const rest = (half & 0x7fff) << 13
  if ((half & 0x7c00) === 0x7c00) return sign | 0x7f800000 | rest
  oneBits[0] = rest
  one[0] = (one[0] ?? 0) * 2 ** 112
  return sign | (oneBits[0] ?? 0)
}
