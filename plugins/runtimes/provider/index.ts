/** The provider runtime: any OpenAI- or Anthropic-compatible upstream, or several, asked with the client's own bytes over pooled connections. */
import { isDeepStrictEqual } from 'node:util'
import {
  define,
  FORMATS,
  isObject,
  upstream,
  UPSTREAM_ANSWER_BYTES_MAX,
  type Format,
  type JsonObject,
  type ModelsCall,
  type Runtime,
  type RuntimeAnswer,
  type RuntimeCall,
  type WholeAnswer,
} from '../../../src/contract/index.ts'
import { dialects, dialectsByApi, type DialectSpec } from '../../../src/dialects/index.ts'
import { InsideAddresses } from '../../../src/kit/index.ts'
import { connectionsTo, insideAddress, type Connections } from '../common/upstream.ts'
import { ask } from './ask.ts'
import { SentBody } from './body.ts'
import { Leaving } from './leaving.ts'
import { loadOf } from './load.ts'
import { sentKey } from './sent-key.ts'
import { notSpoken, SeveralUpstreams } from './several.ts'
import { textsIn } from './upstreams.ts'

const UPSTREAMS_MAX = 256

export default define('runtime', {
  make: (config) => new Provider(config),
})

function timeoutOf(config: JsonObject): number {
  const seconds = config['timeout_s']
  return typeof seconds === 'number' ? seconds * 1000 : 300_000
}

/** The settings that the connections to single addresses are made of. */
const OF_ADDRESSES = ['timeout_s', 'allow_inside', 'own_urls', 'proxy']

const WHOM = { name: 'the upstream', setting: "inference.upstream_url, or the scenario's model.url" }

class Provider implements Runtime {
  #config: JsonObject
  /** Null where none are configured by name. */
  #several: SeveralUpstreams | null
  /** Shared by all scenarios with the same address; least recently used first. */
  readonly #upstreams = new Map<string, Connections>()
  /** Those that are asked nothing new. */
  readonly #leaving = new Leaving()

  constructor(config: JsonObject) {
    this.#config = config
    this.#several = isObject(config['upstreams']) ? new SeveralUpstreams(config) : null
  }

  reconfigure(config: JsonObject): void {
    if (this.#several !== null) this.#several.configure(config)
    else if (isObject(config['upstreams'])) this.#several = new SeveralUpstreams(config)
    const before = this.#config
    this.#config = config
    if (OF_ADDRESSES.every((name) => isDeepStrictEqual(before[name], config[name]))) return
    const left = [...this.#upstreams.values()]
    this.#upstreams.clear()
    this.#leaving.take(left)
  }

  infer(call: RuntimeCall): Promise<RuntimeAnswer> {
    const several = this.#severalFor(call)
    if (several !== null) return several.infer(call)
    const { format } = dialects[call.dialect]
    const { formats } = call.model
    if (formats !== undefined && !formats.includes(format)) return Promise.reject(notSpoken(format, formats))
    return this.#ask(call, dialects[call.dialect], new SentBody(call.pieces ?? [call.body]), call.answerBytesMax)
  }

  async models(call: ModelsCall): Promise<WholeAnswer> {
    const several = this.#severalFor(call)
    if (several !== null) return several.models(call)
    const answer = await this.#ask(call, dialectsByApi[call.model.api], null)
    if (answer.kind !== 'whole') throw upstream('upstream_not_json', 'the upstream streamed its list of models')
    return answer
  }

  formats(call: Pick<RuntimeCall, 'model' | 'askedModel'>): readonly Format[] {
    return this.#severalFor(call)?.formats(call) ?? call.model.formats ?? FORMATS
  }

  #severalFor({ model }: Pick<ModelsCall, 'model'>): SeveralUpstreams | null {
    return model.upstreams === undefined ? null : this.#several
  }

  #ask(
    { path, headers, signal, model, clientKey: clients }: ModelsCall,
    dialect: DialectSpec,
    body: SentBody | null,
    bytesMax = UPSTREAM_ANSWER_BYTES_MAX,
  ) {
    const connections = this.#upstreamOf(model.url)
    if (connections === null) return Promise.reject(insideAddress())
    const key = sentKey(connections, dialect, { configured: model.apiKey, clients, origins: textsIn(this.#config['client_key_origins']) })
    return ask(connections, { path, headers, signal, dialect, key, body, bytesMax, whom: WHOM })
  }

  #upstreamOf(url: string): Connections | null {
    const known = this.#upstreams.get(url)
    const used = known ?? this.#connect(url)
    if (used === null) return null
    if (known !== undefined) this.#upstreams.delete(url)
    this.#upstreams.set(url, used)
    if (known === undefined) this.#letOneGo()
    return used
  }

  /** Only the configuration's own address may be anywhere. Null where it may not be asked. */
  #connect(url: string): Connections | null {
    const { own_urls: own, allow_inside: allowed } = this.#config
    // Without a list every address may be asked.
    const inside = textsIn(own).includes(url) || !Array.isArray(allowed) ? null : new InsideAddresses(textsIn(allowed))
    if (inside?.refusesHost(url) === true) return null
    return connectionsTo(url, timeoutOf(this.#config), this.#config, inside === null ? {} : { lookup: inside.lookup })
  }

  /** Closes the least recently used; its running answers are finished. */
  #letOneGo(): void {
    const [oldest] = this.#upstreams
    if (oldest === undefined || this.#upstreams.size <= UPSTREAMS_MAX) return
    const [url, connections] = oldest
    this.#upstreams.delete(url)
    this.#leaving.take([connections])
  }

  status(): Promise<JsonObject> {
    const asked = [...this.#upstreams].map(([url, { dispatcher }]) => ({ url, ...loadOf(dispatcher) }))
    return Promise.resolve({ runtime: 'provider', upstreams: [...(this.#several?.status() ?? []), ...asked] })
  }

  async close(): Promise<void> {
    const connected = [...this.#upstreams.values()].map(({ dispatcher }) => dispatcher.destroy())
    await Promise.all([this.#several?.close(), this.#leaving.close(), ...connected])
  }
}
