/** Says an answer of another format as the numbered events of a response. */
import type { JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import type { AnswerEnd, Usage } from '../translation/pieces.ts'
import { AnswerWriting, type OpenCall } from '../translation/writing.ts'
import { objectOf } from '../values.ts'
import { responseHead } from './write.ts'

/** A stretch of text that grows: an item with one part. */
interface OpenItem {
  readonly kind: keyof typeof PARTS
  readonly id: string
  said: string
}

const IN_CONTENT = { partEvent: 'response.content_part', index: 'content_index' } as const

const PARTS = {
  text: {
    ...IN_CONTENT,
    event: 'response.output_text',
    part: (text: string) => ({ type: 'output_text', text, annotations: [], logprobs: [] }),
    member: 'text',
  },
  thinking: { ...IN_CONTENT, event: 'response.reasoning_text', part: (text: string) => ({ type: 'reasoning_text', text }), member: 'text' },
  summary: {
    event: 'response.reasoning_summary_text',
    partEvent: 'response.reasoning_summary_part',
    index: 'summary_index',
    part: (text: string) => ({ type: 'summary_text', text }),
    member: 'text',
  },
  refusal: {
    ...IN_CONTENT,
    event: 'response.refusal',
    part: (text: string) => ({ type: 'refusal', refusal: text }),
    member: 'refusal',
  },
} as const

export class ResponsesSaying extends AnswerWriting {
  readonly #output: JsonObject[] = []
  #sequence = 0
  #open: OpenItem | null = null;

  *begin(): Iterable<Buffer> {
    const response = this.#response('in_progress')
    yield this.#frame('response.created', { response })
    yield this.#frame('response.in_progress', { response })
  }

  *piece(said: 'text' | 'thinking' | 'refusal', text: string): Iterable<Buffer> {
    const kind = said === 'thinking' && this.#wantsSummary ? 'summary' : said
    const { event, partEvent, part } = PARTS[kind]
    if (this.#open?.kind !== kind) {
      yield* this.#close('completed')
      const open: OpenItem = { kind, id: `${said === 'thinking' ? 'rs' : 'msg'}_${this.#itemId()}`, said: '' }
      this.#open = open
      yield this.#frame('response.output_item.added', { output_index: this.#output.length, item: itemOf(open, 'in_progress') })
      yield this.#frame(`${partEvent}.added`, { ...this.#place(open), part: part('') })
    }
    const open = this.#open
    if (open === null) return
    open.said += text
    yield this.#frame(`${event}.delta`, { ...this.#place(open), delta: text, ...(kind === 'text' && { logprobs: [] }) })
  }

  *openCall(call: OpenCall): Iterable<Buffer> {
    yield* this.#close('completed')
    yield this.#frame('response.output_item.added', { output_index: this.#output.length, item: this.#callItem(call, 'in_progress') })
  }

  *input(call: OpenCall, text: string): Iterable<Buffer> {
    yield this.#frame(`${callEvent(call)}.delta`, { item_id: this.#callId(call), output_index: this.#output.length, delta: text })
  }

  *closeCall(call: OpenCall): Iterable<Buffer> {
    const done = call.isCustom ? { input: call.input } : { name: call.name, arguments: call.input }
    yield this.#frame(`${callEvent(call)}.done`, { item_id: this.#callId(call), output_index: this.#output.length, ...done })
    yield* this.#done(this.#callItem(call, 'completed'))
  }

  *finish(reason: AnswerEnd): Iterable<Buffer> {
    const isCut = reason === 'length' || reason === 'refusal'
    const status = isCut ? 'incomplete' : 'completed'
    yield* this.#close(status)
    const details = isCut ? { reason: reason === 'length' ? 'max_output_tokens' : 'content_filter' } : null
    const usage = usageOf(this.usage)
    yield this.#frame(`response.${status}`, {
      response: { ...this.#response(status), incomplete_details: details, output: this.#output, usage },
    })
  }

  *fail(message: string, code: string): Iterable<Buffer> {
    yield this.#frame('error', { code, message, param: null })
  }

  /** Clients that ask for summaries show those, and nothing of the content. */
  get #wantsSummary(): boolean {
    const { summary, generate_summary } = objectOf(this.to.request['reasoning'])
    return typeof (summary ?? generate_summary) === 'string'
  }

  *#close(status: string): Iterable<Buffer> {
    const open = this.#open
    if (open === null) return
    this.#open = null
    const { event, partEvent, part, member } = PARTS[open.kind]
    yield this.#frame(`${event}.done`, { ...this.#place(open), [member]: open.said, ...(open.kind === 'text' && { logprobs: [] }) })
    yield this.#frame(`${partEvent}.done`, { ...this.#place(open), part: part(open.said) })
    yield* this.#done(itemOf(open, status))
  }

  *#done(item: JsonObject): Iterable<Buffer> {
    yield this.#frame('response.output_item.done', { output_index: this.#output.length, item })
    this.#output.push(item)
  }

  #frame(type: string, fields: JsonObject): Buffer {
    return writeEvent(type, JSON.stringify({ type, sequence_number: this.#sequence++, ...fields }))
  }

  #response(status: string): JsonObject {
    const { id, model, createdSeconds } = this.speaker
    const completed_at = status === 'completed' ? createdSeconds : null
    return {
      ...responseHead(this.to.request),
      id: `resp_${id}`,
      created_at: createdSeconds,
      completed_at,
      status,
      model,
      store: false,
      output: [],
      usage: null,
    }
  }

  #itemId(): string {
    return `${this.speaker.id}_${this.#output.length}`
  }

  #place(open: OpenItem): JsonObject {
    return { item_id: open.id, output_index: this.#output.length, [PARTS[open.kind].index]: 0 }
  }

  #callId({ isCustom }: OpenCall): string {
    return `${isCustom ? 'ctc' : 'fc'}_${this.#itemId()}`
  }

  #callItem(call: OpenCall, status: string): JsonObject {
    const { id: call_id, name, namespace, isCustom, input } = call
    const called = { id: this.#callId(call), call_id, name, ...(namespace !== null && { namespace }), status }
    return isCustom ? { ...called, type: 'custom_tool_call', input } : { ...called, type: 'function_call', arguments: input }
  }
}

const callEvent = ({ isCustom }: OpenCall): string => (isCustom ? 'response.custom_tool_call_input' : 'response.function_call_arguments')

function itemOf({ kind, id, said }: OpenItem, status: string): JsonObject {
  const parts = said === '' ? [] : [PARTS[kind].part(said)]
  if (kind === 'summary') return { id, type: 'reasoning', summary: parts }
  if (kind === 'thinking') return { id, type: 'reasoning', summary: [], content: parts }
  return { id, type: 'message', status, role: 'assistant', content: parts }
}

function usageOf({ input, cacheRead, output, thought }: Usage): JsonObject | null {
  if (input === null && output === null) return null
  return {
    input_tokens: input ?? 0,
    input_tokens_details: { cached_tokens: cacheRead ?? 0 },
    output_tokens: output ?? 0,
    output_tokens_details: { reasoning_tokens: thought ?? 0 },
    total_tokens: (input ?? 0) + (output ?? 0),
  }
}
