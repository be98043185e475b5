/** The provider formats: requests of a given size, canned answers, and the frames of a canned stream. */

import type { FormatName } from './options.ts'

export interface Format {
  readonly path: string
  /** Portkey's provider name. */
  readonly provider: string
  readonly request: (ask: Ask) => string
  readonly answer: (bytes: number) => string
  readonly stream: (tokens: number) => readonly string[]
}

interface Ask {
  readonly bytes: number
  readonly turns: number
  readonly tools: number
  /** What the canned upstream streams; without it the answer is one JSON body. */
  readonly stream?: StreamPlan
}

export interface StreamPlan {
  readonly tokens: number
  readonly gapMs: number
}

export const SHAPES = {
  tiny: { bytes: 200, turns: 1, tools: 0, answerBytes: 1024 },
  tool: { bytes: 16 * 1024, turns: 20, tools: 8, answerBytes: 2048 },
  // nginx limits a configuration word to 4096 bytes, including its quotes.
  context: { bytes: 400 * 1024, turns: 200, tools: 8, answerBytes: 4000 },
} as const
export type ShapeName = keyof typeof SHAPES

export const STREAM_SHAPE = { bytes: 2048, turns: 4, tools: 0 } as const

/** The canned upstream's settings: in the model's name, and in the first turn for gateways that name a model themselves. */
function modelOf(plan: StreamPlan | undefined): string {
  return plan === undefined ? 'mock' : `mock-${plan.tokens}x${plan.gapMs}ms`
}

export function planOf(body: string): StreamPlan | undefined {
  const found = /mock-(\d+)x(\d+)ms/.exec(body)
  return found === null ? undefined : { tokens: Number(found[1]), gapMs: Number(found[2]) }
}

/** Shapes differ in the digits of their length, which is all that nginx can match. */
export function shapeOfLength(bytes: number): ShapeName {
  if (bytes >= 100_000) return 'context'
  return bytes >= 10_000 ? 'tool' : 'tiny'
}

const SENTENCE = 'The quick brown fox reads file 42 of the list, says why, and calls the next tool: done? Not yet; go on. '

function filler(characters: number): string {
  return SENTENCE.repeat(Math.ceil(characters / SENTENCE.length)).slice(0, characters)
}

/** Spreads filler over `slots` so that the JSON of `make` has the given size. */
function sized(bytes: number, slots: number, make: (text: string) => object): string {
  const overhead = JSON.stringify(make('')).length
  return JSON.stringify(make(filler(Math.max(8, Math.floor((bytes - overhead) / slots)))))
}

function turnsOf({ turns, stream }: Ask, text: string): readonly object[] {
  const first = stream === undefined ? text : `${modelOf(stream)} ${text}`
  return Array.from({ length: turns }, (_, index) => ({
    role: index % 2 === 0 ? 'user' : 'assistant',
    content: index === 0 ? first : text,
  }))
}

const PARAMETERS = { type: 'object', properties: { path: { type: 'string' }, limit: { type: 'integer' } }, required: ['path'] }

function toolsOf(count: number, make: (name: string, description: string) => object): object {
  if (count === 0) return {}
  return { tools: Array.from({ length: count }, (_, index) => make(`tool_${index}`, filler(120))) }
}

function streaming(ask: Ask): object {
  return ask.stream === undefined ? {} : { stream: true }
}

/** Identifies a frame and its position for the load generator. */
function token(index: number): string {
  return `tok-${index} `
}

function frame(data: object): string {
  return `data: ${JSON.stringify(data)}\n\n`
}

function namedFrame(type: string, fields: object = {}): string {
  return `event: ${type}\n${frame({ type, ...fields })}`
}

function tokenFrames(tokens: number, make: (text: string, index: number) => string): readonly string[] {
  return Array.from({ length: tokens }, (_, index) => make(token(index), index))
}

const chat: Format = {
  path: '/v1/chat/completions',
  provider: 'openai',
  request: (ask) =>
    sized(ask.bytes, ask.turns, (text) => ({
      model: modelOf(ask.stream),
      ...streaming(ask),
      messages: turnsOf(ask, text),
      ...toolsOf(ask.tools, (name, description) => ({ type: 'function', function: { name, description, parameters: PARAMETERS } })),
    })),
  answer: (bytes) =>
    sized(bytes, 1, (text) => ({
      id: 'chatcmpl-1',
      object: 'chat.completion',
      created: 1_700_000_000,
      model: 'mock',
      choices: [{ index: 0, message: { role: 'assistant', content: text }, finish_reason: 'stop' }],
      usage: { prompt_tokens: 50, completion_tokens: 200, total_tokens: 250 },
    })),
  stream: (tokens) => [...tokenFrames(tokens, (content) => chatChunk({ content }, null)), `${chatChunk({}, 'stop')}data: [DONE]\n\n`],
}

function chatChunk(delta: object, finish_reason: string | null): string {
  const choices = [{ index: 0, delta, finish_reason }]
  return frame({ id: 'chatcmpl-1', object: 'chat.completion.chunk', created: 1_700_000_000, model: 'mock', choices })
}

const responses: Format = {
  path: '/v1/responses',
  provider: 'openai',
  request: (ask) =>
    sized(ask.bytes, ask.turns, (text) => ({
      model: modelOf(ask.stream),
      ...streaming(ask),
      input: turnsOf(ask, text),
      ...toolsOf(ask.tools, (name, description) => ({ type: 'function', name, description, parameters: PARAMETERS })),
    })),
  answer: (bytes) => sized(bytes, 1, (text) => responseObject('completed', text)),
  stream: (tokens) => {
    const delta = (text: string, index: number): string =>
      namedFrame('response.output_text.delta', { ...place, sequence_number: index + 1, delta: text })
    const place = { item_id: 'msg_1', output_index: 0, content_index: 0 }
    const created = namedFrame('response.created', { sequence_number: 0, response: responseObject('in_progress', '') })
    const completed = { sequence_number: tokens + 1, response: responseObject('completed', 'all of it') }
    const [first = '', ...rest] = tokenFrames(tokens, delta)
    return [created + first, ...rest, namedFrame('response.completed', completed)]
  },
}

function responseObject(status: string, text: string): object {
  const content = [{ type: 'output_text', text, annotations: [] }]
  return {
    id: 'resp_1',
    object: 'response',
    created_at: 1_700_000_000,
    model: 'mock',
    status,
    output: [{ type: 'message', id: 'msg_1', role: 'assistant', status, content }],
    usage: { input_tokens: 50, output_tokens: 200, total_tokens: 250 },
  }
}

const messages: Format = {
  path: '/v1/messages',
  provider: 'anthropic',
  request: (ask) =>
    sized(ask.bytes, ask.turns, (text) => ({
      model: modelOf(ask.stream),
      max_tokens: 512,
      ...streaming(ask),
      messages: turnsOf(ask, text),
      ...toolsOf(ask.tools, (name, description) => ({ name, description, input_schema: PARAMETERS })),
    })),
  answer: (bytes) => sized(bytes, 1, (text) => ({ ...message, content: [{ type: 'text', text }], stop_reason: 'end_turn' })),
  stream: (tokens) => {
    const start =
      namedFrame('message_start', { message: { ...message, content: [], stop_reason: null } }) +
      namedFrame('content_block_start', { index: 0, content_block: { type: 'text', text: '' } })
    const delta = (text: string): string => namedFrame('content_block_delta', { index: 0, delta: { type: 'text_delta', text } })
    const end =
      namedFrame('content_block_stop', { index: 0 }) +
      namedFrame('message_delta', { delta: { stop_reason: 'end_turn' }, usage: { output_tokens: tokens } }) +
      namedFrame('message_stop')
    const [first = '', ...rest] = tokenFrames(tokens, delta)
    return [start + first, ...rest, end]
  },
}

const message = {
  id: 'msg_1',
  type: 'message',
  role: 'assistant',
  model: 'mock',
  stop_sequence: null,
  usage: { input_tokens: 50, output_tokens: 200 },
}

export const FORMAT: Readonly<Record<FormatName, Format>> = { chat, responses, messages }
