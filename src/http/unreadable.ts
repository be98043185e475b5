/** The answer to bytes that are no HTTP request, in the shape of every other refusal. */
import { STATUS_CODES } from 'node:http'
import { HEADER } from '../contract/index.ts'
import { newId } from '../kit/index.ts'

/** Node's words for what it could not read. Anything else is simply malformed. */
const KNOWN: Readonly<Record<string, { readonly status: number; readonly code: string; readonly message: string }>> = {
  HPE_HEADER_OVERFLOW: {
    status: 431,
    code: 'headers_too_large',
    message: 'the request headers together are too large; send fewer or shorter ones',
  },
  ERR_HTTP_REQUEST_TIMEOUT: { status: 408, code: 'request_timeout', message: 'the request did not arrive in time; send it again' },
}
const MALFORMED = {
  status: 400,
  code: 'malformed_request',
  message: 'this is no HTTP request that can be read; check its first line and its headers',
}

export function unreadableAnswer(error: Error): string {
  const { status, code, message } = ('code' in error ? KNOWN[String(error.code)] : undefined) ?? MALFORMED
  const body = JSON.stringify({ error: { message, type: 'invalid_request_error', code } })
  const head = [
    `HTTP/1.1 ${status} ${STATUS_CODES[status] ?? ''}`,
    'connection: close',
    'content-type: application/json',
    `content-length: ${Buffer.byteLength(body)}`,
    `${HEADER.requestId}: ${newId()}`,
  ]
  return `${head.join('\r\n')}\r\n\r\n${body}`
}
