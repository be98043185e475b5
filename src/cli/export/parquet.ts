/**
 * Writes a table as a Parquet file: flat columns, any of which may be null, one row group, plain values in pages of gzip. Every reader
 * understands that much.
 */
import { gzipSync } from 'node:zlib'

const MAGIC = Buffer.from('PAR1')
const CREATED_BY = 'svc'
const GZIP = 2
const PLAIN = 0
const RLE = 3
const OPTIONAL = 1
const DATA_PAGE = 0

/** Of each kind: how it is stored, and what it means where that is not the same. */
const KINDS = {
  integer: { type: 2, meaning: null },
  number: { type: 5, meaning: null },
  /** Microseconds since the epoch. */
  time: { type: 2, meaning: 10 },
  text: { type: 6, meaning: 0 },
  json: { type: 6, meaning: 19 },
} as const

export type ParquetKind = keyof typeof KINDS

export interface ParquetColumn {
  readonly name: string
  readonly kind: ParquetKind
  /** One for each row. */
  readonly values: readonly (string | number | null)[]
}

export function parquetFile(columns: readonly ParquetColumn[]): Buffer {
  const rows = columns[0]?.values.length ?? 0
  const parts: Buffer[] = [MAGIC]
  let offset = MAGIC.length
  const chunks: Written[] = []
  for (const column of columns) {
    const page = pageOf(column)
    chunks.push({ column, offset, ...page })
    parts.push(page.bytes)
    offset += page.bytes.length
  }
  const footer = footerOf(chunks, rows)
  const length = Buffer.alloc(4)
  length.writeUInt32LE(footer.length)
  return Buffer.concat([...parts, footer, length, MAGIC])
}

interface Page {
  /** With its header. */
  readonly bytes: Buffer
  readonly plainBytes: number
}
interface Written extends Page {
  readonly column: ParquetColumn
  readonly offset: number
}

function pageOf({ kind, values }: ParquetColumn): Page {
  const plain = Buffer.concat([presence(values), ...values.filter((value) => value !== null).map((value) => plainValue(kind, value))])
  const packed = gzipSync(plain)
  const header = new Thrift()
    .int(1, DATA_PAGE)
    .int(2, plain.length)
    .int(3, packed.length)
    .struct(5, new Thrift().int(1, values.length).int(2, PLAIN).int(3, RLE).int(4, RLE))
    .end()
  return { bytes: Buffer.concat([header, packed]), plainBytes: header.length + plain.length }
}

/** Which rows have a value, in runs. */
function presence(values: readonly unknown[]): Buffer {
  const runs: number[] = []
  for (let at = 0; at < values.length;) {
    const isNull = values[at] === null
    let end = at
    while (end < values.length && (values[end] === null) === isNull) end += 1
    runs.push(...varint(BigInt(end - at) << 1n), isNull ? 0 : 1)
    at = end
  }
  const length = Buffer.alloc(4)
  length.writeUInt32LE(runs.length)
  return Buffer.concat([length, Buffer.from(runs)])
}

function plainValue(kind: ParquetKind, value: string | number): Buffer {
  const eight = Buffer.alloc(8)
  if (kind === 'number') {
    eight.writeDoubleLE(Number(value))
    return eight
  }
  if (kind === 'integer' || kind === 'time') {
    eight.writeBigInt64LE(BigInt(Math.trunc(Number(value))))
    return eight
  }
  const text = Buffer.from(String(value))
  const length = Buffer.alloc(4)
  length.writeUInt32LE(text.length)
  return Buffer.concat([length, text])
}

function footerOf(chunks: readonly Written[], rows: number): Buffer {
  const root = new Thrift().text(4, 'schema').int(5, chunks.length)
  const fields = chunks.map(({ column: { name, kind } }) => {
    const { type, meaning } = KINDS[kind]
    const field = new Thrift().int(1, type).int(3, OPTIONAL).text(4, name)
    return meaning === null ? field : field.int(6, meaning)
  })
  const group = new Thrift()
    .structs(1, chunks.map(chunkOf))
    .long(
      2,
      chunks.reduce((sum, { plainBytes }) => sum + plainBytes, 0),
    )
    .long(3, rows)
  return new Thrift()
    .int(1, 1)
    .structs(2, [root, ...fields])
    .long(3, rows)
    .structs(4, [group])
    .text(6, CREATED_BY)
    .end()
}

function chunkOf({ column: { name, kind, values }, offset, bytes, plainBytes }: Written): Thrift {
  const about = new Thrift()
    .int(1, KINDS[kind].type)
    .ints(2, [PLAIN, RLE])
    .texts(3, [name])
    .int(4, GZIP)
    .long(5, values.length)
    .long(6, plainBytes)
    .long(7, bytes.length)
    .long(9, offset)
  return new Thrift().long(2, offset).struct(3, about)
}

const INT = 5
const LONG = 6
const BINARY = 8
const LIST = 9
const STRUCT = 12

/** A struct of Thrift's compact protocol. Fields come in the order of their numbers, less than sixteen apart. */
class Thrift {
  readonly #bytes: number[] = []
  #last = 0

  int(field: number, value: number): this {
    return this.#field(field, INT, zigzag(value))
  }

  long(field: number, value: number): this {
    return this.#field(field, LONG, zigzag(value))
  }

  text(field: number, value: string): this {
    return this.#field(field, BINARY, textBytes(value))
  }

  struct(field: number, value: Thrift): this {
    return this.#field(field, STRUCT, [...value.end()])
  }

  ints(field: number, values: readonly number[]): this {
    return this.#list(field, INT, values.map(zigzag))
  }

  texts(field: number, values: readonly string[]): this {
    return this.#list(field, BINARY, values.map(textBytes))
  }

  structs(field: number, values: readonly Thrift[]): this {
    return this.#list(
      field,
      STRUCT,
      values.map((value) => [...value.end()]),
    )
  }

  end(): Buffer {
    return Buffer.from([...this.#bytes, 0])
  }

  #field(field: number, type: number, value: readonly number[]): this {
    this.#bytes.push(((field - this.#last) << 4) | type, ...value)
    this.#last = field
    return this
  }

  #list(field: number, type: number, values: readonly (readonly number[])[]): this {
    const size = values.length < 15 ? [(values.length << 4) | type] : [0xf0 | type, ...varint(BigInt(values.length))]
    return this.#field(field, LIST, [...size, ...values.flat()])
  }
}

const textBytes = (text: string): readonly number[] => {
  const bytes = Buffer.from(text)
  return [...varint(BigInt(bytes.length)), ...bytes]
}

/** Small numbers are short, whatever their sign. */
const zigzag = (value: number): readonly number[] => varint(BigInt(value) < 0n ? BigInt(value) * -2n - 1n : BigInt(value) * 2n)

function varint(value: bigint): readonly number[] {
  const bytes: number[] = []
  for (let left = value; ; left >>= 7n) {
    if (left < 0x80n) return [...bytes, Number(left)]
    bytes.push(Number(left & 0x7fn) | 0x80)
  }
}
