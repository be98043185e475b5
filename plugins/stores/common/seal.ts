/** Encrypts what a store keeps of what people said, and reads it again. Names of records and times stay readable. */
import { invalid, unavailable, type JsonObject, type Refusal } from '../../../src/contract/index.ts'
import { Sealing } from '../../../src/kit/index.ts'

/** Plain data, so that every thread of a store can have it. */
export interface SealSettings {
  /** The keys, the newest first. Null: what is encrypted cannot be read. */
  readonly secretKey: string | null
  /** Whether what is written is encrypted. */
  readonly encrypts: boolean
}

export const IN_THE_CLEAR: SealSettings = { secretKey: null, encrypts: false }

export function readSealSettings({ secret_key: secretKey = null, encrypt: encrypts = false }: JsonObject): SealSettings {
  const isRead = secretKey === null || (typeof secretKey === 'string' && Sealing.read(secretKey) !== null)
  if (!isRead || typeof encrypts !== 'boolean' || (encrypts && secretKey === null))
    throw invalid('store_config', 'encrypt must be true or false, and needs secret_key: 32 random bytes in base64, or several such keys')
  return { secretKey, encrypts }
}

/** What is sealed cannot be opened: the key is missing, or it is not what was written here. */
export class Unopened extends Error {}

const DIGEST_BYTES = 32

export class StoreSeal {
  readonly #sealing: Sealing | null
  readonly #encrypts: boolean

  constructor({ secretKey, encrypts }: SealSettings) {
    this.#sealing = secretKey === null ? null : Sealing.read(secretKey)
    this.#encrypts = encrypts
  }

  /** The name of the key that seals; null where what is written stays in the clear. */
  get writesWith(): string | null {
    return this.#encrypts ? (this.#sealing?.keyIds[0] ?? null) : null
  }

  knows(keyId: string): boolean {
    return this.#sealing?.keyIds.includes(keyId) === true
  }

  /** Null where what is written stays in the clear. */
  seal(bytes: Uint8Array, context: string): Buffer | null {
    return this.#encrypts && this.#sealing !== null ? this.#sealing.seal(bytes, context) : null
  }

  open(sealed: Uint8Array, context: string): Buffer {
    const opened = this.#sealing?.open(sealed, context) ?? { cannot: 'other_key' }
    if ('bytes' in opened) return opened.bytes
    throw new Unopened(
      opened.cannot === 'damaged'
        ? 'the body cannot be decrypted: it is not what was written here'
        : 'the body was encrypted with a key that SVC_SECRET_KEY (storage.secret_key) does not have',
    )
  }

  /** What stays of a body that is gone: a retry is compared with it. Hex in, bytes out. */
  sealDigest(digest: string, context: string): Buffer {
    const bytes = Buffer.from(digest, 'hex')
    return this.seal(bytes, context) ?? bytes
  }

  /** As hex. What cannot be opened equals no digest. */
  openDigest(kept: Uint8Array, context: string): string {
    if (kept.byteLength <= DIGEST_BYTES) return Buffer.from(kept).toString('hex')
    try {
      return this.open(kept, context).toString('hex')
    } catch {
      return ''
    }
  }
}

/** A body that is copied to another record does not open there. */
export const bodyContext = (scenario: number, recordId: string): string => `body ${scenario} ${recordId}`
export const digestContext = (scenario: number, recordId: string): string => `digest ${scenario} ${recordId}`

/** The key of what is kept here is missing, which is told before anything is served. */
export const missingKey = (keyId: string): Refusal =>
  unavailable(
    'missing_key',
    `records are encrypted with the key ${keyId}, which SVC_SECRET_KEY (storage.secret_key) does not have; add that key behind the newer one, with a comma between them, then start again`,
  )
