/** Hears messages, whole or streamed. */
import type { JsonObject } from '../../contract/index.ts'
import { failureOf, objectAt, stringAt } from '../stream.ts'
import { countAt, sumOf, type AnswerEnd, type AnswerPiece, type PieceReader, type Usage } from '../translation/pieces.ts'
import { filledText, isList, objectOf, objectsOf, textOf, wordsAt } from '../values.ts'

const REASONS: Readonly<Record<string, AnswerEnd>> = {
  end_turn: 'end',
  stop_sequence: 'stop',
  max_tokens: 'length',
  model_context_window_exceeded: 'length',
  tool_use: 'call',
  refusal: 'refusal',
}

export class MessagesHearing implements PieceReader {
  #usage: JsonObject = {}
  /** Of the open call: what it began with, until a piece of input comes. */
  #openCall: { input: JsonObject | null } | null = null;

  *take(event: JsonObject | null): Iterable<AnswerPiece> {
    if (event === null) return
    switch (textOf(event['type'])) {
      case 'message_start':
        yield* this.#begin(objectOf(event['message']))
        return
      case 'content_block_start':
        yield* this.#open(objectOf(event['content_block']))
        return
      case 'content_block_delta':
        yield* this.#hear(objectOf(event['delta']))
        return
      case 'content_block_stop':
        yield* this.#stop()
        return
      case 'message_delta':
        yield* this.#count(objectAt(event, 'usage') ?? {})
        yield* endOf(objectOf(event['delta']))
        return
      case 'message_stop':
        yield { kind: 'over' }
        return
      case 'error':
        yield { kind: 'failure', message: failureOf(event['error']), code: textOf(objectOf(event['error'])['type']) }
    }
  }

  *takeWhole(answer: JsonObject): Iterable<AnswerPiece> {
    if (!isList(answer['content'])) yield { kind: 'failure', message: 'the upstream answered without content' }
    yield* this.#begin(answer)
    for (const block of objectsOf(answer['content'])) {
      yield* this.#open(block)
      yield* this.#stop()
    }
    yield* endOf(answer)
    yield { kind: 'over' }
  }

  /** Without its last event the answer is not whole. */
  *close(): Iterable<AnswerPiece> {
    yield* []
  }

  *#begin(message: JsonObject): Iterable<AnswerPiece> {
    yield { kind: 'begin', id: wordsAt(message, 'id'), model: wordsAt(message, 'model'), createdSeconds: null }
    yield* this.#count(objectOf(message['usage']))
  }

  *#open(block: JsonObject): Iterable<AnswerPiece> {
    switch (block['type']) {
      case 'text':
        yield* said('text', block['text'])
        return
      case 'thinking':
        yield* said('thinking', block['thinking'])
        return
      case 'redacted_thinking':
        return
      case 'tool_use':
        this.#openCall = { input: objectOf(block['input']) }
        yield { kind: 'call', id: wordsAt(block, 'id'), name: textOf(block['name']) }
        return
      default:
        yield {
          kind: 'failure',
          message: `the upstream answered with a block of type ${textOf(block['type'])}, which cannot be translated`,
        }
    }
  }

  *#hear(delta: JsonObject): Iterable<AnswerPiece> {
    if (delta['type'] === 'text_delta') yield* said('text', delta['text'])
    else if (delta['type'] === 'thinking_delta') yield* said('thinking', delta['thinking'])
    else if (delta['type'] === 'input_json_delta') {
      const text = stringAt(delta, 'partial_json') ?? ''
      if (this.#openCall !== null && text !== '') this.#openCall.input = null
      if (text !== '') yield { kind: 'input', text }
    }
  }

  *#stop(): Iterable<AnswerPiece> {
    if (this.#openCall === null) return
    if (this.#openCall.input !== null) yield { kind: 'input', text: JSON.stringify(this.#openCall.input) }
    this.#openCall = null
    yield { kind: 'called' }
  }

  /** The counts of the beginning stand until the end says otherwise. */
  *#count(usage: JsonObject): Iterable<AnswerPiece> {
    this.#usage = { ...this.#usage, ...Object.fromEntries(Object.entries(usage).filter(([, count]) => count !== null)) }
    if (Object.keys(this.#usage).length > 0) yield { kind: 'usage', usage: usageOf(this.#usage) }
  }
}

function* said(kind: 'text' | 'thinking', value: JsonObject[string] | undefined): Iterable<AnswerPiece> {
  const text = textOf(value)
  if (text !== '') yield { kind, text }
}

function* endOf({ stop_reason, stop_sequence }: JsonObject): Iterable<AnswerPiece> {
  const reason = filledText(stop_reason)
  if (reason === null) return
  const sequence = filledText(stop_sequence)
  yield { kind: 'end', reason: Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? 'end') : 'end', ...(sequence !== null && { sequence }) }
}

function usageOf(usage: JsonObject): Usage {
  const [cacheRead, cacheWrite] = [countAt(usage, 'cache_read_input_tokens'), countAt(usage, 'cache_creation_input_tokens')]
  return {
    input: sumOf(countAt(usage, 'input_tokens'), cacheRead, cacheWrite),
    cacheRead,
    cacheWrite,
    output: countAt(usage, 'output_tokens'),
    thought: null,
  }
}
