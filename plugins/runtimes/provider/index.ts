/** The provider runtime: any OpenAI- or Anthropic-compatible upstream, asked with the client's own bytes over pooled connections. */
import { Pool } from 'undici'
import {
  define,
  upstream,
  type JsonObject,
  type ModelAddress,
  type ModelsCall,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { AnswerHandler } from './answer.ts'

const ANTHROPIC_VERSION = '2023-06-01'
const UPSTREAMS_MAX = 256

export default define('runtime', {
  make: (config) => new Provider(timeoutOf(config)),
})

function timeoutOf(config: JsonObject): number {
  const seconds = config['timeout_s']
  return typeof seconds === 'number' ? seconds * 1000 : 300_000
}

interface Upstream {
  readonly pool: Pool
  readonly prefix: string
}

class Provider implements Runtime {
  readonly #timeoutMs: number
  /** One client per upstream: connections are shared by every scenario that asks the same address. */
  readonly #upstreams = new Map<string, Upstream>()

  constructor(timeoutMs: number) {
    this.#timeoutMs = timeoutMs
  }

  infer(call: RuntimeCall): Promise<RuntimeAnswer> {
    const isMessages = call.dialect === 'messages' || call.dialect === 'count_tokens'
    return this.#ask('POST', call, isMessages, call.body)
  }

  async models(call: ModelsCall): Promise<WholeAnswer> {
    const answer = await this.#ask('GET', call, call.model.api === 'anthropic', null)
    if (answer.kind !== 'whole') throw upstream('upstream_not_json', 'the upstream streamed its list of models')
    return answer
  }

  #ask(method: 'GET' | 'POST', call: ModelsCall, isMessages: boolean, body: Uint8Array | null) {
    const { pool, prefix } = this.#upstreamOf(call.model.url)
    const headers: Record<string, string> = { ...call.headers, ...credential(call.model, isMessages), 'accept-encoding': 'identity' }
    if (isMessages) headers['anthropic-version'] ??= ANTHROPIC_VERSION
    if (body !== null) headers['content-type'] = 'application/json'
    return new Promise<RuntimeAnswer>((resolve, reject) => {
      pool.dispatch({ method, path: prefix + call.path, headers, body }, new AnswerHandler(resolve, reject, call.signal))
    })
  }

  #upstreamOf(url: string): Upstream {
    const known = this.#upstreams.get(url)
    if (known !== undefined) return known
    const { origin, pathname } = new URL(url)
    const timeout = this.#timeoutMs
    const pool = new Pool(origin, { headersTimeout: timeout, bodyTimeout: timeout, connect: { timeout } })
    const made = { pool, prefix: pathname.replace(/\/+$/, '') }
    this.#upstreams.set(url, made)
    this.#letOldestGo()
    return made
  }

  /** Addresses come and go with scenarios' settings; what is still being answered there is finished. */
  #letOldestGo(): void {
    const [oldest] = this.#upstreams
    if (oldest === undefined || this.#upstreams.size <= UPSTREAMS_MAX) return
    const [url, { pool }] = oldest
    this.#upstreams.delete(url)
    pool.close().catch(() => undefined)
  }

  status(): Promise<JsonObject> {
    const upstreams = [...this.#upstreams].map(([url, { pool }]) => ({
      url,
      connections: pool.stats.connected,
      running: pool.stats.running,
      queued: pool.stats.queued,
    }))
    return Promise.resolve({ runtime: 'provider', upstreams })
  }

  async close(): Promise<void> {
    await Promise.all([...this.#upstreams.values()].map(({ pool }) => pool.destroy()))
  }
}

/** The configured key, never the caller's: the service token must not leave the house. */
function credential(model: ModelAddress, isMessages: boolean): Record<string, string> {
  if (model.apiKey === null) return {}
  return isMessages ? { 'x-api-key': model.apiKey } : { authorization: `Bearer ${model.apiKey}` }
}
