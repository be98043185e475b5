/** What a pulled manifest must be before its files are written: signed by the key that this folder trusts. */
import { TrustFailure } from '../failure.ts'
import { KEY_VARIABLE } from '../names.ts'
import { isSafeWay, wayProblem } from '../place.ts'
import type { Manifest } from '../wire.generated.ts'
import { isFingerprint } from './keys.ts'
import { checkManifest, keyIn, trustIn, type AskedRelease, type Trust } from './trust.ts'

export interface TrustQuestion extends AskedRelease {
  readonly url: string
  readonly env: NodeJS.ProcessEnv
  /** What was trusted here before; null at first. */
  readonly kept: Trust | null
}

/** What is trusted from now on, and what a person should read about it. */
export interface TrustAnswer {
  readonly trust: Trust
  readonly note: string | null
}

export function trustPulled(manifest: Manifest, { url, env, kept, ...asked }: TrustQuestion): TrustAnswer {
  requireWay(url, env)
  const base = kept ?? firstTrust(manifest.signed, url, env)
  const { trust } = checkManifest(base, manifest, asked)
  return { trust, note: noteOf(kept, trust, url) }
}

export function requireWay(url: string, env: NodeJS.ProcessEnv): void {
  const problem = wayProblem(url, env)
  if (problem !== null) throw new TrustFailure(problem)
}

/** Where nothing is pinned yet: the fingerprint that a person gave, else the key that arrives over a way that nobody can change. */
export const firstTrust = (signed: unknown, url: string, env: NodeJS.ProcessEnv): Trust => trustIn(firstKey(url, env) ?? keyIn(signed))

/** Null for the key that arrives. */
export function firstKey(url: string, env: NodeJS.ProcessEnv): string | null {
  const given = givenKey(env)
  if (given !== null || isSafeWay(url)) return given
  throw new TrustFailure(
    `without TLS the key of the service must be given; set ${KEY_VARIABLE} to the fingerprint that 'svc key show' prints`,
  )
}

/** Null when none was given. */
export function givenKey(env: NodeJS.ProcessEnv): string | null {
  const text = env[KEY_VARIABLE]?.trim() ?? ''
  if (text === '') return null
  if (isFingerprint(text)) return text
  throw new TrustFailure(`${KEY_VARIABLE} is no fingerprint; it begins with ed25519: and is printed by 'svc key show'`)
}

export function noteOf(kept: Trust | null, trust: Trust, url: string): string | null {
  if (kept === null) return `key ${trust.key} of ${new URL(url).origin} is trusted here from now on`
  return kept.key === trust.key ? null : `the service rotated its key, signed by the old one: ${trust.key} is trusted from now on`
}
