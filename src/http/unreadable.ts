/** The answer to bytes that are no HTTP request, in the shape of every other refusal. */
import { STATUS_CODES } from 'node:http'
import { HEADER } from '../contract/index.ts'
import { newId } from '../kit/index.ts'
import { answerError, HttpRefusal } from './errors.ts'

/** Node's words for what it could not read. Anything else is simply malformed. */
const KNOWN: Readonly<Record<string, HttpRefusal>> = {
  HPE_HEADER_OVERFLOW: new HttpRefusal(431, 'headers_too_large', 'the request headers together are too large; send fewer or shorter ones'),
  ERR_HTTP_REQUEST_TIMEOUT: new HttpRefusal(408, 'request_timeout', 'the request did not arrive in time; send it again'),
}
const MALFORMED = new HttpRefusal(
  400,
  'malformed_request',
  'this is no HTTP request that can be read; check its first line and its headers',
)

export function unreadableAnswer(error: Error): string {
  const refusal = ('code' in error ? KNOWN[String(error.code)] : undefined) ?? MALFORMED
  const { status, body } = answerError(refusal, '')
  const text = JSON.stringify(body)
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    'x-content-type-options: nosniff',
    'cache-control: no-store',
    `content-length: ${Buffer.byteLength(text)}`,
    `${HEADER.requestId}: ${newId()}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${text}`
}
