/** An agent's session as the model sees it: every turn sends all earlier ones again, and adds a tool's result and the answer to it. */

import type { FormatName } from './options.ts'

export interface SessionShape {
  readonly turns: number
  /** Sessions with different seeds share the system prompt and the tools, and nothing else. */
  readonly seed: number
}

/** The bytes that a turn adds, between these two; a session of 100 turns ends at about 400 KB. */
const RESULT_BYTES = [200, 7000] as const
const ANSWER_BYTES = [80, 700] as const
const SYSTEM_BYTES = 12_000
const TOOLS = 12

const WORDS =
  'const return await import from function value index error result path file line test expect string number true false null length map filter push read write open close parse check state store record session request answer token model agent tool call step batch head release chain list page size limit time start stop wait next last first count total name type kind field schema route handler body header query option config default'.split(
    ' ',
  )

/** The bodies of one session's requests, in order. */
export function* sessionBodies({ turns, seed }: SessionShape, format: FormatName): Generator<string> {
  const random = randomOf(seed)
  const shared = randomOf(0)
  const system = prose(shared, SYSTEM_BYTES)
  const tools = Array.from({ length: TOOLS }, (_, index) => toolOf(`tool_${index}`, prose(shared, 300)))
  const messages: object[] = [{ role: 'user', content: prose(random, 600) }]
  for (let turn = 0; turn < turns; turn += 1) {
    yield JSON.stringify(bodyOf(format, system, tools, messages))
    messages.push({ role: 'assistant', content: prose(random, between(random, ANSWER_BYTES)) })
    messages.push({ role: 'user', content: `tool_${turn % TOOLS} says:\n${prose(random, between(random, RESULT_BYTES))}` })
  }
}

function bodyOf(format: FormatName, system: string, tools: readonly object[], turns: readonly object[]): object {
  if (format === 'messages') return { model: 'mock', max_tokens: 512, system, tools, messages: turns }
  if (format === 'responses') return { model: 'mock', instructions: system, tools, input: turns }
  return { model: 'mock', tools, messages: [{ role: 'system', content: system }, ...turns] }
}

function toolOf(name: string, description: string): object {
  return { type: 'function', function: { name, description, parameters: { type: 'object', properties: { path: { type: 'string' } } } } }
}

/** Lines of words and numbers, about as varied as a program's text. */
function prose(random: () => number, bytes: number): string {
  let text = ''
  while (text.length < bytes) {
    const word = random() < 0.2 ? Math.floor(random() * 1e6).toString(36) : (WORDS[Math.floor(random() * WORDS.length)] ?? '')
    text += word + (random() < 0.1 ? '\n  ' : ' ')
  }
  return text.slice(0, bytes)
}

function between(random: () => number, [low, high]: readonly [number, number]): number {
  return Math.floor(low + random() ** 2 * (high - low))
}

/** Numbers from 0 to below 1, the same for the same seed. */
function randomOf(seed: number): () => number {
  let state = (seed + 1) * 0x9e3779b9
  return () => {
    state = (state + 0x6d2b79f5) | 0
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state)
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4294967296
  }
}
