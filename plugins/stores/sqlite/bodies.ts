/**
 * How a body lies in the database: as it came, or compressed. Agents repeat their conversation with every turn, so a body may refer to an
 * earlier one of its scenario, its base: how many bytes they begin with alike, and the rest, with the rest of the base as dictionary.
 */
import { hash } from 'node:crypto'
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'

/** To join `body b` of a record `r`, and what it takes to read it. */
export const WITH_BASE = 'LEFT JOIN body_base d ON d.age = b.age LEFT JOIN body base ON base.age = d.base'
export const WITH_BODY = `LEFT JOIN body b ON b.age = r.age ${WITH_BASE}`
export const BODY_COLUMNS = 'b.payload, b.checksum, b.size, d.base, d.prefix, base.payload AS base_payload, base.size AS base_size'
/** Whether others refer to `body b`. */
export const IS_BASE = 'EXISTS (SELECT 1 FROM body_base referring WHERE referring.base = b.age)'

export interface BodyColumns {
  readonly payload: Uint8Array | null
  readonly checksum: Uint8Array | null
  readonly size: number | null
  readonly base: number | null
  readonly prefix: number | null
  readonly base_payload: Uint8Array | null
  readonly base_size: number | null
}

/** A body as it is written: where `size` is null, the payload is the original. */
export interface PackedBody {
  readonly payload: Uint8Array
  readonly size: number | null
  readonly base: number | null
  readonly prefix: number | null
}

export class DamagedBody extends Error {}

export const LEVEL = 3
/** Where somebody waits, and for large bodies. */
export const FAST_LEVEL = 1
const FAST_FROM_BYTES = 1024 * 1024
const DICTIONARY_BYTES_MAX = 4 * 1024 * 1024
/** How far back a match may lie, as a power of two: it bounds the memory of both directions. */
const WINDOW_LOG_MIN = 10
const WINDOW_LOG_MAX = 24
/** No stored size is believed beyond this: a damaged one must not take the memory. */
const SIZE_MAX = 1024 * 1024 * 1024
const CHUNK_BYTES_MAX = 16 * 1024 * 1024

/** The rest of the body after the prefix, with the rest of the base as dictionary; null where compressing it fails. */
export function compress(payload: Uint8Array, base: Uint8Array | null, prefix: number, level: number): Buffer | null {
  const rest = payload.subarray(prefix)
  const dictionary = dictionaryOf(base, prefix)
  const window = Math.ceil(Math.log2(rest.byteLength + (dictionary?.byteLength ?? 0) + 1))
  try {
    return zstdCompressSync(rest, {
      chunkSize: chunkBytes(rest.byteLength),
      pledgedSrcSize: rest.byteLength,
      ...(dictionary !== null && { dictionary }),
      params: {
        [constants.ZSTD_c_compressionLevel]: rest.byteLength < FAST_FROM_BYTES ? level : FAST_LEVEL,
        [constants.ZSTD_c_windowLog]: Math.min(WINDOW_LOG_MAX, Math.max(WINDOW_LOG_MIN, window)),
      },
    })
  } catch {
    return null
  }
}

/** The original bytes, checked; null for a body that is gone. What was never compressed comes as it lies there. */
export function readBody(columns: BodyColumns): Uint8Array | null {
  const { payload, checksum, size, base, prefix } = columns
  if (payload === null || checksum === null || size === null) return payload
  const original = base === null ? decompress(payload, size, null, 0) : decompress(payload, size, readBase(columns), prefix ?? 0)
  if (!hash('sha256', original, 'buffer').equals(checksum)) throw new DamagedBody('the body does not match its checksum')
  return original
}

/** The same, with null for one that is damaged. */
export function readWholeBody(columns: BodyColumns): Uint8Array | null {
  try {
    return readBody(columns)
  } catch (error) {
    if (error instanceof DamagedBody) return null
    throw error
  }
}

function readBase({ base_payload, base_size }: BodyColumns): Uint8Array {
  if (base_payload === null) throw new DamagedBody('the body that it refers to is missing')
  return base_size === null ? base_payload : decompress(base_payload, base_size, null, 0)
}

export function decompress(payload: Uint8Array, size: number, base: Uint8Array | null, prefix: number): Buffer {
  const restBytes = size - prefix
  if (size > SIZE_MAX || restBytes < 0 || prefix > (base?.byteLength ?? 0)) throw new DamagedBody('the body does not match its size')
  const rest = inflate(payload, restBytes, dictionaryOf(base, prefix))
  if (rest.byteLength !== restBytes) throw new DamagedBody('the body does not match its size')
  // A buffer of its own, so that it can change hands.
  const original = Buffer.allocUnsafeSlow(size)
  if (base !== null) original.set(base.subarray(0, prefix))
  original.set(rest, prefix)
  return original
}

/** Stops at the size that was stored, whatever the bytes would become. */
function inflate(payload: Uint8Array, restBytes: number, dictionary: Uint8Array | null): Buffer {
  try {
    return zstdDecompressSync(payload, {
      chunkSize: chunkBytes(restBytes),
      maxOutputLength: Math.max(1, restBytes),
      ...(dictionary !== null && { dictionary }),
    })
  } catch (cause) {
    throw new DamagedBody('the body cannot be decompressed', { cause })
  }
}

function dictionaryOf(base: Uint8Array | null, prefix: number): Uint8Array | null {
  const dictionary = base?.subarray(prefix, prefix + DICTIONARY_BYTES_MAX)
  return dictionary === undefined || dictionary.byteLength === 0 ? null : dictionary
}

const CHUNK_BYTES_MIN = 1024
const chunkBytes = (expected: number): number => Math.min(CHUNK_BYTES_MAX, expected + CHUNK_BYTES_MIN)
