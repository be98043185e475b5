/** Signed releases: what the service and the clients share of them. Nothing here is promised to others. */
export { digestOf, sha256 } from './signing/canonical.ts'
export { fingerprintOf, isFingerprint, makeSigningKey, readSigningKey, type SigningKey } from './signing/keys.ts'
export { checkedInstallLine, installLine, safeInstallLine, type InstallLineOrder } from './signing/line.ts'
export { firstKey, firstTrust, givenKey, noteOf, requireWay, trustPulled, type TrustAnswer } from './signing/pulled.ts'
export { checkScript, signatureLine } from './signing/script.ts'
export {
  digestsOf,
  readSigned,
  requiresDigest,
  signStatement,
  type ReleaseStatement,
  type ScriptStatement,
  type Signed,
  type SignedText,
} from './signing/statements.ts'
export { checkManifest, checkSigned, keyIn, requireSame, isSameTrust, isTrust, trustIn, type Trust } from './signing/trust.ts'
