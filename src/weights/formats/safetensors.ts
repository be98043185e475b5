/** Safetensors files: a header that says where each tensor is, and the tensors one after the other, without gaps. */
import { invalid, isObject, type Json, type JsonObject, type Refusal } from '../../contract/index.ts'
import { parsed } from '../../dialects/index.ts'
import { elementBytes, elementsOf, isDtype, type Tensor } from './tensor.ts'

/** A thousand times what the header of a large model takes. */
const HEADER_BYTES_MAX = 16 * 1024 * 1024
const LENGTH_BYTES = 8
const METADATA = '__metadata__'

/** The tensors look into the given bytes. Nothing is believed that the bytes do not hold. */
export function readSafetensors(bytes: Buffer): ReadonlyMap<string, Tensor> {
  const header = headerOf(bytes)
  const data = bytes.subarray(LENGTH_BYTES + header.length)
  const described = parsed(header.toString())
  if (!isObject(described)) throw broken('its header must be a JSON object')
  const tensors = new Map<string, Tensor>()
  const places = Object.entries(described)
    .filter(([name]) => name !== METADATA)
    .map(([name, entry]) => placeOf(name, entry))
    .sort((a, b) => a.begin - b.begin || a.end - b.end)
  let next = 0
  for (const { name, dtype, shape, begin, end } of places) {
    // Overlapping tensors would let a small file stand for a large model; a gap could hide anything.
    if (begin !== next || end > data.length)
      throw broken(`tensor ${JSON.stringify(name)} must begin where the one before it ends, inside the file`)
    next = end
    tensors.set(name, { dtype, shape, bytes: data.subarray(begin, end) })
  }
  if (next !== data.length) throw broken('there are bytes after its last tensor')
  return tensors
}

/** The same tensors give the same bytes, in whatever order they come. */
export function writeSafetensors(tensors: ReadonlyMap<string, Tensor>): Buffer {
  // The widest elements first, so that each tensor begins at a multiple of its element.
  const sorted = [...tensors].sort(([a, one], [b, other]) => elementBytes(other.dtype) - elementBytes(one.dtype) || (a < b ? -1 : 1))
  return Buffer.concat([safetensorsHead(sorted), ...sorted.map(([, { bytes }]) => bytes)])
}

/** What comes before the tensors, for those that are written one after the other in this order. */
export function safetensorsHead(tensors: readonly (readonly [string, Omit<Tensor, 'bytes'>])[], metadata?: JsonObject): Buffer {
  let end = 0
  const entries = tensors.map(([name, { dtype, shape }]) => {
    const begin = end
    end += elementsOf(shape) * elementBytes(dtype)
    return [name, { dtype, shape, data_offsets: [begin, end] }]
  })
  const text = JSON.stringify({ ...(metadata && { [METADATA]: metadata }), ...Object.fromEntries(entries) })
  const header = Buffer.from(text + ' '.repeat(-Buffer.byteLength(text) & 7))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeBigUInt64LE(BigInt(header.length))
  return Buffer.concat([length, header])
}

function headerOf(bytes: Buffer): Buffer {
  if (bytes.length < LENGTH_BYTES) throw broken('it is shorter than the length of its header')
  const length = bytes.readBigUInt64LE()
  if (length > HEADER_BYTES_MAX) throw broken(`its header may be at most ${HEADER_BYTES_MAX} bytes`)
  const end = LENGTH_BYTES + Number(length)
  if (end > bytes.length) throw broken('it ends inside its header')
  return bytes.subarray(LENGTH_BYTES, end)
}

function placeOf(name: string, entry: Json) {
  const { dtype, shape, data_offsets } = isObject(entry) ? entry : {}
  const about = `tensor ${JSON.stringify(name)}`
  if (!isDtype(dtype)) throw broken(`${about} must have a known dtype`)
  if (!isSizes(shape)) throw broken(`${about} must have a shape of whole numbers, none below 0`)
  const [begin, end, ...rest] = isSizes(data_offsets) ? data_offsets : []
  if (begin === undefined || end === undefined || rest.length > 0) throw broken(`${about} must have two whole numbers as data_offsets`)
  if (end - begin !== elementsOf(shape) * elementBytes(dtype)) throw broken(`${about} must have as many bytes as its shape and dtype take`)
  return { name, dtype, shape, begin, end }
}

function isSizes(value: Json | undefined): value is readonly number[] {
  return Array.isArray(value) && value.every((size: Json) => Number.isSafeInteger(size) && Number(size) >= 0)
}

const broken = (rule: string): Refusal => invalid('bad_safetensors', `the file is no safetensors file: ${rule}; write it again`)
