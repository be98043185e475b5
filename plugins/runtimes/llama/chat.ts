/** One chat completion: the request rendered by the model's template, generated, and put into the provider's shape. */
import { randomUUID } from 'node:crypto'
import type { ChatAnswer, Encoded, Generation, JsonObject, Sampling } from '../../../src/contract/index.ts'
import type { Base } from './base.ts'
import { readChat, readMessages, Unanswerable, type ChatRequest } from './request.ts'
import { readCalls } from './tool-calls.ts'

/** Far above that of any text. */
const CHARACTERS_PER_TOKEN_MAX = 64

export interface Chatting {
  readonly base: Base
  readonly template: ChatTemplate
  readonly clock: () => number
  readonly generate: (prompt: readonly number[], sampling: Sampling) => Promise<Generation>
}

export async function chat(chatting: Chatting, body: JsonObject): Promise<ChatAnswer> {
  try {
    return await answer(chatting, body)
  } catch (error) {
    if (error instanceof Unanswerable) return { kind: 'refused', status: 400, answer: error.answer }
    throw error
  }
}

async function answer({ base, template, clock, generate }: Chatting, body: JsonObject): Promise<ChatAnswer> {
  const { messages, tools, sampling } = readChat(body)
  const prompt = tokensOf(base, template.render({ messages, tools }, true))
  const room = base.contextTokens - prompt.length
  if (room < 1) throw tooLong(base, `${prompt.length}`)
  if (prompt.length === 0) throw new Unanswerable("the model's chat template makes nothing of these messages.", 'messages')
  const generation = await generate(prompt, { ...sampling, maxTokens: Math.min(sampling.maxTokens ?? room, room) })
  const { content, calls } = readCalls(generation.text, tools)
  const message = {
    role: 'assistant',
    content,
    ...(calls.length > 0 && { tool_calls: calls.map((call) => ({ id: `call_${shortId()}`, type: 'function', function: { ...call } })) }),
  }
  const [asked, made] = [prompt.length, generation.tokens.length]
  return {
    kind: 'answer',
    answer: {
      id: `chatcmpl-${shortId()}`,
      object: 'chat.completion',
      created: Math.floor(clock()),
      model: body['model'] ?? base.name,
      choices: [{ index: 0, message, logprobs: null, finish_reason: calls.length > 0 ? 'tool_calls' : generation.finish }],
      usage: { prompt_tokens: asked, completion_tokens: made, total_tokens: asked + made },
    },
    capture: generation,
  }
}

const shortId = (): string => randomUUID().replaceAll('-', '').slice(0, 24)

/** Tokenizing cannot be aborted, so a text that cannot fit is refused first. */
function tokensOf(base: Base, text: string): readonly number[] {
  if (text.length > base.contextTokens * CHARACTERS_PER_TOKEN_MAX) throw tooLong(base, 'far more')
  return base.tokenize(text)
}

const tooLong = ({ contextTokens }: Base, length: string): Unanswerable =>
  new Unanswerable(
    `This model's maximum context length is ${contextTokens} tokens. However, your messages resulted in ${length} tokens. Please reduce the length of the messages.`,
    'messages',
    'context_length_exceeded',
  )

/** Null where the template does not write the answer right after its prompt: then the sampled tokens are unknown. */
export function encode({ base, template }: Pick<Chatting, 'base' | 'template'>, body: JsonObject, next: JsonObject | null): Encoded | null {
  try {
    const { messages, tools } = readChat(body)
    const asked = template.render({ messages, tools }, true)
    const prompt = tokensOf(base, asked)
    if (next === null) return { prompt, answer: [] }
    const whole = template.render({ messages: [...messages, ...readMessages([{ role: 'assistant', ...next }])], tools }, false)
    if (!whole.startsWith(asked)) return null
    return { prompt, answer: untilEnd(base, tokensOf(base, whole.slice(asked.length))) }
  } catch (error) {
    if (error instanceof Unanswerable) return null
    throw error
  }
}

/** No model generates what a template writes after the end of a turn. */
function untilEnd(base: Base, tokens: readonly number[]): readonly number[] {
  const end = tokens.findLastIndex((token) => base.isEnd(token))
  return end === -1 ? tokens : tokens.slice(0, end + 1)
}

type Chat = Pick<ChatRequest, 'messages' | 'tools'>

/** The chat as the text that the model was trained to continue. */
export class ChatTemplate {
  readonly #base: Base
  /** Reading the template takes longer than using it. */
  readonly #template: { render(items: Readonly<Record<string, unknown>>): string } | null

  constructor(base: Base) {
    this.#base = base
    this.#template = base.template === null ? null : new base.Template(base.template)
  }

  /** Throws Unanswerable for a chat that the template refuses, or whose tools it would leave out: the model would never hear of them. */
  render({ messages, tools }: Chat, isPrompt: boolean): string {
    const text = this.#text({ messages, tools }, isPrompt)
    if (tools.length > 0 && text === this.#textWithoutTools(messages, isPrompt))
      throw new Unanswerable(
        "the model's chat template has no place for tools: send none, or take a model that was tuned for them.",
        'tools',
        'tools_unsupported',
      )
    return text
  }

  /** Null where the template insists on tools. */
  #textWithoutTools(messages: Chat['messages'], isPrompt: boolean): string | null {
    try {
      return this.#text({ messages, tools: [] }, isPrompt)
    } catch {
      return null
    }
  }

  #text({ messages, tools }: Chat, isPrompt: boolean): string {
    if (this.#template === null)
      throw new Unanswerable('this model has no chat template: take a model that was tuned for chats.', null, 'no_chat_template')
    try {
      return this.#template.render({
        messages,
        ...(tools.length > 0 && { tools }),
        add_generation_prompt: isPrompt,
        bos_token: this.#base.bos,
        eos_token: this.#base.eos,
      })
    } catch (error) {
      const why = error instanceof Error ? error.message : 'it gives no reason'
      throw new Unanswerable(`the model's chat template refuses these messages: ${why}`, 'messages')
    }
  }
}
