/** A thought cut to the limits of its request, with the ids and counts every format writes. */
import type { JsonObject } from '../../../src/contract/index.ts'
import type { Prompt, Thought, Tool } from './prompt.ts'
import { countTokens, firstTokens, promptTokens } from './tokens.ts'

export interface Reply {
  /** Hex, from the request alone: the same request, the same ids. */
  readonly seed: string
  readonly model: string
  /** Whole seconds since the epoch. */
  readonly createdSeconds: number
  readonly text: string
  readonly call: { readonly id: string; readonly tool: Tool; readonly input: string } | null
  readonly ending: Ending
  readonly usage: { readonly input: number; readonly output: number }
  /** The request, for formats whose answers repeat parts of it. */
  readonly request: JsonObject
}

type Ending = { readonly kind: 'end' | 'length' | 'call' } | { readonly kind: 'stop'; readonly sequence: string }

export interface Origin {
  readonly seed: string
  readonly createdSeconds: number
  readonly request: JsonObject
}

export function replyOf(prompt: Prompt, thought: Thought, origin: Origin): Reply {
  const call = thought.kind === 'call' ? { id: origin.seed.slice(0, 24), tool: thought.tool, input: thought.input } : null
  const base = { ...origin, model: prompt.model }
  const input = promptTokens(prompt)
  if (call !== null) {
    const output = countTokens(call.tool.name) + countTokens(call.input)
    if (output <= (prompt.tokensMax ?? output)) return { ...base, text: '', call, ending: { kind: 'call' }, usage: { input, output } }
  }
  // A call that does not fit is cut before it is one.
  const said = thought.kind === 'text' ? thought.text : ''
  const { text, ending } = cut(said, prompt, call !== null)
  const output = Math.max(countTokens(text), ending.kind === 'length' ? (prompt.tokensMax ?? 0) : 0)
  return { ...base, text, call: null, ending, usage: { input, output } }
}

function cut(said: string, prompt: Prompt, isCutCall: boolean): Pick<Reply, 'text' | 'ending'> {
  const within = prompt.tokensMax === null ? said : firstTokens(said, prompt.tokensMax)
  const stop = prompt.stops
    .map((sequence) => ({ sequence, at: within.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0]
  if (stop !== undefined) return { text: within.slice(0, stop.at), ending: { kind: 'stop', sequence: stop.sequence } }
  return { text: within, ending: { kind: isCutCall || within.length < said.length ? 'length' : 'end' } }
}
