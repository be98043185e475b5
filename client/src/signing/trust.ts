/**
 * What a client trusts: the key it pinned, and the newest step it saw. A release is taken when the pinned key signed it, or one that a chain of
 * signed rotations leads to, and when it is no step back. Steps count, not times: a clock may be wrong.
 */
import { TrustFailure } from '../failure.ts'
import type { Manifest } from '../wire.generated.ts'
import { fingerprintOf, isFingerprint } from './keys.ts'
import { digestsOf, isSignedText, readSigned, requiresDigest, type ReleaseStatement, type Signed } from './statements.ts'
import { canonicalJson } from './canonical.ts'

/** What is kept of one scenario on this machine. */
export interface Trust {
  /** The fingerprint of the pinned key. */
  readonly key: string
  /** The newest served release that was seen; -1 before the first. */
  readonly step: number
  readonly release_id: string
}

export interface AskedRelease {
  readonly scenario: string
  /** Absent where any agent's files are welcome. */
  readonly adapter?: string
  /** The release that a person named; it may be older, or held. */
  readonly release?: string | undefined
  /** A person takes an unproven release, which the deployment signs as one that was never served to everyone. */
  readonly provisional?: boolean
}

export interface TrustedRelease {
  readonly statement: ReleaseStatement
  readonly trust: Trust
}

const ROTATIONS_MAX = 1000

/** Whether a value of a file is what was kept there. */
export function isTrust(value: unknown): value is Trust {
  if (typeof value !== 'object' || value === null || !('key' in value) || !('step' in value) || !('release_id' in value)) return false
  const { key, step, release_id } = value
  return typeof key === 'string' && isFingerprint(key) && Number.isSafeInteger(step) && typeof release_id === 'string'
}

export const isSameTrust = (one: Trust | null, other: Trust): boolean =>
  one !== null && one.key === other.key && one.step === other.step && one.release_id === other.release_id

export const trustIn = (key: string): Trust => ({ key, step: -1, release_id: '' })

/** The key of a signed text, before anything vouches for it. Throws where nothing is signed. */
export function keyIn(signed: unknown): string {
  const statement = readSigned('release', signed)
  if (statement === null) throw unsigned(signed)
  return fingerprintOf(statement.key)
}

/** What may be applied of a manifest, and what is trusted from then on. Throws a `TrustFailure`. */
export function checkManifest(trust: Trust, manifest: Manifest, asked: AskedRelease): TrustedRelease {
  const found = checkSigned(trust, manifest.signed, asked)
  requireSame(found.statement, manifest)
  return found
}

/** Throws where the files, or what they need, are not those that were signed. */
export function requireSame(
  statement: ReleaseStatement,
  manifest: Pick<Manifest, 'release_id' | 'content_id' | 'files' | 'requires'>,
): void {
  if (statement.release_id !== manifest.release_id) throw altered('the id of the release')
  if (statement.content_id !== manifest.content_id) throw altered('the id of its content')
  const signed = new Map(statement.files.map((file) => [file.path, canonicalJson(file)]))
  const found = digestsOf(manifest.files)
  const other = found.find((file) => signed.get(file.path) !== canonicalJson(file))
  if (other !== undefined) throw altered(`file ${JSON.stringify(other.path)}`)
  if (found.length !== statement.files.length) throw altered('the list of files')
  if (requiresDigest(manifest.requires) !== statement.requires) throw altered('what it requires of this machine')
}

export function checkSigned(trust: Trust, signed: unknown, asked: AskedRelease): TrustedRelease {
  const statement = readSigned('release', signed)
  if (statement === null || !isSigned(signed)) throw unsigned(signed)
  const key = followed(trust.key, signed, statement.key)
  if (statement.scenario !== asked.scenario) throw altered('the scenario')
  if (asked.adapter !== undefined && statement.adapter !== asked.adapter) throw altered('the agent it is for')
  if (asked.release !== undefined) {
    if (statement.release_id !== asked.release) throw altered('the id of the release')
    return { statement, trust: { ...trust, key } }
  }
  if (asked.provisional === true && statement.held) return { statement, trust: { ...trust, key } }
  requireForward(trust, statement)
  return { statement, trust: { key, step: statement.step, release_id: statement.release_id } }
}

function requireForward(trust: Trust, { held, step, release_id }: ReleaseStatement): void {
  if (held) throw new TrustFailure(`release ${release_id} waits for review and was answered as the served one; nothing was applied. ${ASK}`)
  if (step < trust.step)
    throw new TrustFailure(
      `the service answers with step ${step}, and step ${trust.step} was seen here before; nothing was applied. Was it restored from a backup? Then ${TRUST_AGAIN}`,
    )
  if (step === trust.step && release_id !== trust.release_id)
    throw new TrustFailure(
      `step ${step} is another release than the one seen here before; nothing was applied. Was the service restored from a backup? Then ${TRUST_AGAIN}`,
    )
}

/** The fingerprint of the key that signed, once the pinned one leads to it. */
export function followed(pinned: string, { rotations }: Signed, key: string): string {
  const wanted = fingerprintOf(key)
  let known = pinned
  for (const rotation of rotations) {
    if (known === wanted) break
    const statement = readSigned('rotation', rotation)
    if (statement !== null && fingerprintOf(statement.key) === known) known = fingerprintOf(statement.next)
  }
  if (known === wanted) return wanted
  throw new TrustFailure(
    `this is signed by key ${wanted}, and ${pinned} is trusted here; nothing was applied. ${ASK} If they confirm the new key, ${TRUST_AGAIN}`,
  )
}

export function isSigned(value: unknown): value is Signed {
  if (!isSignedText(value) || !('rotations' in value) || !Array.isArray(value.rotations)) return false
  return value.rotations.length <= ROTATIONS_MAX && value.rotations.every(isSignedText)
}

const TRUST_AGAIN = 'trust it with: svc-<agent> trust <fingerprint>, or svc-client pull --key <fingerprint>'
const ASK = 'Ask the operator of the service.'

const altered = (what: string): TrustFailure =>
  new TrustFailure(`${what} is not what the deployment signed; nothing was applied. Is something between you and the service changing it?`)

const unsigned = (signed: unknown): TrustFailure =>
  new TrustFailure(
    signed === undefined
      ? 'the service signs no releases, so nothing was applied; it needs a newer version'
      : 'the signature of the release does not verify; nothing was applied. Try again, and if it stays so, ask the operator of the service.',
  )
