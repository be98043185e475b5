/** Ed25519 keys as text: the public key as 43 characters, its fingerprint as what people compare and type. */
import { createHash, createPrivateKey, createPublicKey, generateKeyPairSync, sign, verify, type KeyObject } from 'node:crypto'

/** What stands before every text that is signed: a signature made for something else is none here. */
const PURPOSE = 'svc-signed-1\n'
const FINGERPRINT = /^ed25519:[A-Za-z0-9_-]{43}$/
const KEY_BYTES = 32
const SIGNATURE_BYTES = 64

/** The y coordinates of points of small order, and p - 1, p, p + 1: with such a key, signatures of any text can be made without a secret. */
const WEAK = new Set([
  '0000000000000000000000000000000000000000000000000000000000000000',
  '0100000000000000000000000000000000000000000000000000000000000000',
  '26e8958fc2b227b045c3f489f2ef98f0d5dfac05d3c63339b13802886d53fc05',
  'c7176a703d4dd84fba3c0b760d10670f2a2053fa2c39ccc64ec7fd7792ac037a',
  'ecffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff7f',
])
/** The prime of the curve, as a number. */
const P = 2n ** 255n - 19n

/** Null for a text that is no public key, or a weak one. */
export function publicKeyOf(key: string): KeyObject | null {
  const bytes = bytesOf(key, KEY_BYTES)
  if (bytes === null || isWeak(bytes)) return null
  try {
    return createPublicKey({ key: { kty: 'OKP', crv: 'Ed25519', x: key }, format: 'jwk' })
  } catch {
    return null
  }
}

function isWeak(bytes: Buffer): boolean {
  const y = Buffer.from(bytes)
  y[KEY_BYTES - 1] = (y[KEY_BYTES - 1] ?? 0) & 0x7f
  return WEAK.has(y.toString('hex')) || BigInt(`0x${Buffer.from(y.toReversed()).toString('hex')}`) >= P
}

/** The bytes of a base64url text of exactly that length, spelt in the one usual way. */
function bytesOf(text: string, length: number): Buffer | null {
  const bytes = Buffer.from(text, 'base64url')
  return bytes.length === length && bytes.toString('base64url') === text ? bytes : null
}

export const fingerprintOf = (key: string): string =>
  `ed25519:${createHash('sha256').update(Buffer.from(key, 'base64url')).digest('base64url')}`

export const isFingerprint = (text: string): boolean => FINGERPRINT.test(text)

export function isSignedBy(key: string, text: string, signature: string): boolean {
  const [publicKey, bytes] = [publicKeyOf(key), bytesOf(signature, SIGNATURE_BYTES)]
  return publicKey !== null && bytes !== null && verify(null, Buffer.from(PURPOSE + text), publicKey, bytes)
}

export interface SigningKey {
  /** The public half. */
  readonly key: string
  /** A text only the deployment may have. */
  readonly secret: string
  sign(text: string): string
}

export const makeSigningKey = (): SigningKey => signingKeyFrom(generateKeyPairSync('ed25519').privateKey)

/** Null for a text that holds no Ed25519 key. */
export function readSigningKey(secret: string): SigningKey | null {
  try {
    const key = createPrivateKey({ key: Buffer.from(secret, 'base64url'), format: 'der', type: 'pkcs8' })
    return key.asymmetricKeyType === 'ed25519' ? signingKeyFrom(key) : null
  } catch {
    return null
  }
}

function signingKeyFrom(privateKey: KeyObject): SigningKey {
  const { x = '' } = createPublicKey(privateKey).export({ format: 'jwk' })
  return {
    key: x,
    secret: privateKey.export({ format: 'der', type: 'pkcs8' }).toString('base64url'),
    sign: (text) => sign(null, Buffer.from(PURPOSE + text), privateKey).toString('base64url'),
  }
}
