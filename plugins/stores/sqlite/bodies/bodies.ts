/**
 * How a body lies in the database: as it came, or compressed. Agents repeat their conversation with every turn, so a body may refer to an
 * earlier one of its scenario, its base: how many bytes they begin with alike, and the rest, with the rest of the base as dictionary.
 */
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib'
import { bodyContext, Unopened, type StoreSeal } from '../../common/seal.ts'
import { checksumOf, isIntact, SHA256_BYTES, sha256Of } from './checksum.ts'

/** To join `body b` of a record `r`, and what it takes to read it. */
export const WITH_BASE = 'LEFT JOIN body_base d ON d.age = b.age LEFT JOIN body base ON base.age = d.base'
export const WITH_BODY = `LEFT JOIN body b ON b.age = r.age ${WITH_BASE}`
/** The record of an encrypted body, which it was encrypted for; null for one in the clear. */
const sealedFor = (body: string): string =>
  `CASE WHEN ${body}.sealed = 1 THEN (SELECT o.agent_record_id FROM record o WHERE o.scenario = ${body}.scenario AND o.sequence = ${body}.sequence) END`
export const OWN_COLUMNS = `b.payload, b.checksum, b.size, b.scenario AS body_scenario, ${sealedFor('b')} AS sealed_for`
export const BODY_COLUMNS = `${OWN_COLUMNS}, d.base, d.prefix, base.payload AS base_payload, base.size AS base_size,
  ${sealedFor('base')} AS base_sealed_for`
/** Whether others refer to `body b`. */
export const IS_BASE = 'EXISTS (SELECT 1 FROM body_base referring WHERE referring.base = b.age)'

export interface OwnColumns {
  readonly payload: Uint8Array | null
  readonly checksum: Uint8Array | null
  readonly size: number | null
  readonly body_scenario: number | null
  readonly sealed_for: string | null
}

export interface BodyColumns extends OwnColumns {
  readonly base: number | null
  readonly prefix: number | null
  readonly base_payload: Uint8Array | null
  readonly base_size: number | null
  readonly base_sealed_for: string | null
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

interface Checked {
  readonly payload: Uint8Array
  readonly checksum: Uint8Array
}

interface Unsealed {
  /** As it was packed. */
  readonly payload: Uint8Array
  readonly original: Uint8Array
}

/** What is written in place of a body: encrypted together with a checksum of the original, or as it is beside one. */
export function sealBody(
  seal: StoreSeal,
  scenario: number,
  recordId: string,
  { payload, original }: Unsealed,
): Checked & { readonly sealed: 1 | null } {
  // Joining them copies the whole body, which only encrypting needs.
  const sealed = seal.writesWith === null ? null : seal.seal(Buffer.concat([sha256Of(original), payload]), bodyContext(scenario, recordId))
  return sealed === null ? { payload, checksum: checksumOf(original), sealed: null } : { payload: sealed, checksum: NO_CHECKSUM, sealed: 1 }
}

const NO_CHECKSUM = new Uint8Array()

/** A body as it was before it was encrypted. */
export function openBody(seal: StoreSeal, { payload, checksum, body_scenario, sealed_for }: OwnColumns): Checked | null {
  if (payload === null || checksum === null) return null
  if (sealed_for === null) return { payload, checksum }
  const opened = openSealed(seal, payload, body_scenario, sealed_for)
  return { payload: opened.subarray(SHA256_BYTES), checksum: opened.subarray(0, SHA256_BYTES) }
}

function openSealed(seal: StoreSeal, payload: Uint8Array, scenario: number | null, recordId: string): Buffer {
  try {
    return seal.open(payload, bodyContext(scenario ?? 0, recordId))
  } catch (error) {
    if (error instanceof Unopened) throw new DamagedBody(error.message)
    throw error
  }
}

/** The original bytes, checked; null for a body that is gone. What was neither compressed nor encrypted comes as it lies there. */
export function readBody(seal: StoreSeal, columns: BodyColumns): Uint8Array | null {
  const { size, base, prefix } = columns
  const own = openBody(seal, columns)
  // A buffer of its own, so that it can change hands.
  if (own === null || size === null) return columns.sealed_for === null || own === null ? columns.payload : new Uint8Array(own.payload)
  const { payload, checksum } = own
  const original = base === null ? decompress(payload, size, null, 0) : decompress(payload, size, readBase(seal, columns), prefix ?? 0)
  if (!isIntact(original, checksum)) throw new DamagedBody('the body does not match its checksum')
  return original
}

/** The same, with null for one that is damaged. */
export function readWholeBody(seal: StoreSeal, columns: BodyColumns): Uint8Array | null {
  try {
    return readBody(seal, columns)
  } catch (error) {
    if (error instanceof DamagedBody) return null
    throw error
  }
}

function readBase(seal: StoreSeal, { base_payload, base_size, base_sealed_for, body_scenario }: BodyColumns): Uint8Array {
  if (base_payload === null) throw new DamagedBody('the body that it refers to is missing')
  const payload =
    base_sealed_for === null ? base_payload : openSealed(seal, base_payload, body_scenario, base_sealed_for).subarray(SHA256_BYTES)
  return base_size === null ? payload : decompress(payload, base_size, null, 0)
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
