/** What a deployment signs: statements about a release, about the text of an install script, and about the key that follows. */
import { canonicalJson, digestOf, sha256 } from './canonical.ts'
import { isSignedBy, type SigningKey } from './keys.ts'
import type { Requires } from '../wire.generated.ts'

/** A statement as the canonical text that was signed. */
export interface SignedText {
  readonly statement: string
  readonly signature: string
}

/** With the rotations that lead to its key, oldest first. */
export interface Signed extends SignedText {
  readonly rotations: readonly SignedText[]
}

export interface FileDigest {
  readonly path: string
  readonly mode: string
  readonly sha256: string
}

export interface ReleaseStatement {
  readonly kind: 'release'
  /** The public key of the deployment. */
  readonly key: string
  readonly scenario: string
  readonly adapter: string | null
  readonly release_id: string
  readonly content_id: string
  readonly parent_release_id: string | null
  /** The step of the row that published or held it. */
  readonly step: number
  /** It waits for review and was never served. */
  readonly held: boolean
  /** When its row was written, in seconds. Nothing is decided by it. */
  readonly time: number
  readonly files: readonly FileDigest[]
  /** The digest of what it requires of a machine. */
  readonly requires: string
  /** The digest of the vendor's program that an install brings; null where there is none. */
  readonly vendor: string | null
  /** In an install script: the digest of everything it brings. */
  readonly delivery: string | null
}

export interface ScriptStatement {
  readonly kind: 'script'
  readonly key: string
  /** Null, like the release, in a script that was asked for without a scenario. */
  readonly scenario: string | null
  readonly adapter: string
  readonly release_id: string | null
  readonly step: number | null
  readonly sha256: string
}

interface RotationStatement {
  readonly kind: 'rotation'
  readonly key: string
  readonly next: string
  readonly time: number
}

type Statement = ReleaseStatement | ScriptStatement | RotationStatement

/** How each file of a tree is written. */
const MODE = '0644'

export const digestsOf = (files: Readonly<Record<string, string>>): readonly FileDigest[] =>
  Object.entries(files)
    .map(([path, text]) => ({ path, mode: MODE, sha256: sha256(text) }))
    .toSorted((one, other) => (one.path < other.path ? -1 : 1))

/** The fields of an item that the interface knows, so that both sides digest the same. */
export const requiresDigest = (requires: readonly Requires[]): string =>
  digestOf(requires.map(({ name, kind, check, prompt }) => ({ name, kind, check, prompt })))

export function signStatement(signer: Pick<SigningKey, 'sign'>, statement: Statement): SignedText {
  const text = canonicalJson(statement)
  return { statement: text, signature: signer.sign(text) }
}

type Check = (value: unknown) => boolean

const isText: Check = (value) => typeof value === 'string' && value.isWellFormed()
const isTextOrNull: Check = (value) => value === null || isText(value)
const isStep: Check = (value) => typeof value === 'number' && Number.isSafeInteger(value) && value >= 0
const isStepOrNull: Check = (value) => value === null || isStep(value)
const isTime: Check = (value) => typeof value === 'number' && Number.isFinite(value)
const isDigest: Check = (value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value)
const isDigestOrNull: Check = (value) => value === null || isDigest(value)
const FILE = { path: isText, mode: (value: unknown) => value === MODE, sha256: isDigest }
const isFiles: Check = (value) => Array.isArray(value) && value.every((file) => fits(file, FILE))

const SHAPES: { readonly [K in Statement['kind']]: Readonly<Record<keyof Extract<Statement, { kind: K }>, Check>> } = {
  release: {
    kind: isText,
    key: isText,
    scenario: isText,
    adapter: isTextOrNull,
    release_id: isText,
    content_id: isText,
    parent_release_id: isTextOrNull,
    step: isStep,
    held: (value) => typeof value === 'boolean',
    time: isTime,
    files: isFiles,
    requires: isDigest,
    vendor: isDigestOrNull,
    delivery: isDigestOrNull,
  },
  script: {
    kind: isText,
    key: isText,
    scenario: isTextOrNull,
    adapter: isText,
    release_id: isTextOrNull,
    step: isStepOrNull,
    sha256: isDigest,
  },
  rotation: { kind: isText, key: isText, next: isText, time: isTime },
}

/** Exactly these fields: what is not known is refused, since it may mean something. */
function fits(value: unknown, shape: Readonly<Record<string, Check>>): boolean {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return false
  const found = new Map<string, unknown>(Object.entries(value))
  return (
    found.size === Object.keys(shape).length && Object.entries(shape).every(([name, check]) => found.has(name) && check(found.get(name)))
  )
}

/** Null for anything but a statement of that kind, spelt in its one way and signed by the key that it names. */
export function readSigned<K extends Statement['kind']>(kind: K, signed: unknown): Extract<Statement, { kind: K }> | null {
  if (!isSignedText(signed)) return null
  const statement = parsed(kind, signed.statement)
  return statement !== null && isSignedBy(statement.key, signed.statement, signed.signature) ? statement : null
}

export function isSignedText(value: unknown): value is SignedText {
  if (typeof value !== 'object' || value === null || !('statement' in value) || !('signature' in value)) return false
  return typeof value.statement === 'string' && typeof value.signature === 'string'
}

function parsed<K extends Statement['kind']>(kind: K, text: string): Extract<Statement, { kind: K }> | null {
  try {
    const value: unknown = JSON.parse(text)
    return isStatement(kind, value) && canonicalJson(value) === text ? value : null
  } catch {
    return null
  }
}

const isStatement = <K extends Statement['kind']>(kind: K, value: unknown): value is Extract<Statement, { kind: K }> =>
  fits(value, SHAPES[kind]) && typeof value === 'object' && value !== null && 'kind' in value && value.kind === kind
