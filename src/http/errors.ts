/** The one place that turns a refusal into a status, headers and a body in the shape the caller's SDK parses. */
import { HEADER, isRefusal, Refusal, unknown, type RefusalKind } from '../contract/index.ts'
import { dialectOfPath } from '../dialects/index.ts'
import { withoutKnownSecrets } from '../kit/index.ts'

const STATUS: Readonly<Record<Exclude<RefusalKind, 'upstream'>, number>> = {
  invalid: 400,
  unauthorized: 401,
  unknown: 404,
  conflict: 409,
  too_large: 413,
  limited: 429,
  unsupported: 501,
  unavailable: 503,
}

/** Statuses of an upstream that mean the same to our caller; its other 4xx become 400, and everything else is its own failure. */
const RELAYED = new Set([400, 401, 403, 404, 408, 409, 422, 429])
/** What providers answer with while they are overloaded. Clients wait that out only where they see this status: as a 502 it reads as broken. */
const OVERLOADED = new Set([503, 529])

/** What is about HTTP alone, and so has a status from the start. */
export class HttpRefusal extends Refusal {
  readonly status: number

  constructor(status: number, code: string, message: string, headers: Readonly<Record<string, string>> = {}) {
    super('invalid', code, message, { headers })
    this.status = status
  }
}

export const noRoute = (cure = 'the interface page lists them all'): Refusal => unknown('unknown_route', `there is no such route; ${cure}`)

export function answerError(error: unknown, path: string) {
  const refusal = isRefusal(error) ? error : internal()
  const status = isRefusal(error) ? statusOf(refusal) : 500
  const body = dialectOfPath(path).writeError(status, { message: withoutKnownSecrets(refusal.message), code: refusal.code })
  // The upstream's own words replace ours.
  return { status, headers: headersOf(refusal, status), body, relayed: refusal.detail.body ?? null }
}

/** A bug of ours: its words are for the log, not for the caller. */
function internal(): Refusal {
  return new Refusal('unavailable', 'internal_error', 'the service failed on its own account; its log has the cause under this request id')
}

function statusOf(refusal: Refusal): number {
  if (refusal instanceof HttpRefusal) return refusal.status
  if (refusal.kind !== 'upstream') return STATUS[refusal.kind]
  const { upstreamStatus: status = 502, isOverload = false } = refusal.detail
  if (RELAYED.has(status) || (isOverload && OVERLOADED.has(status))) return status
  return status >= 400 && status < 500 ? 400 : 502
}

/** SDKs do not wait longer than this, and would ask again at once. */
const RETRIED_SECONDS_MAX = 60

/** SDKs retry a 409 by default; ours never goes away by itself. */
function headersOf(refusal: Refusal, status: number): Readonly<Record<string, string>> {
  const { kind, detail } = refusal
  if (refusal instanceof HttpRefusal) return detail.headers ?? {}
  const headers: Record<string, string> = {}
  for (const [name, value] of Object.entries(detail.headers ?? {})) if (isRelayedHeader(name)) headers[name] = value
  if (detail.upstreamStatus !== undefined && detail.upstreamStatus !== status)
    headers[HEADER.upstreamStatus] = String(detail.upstreamStatus)
  if (detail.retryAfterSeconds !== undefined) headers['retry-after'] = String(detail.retryAfterSeconds)
  if (kind === 'conflict' || (kind === 'limited' && (detail.retryAfterSeconds ?? 0) > RETRIED_SECONDS_MAX))
    headers['x-should-retry'] = 'false'
  return headers
}

/** What a client may see of an upstream's headers, beside the type of its content: request ids, rate limits and retries. */
export function isRelayedHeader(name: string): boolean {
  return name.endsWith('request-id') || name.startsWith('retry-after') || name === 'x-should-retry' || name.includes('ratelimit')
}

/** Whose answers people pipe into a shell. */
export const isInstallPath = (path: string): boolean => /^\/svc\/harness\/install(?:\/|$)/.test(path)
