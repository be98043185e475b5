/** The decode loop: one token after the other, each by the adapter that is current at that moment. */
import { randomInt } from 'node:crypto'
import { invalid, unavailable, type AdapterSpan, type Generation, type Refusal, type Sampling } from '../../../src/contract/index.ts'
import type { Base } from './base.ts'
import { readAfter } from './evaluate.ts'
import { draw, isGreedy, pick, type Pick } from './sample.ts'
import type { Contexts, Hold } from './contexts.ts'
import type { TokenPlace } from './place.ts'

/** What `move` changes while a generation runs: the name of an adapter, and its file. */
export interface ActiveAdapter {
  readonly name: string | null
  readonly file: string | null
}

export interface Running {
  readonly prompt: readonly number[]
  readonly sampling: Sampling
  readonly signal: AbortSignal
  adapter: ActiveAdapter
}

export interface Decoder {
  readonly base: Base
  readonly contexts: Contexts
  readonly holds: (name: string) => boolean
}

/** With so many of the likeliest, the whole vocabulary is hardly ever needed. */
const LIKELIEST = 1024
/** Of random seeds; small enough for every language's numbers. */
const SEED_MAX = 2 ** 32

export function generate(decoder: Decoder, call: Running): Promise<Generation> {
  checkTokens(decoder.base, call.prompt, 'prompt')
  if (call.prompt.length >= decoder.base.contextTokens)
    throw invalid(
      'prompt_too_long',
      `the prompt has ${call.prompt.length} tokens; with its answer it may have ${decoder.base.contextTokens}`,
    )
  return decoder.contexts.during(call.signal, (hold) => decode(decoder, call, hold))
}

/** An id that is not in the vocabulary would be read from beyond the model's memory. */
export function checkTokens({ vocabulary }: Base, tokens: readonly number[], what: string): void {
  if (tokens.length === 0) throw invalid('no_tokens', `${what} must have at least one token`)
  if (!tokens.every((token) => Number.isInteger(token) && token >= 0 && token < vocabulary))
    throw invalid('bad_token', `every token of ${what} must be a whole number from 0 to ${vocabulary - 1}`)
}

/** While the call waited for its slot, its adapter may have been moved or unloaded. */
async function decode(decoder: Decoder, call: Running, hold: Hold): Promise<Generation> {
  const { base } = decoder
  const { prompt, sampling } = call
  if (call.adapter.name !== null && !decoder.holds(call.adapter.name)) throw adapterLost()
  const seed = sampling.seed ?? randomInt(SEED_MAX)
  const isExact = sampling.seed !== undefined
  const limit = Math.min(sampling.maxTokens, base.contextTokens - prompt.length)
  const [tokens, logProbs, makers]: [number[], number[], (string | null)[]] = [[], [], []]
  const done = (finish: 'stop' | 'length', text: string): Generation => ({ prompt, tokens, logProbs, spans: spansOf(makers), text, finish })
  while (tokens.length < limit) {
    // Read once, so that the token is recorded under the adapter that made it.
    const { adapter } = call
    const transcript = [...prompt, ...tokens]
    const ask = {
      held: await hold(adapter.file, transcript, isExact || isGreedy(sampling.temperature)),
      transcript,
      isExact,
      signal: call.signal,
    }
    const { token, logProb } = await readAfter(ask, (place) => nextToken(place, base.vocabulary, sampling, draw(seed, tokens.length)))
    tokens.push(token)
    logProbs.push(logProb)
    makers.push(adapter.name)
    if (base.isEnd(token)) return done('stop', base.text(tokens, prompt))
    const text = textBeforeStop(base, tokens, call)
    if (text !== null) return done('stop', text)
  }
  return done('length', base.text(tokens, prompt))
}

export const adapterLost = (): Refusal =>
  unavailable('adapter_lost', 'the engine does not hold the adapter that was named; it must be loaded again')

async function nextToken(place: TokenPlace, vocabulary: number, sampling: Sampling, chance: number): Promise<Pick> {
  const { temperature, topK = 0, topP = 1 } = sampling
  if (topK <= 0 && topP >= 1) return place.drawn(temperature, Math.floor(chance * SEED_MAX))
  const picked =
    pick(await place.outlook(temperature, Math.min(LIKELIEST, vocabulary)), sampling, chance) ??
    pick(await place.outlook(temperature, vocabulary), sampling, chance)
  if (picked === null) throw new Error('no token was picked of a whole vocabulary')
  return picked
}

/** Null when none of the stop texts came up. Only the end is looked at, wide enough for one whose every byte is a token. */
function textBeforeStop(base: Base, tokens: readonly number[], { prompt, sampling }: Running): string | null {
  const stops = (sampling.stop ?? []).filter((text) => text !== '')
  const width = Math.max(0, ...stops.map((text) => Buffer.byteLength(text))) + 1
  const before = tokens.length > width ? tokens.slice(0, -width) : prompt
  const end = stops.length === 0 ? '' : base.text(tokens.slice(-width), before)
  if (!stops.some((text) => end.includes(text))) return null
  const text = base.text(tokens, prompt)
  const places = stops.map((stop) => text.indexOf(stop)).filter((at) => at !== -1)
  return places.length === 0 ? null : text.slice(0, Math.min(...places))
}

function spansOf(makers: readonly (string | null)[]): readonly AdapterSpan[] {
  const starts = makers.flatMap((adapter, at) => (at > 0 && makers[at - 1] === adapter ? [] : [{ start: at, adapter }]))
  return starts.map(({ start, adapter }, at) => ({ start, end: starts[at + 1]?.start ?? makers.length, adapter }))
}
