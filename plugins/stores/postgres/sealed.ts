/** Bodies that are encrypted: compressed before, in threads of their own, since nobody can compress them afterwards. */
import { promisify } from 'node:util'
import { constants, zstdCompress, zstdDecompressSync } from 'node:zlib'
import { unavailable, type Refusal } from '../../../src/contract/index.ts'
import { bodyContext, missingKey, Unopened, type StoreSeal } from '../common/seal.ts'
import type { Database } from './connections.ts'

/** Smaller ones take longer to compress than to write. */
const COMPRESSED_BYTES_MIN = 1024
const LEVEL = 1
/** No stored size is believed beyond this: a damaged one must not take the memory. */
const SIZE_MAX = 1024 * 1024 * 1024
/** The first byte of what is encrypted. */
const [AS_IT_CAME, COMPRESSED] = [0, 1]

const compress = promisify(zstdCompress)

export interface SealedBody {
  readonly payload: Buffer
  readonly size: number
}

/** Null where bodies are written in the clear. */
export async function sealBody(seal: StoreSeal, scenario: number, recordId: string, original: Uint8Array): Promise<SealedBody | null> {
  if (seal.writesWith === null) return null
  const packed = await pack(original)
  const payload = seal.seal(packed, bodyContext(scenario, recordId))
  return payload === null ? null : { payload, size: original.byteLength }
}

async function pack(original: Uint8Array): Promise<Buffer> {
  if (original.byteLength >= COMPRESSED_BYTES_MIN) {
    const compressed = await compress(original, { params: { [constants.ZSTD_c_compressionLevel]: LEVEL } })
    if (compressed.byteLength < original.byteLength) return Buffer.concat([Buffer.from([COMPRESSED]), compressed])
  }
  return Buffer.concat([Buffer.from([AS_IT_CAME]), original])
}

export interface KeptBody {
  readonly payload: Buffer | null
  readonly size: number | null
}

/** The original bytes; null for a body that is gone. Throws Unopened for one that is not what was written. */
export function openBody(seal: StoreSeal, scenario: number, recordId: string, { payload, size }: KeptBody): Buffer | null {
  if (payload === null || size === null) return payload
  const packed = seal.open(payload, bodyContext(scenario, recordId))
  const bytes = packed.subarray(1)
  if (packed[0] === AS_IT_CAME) return bytes
  try {
    return zstdDecompressSync(bytes, { maxOutputLength: Math.min(SIZE_MAX, Math.max(1, size)) })
  } catch (cause) {
    throw new Unopened('the body cannot be decompressed', { cause })
  }
}

/** The same, with null for one that cannot be read. */
export function openWhole(seal: StoreSeal, scenario: number, recordId: string, body: KeptBody): Buffer | null {
  try {
    return openBody(seal, scenario, recordId, body)
  } catch (error) {
    if (error instanceof Unopened) return null
    throw error
  }
}

export const unreadable = (cause: Unopened): Refusal => unavailable('storage_failed', `${cause.message}; verify the store`, { cause })

/** Refuses a store of which a part could not be read. A key that nothing needs any longer is forgotten. */
export async function settleKeys(connections: Database, seal: StoreSeal): Promise<void> {
  for (const { id } of await connections.rows<{ id: string }>({ text: 'SELECT id FROM seal_key' })) {
    if (seal.knows(id)) continue
    const needed = await connections.rows({
      text: `SELECT 1 FROM body WHERE size IS NOT NULL AND substring(payload FROM 2 FOR 4) = decode($1, 'hex') LIMIT 1`,
      values: [id],
    })
    if (needed.length > 0) throw missingKey(id)
    await connections.rows({ text: 'DELETE FROM seal_key WHERE id = $1', values: [id] })
  }
  if (seal.writesWith !== null)
    await connections.rows({ text: 'INSERT INTO seal_key (id) VALUES ($1) ON CONFLICT DO NOTHING', values: [seal.writesWith] })
}
