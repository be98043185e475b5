/** The deployment's key where all gateways share it: one document, encrypted, made by the gateway that starts first. */
import { unavailable, type Documents } from '../contract/index.ts'
import type { Sealing } from '../kit/index.ts'
import { chainIn, chainText, newKeyChain, readKeyFile, rotatedChain, type KeyChain } from './key-file.ts'

const PATH = 'signing-key'
const CONTEXT = 'signing key'
/** How old the key that signs may be: a rotation takes effect by then. */
const FRESH_MS = 1000

export interface SharedPlace {
  readonly documents: Documents
  readonly sealing: Sealing
}

/**
 * The key of the deployment. Where there is none, the one of this machine's file becomes it, so that installed clients go on trusting it; and
 * where there is no file, a new one. Of several gateways at once one makes it and all use it.
 */
export async function openSharedKey(place: SharedPlace, file: string): Promise<KeyChain> {
  const found = await readShared(place)
  if (found !== null) return found.chain
  const first = (await readKeyFile(file)) ?? newKeyChain()
  await place.documents.write(PATH, sealedText(place, first), null)
  return (await requireShared(place)).chain
}

/** Throws where there is none: one that was there and is gone is not replaced. */
export async function requireShared(place: SharedPlace): Promise<Shared> {
  const found = await readShared(place)
  if (found === null) throw damaged('is not there')
  return found
}

/** A new key, announced by the old one. */
export async function rotateShared(place: SharedPlace, time: number): Promise<KeyChain> {
  const { chain, text } = await requireShared(place)
  const next = rotatedChain(chain, time)
  if (await place.documents.write(PATH, sealedText(place, next), text)) return next
  throw unavailable(
    'signing_key_rotated',
    'another rotation came first; look at the key with svc key show, and rotate again if it is needed',
  )
}

/** The key as it is now, or as it was a moment ago. While the database is away, what is served is signed with the key that is known. */
export function followShared(place: SharedPlace, first: KeyChain): () => Promise<KeyChain> {
  let [chain, readAt] = [first, performance.now()]
  return async () => {
    if (performance.now() - readAt < FRESH_MS) return chain
    readAt = performance.now()
    chain = await requireShared(place).then(
      (found) => found.chain,
      () => chain,
    )
    return chain
  }
}

interface Shared {
  readonly chain: KeyChain
  /** As it is kept. */
  readonly text: string
}

/** Null where there is none. */
export async function readShared({ documents, sealing }: SharedPlace): Promise<Shared | null> {
  const bytes = await documents.read(PATH)
  if (bytes === null) return null
  const text = Buffer.from(bytes).toString()
  const opened = sealing.open(Buffer.from(text, 'base64'), CONTEXT)
  if ('bytes' in opened) return { chain: chainIn(opened.bytes.toString()), text }
  throw damaged(opened.cannot === 'damaged' ? 'is damaged' : 'was encrypted with another key than SVC_SECRET_KEY has')
}

const sealedText = ({ sealing }: SharedPlace, chain: KeyChain): string =>
  sealing.seal(Buffer.from(chainText(chain)), CONTEXT).toString('base64')

const damaged = (problem: string): Error =>
  unavailable(
    'signing_key_damaged',
    `the key that signs releases, in the database, ${problem}, and no other key is made in its place, since clients would refuse it; set SVC_SECRET_KEY (storage.secret_key) as it was, or restore a backup of the database`,
  )
