/** PostgreSQL's failures, and those on the way to it, in the words of the contract. */
import { isRefusal, unavailable, type Refusal } from '../../../src/contract/index.ts'
import { codeOf, wordsOf } from '../../../src/kit/index.ts'

const RETRY_AFTER_SECONDS = 1
const ADDRESS = 'storage.record_database_url'

const LACKS_RIGHT = [
  'store_forbidden',
  `the user of ${ADDRESS} lacks a right; as its owner: GRANT CREATE ON DATABASE … TO …, or make it the owner of the schema`,
] as const
/** Without the right to use their schema, the tables seem not to be there. */
const NOT_SEEN = [
  'store_forbidden',
  `the tables of the store are not to be seen by the user of ${ADDRESS}; make it the owner of their schema, or restore a backup`,
] as const

/** What the server says of each kind of failure, by its SQLSTATE. */
const BY_STATE: Readonly<Record<string, readonly [code: string, message: string]>> = {
  '28P01': [
    'store_unauthorized',
    `PostgreSQL refused the password; correct it in ${ADDRESS}, PGPASSWORD or the password file of its client`,
  ],
  '28000': ['store_unauthorized', `PostgreSQL does not let this user in from here; allow it in pg_hba.conf, or correct ${ADDRESS}`],
  '3D000': ['store_unauthorized', `PostgreSQL has no such database; create it, or correct ${ADDRESS}`],
  '42501': LACKS_RIGHT,
  '42P01': NOT_SEEN,
  '3F000': NOT_SEEN,
  '53100': ['disk_full', 'the disk of PostgreSQL is full; free space and send the request again'],
  '53300': ['store_busy', 'PostgreSQL has no connection left; raise its max_connections, or lower storage.record_settings.connections'],
  '57014': [
    'store_busy',
    'PostgreSQL took too long over a statement; look what holds it up (pg_stat_activity), then send the request again',
  ],
  '55P03': ['store_busy', 'a lock in PostgreSQL is held too long; look what holds it (pg_locks), then send the request again'],
}

const CERTIFICATE_CODES: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
  'UNABLE_TO_GET_ISSUER_CERT',
  'CERT_HAS_EXPIRED',
  'CERT_NOT_YET_VALID',
  'CERT_UNTRUSTED',
  'ERR_TLS_CERT_ALTNAME_INVALID',
])
/** The server closes, starts, or gave the connection up. */
const AWAY_STATES = /^(?:08|57P)/
/** A write at a standby. It was not made, and the standby may be about to take over. */
const READ_ONLY = '25006'
const AWAY_CODES = /^(?:ECONN|ENOTFOUND|ETIMEDOUT|EAI_|EHOSTUNREACH|ENETUNREACH|EPIPE|ENOENT|EACCES)/
/** The library gives these no code. */
const AWAY_WORDS =
  /connection terminated|timeout exceeded when trying to connect|query read timeout|client has encountered a connection error|client was closed|not queryable/i
const NO_TLS_WORDS = /server does not support ssl/i
const NO_PASSWORD_WORDS = /client password must be a/i
const TLS_DEMANDED_WORDS = /no encryption/i

export function refusalOf(error: unknown): Refusal {
  if (isRefusal(error)) return error
  const refusal = (code: string, message: string, isPassing = false): Refusal =>
    unavailable(code, message, { cause: error, ...(isPassing && { retryAfterSeconds: RETRY_AFTER_SECONDS }) })
  const state = codeOf(error) ?? ''
  const words = error instanceof Error ? error.message : ''
  if (state === '28000' && TLS_DEMANDED_WORDS.test(words))
    return refusal('store_tls', `PostgreSQL takes connections with TLS only; add ?sslmode=verify-full to ${ADDRESS}`)
  if (CERTIFICATE_CODES.has(state))
    return refusal(
      'store_tls',
      `the certificate of PostgreSQL is not trusted (${state}); name who signed it with sslrootcert in ${ADDRESS}, or have it signed anew`,
    )
  if (NO_TLS_WORDS.test(words))
    return refusal(
      'store_tls',
      `PostgreSQL does not speak TLS; set it up there, or add ?sslmode=disable to ${ADDRESS} on a network you trust`,
    )
  if (NO_PASSWORD_WORDS.test(words))
    return refusal(
      'store_unauthorized',
      `PostgreSQL wants a password, and none is given; set it in ${ADDRESS}, PGPASSWORD or the password file of its client`,
    )
  if (state === READ_ONLY || error instanceof StandbyServer) return readOnlyServer()
  const [code, message] = BY_STATE[state] ?? []
  if (code !== undefined && message !== undefined) return refusal(code, message, code === 'store_busy')
  if (isAway(error))
    return refusal('store_unreachable', `no PostgreSQL answers; check that it runs and that ${ADDRESS} has its host and port`, true)
  return refusal('storage_failed', `PostgreSQL failed: ${wordsOf(error)}`)
}

/** Whether the connection is gone, so that it is unknown what became of the last statement. */
export function isAway(error: unknown): boolean {
  const code = codeOf(error) ?? ''
  const words = error instanceof Error ? error.message : ''
  if (code === READ_ONLY || error instanceof StandbyServer) return true
  return AWAY_STATES.test(code) || AWAY_CODES.test(code) || AWAY_WORDS.test(words)
}

/** A connection to a server that is not the primary of its hosts. */
export class StandbyServer extends Error {}

/** Two that held what the other wanted: one was ended, and may try again. */
export const isDeadlock = (error: unknown): boolean => ['40P01', '40001'].includes(codeOf(error) ?? '')

export const isTakenId = (error: unknown): boolean => codeOf(error) === '23505'

export const readOnlyServer = (): Refusal =>
  unavailable('store_read_only', `this PostgreSQL is a standby or read-only; name the primary in ${ADDRESS}`)

export const lacksRight = (): Refusal => unavailable(...LACKS_RIGHT)

export const newerStore = (found: number, known: number): Refusal =>
  unavailable('newer_store', `the record store has format ${found}, this version reads up to ${known}; start the version that wrote it`)

export const olderServer = (found: string, least: number): Refusal =>
  unavailable('old_server', `this is PostgreSQL ${found}; the store needs ${least} or newer`)

export const memberGone = (): Refusal =>
  unavailable('store_unreachable', 'PostgreSQL did not answer for a while; send the request again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })

export const overloaded = (): Refusal =>
  unavailable('store_overloaded', 'more records wait for PostgreSQL than the service holds; send the request again', {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
  })
