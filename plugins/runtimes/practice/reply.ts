/** A thought cut to the limits of its request, with what every format writes of it. */
import type { ModelReply, ReplyCall } from '../../../src/dialects/index.ts'
import type { Prompt, Thought } from './prompt.ts'
import { countTokens, firstTokens, promptTokens } from './tokens.ts'

/** The id comes from the request alone: the same request, the same ids. */
export function replyOf(prompt: Prompt, thought: Thought, origin: Pick<ModelReply, 'id' | 'createdSeconds'>): ModelReply {
  const base = { ...origin, model: prompt.model }
  const input = promptTokens(prompt)
  const call = thought.kind === 'call' ? callOf(thought) : null
  if (call !== null) {
    const output = countTokens(call.name) + countTokens(call.input)
    if (output <= (prompt.tokensMax ?? output))
      return { ...base, text: '', calls: [call], ending: { kind: 'call' }, usage: { input, output } }
  }
  // A call that does not fit is cut before it is one.
  const said = thought.kind === 'text' ? thought.text : ''
  const { text, ending } = cut(said, prompt, call !== null)
  const output = Math.max(countTokens(text), ending.kind === 'length' ? (prompt.tokensMax ?? 0) : 0)
  return { ...base, text, calls: [], ending, usage: { input, output } }
}

const callOf = ({ tool: { name, shape, namespace }, input }: Extract<Thought, { kind: 'call' }>): ReplyCall => ({
  id: null,
  name,
  input,
  shape: shape === 'custom' ? shape : 'function',
  namespace,
})

function cut(said: string, prompt: Prompt, isCutCall: boolean): Pick<ModelReply, 'text' | 'ending'> {
  const within = prompt.tokensMax === null ? said : firstTokens(said, prompt.tokensMax)
  const stop = prompt.stops
    .map((sequence) => ({ sequence, at: within.indexOf(sequence) }))
    .filter(({ at }) => at !== -1)
    .sort((a, b) => a.at - b.at)[0]
  if (stop !== undefined) return { text: within.slice(0, stop.at), ending: { kind: 'stop', sequence: stop.sequence } }
  return { text: within, ending: { kind: isCutCall || within.length < said.length ? 'length' : 'end' } }
}
