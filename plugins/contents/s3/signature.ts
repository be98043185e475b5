/** AWS Signature Version 4: proves with a key that a request is ours, without sending the key. */
import { createHmac, hash } from 'node:crypto'

const ALGORITHM = 'AWS4-HMAC-SHA256'
const SERVICE = 's3'

export interface BucketKey {
  readonly accessKeyId: string
  readonly secretAccessKey: string
  /** Of keys that are lent for a while. */
  readonly sessionToken: string | null
}

export interface UnsignedRequest {
  readonly method: string
  readonly host: string
  /** Encoded, as it is sent. */
  readonly path: string
  readonly query: Readonly<Record<string, string>>
  /** With names in small letters. All of them are signed. */
  readonly headers: Readonly<Record<string, string>>
  readonly body: Uint8Array
}

/** The headers to send, those of the request among them. */
export function signedHeaders(request: UnsignedRequest, key: BucketKey, region: string, now: Date): Record<string, string> {
  const time = now.toISOString().replace(/[-:]|\.\d+/g, '')
  const headers: Record<string, string> = {
    ...request.headers,
    'x-amz-content-sha256': hash('sha256', request.body),
    'x-amz-date': time,
    ...(key.sessionToken !== null && { 'x-amz-security-token': key.sessionToken }),
  }
  const signed = Object.entries({ ...headers, host: request.host }).sort(([a], [b]) => (a < b ? -1 : 1))
  const names = signed.map(([name]) => name).join(';')
  const canonical = [
    request.method,
    request.path,
    queryText(request.query),
    ...signed.map(([name, value]) => `${name}:${value.trim()}`),
    '',
    names,
    headers['x-amz-content-sha256'],
  ].join('\n')
  const scope = `${time.slice(0, 8)}/${region}/${SERVICE}/aws4_request`
  const signature = hmac(
    signingKey(key.secretAccessKey, time.slice(0, 8), region),
    `${ALGORITHM}\n${time}\n${scope}\n${hash('sha256', canonical)}`,
  )
  const authorization = `${ALGORITHM} Credential=${key.accessKeyId}/${scope},SignedHeaders=${names},Signature=${signature.toString('hex')}`
  return { ...headers, authorization }
}

/** Sorted and encoded, as it is signed and sent. */
export const queryText = (query: Readonly<Record<string, string>>): string =>
  Object.entries(query)
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([name, value]) => `${encoded(name)}=${encoded(value)}`)
    .join('&')

/** Every segment encoded, as S3 reads it. */
export const pathText = (path: string): string => path.split('/').map(encoded).join('/')

const encoded = (text: string): string =>
  encodeURIComponent(text).replace(/[!'()*]/g, (character) => `%${character.charCodeAt(0).toString(16).toUpperCase()}`)

const hmac = (key: string | Buffer, text: string): Buffer => createHmac('sha256', key).update(text).digest()

const signingKey = (secret: string, day: string, region: string): Buffer =>
  [region, SERVICE, 'aws4_request'].reduce(hmac, hmac(`AWS4${secret}`, day))
