/** The deployment's key, as people see it: its fingerprint, its file, how often it was rotated. */
import { fingerprintIn, keyFileIn, requireKeyFile, rotateKeyFile, type KeyChain } from './key-file.ts'

export interface ShownKey {
  readonly fingerprint: string
  readonly file: string
  readonly rotations: number
}

export const showKey = async (directory: string): Promise<ShownKey> => shown(directory, await requireKeyFile(keyFileIn(directory)))

/** A service that runs on the same folder signs with the new one from then on. */
export const rotateShownKey = async (directory: string, time: number): Promise<ShownKey> =>
  shown(directory, await rotateKeyFile(keyFileIn(directory), time))

const shown = (directory: string, chain: KeyChain): ShownKey => ({
  fingerprint: fingerprintIn(chain),
  file: keyFileIn(directory),
  rotations: chain.rotations.length,
})
