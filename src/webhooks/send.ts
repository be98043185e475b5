/** Sends one message to its target: once, within a time, and not to an address of the inside. */
import { lookup, type LookupAddress, type LookupOptions } from 'node:dns'
import { request as askPlainly } from 'node:http'
import { request as askSecurely } from 'node:https'
import { isIP } from 'node:net'
import { isInsideAddress } from '../kit/index.ts'

const ANSWER_SECONDS_MAX = 15

export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly allowsInside: boolean
  readonly signal: AbortSignal
}

/** Answers with the status. A redirect is an answer: it is not followed, since it could lead anywhere. */
export function sendWebhook({ url, headers, body, allowsInside, signal }: WebhookCall): Promise<number> {
  const { protocol, hostname } = new URL(url)
  const host = hostname.replace(/^\[|\]$/g, '')
  if (!allowsInside && isIP(host) !== 0 && isInsideAddress(host)) return Promise.reject(insideError())
  const open = protocol === 'https:' ? askSecurely : askPlainly
  return new Promise((resolve, reject) => {
    const request = open(url, {
      method: 'POST',
      headers: {
        'content-type': 'application/json',
        'content-length': String(Buffer.byteLength(body)),
        'user-agent': 'svc-webhooks',
        ...headers,
      },
      agent: false,
      signal: AbortSignal.any([signal, AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000)]),
      ...(!allowsInside && { lookup: lookupOutside }),
    })
    request.on('error', reject)
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      // What it says is not read.
      response.destroy()
    })
    request.end(body)
  })
}

type LookupDone = (error: Error | null, found: string | LookupAddress[], family?: number) => void

/** The connection goes to the very addresses that were looked at, so that a name cannot lead elsewhere a moment later. */
function lookupOutside(hostname: string, options: LookupOptions, done: LookupDone): void {
  lookup(hostname, { ...options, all: true }, (error, addresses) => {
    if (error !== null) return done(error, [])
    if (addresses.some(({ address }) => isInsideAddress(address))) return done(insideError(), [])
    const [first] = addresses
    if (options.all === true || first === undefined) done(null, addresses)
    else done(null, first.address, first.family)
  })
}

const insideError = (): Error =>
  new Error('the target has an address of the inside, which is refused; set webhooks.<name>.allow_inside to true where that is meant')
