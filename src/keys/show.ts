/** The deployment's key, as people see it: its fingerprint, its file, how often it was rotated. */
import { fingerprintIn, keyFileIn, readKeyFile, requireKeyFile, rotateKeyFile, type KeyChain } from './key-file.ts'
import { readShared, requireShared, rotateShared, type SharedPlace } from './shared-key.ts'

export interface ShownKey {
  readonly fingerprint: string
  /** Null where it is in the database of all gateways. */
  readonly file: string | null
  readonly rotations: number
}

export async function showKey(directory: string, shared: SharedPlace | null): Promise<ShownKey> {
  if (shared !== null) return shown(null, (await requireShared(shared)).chain)
  return shown(keyFileIn(directory), await requireKeyFile(keyFileIn(directory)))
}

/** Throws where there is one that cannot be used. */
export async function checkKey(directory: string, shared: SharedPlace | null): Promise<void> {
  await (shared === null ? readKeyFile(keyFileIn(directory)) : readShared(shared))
}

/** A service that runs on the same folder or database signs with the new one from then on. */
export async function rotateShownKey(directory: string, shared: SharedPlace | null, time: number): Promise<ShownKey> {
  if (shared !== null) return shown(null, await rotateShared(shared, time))
  return shown(keyFileIn(directory), await rotateKeyFile(keyFileIn(directory), time))
}

const shown = (file: string | null, chain: KeyChain): ShownKey => ({
  fingerprint: fingerprintIn(chain),
  file,
  rotations: chain.rotations.length,
})
