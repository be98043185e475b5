/**
 * Seals bytes so that only who has the key can read or change them: AES-256-GCM. The first key seals, every key opens, so that keys are
 * replaced one after the other.
 */
import { createCipheriv, createDecipheriv, hash, randomBytes } from 'node:crypto'

const CIPHER = 'aes-256-gcm'
const KEY_BYTES = 32
const FORMAT = 1
/** A key is known by the first bytes of its SHA-256. */
const ID_BYTES = 4
const NONCE_BYTES = 12
const TAG_BYTES = 16
const HEAD_BYTES = 1 + ID_BYTES
const LEAST_BYTES = HEAD_BYTES + NONCE_BYTES + TAG_BYTES

/** `cannot` says why sealed bytes stay closed. */
type Opened = { readonly bytes: Buffer } | { readonly cannot: 'damaged' | 'other_key' }

export class Sealing {
  readonly #keys: ReadonlyMap<string, Buffer>

  private constructor(keys: ReadonlyMap<string, Buffer>) {
    this.#keys = keys
  }

  /** Keys of 32 bytes in base64 or hex, separated by commas, the newest first. Null where one is something else. */
  static read(text: string): Sealing | null {
    const keys = text.split(',').map((part) => keyIn(part.trim()))
    const read = keys.filter((key) => key !== null)
    return read.length < keys.length ? null : new Sealing(new Map(read.map((key) => [idOf(key), key])))
  }

  /** The names of the keys: the first seals. */
  get keyIds(): readonly [first: string, ...others: string[]] {
    const [first = '', ...others] = this.#keys.keys()
    return [first, ...others]
  }

  /** The bytes open only with the same context: what is sealed for one place cannot be put into another. */
  seal(bytes: Uint8Array, context: string): Buffer {
    const [[id, key] = NO_KEY] = this.#keys
    const head = Buffer.concat([Buffer.from([FORMAT]), Buffer.from(id, 'hex')])
    const nonce = randomBytes(NONCE_BYTES)
    const cipher = createCipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES }).setAAD(aboutOf(head, context))
    return Buffer.concat([head, nonce, cipher.update(bytes), cipher.final(), cipher.getAuthTag()])
  }

  open(sealed: Uint8Array, context: string): Opened {
    const bytes = Buffer.from(sealed.buffer, sealed.byteOffset, sealed.byteLength)
    if (bytes.length < LEAST_BYTES || bytes[0] !== FORMAT) return { cannot: 'damaged' }
    const head = bytes.subarray(0, HEAD_BYTES)
    const key = this.#keys.get(head.toString('hex', 1))
    if (key === undefined) return { cannot: 'other_key' }
    const nonce = bytes.subarray(HEAD_BYTES, HEAD_BYTES + NONCE_BYTES)
    const decipher = createDecipheriv(CIPHER, key, nonce, { authTagLength: TAG_BYTES })
    decipher.setAAD(aboutOf(head, context)).setAuthTag(bytes.subarray(-TAG_BYTES))
    try {
      const text = decipher.update(bytes.subarray(HEAD_BYTES + NONCE_BYTES, -TAG_BYTES))
      return { bytes: Buffer.concat([text, decipher.final()]) }
    } catch {
      return { cannot: 'damaged' }
    }
  }
}

const NO_KEY = ['', Buffer.alloc(0)] as const

const aboutOf = (head: Buffer, context: string): Buffer => Buffer.concat([head, Buffer.from(context)])

const idOf = (key: Buffer): string => hash('sha256', key, 'hex').slice(0, ID_BYTES * 2)

const HEX = /^[0-9a-f]{64}$/i
const BASE64 = /^[A-Za-z0-9+/_-]{43}=?$/

function keyIn(text: string): Buffer | null {
  const key = HEX.test(text) ? Buffer.from(text, 'hex') : BASE64.test(text) ? Buffer.from(text, 'base64') : null
  return key?.length === KEY_BYTES ? key : null
}
