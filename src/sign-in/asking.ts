/** Asks the provider: within a time, up to a size, through the proxy of the deployment, and without following anything. */
import type { Dispatcher } from 'undici'
import { unavailable } from '../contract/index.ts'
import { codeOf } from '../kit/index.ts'

export interface Proxies {
  readonly http: string
  readonly https: string
  readonly direct: string
}

export const ANSWER_SECONDS_MAX = 10
const ANSWER_BYTES_MAX = 1024 * 1024
/** Statuses that the answer of `fetch` has no body with. */
const BODILESS: ReadonlySet<number> = new Set([204, 205, 304])

interface Asked {
  readonly method: string
  readonly headers: Record<string, string>
  readonly body?: unknown
}

/** A function like `fetch`, as far as the library uses it. */
export function makeAsk(proxies: Proxies | null): (url: string, asked: Asked) => Promise<Response> {
  let way: Promise<{ readonly dispatcher?: Dispatcher }> | null = null
  return async (url, { method, headers, body }) => {
    try {
      const text = body instanceof URLSearchParams || typeof body === 'string' ? { body: body.toString() } : {}
      const signal = AbortSignal.timeout(ANSWER_SECONDS_MAX * 1000)
      // Loaded with the first question: where nobody signs in, a start does without it.
      const { request } = await import('undici')
      const answer = await request(url, { method: methodOf(method), headers, signal, ...text, ...(await (way ??= openWay(proxies))) })
      const bytes = await readAll(answer.body)
      if (answer.statusCode >= 500) throw new Error(`it answered ${answer.statusCode}`)
      return new Response(BODILESS.has(answer.statusCode) ? null : bytes, {
        status: answer.statusCode,
        headers: headersOf(answer.headers),
      })
    } catch (cause) {
      throw unavailable('sign_in_unavailable', `the sign-in provider does not answer as it should (${reasonOf(cause)}); try again later`, {
        cause,
      })
    }
  }
}

async function openWay(proxies: Proxies | null): Promise<{ readonly dispatcher?: Dispatcher }> {
  if (proxies === null) return {}
  const { EnvHttpProxyAgent } = await import('undici')
  return { dispatcher: new EnvHttpProxyAgent({ httpProxy: proxies.http, httpsProxy: proxies.https, noProxy: proxies.direct }) }
}

const methodOf = (method: string): 'GET' | 'POST' => (method === 'POST' ? 'POST' : 'GET')

async function readAll(body: AsyncIterable<Uint8Array>): Promise<Uint8Array<ArrayBuffer>> {
  const pieces: Uint8Array[] = []
  let size = 0
  for await (const piece of body) {
    size += piece.length
    if (size > ANSWER_BYTES_MAX) throw new Error(`its answer is larger than ${ANSWER_BYTES_MAX} bytes`)
    pieces.push(piece)
  }
  return new Uint8Array(Buffer.concat(pieces))
}

function headersOf(given: NodeJS.Dict<string | string[]>): Headers {
  const headers = new Headers()
  for (const [name, value] of Object.entries(given)) for (const each of [value ?? []].flat()) headers.append(name, each)
  return headers
}

/** Never its address or its own words. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return 'no reason is known'
  if (error.name === 'TimeoutError') return `no whole answer within ${ANSWER_SECONDS_MAX} s`
  return codeOf(error) ?? (error.message.startsWith('it') ? error.message : 'its answer cannot be read')
}
