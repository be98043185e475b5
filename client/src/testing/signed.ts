/** A deployment's key in a test, and what it signs. */
import {
  digestsOf,
  fingerprintOf,
  makeSigningKey,
  requiresDigest,
  sha256,
  signatureLine,
  signStatement,
  type ReleaseStatement,
  type ScriptStatement,
  type Signed,
  type SignedText,
  type SigningKey,
} from '../signing.ts'
import type { Manifest } from '../wire.generated.ts'

export interface TestDeployment {
  readonly signer: SigningKey
  readonly fingerprint: string
  readonly rotations: readonly SignedText[]
  release(about: Partial<ReleaseStatement>, of?: Partial<Pick<Manifest, 'files' | 'requires'>>): Signed
  script(text: string, about: Partial<ScriptStatement>): string
  /** The same deployment with its next key. */
  rotate(): TestDeployment
}

export function deployment(signer = makeSigningKey(), rotations: readonly SignedText[] = []): TestDeployment {
  const { key } = signer
  return {
    signer,
    rotations,
    fingerprint: fingerprintOf(key),
    release: (about, { files = {}, requires = [] } = {}) => ({
      ...signStatement(signer, {
        kind: 'release',
        key,
        scenario: 's',
        adapter: 'agent',
        release_id: 'r1',
        content_id: 'c1',
        parent_release_id: null,
        step: 0,
        held: false,
        time: 1,
        files: digestsOf(files),
        requires: requiresDigest(requires),
        vendor: null,
        delivery: null,
        ...about,
      }),
      rotations,
    }),
    script: (text, about) =>
      text +
      signatureLine({
        ...signStatement(signer, {
          kind: 'script',
          key,
          scenario: 's',
          adapter: 'agent',
          release_id: 'r1',
          step: 0,
          sha256: sha256(text),
          ...about,
        }),
        rotations,
      }),
    rotate: () => {
      const next = makeSigningKey()
      return deployment(next, [...rotations, signStatement(signer, { kind: 'rotation', key, next: next.key, time: 1 })])
    },
  }
}

/** A manifest as this deployment answers with it. */
export function signedManifest(
  by: TestDeployment,
  about: Partial<ReleaseStatement>,
  of: Partial<Pick<Manifest, 'files' | 'requires'>> = {},
): Manifest {
  const { files = {}, requires = [] } = of
  const { release_id = 'r1', content_id = 'c1', parent_release_id = null } = about
  return { release_id, content_id, parent_release_id, files, evaluation: {}, requires, signed: by.release(about, of) }
}
