/** The configured upstreams: the settings of each, its connections, and how it fares. */
import { FORMATS, isObject, type Format, type Json, type JsonObject, type ModelsCall } from '../../../src/contract/index.ts'
import type { DialectSpec } from '../../../src/dialects/index.ts'
import { connectionsTo, tlsOf, type Connections } from '../common/upstream.ts'
import { Breakers, type BreakerRules } from './breaker.ts'
import type { Aliases, Choice } from './choose.ts'
import { sentKey, type SentKey } from './sent-key.ts'

/** Models of one upstream that rest at a time. */
const RESTS_MAX = 256

interface UpstreamOptions {
  readonly rules: BreakerRules
  readonly clock: () => number
  /** Hears when the breaker of one of its models opens and closes. */
  readonly rests: (name: string, model: string, until: number | null, status: number) => void
}

export interface UpstreamCounts {
  calls: number
  failures: number
  lastFailure: { readonly at: number; readonly reason: string } | null
}

export class NamedUpstream implements Choice {
  readonly name: string
  readonly url: string
  readonly apiKey: string | null
  readonly formats: readonly Format[]
  readonly models: readonly string[] | null
  readonly aliases: Aliases
  readonly priority: number
  readonly weight: number
  readonly connections: Connections
  /** Everything that it follows from, to be compared. */
  readonly madeOf: unknown
  readonly breakers: Breakers
  readonly #clock: () => number
  /** When a model may be asked for again, by the upstream's own word. */
  readonly #rests = new Map<string, number>()
  readonly counts: UpstreamCounts = { calls: 0, failures: 0, lastFailure: null }

  constructor(name: string, settings: JsonObject, config: JsonObject, { rules, clock, rests }: UpstreamOptions) {
    this.name = name
    this.url = textIn(settings['url']) ?? ''
    this.apiKey = textIn(settings['api_key'])
    const formats = textsIn(settings['formats'])
    this.formats = FORMATS.filter((format) => formats.includes(format)).toSorted(
      (one, other) => formats.indexOf(one) - formats.indexOf(other),
    )
    this.models = Array.isArray(settings['models']) ? textsIn(settings['models']) : null
    const aliases = isObject(settings['aliases']) ? settings['aliases'] : {}
    this.aliases = new Map(Object.entries(aliases).flatMap(([alias, model]) => (typeof model === 'string' ? [[alias, model]] : [])))
    this.priority = numberIn(settings['priority'], 0)
    this.weight = numberIn(settings['weight'], 1)
    const timeoutMs = numberIn(settings['timeout_s'], numberIn(config['timeout_s'], 300)) * 1000
    const tls = this.url.startsWith('https:') ? { tls: tlsOf(settings['tls']) } : {}
    this.connections = connectionsTo(this.url, timeoutMs, config, {
      connectTimeoutMs: numberIn(settings['connect_timeout_s'], 10) * 1000,
      ...tls,
    })
    this.madeOf = { settings, timeoutMs, tls, rules }
    this.breakers = new Breakers(rules, clock, (...rest) => rests(name, ...rest))
    this.#clock = clock
  }

  /** Its own name of a model. */
  nameOf(asked: string): string {
    return this.aliases.get(asked) ?? asked
  }

  rest(model: string, seconds: number): void {
    const [oldest] = this.#rests.keys()
    if (oldest !== undefined && this.#rests.size >= RESTS_MAX) this.#rests.delete(oldest)
    this.#rests.set(model, this.#clock() + seconds)
  }

  isResting(model: string): boolean {
    const until = this.#rests.get(model)
    if (until === undefined) return false
    if (this.#clock() < until) return true
    this.#rests.delete(model)
    return false
  }

  failed(reason: string): void {
    this.counts.failures += 1
    this.counts.lastFailure = { at: this.#clock(), reason }
  }
}

const textIn = (value: Json | undefined): string | null => (typeof value === 'string' ? value : null)
export const textsIn = (value: Json | undefined): readonly string[] =>
  Array.isArray(value) ? value.filter((one) => typeof one === 'string') : []
export const numberIn = (value: Json | undefined, usual: number): number => (typeof value === 'number' ? value : usual)

/** The key that it is asked with. */
export const keyFor = (
  { connections, apiKey }: NamedUpstream,
  dialect: DialectSpec,
  { clientKey: clients }: Pick<ModelsCall, 'clientKey'>,
  origins: readonly string[],
): SentKey => sentKey(connections, dialect, { configured: apiKey, clients, origins })
