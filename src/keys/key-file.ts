/**
 * The deployment's key on disk: one file, made once, readable by its owner alone. It is whole or absent, and never replaced by another process
 * than the one that rotates it. It also holds the signed rotations that lead from the first key to this one.
 */
import { link, readFile, rename, rm, stat } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import {
  fingerprintOf,
  makeSigningKey,
  readSigned,
  readSigningKey,
  signStatement,
  type SignedText,
  type SigningKey,
} from '@svc-ai/client/signing'
import { isObject, unavailable, type Json } from '../contract/index.ts'
import { hasCode, isMissing, makeFolder, newId, sync, writeSynced } from '../kit/index.ts'

const FILE = 'signing-key.json'
const FORMAT = 1
const PRIVATE = 0o600
const OTHERS = 0o077

/** A key, and the rotations that lead to it, oldest first. */
export interface KeyChain {
  readonly signer: SigningKey
  readonly rotations: readonly SignedText[]
}

export const keyFileIn = (directory: string): string => join(directory, FILE)

export const newKeyChain = (): KeyChain => ({ signer: makeSigningKey(), rotations: [] })

/** The key of this folder, made when there is none. Of two processes at once one makes it and both use it. */
export async function openKeyFile(path: string): Promise<KeyChain> {
  const found = await readKeyFile(path)
  if (found !== null) return found
  await makeFolder(dirname(path))
  await placed(newKeyChain(), path)
  return requireKeyFile(path)
}

/** Null when there is none. A file that is damaged, or that others may read, is refused and left as it is. */
export async function readKeyFile(path: string): Promise<KeyChain | null> {
  try {
    const text = await readFile(path, 'utf8')
    if (process.platform !== 'win32' && ((await stat(path)).mode & OTHERS) !== 0)
      throw unavailable(
        'signing_key_open',
        `${FILE} may be read by other users; run chmod 600 on it, or replace the key with: svc key rotate`,
      )
    return chainIn(text)
  } catch (error) {
    if (isMissing(error)) return null
    if (hasCode(error, 'EACCES', 'EPERM', 'EISDIR')) throw damaged('cannot be read')
    throw error
  }
}

/**
 * A new key, announced by the old one. It is linked under one name before it takes the place of the old: a second rotation at the same time, or
 * after a kill, completes the first one, and no rotation is lost.
 */
export async function rotateKeyFile(path: string, time: number): Promise<KeyChain> {
  const next = `${path}.next`
  await placed(rotatedChain(await requireKeyFile(path), time), next)
  const [chain, current] = [await readKeyFile(next), await requireKeyFile(path)]
  // Another process completed it between the two.
  if (chain === null || chain.signer.key === current.signer.key) return current
  if (!follows(chain, current)) {
    await rm(next, { force: true })
    throw unavailable(
      'signing_key_rotated',
      'another rotation came first; look at the key with svc key show, and rotate again if it is needed',
    )
  }
  await rename(next, path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error
  })
  await sync(dirname(path))
  return requireKeyFile(path)
}

/** Throws where there is none: one that was there and is gone is not replaced. */
export async function requireKeyFile(path: string): Promise<KeyChain> {
  const found = await readKeyFile(path)
  if (found === null) throw damaged('is not there')
  return found
}

function follows({ rotations }: KeyChain, { signer }: KeyChain): boolean {
  const last = rotations.at(-1)
  return last !== undefined && readSigned('rotation', last)?.key === signer.key
}

export function rotatedChain({ signer, rotations }: KeyChain, time: number): KeyChain {
  const next = makeSigningKey()
  return { signer: next, rotations: [...rotations, signStatement(signer, { kind: 'rotation', key: signer.key, next: next.key, time })] }
}

/** Whether this chain is now at the path; false when another one was there first. */
async function placed(chain: KeyChain, path: string): Promise<boolean> {
  const beside = join(dirname(path), `.${FILE}.${newId()}`)
  try {
    await writeSynced(beside, chainText(chain), PRIVATE)
    await link(beside, path)
    await sync(dirname(path))
    return true
  } catch (error) {
    if (hasCode(error, 'EEXIST')) return false
    throw error
  } finally {
    await rm(beside, { force: true })
  }
}

export const chainText = ({ signer, rotations }: KeyChain): string =>
  `${JSON.stringify({ format: FORMAT, secret: signer.secret, rotations }, null, 2)}\n`

export function chainIn(text: string): KeyChain {
  const { format, secret, rotations } = fieldsIn(text)
  const signer = typeof secret === 'string' ? readSigningKey(secret) : null
  if (format !== FORMAT || signer === null || !Array.isArray(rotations)) throw damaged('is damaged')
  const texts = rotations.map((each): SignedText => {
    const { statement, signature } = isObject(each) ? each : {}
    if (typeof statement !== 'string' || typeof signature !== 'string') throw damaged('is damaged')
    return { statement, signature }
  })
  requireChain(texts, signer.key)
  return { signer, rotations: texts }
}

function fieldsIn(text: string): Readonly<Record<string, Json>> {
  try {
    const value: Json = JSON.parse(text)
    return isObject(value) ? value : {}
  } catch {
    return {}
  }
}

/** Each rotation leads to the next one, and the last to this key. */
function requireChain(rotations: readonly SignedText[], key: string): void {
  const statements = rotations.map((each) => readSigned('rotation', each))
  const isWhole = statements.every((each, at) => each !== null && each.next === (statements[at + 1]?.key ?? key))
  if (!isWhole) throw damaged('is damaged')
}

const damaged = (problem: string): Error =>
  unavailable(
    'signing_key_damaged',
    `${FILE} ${problem}, and no other key is made in its place, since clients would refuse it; restore it from a backup, or move it away to start over with a new key`,
  )

export const fingerprintIn = ({ signer }: KeyChain): string => fingerprintOf(signer.key)
