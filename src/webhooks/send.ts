/** Sends one message to its target: once, within a time, and not to an address of the inside. */
import { request as askPlainly } from 'node:http'
import { request as askSecurely } from 'node:https'
import { hasCode, INSIDE_ADDRESS, InsideAddresses } from '../kit/index.ts'

const ANSWER_SECONDS_MAX = 15
const NOTHING_INSIDE = new InsideAddresses([])

export interface WebhookCall {
  readonly url: string
  readonly headers: Readonly<Record<string, string>>
  readonly body: string
  readonly allowsInside: boolean
  readonly signal: AbortSignal
}

/** Answers with the status. A redirect is an answer: it is not followed, since it could lead anywhere. */
export function sendWebhook({ url, headers, body, allowsInside, signal }: WebhookCall): Promise<number> {
  if (!allowsInside && NOTHING_INSIDE.refusesHost(url)) return Promise.reject(insideError())
  const open = new URL(url).protocol === 'https:' ? askSecurely : askPlainly
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
      ...(!allowsInside && { lookup: NOTHING_INSIDE.lookup }),
    })
    request.on('error', (error) => reject(hasCode(error, INSIDE_ADDRESS) ? insideError() : error))
    request.on('response', (response) => {
      resolve(response.statusCode ?? 0)
      // What it says is not read.
      response.destroy()
    })
    request.end(body)
  })
}

const insideError = (): Error =>
  new Error('the target has an address of the inside, which is refused; set webhooks.<name>.allow_inside to true where that is meant')
