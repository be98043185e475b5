/** The provider runtime: any OpenAI- or Anthropic-compatible upstream, asked with the client's own bytes over pooled connections. */
import { Pool } from 'undici'
import {
  define,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type JsonObject,
  type ModelsCall,
  type Refusal,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { dialects, dialectsByApi, type DialectSpec } from '../../../src/dialects/index.ts'
import { lengthOf } from '../../../src/kit/index.ts'
import { connectionsTo, failureOf, type Connections } from '../common/upstream.ts'
import { AnswerHandler } from './answer.ts'
import { SentBody } from './body.ts'
import { UpstreamLine } from './line.ts'

const UPSTREAMS_MAX = 256

export default define('runtime', {
  make: (config) => new Provider(config),
})

function timeoutOf(config: JsonObject): number {
  const seconds = config['timeout_s']
  return typeof seconds === 'number' ? seconds * 1000 : 300_000
}

const SETTING = "inference.upstream_url, or the scenario's model.url"

class Provider implements Runtime {
  readonly #config: JsonObject
  /** Shared by all scenarios with the same address; least recently used first. */
  readonly #upstreams = new Map<string, Connections>()

  constructor(config: JsonObject) {
    this.#config = config
  }

  infer(call: RuntimeCall): Promise<RuntimeAnswer> {
    return this.#ask('POST', call, dialects[call.dialect], new SentBody(call.pieces ?? [call.body]), call.answerBytesMax)
  }

  async models(call: ModelsCall): Promise<WholeAnswer> {
    const answer = await this.#ask('GET', call, dialectsByApi[call.model.api], null)
    if (answer.kind !== 'whole') throw upstream('upstream_not_json', 'the upstream streamed its list of models')
    return answer
  }

  #ask(method: 'GET' | 'POST', call: ModelsCall, dialect: DialectSpec, body: SentBody | null, bytesMax = UPSTREAM_ANSWER_BYTES_MAX) {
    const { dispatcher, origin, prefix, proxy } = this.#upstreamOf(call.model.url)
    // The configured key, never the caller's: the service token must not leave the service.
    const key = call.model.apiKey === null ? {} : dialect.keyHeaders(call.model.apiKey)
    const headers: Record<string, string> = { ...dialect.defaultHeaders, ...call.headers, ...key, 'accept-encoding': 'identity' }
    if (body !== null) headers['content-type'] = 'application/json'
    if (body !== null && body.pieces.length > 1) headers['content-length'] = String(lengthOf(body.pieces))
    const whyNot = (error: Error): Refusal => failureOf(error, { name: 'the upstream', origin, proxy, setting: SETTING })
    return new Promise<RuntimeAnswer>((resolve, reject) => {
      const handler = new AnswerHandler(resolve, reject, call.signal, bytesMax, whyNot, call.model.apiKey, body)
      dispatcher.dispatch({ origin, method, path: prefix + call.path, headers, body: body?.toSend() ?? null }, handler)
    })
  }

  #upstreamOf(url: string): Connections {
    const known = this.#upstreams.get(url)
    const used = known ?? connectionsTo(url, timeoutOf(this.#config), this.#config, (origin, options) => new UpstreamLine(origin, options))
    if (known !== undefined) this.#upstreams.delete(url)
    this.#upstreams.set(url, used)
    if (known === undefined) this.#letOneGo()
    return used
  }

  /** Closes the least recently used; its running answers are finished. */
  #letOneGo(): void {
    const [oldest] = this.#upstreams
    if (oldest === undefined || this.#upstreams.size <= UPSTREAMS_MAX) return
    const [url, { dispatcher }] = oldest
    this.#upstreams.delete(url)
    dispatcher.close().catch(() => undefined)
  }

  status(): Promise<JsonObject> {
    const upstreams = [...this.#upstreams].map(([url, { dispatcher }]) => ({ url, ...load(dispatcher) }))
    return Promise.resolve({ runtime: 'provider', upstreams })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map(({ dispatcher }) => dispatcher.destroy()))
  }
}

/** Of direct connections only; those through a proxy are not counted. */
function load(dispatcher: Connections['dispatcher']): JsonObject {
  if (!(dispatcher instanceof Pool)) return {}
  const { connected, running, queued } = dispatcher.stats
  return { connections: connected, running, queued }
}
