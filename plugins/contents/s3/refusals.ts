/** What an S3 server, and the way to it, fail with, in the words of the contract. */
import { unavailable, unsupported, type Refusal } from '../../../src/contract/index.ts'
import { codeOf, wordsOf } from '../../../src/kit/index.ts'

const RETRY_AFTER_SECONDS = 1
const ENDPOINT = 'storage.s3.endpoint'
const KEY = 'storage.s3.access_key_id and storage.s3.secret_access_key (or AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY)'
const RIGHTS = 's3:GetObject, s3:PutObject, s3:DeleteObject, s3:ListBucket and s3:AbortMultipartUpload'

const FULL = ['bucket_full', 'the S3 server has no room left; free some, then send the request again'] as const
const OTHER_REGION = ['bucket_region', 'the bucket is in another region; set storage.s3.region (or AWS_REGION)'] as const
const OTHER_TIME = ['bucket_clock', "this machine's clock and the S3 server's differ by minutes; set the clock right, with NTP"] as const

/** What the server says, by its code. */
const BY_CODE: ReadonlyMap<string, readonly [code: string, message: string]> = new Map(
  Object.entries({
    InvalidAccessKeyId: ['bucket_unauthorized', `the S3 server does not know the access key; correct ${KEY}`],
    SignatureDoesNotMatch: ['bucket_unauthorized', `the secret key does not belong to the access key; correct ${KEY}`],
    ExpiredToken: ['bucket_unauthorized', `the session token of the S3 key has expired; set a new one, and start again`],
    InvalidToken: [
      'bucket_unauthorized',
      `the S3 server refuses the session token; correct storage.s3.session_token (or AWS_SESSION_TOKEN)`,
    ],
    NoSuchBucket: ['bucket_missing', 'there is no such bucket; create it, or correct storage.artifact_repository'],
    AccessDenied: ['bucket_forbidden', `the S3 key lacks a right on the bucket; allow it ${RIGHTS}`],
    AllAccessDisabled: ['bucket_forbidden', `the bucket is closed; open it, or correct storage.artifact_repository`],
    RequestTimeTooSkewed: OTHER_TIME,
    RequestExpired: OTHER_TIME,
    AuthorizationHeaderMalformed: OTHER_REGION,
    PermanentRedirect: OTHER_REGION,
    QuotaExceeded: FULL,
    InsufficientStorage: FULL,
    XMinioStorageFull: FULL,
    NotImplemented: [
      'bucket_failed',
      'the S3 server lacks something that is needed: conditional writes, multipart uploads or SHA-256 checksums; use another one',
    ],
  } as const),
)

/** Of an answer that was not hoped for. */
export function answerRefusal(status: number, code: string): Refusal {
  // An answer to HEAD has no words.
  const [named, message] = BY_CODE.get(code === '' && status === 403 ? 'AccessDenied' : code) ?? []
  if (named !== undefined && message !== undefined) return unavailable(named, message)
  if (status >= 500 || status === 429) return away(`it answered ${status}${code === '' ? '' : ` ${code}`}`)
  return unavailable('bucket_failed', `the S3 server answered ${status} ${code === '' ? 'without saying why' : code}; see its log`)
}

const CERTIFICATE = /CERT|UNABLE_TO_|SELF_SIGNED/
const NOT_TLS = /^EPROTO$|^ERR_SSL_/
const NO_HOST = /^(?:ENOTFOUND|EAI_AGAIN)$/

/** Of a connection that failed. */
export function connectionRefusal(error: unknown): Refusal {
  const code = codeOf(error) ?? ''
  if (CERTIFICATE.test(code))
    return unavailable(
      'bucket_tls',
      `the certificate of the S3 server is not trusted (${code}); name who signed it in NODE_EXTRA_CA_CERTS and start again`,
      { cause: error },
    )
  if (NOT_TLS.test(code))
    return unavailable('bucket_tls', `the S3 server does not agree on TLS; see whether ${ENDPOINT} should begin with http or https`, {
      cause: error,
    })
  return away(NO_HOST.test(code) ? 'its host name is not known' : wordsOf(error), error)
}

const away = (what: string, cause?: unknown): Refusal =>
  unavailable('bucket_unreachable', `the S3 server does not answer as it should (${what}); check that it runs, and ${ENDPOINT}`, {
    retryAfterSeconds: RETRY_AFTER_SECONDS,
    ...(cause !== undefined && { cause }),
  })

export const unconditional = (): Refusal =>
  unsupported(
    'bucket_unsupported',
    'the S3 server ignores conditions (If-Match, If-None-Match), without which two services would overwrite each other; use one that keeps to them',
  )

export const otherBucket = (cache: string): Refusal =>
  unavailable(
    'bucket_other',
    `the bucket was emptied or is another one than the copy on this machine is of; if that is meant, remove ${cache}`,
  )

export const newerBucket = (): Refusal => unavailable('bucket_newer', 'a newer version wrote this bucket; start that version')
