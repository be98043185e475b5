/**
 * Shared luck: both sides of a pair ask the model with the same sampling seeds, so that its chance helps or hurts both alike and fewer pairs
 * show what a change does. Where a format has no seed, or a model takes none, calls go on as the agent made them.
 */
import type { IncomingHttpHeaders } from 'node:http'
import { Readable } from 'node:stream'
import { buffer } from 'node:stream/consumers'
import type { ModelAddress } from '../contract/index.ts'
import { dialectOfCall, withSeed } from '../dialects/index.ts'
import { lotOf } from '../kit/index.ts'

/** The largest that every format takes, and one more. */
const SEEDS = 2 ** 31
export interface ModelAnswered {
  readonly status: number
  readonly headers: IncomingHttpHeaders
  readonly body: Readable
}

/** Sends a call with this body, or with the one that comes. */
export type SendCall = (body: Buffer | null) => Promise<ModelAnswered>

/** The models that refused a seed, as long as this thread runs. */
const refusing = new Set<string>()

/** The luck of one episode. */
export class EpisodeLuck {
  readonly #text: string | null
  readonly #model: string
  readonly #left: number[] = []
  #calls = 0
  /** The seed of each answered call of the model; null for one without a seed of ours. */
  readonly seeds: (number | null)[] = []

  /** `text` is what both sides of a pair have in common; null: no seeds. */
  constructor(text: string | null, { url, model }: Pick<ModelAddress, 'url' | 'model'>) {
    this.#text = text
    this.#model = JSON.stringify([url, model])
  }

  /** `own` is the body of the call; null where it is passed on as it comes. */
  async ask(path: string, own: Buffer | null, send: SendCall): Promise<ModelAnswered> {
    const dialect = dialectOfCall(path)
    if (dialect === null || dialect.writeCount !== undefined) return send(own)
    const model = `${this.#model} ${dialect.name}`
    if (this.#text === null || dialect.seedAt === undefined || refusing.has(model) || own === null)
      return this.#answered(null, await send(own))
    const place = this.#left.shift() ?? this.#next()
    const seed = lotOf(`${this.#text} ${place}`) % SEEDS
    const body = withSeed(dialect, own, seed)
    if (body === null) return this.#answered(null, await send(own))
    let isUsed = false
    try {
      const answer = await send(body)
      isUsed = answer.status === OK
      return isUsed ? this.#answered(seed, answer) : await this.#withoutSeed(model, own, answer, send)
    } finally {
      // The agent will ask again, and with the same seed.
      if (!isUsed) this.#left.push(place)
    }
  }

  #next(): number {
    this.#calls += 1
    return this.#calls
  }

  /** Asks once more as the agent did, where the answer says that it is about the seed. */
  async #withoutSeed(model: string, own: Buffer, answer: ModelAnswered, send: SendCall): Promise<ModelAnswered> {
    if (!REFUSED.has(answer.status)) return answer
    const said = await buffer(answer.body)
    if (!/seed/i.test(said.toString('utf8'))) return { ...answer, body: Readable.from([said]) }
    const again = await send(own)
    if (again.status === OK) refusing.add(model)
    return this.#answered(null, again)
  }

  #answered(seed: number | null, answer: ModelAnswered): ModelAnswered {
    if (answer.status === OK) this.seeds.push(seed)
    return answer
  }
}

const OK = 200
/** What providers answer to a member that they do not take. */
const REFUSED = new Set([400, 422])

/** Whether every answered call had a seed of the pair. */
export const isSeeded = (seeds: readonly (number | null)[]): boolean => seeds.length > 0 && seeds.every((seed) => seed !== null)
