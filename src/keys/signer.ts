/** What the deployment signs, with the key as it is now: a rotation takes effect without a restart. */
import { statSync } from 'node:fs'
import {
  digestOf,
  digestsOf,
  requiresDigest,
  safeInstallLine,
  sha256,
  signatureLine,
  signStatement,
  type InstallLineOrder,
  type ReleaseStatement,
  type ScriptStatement,
  type Signed,
} from '@svc-ai/client/signing'
import type { Adapter, Files, Requires } from '../contract/index.ts'
import { fingerprintIn, keyFileIn, newKeyChain, openKeyFile, requireKeyFile, type KeyChain } from './key-file.ts'
import { followShared, openSharedKey, type SharedPlace } from './shared-key.ts'

/** What is known of a release that is signed. */
interface SignedRelease extends Omit<ReleaseStatement, 'kind' | 'key' | 'adapter' | 'files' | 'requires' | 'vendor'> {
  readonly adapter: Adapter | undefined
  readonly files: Files
  readonly requires: readonly Requires[]
}

export interface DeploymentSigner {
  fingerprint(): Promise<string>
  /** What a person pastes, with the fingerprint in it. */
  installLine(order: Omit<InstallLineOrder, 'key'>): Promise<string>
  release(release: SignedRelease): Promise<Signed>
  /** The script with the line that signs it. */
  script(text: string, about: Omit<ScriptStatement, 'kind' | 'key' | 'sha256'>): Promise<string>
}

/** Without a directory, for records in memory, the key lasts as long as the process. A shared place counts before the directory. */
export async function openSigner(directory: string | null, shared: SharedPlace | null = null): Promise<DeploymentSigner> {
  const chain = await chainOf(directory, shared)
  const signed = async (statement: (key: string) => Parameters<typeof signStatement>[1]): Promise<Signed> => {
    const { signer, rotations } = await chain()
    return { ...signStatement(signer, statement(signer.key)), rotations }
  }
  return {
    fingerprint: async () => fingerprintIn(await chain()),
    installLine: async (order) => safeInstallLine({ ...order, key: fingerprintIn(await chain()) }),
    release: ({ adapter, files, requires, ...release }) =>
      signed((key) => ({
        ...release,
        kind: 'release',
        key,
        adapter: adapter?.name ?? null,
        files: digestsOf(files),
        requires: requiresDigest(requires),
        vendor: adapter?.install === undefined ? null : digestOf(adapter.install),
      })),
    script: async (text, about) => text + signatureLine(await signed((key) => ({ ...about, kind: 'script', key, sha256: sha256(text) }))),
  }
}

async function chainOf(directory: string | null, shared: SharedPlace | null): Promise<() => Promise<KeyChain>> {
  if (directory === null) return memoryChain()
  const file = keyFileIn(directory)
  return shared === null ? fileChain(file) : followShared(shared, await openSharedKey(shared, file))
}

function memoryChain(): () => Promise<KeyChain> {
  const chain = newKeyChain()
  return () => Promise.resolve(chain)
}

/** Read again only when the file is another one than before. */
async function fileChain(path: string): Promise<() => Promise<KeyChain>> {
  let [chain, seen] = [await openKeyFile(path), markOf(path)]
  return async () => {
    const mark = markOf(path)
    if (mark === null || mark !== seen) [chain, seen] = [await requireKeyFile(path), markOf(path)]
    return chain
  }
}

function markOf(path: string): string | null {
  const found = statSync(path, { throwIfNoEntry: false })
  return found === undefined ? null : `${found.ino} ${found.mtimeMs} ${found.size}`
}
