/** Calls to an engine over HTTP: whole answers, a time limit on each, one kind of failure. */
import { Pool } from 'undici'
import {
  isObject,
  isRefusal,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  UPSTREAM_HEADER_BYTES_MAX,
  type JsonObject,
} from '../../../src/contract/index.ts'
import { parsed } from '../../../src/dialects/index.ts'
import { codeOf } from '../../../src/kit/index.ts'
import { upstreamLine } from './line.ts'
import type { EngineSettings } from './settings.ts'

export interface Reply {
  readonly status: number
  readonly text: string
  /** Null where the text is no JSON object: engines answer some calls with plain words. */
  readonly json: JsonObject | null
}

export class EngineHttp {
  readonly #pool: Pool
  readonly #prefix: string
  readonly #headers: Readonly<Record<string, string>>
  readonly #timeoutSeconds: number

  constructor({ url, apiKey, timeoutSeconds }: EngineSettings) {
    const { origin, pathname } = new URL(url)
    // The limit of a call covers its answer from the first byte to the last; the pool needs none of its own beyond it.
    this.#pool = new Pool(origin, {
      headersTimeout: 0,
      bodyTimeout: 0,
      maxHeaderSize: UPSTREAM_HEADER_BYTES_MAX,
      factory: upstreamLine,
      connect: { timeout: timeoutSeconds * 1000 },
    })
    this.#prefix = pathname.replace(/(?<!\/)\/+$/, '')
    this.#headers = { 'accept-encoding': 'identity', ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) }
    this.#timeoutSeconds = timeoutSeconds
  }

  get(path: string, signal: AbortSignal): Promise<Reply> {
    return this.#ask('GET', path, null, signal)
  }

  post(path: string, body: JsonObject, signal: AbortSignal): Promise<Reply> {
    return this.#ask('POST', path, body, signal)
  }

  close(): Promise<void> {
    return this.#pool.destroy()
  }

  /** A call that still waits for its connection cannot be cancelled yet; its caller is released at once anyway. */
  async #ask(method: 'GET' | 'POST', path: string, body: JsonObject | null, signal: AbortSignal): Promise<Reply> {
    if (signal.aborted) throw givenUp()
    const cancel = new AbortController()
    const { promise: over, reject } = Promise.withResolvers<never>()
    const end = (why: Error): void => {
      reject(why)
      cancel.abort(why)
    }
    const onAbort = (): void => end(givenUp())
    const timer = setTimeout(() => end(tooLate(this.#timeoutSeconds)), this.#timeoutSeconds * 1000)
    signal.addEventListener('abort', onAbort, { once: true })
    try {
      return await Promise.race([this.#exchange(method, path, body, cancel.signal), over])
    } catch (error) {
      throw isRefusal(error) ? error : unreachable(error)
    } finally {
      clearTimeout(timer)
      signal.removeEventListener('abort', onAbort)
    }
  }

  async #exchange(method: 'GET' | 'POST', path: string, body: JsonObject | null, signal: AbortSignal): Promise<Reply> {
    const answer = await this.#pool.request({
      method,
      path: this.#prefix + path,
      headers: body === null ? this.#headers : { ...this.#headers, 'content-type': 'application/json' },
      body: body === null ? null : JSON.stringify(body),
      signal,
    })
    const parts: Buffer[] = []
    let bytes = 0
    for await (const part of answer.body as AsyncIterable<Buffer>) {
      bytes += part.length
      if (bytes > UPSTREAM_ANSWER_BYTES_MAX)
        throw upstream('engine_answer_too_large', 'the engine answered with more than this service holds')
      parts.push(part)
    }
    const text = Buffer.concat(parts).toString()
    const json = parsed(text)
    return { status: answer.statusCode, text, json: isObject(json) ? json : null }
  }
}

const givenUp = (): Error => upstream('engine_given_up', 'the call to the engine was given up')

const tooLate = (seconds: number): Error =>
  upstream('engine_timeout', `the engine did not answer within ${seconds} s (timeout_s); see whether it hangs, or raise the limit`)

/** Without the engine's address, which only the operator may see. */
function unreachable(error: unknown): Error {
  const code = codeOf(error) ?? 'no answer'
  return upstream('engine_unreachable', `the engine could not be reached or broke off (${code}); see whether it runs`, { cause: error })
}
