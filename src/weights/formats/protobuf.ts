/** The wire format of protocol buffers, as far as trainers and TensorBoard need it. */

const [VARINT, FIXED64, BYTES, FIXED32] = [0, 1, 2, 5]

export function varint(value: number): Buffer {
  const out: number[] = []
  let rest = BigInt(value)
  for (; rest > 127n; rest >>= 7n) out.push(Number(rest & 127n) | 128)
  return Buffer.from([...out, Number(rest)])
}

const key = (field: number, kind: number): Buffer => varint((field << 3) | kind)

export const numberField = (field: number, value: number): Buffer => Buffer.concat([key(field, VARINT), varint(value)])
export const bytesField = (field: number, data: Uint8Array): Buffer => Buffer.concat([key(field, BYTES), varint(data.length), data])
export const textField = (field: number, value: string): Buffer => bytesField(field, Buffer.from(value))

export function doubleField(field: number, value: number): Buffer {
  const data = Buffer.alloc(8)
  data.writeDoubleLE(value)
  return Buffer.concat([key(field, FIXED64), data])
}

export function floatField(field: number, value: number): Buffer {
  const data = Buffer.alloc(4)
  data.writeFloatLE(value)
  return Buffer.concat([key(field, FIXED32), data])
}

/** A value of a message: whole numbers, doubles and floats as numbers, everything else as bytes. */
export type MessageField = number | Buffer

/** By number, every value in its order; null where the bytes are no message. */
export function fieldsIn(data: Buffer): ReadonlyMap<number, readonly MessageField[]> | null {
  const fields = new Map<number, MessageField[]>()
  for (let at = 0; at < data.length;) {
    const tag = varintAt(data, at)
    const found = tag === null ? null : valueAt(data, tag.end, tag.value & 7)
    if (tag === null || found === null) return null
    const number = tag.value >>> 3
    fields.set(number, [...(fields.get(number) ?? []), found.value])
    at = found.end
  }
  return fields
}

interface Found<T> {
  readonly value: T
  readonly end: number
}

function valueAt(data: Buffer, at: number, kind: number): Found<MessageField> | null {
  if (kind === VARINT) return varintAt(data, at)
  const length = kind === BYTES ? varintAt(data, at) : { value: kind === FIXED64 ? 8 : 4, end: at }
  if (length === null || length.end + length.value > data.length || ![FIXED64, BYTES, FIXED32].includes(kind)) return null
  const [begin, end] = [length.end, length.end + length.value]
  if (kind === BYTES) return { value: data.subarray(begin, end), end }
  return { value: kind === FIXED64 ? data.readDoubleLE(begin) : data.readFloatLE(begin), end }
}

const VARINT_BYTES_MAX = 10

function varintAt(data: Buffer, at: number): Found<number> | null {
  let value = 0n
  for (let place = 0; place < VARINT_BYTES_MAX && at + place < data.length; place += 1) {
    const byte = data[at + place] ?? 0
    value |= BigInt(byte & 127) << BigInt(7 * place)
    if (byte < 128) return { value: Number(BigInt.asIntN(64, value)), end: at + place + 1 }
  }
  return null
}
