/** Failures as kinds. Rooms throw a kind; only `http` turns it into a status. */
export type RefusalKind =
  | 'invalid'
  | 'unauthorized'
  | 'unknown'
  | 'conflict'
  | 'too_large'
  | 'unsupported'
  | 'upstream'
  | 'limited'
  | 'unavailable'

export interface RefusalDetail {
  /** The status the upstream answered with; absent when it did not answer at all. */
  readonly upstreamStatus?: number
  /** The upstream said that it is overloaded, which clients wait out. */
  readonly isOverload?: boolean
  /** Headers of the upstream's refusal; the caller is shown its request ids, retries and rate limits. */
  readonly headers?: Readonly<Record<string, string>>
  /** The upstream's own words, byte for byte, where they have the shape of the format that was asked for. */
  readonly body?: Uint8Array
  readonly retryAfterSeconds?: number
  readonly cause?: unknown
}

/**
 * A refusal the caller can act on. The code is a stable snake_case word for programs; the message names the rule,
 * the field and the cure for people, and never quotes a secret, a refused text or a path of this machine.
 */
export class Refusal extends Error {
  readonly kind: RefusalKind
  readonly code: string
  readonly detail: RefusalDetail

  constructor(kind: RefusalKind, code: string, message: string, detail: RefusalDetail = {}) {
    super(message, detail.cause === undefined ? undefined : { cause: detail.cause })
    this.name = 'Refusal'
    this.kind = kind
    this.code = code
    this.detail = detail
  }
}

/** By shape, not by class: a plug-in may bring its own copy of this file. */
export function isRefusal(error: unknown): error is Refusal {
  return error instanceof Error && error.name === 'Refusal' && 'kind' in error && 'code' in error && 'detail' in error
}

/** Two are of a token that is one, and may not do this, or not here; the last two of a person whose sign-in came to nothing. */
type UnauthorizedCode = 'unauthorized' | 'token_expired' | 'role_forbids' | 'other_scenario' | 'sign_in_failed' | 'no_group'

export const invalid = (code: string, message: string): Refusal => new Refusal('invalid', code, message)
export const unauthorized = (message: string, code: UnauthorizedCode = 'unauthorized', detail: RefusalDetail = {}): Refusal =>
  new Refusal('unauthorized', code, message, detail)
export const unknown = (code: string, message: string): Refusal => new Refusal('unknown', code, message)
export const conflict = (code: string, message: string): Refusal => new Refusal('conflict', code, message)
export const tooLarge = (message: string): Refusal => new Refusal('too_large', 'body_too_large', message)
export const unsupported = (code: string, message: string): Refusal => new Refusal('unsupported', code, message)
/** The caller took what it may; it may call again later. */
export const limited = (code: string, message: string, retryAfterSeconds: number): Refusal =>
  new Refusal('limited', code, message, { retryAfterSeconds })
export const upstream = (code: string, message: string, detail: RefusalDetail = {}): Refusal =>
  new Refusal('upstream', code, message, detail)
export const unavailable = (code: string, message: string, detail: RefusalDetail = {}): Refusal =>
  new Refusal('unavailable', code, message, detail)

/** An engine that did not answer decides nothing: the caller may call again. */
export const ENGINE_UNREACHABLE = 'engine_unreachable'
export const isEngineAway = (error: unknown): boolean =>
  isRefusal(error) && (error.kind === 'upstream' || error.code === ENGINE_UNREACHABLE)

/** What every record store refuses. */
export const noScenario = (name: string): Refusal => unknown('unknown_scenario', `there is no scenario "${name}"; create it first`)
export const unfinishedCopy = (): Refusal =>
  unavailable(
    'unfinished_copy',
    'this store is the target of a copy that has not ended; run the same svc store copy again: it goes on where it was, and ends with 0',
  )
export const storeClosed = (): Refusal => unavailable('store_closed', 'the record store is closed; start the service again')
export const recordConflict = (id: string): Refusal =>
  conflict('record_conflict', `record "${id}" is stored with other content; send it as it was, or under a new id`)
export const stepConflict = (scenario: string, step: number): Refusal =>
  conflict('step_conflict', `step ${step} is not the next one of scenario "${scenario}"; read its newest step and commit the one after it`)
export const documentTooLarge = (path: string, bytesMax: number): Refusal =>
  invalid('document_too_large', `document "${path}" is larger than ${bytesMax} bytes; keep less in it`)
/** Another row landed first: read it, then decide again. */
export const isStepConflict = (error: unknown): boolean => isRefusal(error) && error.code === 'step_conflict'
export const leaseLost = (name: string): Refusal =>
  conflict('lease_lost', `the lease "${name}" was taken by another holder; stop this work, or take the lease again and start over`)
export const isLeaseLost = (error: unknown): boolean => isRefusal(error) && error.code === 'lease_lost'
export const alreadyConsumed = (id: string): Refusal =>
  conflict('already_consumed', `record "${id}" was consumed by an earlier step of this component; leave it out of consumed_ids`)
export const tokenConflict = (name: string): Refusal =>
  conflict('token_conflict', `the token "${name}" is not as it was; list the tokens and decide again`)
