/** `svc.compat: reef`: requests of reef's clients are read as ours, and answers carry reef's names too. No other file knows of them. */
import type { IncomingMessage, ServerResponse } from 'node:http'
import { HEADER_PREFIX, ORIGINAL, RECEIPT_OBJECT, RELAYED_FROM_HEADER, ROUTE_PREFIX } from '../contract/index.ts'

const THEIR_ROUTE = new RegExp(`^${ORIGINAL.routePrefix}(?=[/?]|$)`)
const THEIR_HEADER = new RegExp(ORIGINAL.headerPrefix, 'gi')
const OUR_HEADER = new RegExp(`${HEADER_PREFIX}[a-z-]+`, 'g')
const RECEIPT = new RegExp(String.raw`"${RECEIPT_OBJECT}":(\{"agent_record_id":"(?:[^"\\]|\\.)*"\})`, 'g')
const ASKED_HEADERS = 'access-control-request-headers'
const LISTS: ReadonlySet<string> = new Set(['access-control-allow-headers', 'access-control-expose-headers'])

export function speakBoth(request: IncomingMessage, response: ServerResponse): void {
  readTheirs(request)
  writeBoth(response)
}

/** Renames the request's headers and route, before anything reads them. When both names are sent, ours counts. May be repeated. */
export function readTheirs(request: IncomingMessage): void {
  request.url = (request.url ?? '/').replace(THEIR_ROUTE, ROUTE_PREFIX)
  const { headers, rawHeaders } = request
  const sent = new Set(Object.keys(headers))
  for (const name of sent) {
    const ours = ourName(name)
    if (ours !== name && !sent.has(ours) && ours !== RELAYED_FROM_HEADER) headers[ours] = headers[name]
  }
  const asked = headers[ASKED_HEADERS]
  if (typeof asked === 'string') headers[ASKED_HEADERS] = ourName(asked)
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at]?.toLowerCase() ?? ''
    if (!sent.has(ourName(name))) rawHeaders[at] = ourName(name)
  }
}

const ourName = (text: string): string => text.replace(THEIR_HEADER, HEADER_PREFIX)
const theirName = (text: string): string => text.replaceAll(HEADER_PREFIX, ORIGINAL.headerPrefix)

/** Every answer writes its head once and ends once; both are wrapped here. */
export function writeBoth(response: ServerResponse): void {
  const own = { writeHead: response.writeHead.bind(response), end: response.end.bind(response) }
  let isStream = false
  Object.assign(response, {
    writeHead(status: number, ...rest: unknown[]): ServerResponse {
      const headers = withTheirs({ ...response.getHeaders(), ...headersIn(rest) })
      isStream = String(headers['content-type']).startsWith('text/event-stream')
      return own.writeHead(status, headers)
    },
    end(...args: unknown[]): ServerResponse {
      const [bytes, ...rest] = args
      const whole = isStream && Buffer.isBuffer(bytes) ? [withTheirReceipt(bytes), ...rest] : args
      Reflect.apply(own.end, response, whole)
      return response
    },
  })
}

type Headers = Record<string, string | number | string[]>

/** They are an object, after a status message or without one. */
function headersIn(args: readonly unknown[]): Headers {
  const given = args.find((arg) => typeof arg === 'object' && arg !== null)
  return Object.fromEntries(
    Object.entries(given ?? {}).filter((entry): entry is [string, string | number | string[]] => entry[1] !== undefined),
  )
}

function withTheirs(headers: Readonly<Record<string, unknown>>): Headers {
  const both: Headers = {}
  for (const [name, value] of Object.entries(headersIn([headers]))) {
    both[name] = LISTS.has(name) ? listed(String(value)) : value
    if (name.startsWith(HEADER_PREFIX)) both[theirName(name)] = value
  }
  return both
}

const listed = (names: string): string => [names, ...(names.match(OUR_HEADER) ?? []).map(theirName)].join(', ')

function withTheirReceipt(bytes: Buffer): Buffer {
  return Buffer.from(bytes.toString().replaceAll(RECEIPT, (both, receipt: string) => `${both},"${ORIGINAL.product}":${receipt}`))
}
