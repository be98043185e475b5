/** Hears responses, whole or streamed. */
import type { JsonObject } from '../../contract/index.ts'
import { failureOf, numberAt, stringAt } from '../stream.ts'
import { countAt, type AnswerEnd, type AnswerPiece, type PieceReader, type Usage } from '../translation/pieces.ts'
import { filledText, isList, isObject, objectOf, objectsOf, textOf, wordsAt } from '../values.ts'

const DELTAS: Readonly<Record<string, 'text' | 'thinking' | 'refusal' | 'input'>> = {
  'response.output_text.delta': 'text',
  'response.refusal.delta': 'refusal',
  'response.reasoning_text.delta': 'thinking',
  'response.reasoning_summary_text.delta': 'thinking',
  'response.function_call_arguments.delta': 'input',
}

export class ResponsesHearing implements PieceReader {
  #hasBegun = false
  #hasCalls = false
  /** Whether the open item said anything in pieces; some upstreams give an item only when it is whole. */
  #isHeard = false
  #isCallOpen = false;

  *take(event: JsonObject | null): Iterable<AnswerPiece> {
    if (event === null) return
    const type = textOf(event['type'])
    if (isObject(event['response'])) yield* this.#begin(event['response'])
    const kind = Object.hasOwn(DELTAS, type) ? DELTAS[type] : undefined
    if (kind !== undefined) yield* this.#hear(kind, textOf(event['delta']))
    else if (type === 'response.output_item.added') yield* this.#open(objectOf(event['item']))
    else if (type === 'response.output_item.done') yield* this.#done(objectOf(event['item']))
    else if (type === 'response.completed' || type === 'response.incomplete' || type === 'response.failed')
      yield* this.#end(objectOf(event['response']))
    else if (type === 'error') yield failureIn(isObject(event['error']) ? event['error'] : event)
  }

  *takeWhole(answer: JsonObject): Iterable<AnswerPiece> {
    yield* this.#begin(answer)
    if (!isList(answer['output']) && !isObject(answer['error'])) yield { kind: 'failure', message: 'the upstream answered without output' }
    for (const item of objectsOf(answer['output'])) {
      yield* this.#open(item)
      yield* this.#done(item)
    }
    yield* this.#end(answer)
  }

  /** Without its last event the answer is not whole. */
  *close(): Iterable<AnswerPiece> {
    yield* []
  }

  *#begin(response: JsonObject): Iterable<AnswerPiece> {
    if (this.#hasBegun) return
    this.#hasBegun = true
    yield {
      kind: 'begin',
      id: wordsAt(response, 'id'),
      model: wordsAt(response, 'model'),
      createdSeconds: numberAt(response, 'created_at'),
    }
  }

  *#hear(kind: 'text' | 'thinking' | 'refusal' | 'input', text: string): Iterable<AnswerPiece> {
    if (text === '' || (kind === 'input' && !this.#isCallOpen)) return
    this.#isHeard = true
    yield { kind, text }
  }

  *#open(item: JsonObject): Iterable<AnswerPiece> {
    this.#isHeard = false
    const type = textOf(item['type'])
    if (type === 'function_call') {
      this.#hasCalls = true
      this.#isCallOpen = true
      yield { kind: 'call', id: wordsAt(item, 'call_id') ?? wordsAt(item, 'id'), name: textOf(item['name']) }
    } else if (type !== 'message' && type !== 'reasoning')
      yield { kind: 'failure', message: `the upstream answered with an item of type ${type}, which cannot be translated` }
  }

  *#done(item: JsonObject): Iterable<AnswerPiece> {
    if (!this.#isHeard) yield* wholeItem(item)
    if (this.#isCallOpen) yield { kind: 'called' }
    this.#isCallOpen = false
  }

  *#end(response: JsonObject): Iterable<AnswerPiece> {
    const { status, usage, incomplete_details: details, error } = response
    if (isObject(usage)) yield { kind: 'usage', usage: usageOf(usage) }
    if (status === 'failed' || isObject(error)) {
      yield failureIn(objectOf(error))
      return
    }
    yield { kind: 'end', reason: reasonOf(stringAt(objectOf(details), 'reason'), this.#hasCalls) }
    yield { kind: 'over' }
  }
}

function* wholeItem(item: JsonObject): Iterable<AnswerPiece> {
  const input = textOf(item['arguments'])
  if (item['type'] === 'function_call' && input !== '') yield { kind: 'input', text: input }
  for (const part of [...objectsOf(item['summary']), ...objectsOf(item['content'])]) {
    const type = textOf(part['type'])
    const text = textOf(part['text'] ?? part['refusal'])
    if (text !== '') yield { kind: type === 'refusal' ? 'refusal' : type === 'output_text' ? 'text' : 'thinking', text }
  }
}

function reasonOf(incomplete: string | null, hasCalls: boolean): AnswerEnd {
  if (incomplete === 'content_filter') return 'refusal'
  if (incomplete !== null) return 'length'
  return hasCalls ? 'call' : 'end'
}

function failureIn(error: JsonObject): AnswerPiece {
  const code = filledText(error['code'])
  return { kind: 'failure', message: failureOf(error), ...(code !== null && { code }) }
}

function usageOf(usage: JsonObject): Usage {
  return {
    input: countAt(usage, 'input_tokens'),
    cacheRead: countAt(objectOf(usage['input_tokens_details']), 'cached_tokens'),
    cacheWrite: null,
    output: countAt(usage, 'output_tokens'),
    thought: countAt(objectOf(usage['output_tokens_details']), 'reasoning_tokens'),
  }
}
