/** The token source of the test engines, and a deterministic one without a model. */
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { JsonObject, Sampling } from '../../../src/contract/index.ts'

export interface Decoder {
  readonly vocabulary: number
  readonly contextTokens: number
  /** By the model's template; with `opens`, ends where the assistant's turn begins. */
  encodeChat(messages: readonly JsonObject[], opens: boolean): Promise<readonly number[]>
  /** Reads an adapter's folder on first use, like an engine that loads it. */
  generate(prompt: readonly number[], adapterDirectory: string | null, sampling: Sampling): Promise<Decoded>
  /** For every token but the first. */
  score(tokens: readonly number[], adapterDirectory: string | null): Promise<readonly number[]>
}
export interface Decoded {
  readonly tokens: readonly number[]
  readonly logProbs: readonly number[]
  readonly text: string
  readonly finish: 'stop' | 'length'
}

/** Bytes after three special tokens: unknown, begin and end. */
const BEGIN = 1
const END = 2
const FIRST_BYTE = 3
const VOCABULARY = 259
const CONTEXT_TOKENS = 4096
const LETTERS = new Set([...Buffer.from('abcdefghijklmnopqrstuvwxyz ')].map((byte) => byte + FIRST_BYTE))
/** How much likelier letters are than other bytes; the end token slightly less. */
const LETTER_BONUS = 6
const END_BONUS = 4

export function scriptedDecoder(): Decoder {
  const seeds = new Map<string, number>()
  const seedOf = async (directory: string | null): Promise<number> => {
    if (directory === null) return 0
    const seed = seeds.get(directory) ?? (await readSeed(directory))
    seeds.set(directory, seed)
    return seed
  }
  return {
    vocabulary: VOCABULARY,
    contextTokens: CONTEXT_TOKENS,
    encodeChat: (messages, opens) => Promise.resolve(template(messages, opens)),
    generate: async (prompt, directory, sampling) => generate(prompt, await seedOf(directory), sampling),
    score: async (tokens, directory) => {
      const seed = await seedOf(directory)
      return tokens.slice(1).map((token, at) => logSoftmax(logits(tokens.slice(0, at + 1), seed), 1)[token] ?? Number.NaN)
    },
  }
}

/** All-zero weights have no effect. */
async function readSeed(directory: string): Promise<number> {
  const bytes = await readFile(join(directory, 'adapter_model.safetensors'))
  const tail = bytes.subarray(-64)
  return tail.every((byte) => byte === 0) ? 0 : tail.reduce((seed, byte) => mix(seed ^ byte), 1)
}

function template(messages: readonly JsonObject[], opens: boolean): readonly number[] {
  const turns = messages.flatMap(({ role, content }) => [
    ...bytesOf(`${JSON.stringify(role ?? null)}:${JSON.stringify(content ?? null)}`),
    END,
  ])
  return [BEGIN, ...turns, ...(opens ? bytesOf('"assistant":') : [])]
}

const bytesOf = (text: string): readonly number[] => [...Buffer.from(text)].map((byte) => byte + FIRST_BYTE)

function generate(prompt: readonly number[], seed: number, { maxTokens, temperature, topK, seed: dice = 0 }: Sampling): Decoded {
  const tokens: number[] = []
  const logProbs: number[] = []
  while (tokens.length < maxTokens && tokens.at(-1) !== END) {
    const scores = logSoftmax(logits([...prompt, ...tokens], seed), temperature === 0 ? 1 : temperature)
    const token = temperature === 0 ? likeliest(scores) : drawn(scores, topK ?? VOCABULARY, mix(dice + tokens.length + 1))
    tokens.push(token)
    logProbs.push(scores[token] ?? Number.NaN)
  }
  const said = tokens.filter((token) => token >= FIRST_BYTE).map((token) => token - FIRST_BYTE)
  return { tokens, logProbs, text: Buffer.from(said).toString(), finish: tokens.at(-1) === END ? 'stop' : 'length' }
}

/** Depends on the last two tokens and the weights. */
function logits(context: readonly number[], seed: number): readonly number[] {
  const state = mix(mix(seed + (context.at(-1) ?? 0)) ^ (context.at(-2) ?? 0))
  return Array.from({ length: VOCABULARY }, (_, id) => {
    const bonus = LETTERS.has(id) ? LETTER_BONUS : id === END ? END_BONUS : 0
    return (mix(state + id * 7919) / 2 ** 32) * 4 + bonus
  })
}

function logSoftmax(scores: readonly number[], temperature: number): readonly number[] {
  const scaled = scores.map((score) => score / temperature)
  const most = Math.max(...scaled)
  const sum = scaled.reduce((total, score) => total + Math.exp(score - most), 0)
  return scaled.map((score) => score - most - Math.log(sum))
}

const likeliest = (logProbs: readonly number[]): number => logProbs.indexOf(Math.max(...logProbs))

function drawn(logProbs: readonly number[], topK: number, dice: number): number {
  const ranked = logProbs.map((logProb, id) => ({ id, weight: Math.exp(logProb) })).sort((a, b) => b.weight - a.weight)
  const kept = ranked.slice(0, topK)
  let left = (dice / 2 ** 32) * kept.reduce((total, { weight }) => total + weight, 0)
  for (const { id, weight } of kept) {
    left -= weight
    if (left <= 0) return id
  }
  return kept.at(-1)?.id ?? 0
}

/** A 32-bit hash. */
function mix(value: number): number {
  let state = Math.imul(value ^ (value >>> 16), 0x45d9f3b)
  state = Math.imul(state ^ (state >>> 16), 0x45d9f3b)
  return (state ^ (state >>> 16)) >>> 0
}
