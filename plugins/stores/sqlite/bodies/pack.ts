/**
 * Decides how a body is written. With the append, only a body that begins like an earlier one of its scenario is compressed: that takes about
 * as long as writing it whole. Everything else is written as it came and compressed when the writer is idle (compression.ts).
 *
 * A body refers to one other at most, its base, which refers to none: two bodies are read to read one. Once those that refer to a base take
 * as much room together as the base does, the next is a base itself: fewer bases or more would take more room.
 */
import type { DatabaseSync } from 'node:sqlite'
import { crc32 } from 'node:zlib'
import type { BaseBody, Bases } from './bases.ts'
import type { StoreSeal } from '../../common/seal.ts'
import { compress, decompress, FAST_LEVEL, LEVEL, openBody, OWN_COLUMNS, type OwnColumns, type PackedBody } from './bodies.ts'
import { Query } from '../query.ts'

/** Smaller ones take longer to compress than to write. */
const AT_ONCE_BYTES_MIN = 32 * 1024
/** Larger ones are no bases: too much memory would go into reading what refers to them. */
const BASE_BYTES_MAX = 16 * 1024 * 1024
/** How much smaller a body of JSON usually gets, where it is not known. */
const USUAL_RATIO = 3
/** What must be saved, as a share of the original. */
const SAVED_SHARE_MIN = 1 / 8
/** Candidates that begin otherwise after all. */
const TRIES_MAX = 3

export interface PackedPlace {
  readonly age: number
  /** Key of the scenario. */
  readonly scenario: number
  readonly session: string | null
}

export function makePacking(db: DatabaseSync, bases: Bases, seal: StoreSeal) {
  const findBody = new Query<OwnColumns>(db, `SELECT ${OWN_COLUMNS} FROM body b WHERE b.age = ?`)

  return {
    /** Before the body is written: compressed where it repeats an earlier one, otherwise as it came. */
    atOnce(age: number, scenario: number, payload: Uint8Array): PackedBody {
      if (payload.byteLength < AT_ONCE_BYTES_MIN) return asItCame(payload)
      const keys = beginnings(scenario, payload)
      const alike = findAlike(keys, payload)
      if (alike === null) return asBase(age, keys, payload, null) ?? asItCame(payload)
      const [base, prefix] = alike
      const referring = hasRoom(base, payload.byteLength - prefix) ? refer(base, payload, prefix, FAST_LEVEL) : null
      return referring ?? asBase(age, keys, payload, compress(payload, null, 0, FAST_LEVEL)) ?? asItCame(payload)
    },
    /** For a body that lies there as it came: smaller, or null when it gets no smaller. One that others refer to must stay a base. */
    later(place: PackedPlace, payload: Uint8Array, isBase: boolean): PackedBody | null {
      const referring = isBase ? null : referLater(place, payload)
      if (referring !== null) {
        bases.remove(place.age)
        return referring
      }
      const keys = [...beginnings(place.scenario, payload), ...belongings(place.scenario, place.session)]
      return asBase(place.age, keys, payload, compress(payload, null, 0, LEVEL))
    },
  }

  /** A base of which the body repeats enough, and how much. */
  function findAlike(keys: readonly string[], payload: Uint8Array): readonly [BaseBody, number] | null {
    let tries = 0
    for (const key of keys) {
      const base = bases.find(key)
      if (base === undefined) continue
      const bytes = bytesOf(base)
      const prefix = bytes === null ? 0 : commonPrefix(bytes, payload)
      if (prefix >= payload.byteLength / 2) return [base, prefix]
      if ((tries += 1) === TRIES_MAX) return null
    }
    return null
  }

  function referLater({ age, scenario, session }: PackedPlace, payload: Uint8Array): PackedBody | null {
    for (const key of [...beginnings(scenario, payload), ...belongings(scenario, session)]) {
      const base = bases.find(key)
      const bytes = base === undefined || base.age >= age ? null : bytesOf(base)
      if (base !== undefined && bytes !== null) return refer(base, payload, commonPrefix(bytes, payload), LEVEL)
    }
    return null
  }

  /** A base for those after it, whether it gets smaller or not; null when it does not. */
  function asBase(age: number, keys: readonly string[], payload: Uint8Array, compressed: Uint8Array | null): PackedBody | null {
    const isWorth = compressed !== null && isSmaller(compressed, payload)
    if (payload.byteLength <= BASE_BYTES_MAX) bases.add(age, keys, isWorth ? compressed.byteLength : payload.byteLength / USUAL_RATIO)
    return isWorth ? { payload: compressed, size: payload.byteLength, base: null, prefix: null } : null
  }

  /** Null when the database has it no longer, or damaged. */
  function bytesOf(base: BaseBody): Uint8Array | null {
    const bytes = base.bytes ?? loaded(base.age)
    if (bytes === null) bases.remove(base.age)
    else bases.use(base, bytes)
    return bytes
  }

  function loaded(age: number): Uint8Array | null {
    try {
      const found = findBody.first(age)
      const own = found === undefined ? null : openBody(seal, found)
      if (found === undefined || own === null) return null
      return found.size === null ? own.payload : decompress(own.payload, found.size, null, 0)
    } catch {
      return null
    }
  }
}

/** Null when the body had better be a base, or gets no smaller. */
function refer(base: BaseBody, payload: Uint8Array, prefix: number, level: number): PackedBody | null {
  const roomLeft = base.storedBytes - base.spentBytes
  const compressed = compress(payload, base.bytes, prefix, level)
  if (compressed === null || compressed.byteLength > roomLeft || !isSmaller(compressed, payload)) return null
  base.spentBytes += compressed.byteLength
  return { payload: compressed, size: payload.byteLength, base: base.age, prefix }
}

/** Spares the time of compressing what will most likely not fit. */
const hasRoom = (base: BaseBody, restBytes: number): boolean => restBytes / (2 * USUAL_RATIO) <= base.storedBytes - base.spentBytes

const asItCame = (payload: Uint8Array): PackedBody => ({ payload, size: null, base: null, prefix: null })

const isSmaller = (compressed: Uint8Array, payload: Uint8Array): boolean =>
  compressed.byteLength < payload.byteLength * (1 - SAVED_SHARE_MIN)

const BEGINNING_BYTES_MIN = 1024
const BEGINNING_GROWTH = 1.25
const SAMPLE_BYTES = 48

/**
 * A checksum of the start and of samples at growing distances from it, for each distance, the longest first: of two bodies that share one,
 * most likely all before is alike.
 */
function beginnings(scenario: number, payload: Uint8Array): string[] {
  const keys: string[] = []
  let checksum = crc32(payload.subarray(0, BEGINNING_BYTES_MIN))
  for (let end = BEGINNING_BYTES_MIN; end <= payload.byteLength; end = Math.floor(end * BEGINNING_GROWTH)) {
    checksum = crc32(payload.subarray(end - SAMPLE_BYTES, end), checksum)
    keys.push(`${scenario} ${end} ${checksum}`)
  }
  return keys.toReversed()
}

function belongings(scenario: number, session: string | null): string[] {
  return session === null ? [`${scenario}`] : [`${scenario} session ${session}`, `${scenario}`]
}

const COMPARED_BYTES = 4096
const COMPARED_BYTES_MAX = 1024 * 1024
const COMPARED_BYTES_MIN = 64

/** How many bytes two bodies begin with alike, by comparing stretches: native comparing is far quicker than byte by byte. */
export function commonPrefix(one: Uint8Array, other: Uint8Array): number {
  const shorter = Math.min(one.byteLength, other.byteLength)
  let alike = 0
  let stretch = COMPARED_BYTES
  while (alike < shorter) {
    const end = Math.min(shorter, alike + stretch)
    if (Buffer.compare(one.subarray(alike, end), other.subarray(alike, end)) === 0) {
      alike = end
      stretch = Math.min(stretch * 2, COMPARED_BYTES_MAX)
    } else if (end - alike > COMPARED_BYTES_MIN) {
      stretch = Math.max(COMPARED_BYTES_MIN, Math.floor((end - alike) / 8))
    } else {
      while (one[alike] === other[alike]) alike += 1
      return alike
    }
  }
  return alike
}
