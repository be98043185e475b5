/** Hears chat completions, whole or streamed. */
import type { JsonObject } from '../../contract/index.ts'
import { failureOf, numberAt, stringAt } from '../stream.ts'
import { countAt, type AnswerEnd, type AnswerPiece, type PieceReader, type Usage } from '../translation/pieces.ts'
import { partsOf } from '../typed-parts.ts'
import { filledText, isObject, objectOf, objectsOf, parsed, textOf, wordsAt } from '../values.ts'

const REASONS: Readonly<Record<string, AnswerEnd>> = {
  stop: 'end',
  length: 'length',
  tool_calls: 'call',
  function_call: 'call',
  content_filter: 'refusal',
}

export class ChatHearing implements PieceReader {
  #hasBegun = false
  #hasEnded = false
  readonly #calls = new CallsInOrder();

  *take(chunk: JsonObject | null, data: string): Iterable<AnswerPiece> {
    if (chunk === null) {
      if (data.trim() === '[DONE]') yield { kind: 'over' }
      return
    }
    if ((chunk['error'] ?? null) !== null) {
      yield { kind: 'failure', message: failureOf(chunk['error']) }
      return
    }
    yield* this.#begin(chunk)
    for (const choice of objectsOf(chunk['choices'])) if ((choice['index'] ?? 0) === 0) yield* this.#hear(choice, objectOf(choice['delta']))
    if (isObject(chunk['usage'])) yield { kind: 'usage', usage: usageOf(chunk['usage']) }
  }

  *takeWhole(answer: JsonObject): Iterable<AnswerPiece> {
    yield* this.#begin(answer)
    const [choice] = objectsOf(answer['choices'])
    if (choice === undefined) yield { kind: 'failure', message: 'the upstream answered without a choice' }
    else yield* this.#hear(choice, objectOf(choice['message']))
    if (isObject(answer['usage'])) yield { kind: 'usage', usage: usageOf(answer['usage']) }
    yield { kind: 'over' }
  }

  *close(): Iterable<AnswerPiece> {
    if (this.#hasEnded) yield { kind: 'over' }
  }

  *#begin(chunk: JsonObject): Iterable<AnswerPiece> {
    if (this.#hasBegun) return
    this.#hasBegun = true
    yield { kind: 'begin', id: wordsAt(chunk, 'id'), model: wordsAt(chunk, 'model'), createdSeconds: numberAt(chunk, 'created') }
  }

  *#hear(choice: JsonObject, delta: JsonObject): Iterable<AnswerPiece> {
    const thought = stringAt(delta, 'reasoning_content') ?? stringAt(delta, 'reasoning') ?? ''
    if (thought !== '') yield* this.#calls.said({ kind: 'thinking', text: thought })
    for (const part of partsOf(delta['content'], 'content')) {
      if (part.kind === 'text') yield* this.#calls.said({ kind: 'text', text: part.text })
      else if (part.kind === 'thinking') yield* this.#calls.said({ kind: 'thinking', text: part.text ?? '' })
      else yield { kind: 'failure', message: `the upstream answered with a part of type ${part.kind}, which cannot be translated` }
    }
    const refusal = textOf(delta['refusal'])
    if (refusal !== '') yield* this.#calls.said({ kind: 'refusal', text: refusal })
    for (const call of objectsOf(delta['tool_calls'])) yield* this.#calls.take(call)
    const reason = filledText(choice['finish_reason'])
    if (reason === null) return
    yield* this.#calls.finish()
    this.#hasEnded = true
    yield { kind: 'end', reason: Object.hasOwn(REASONS, reason) ? (REASONS[reason] ?? 'end') : 'end' }
  }
}

interface HeldCall {
  readonly id: string | null
  readonly name: string
  /** All that came of it, to know when it is whole. */
  input: string
  /** How much of it was passed on. */
  passed: number
  /** How much of it was seen not to be whole. */
  partial: number
}

/**
 * The pieces of several calls may come mixed up, and every other format says one call after the other. The first open call is passed on as it
 * comes; what comes besides it waits until its input is whole JSON, which nothing can be added to.
 */
class CallsInOrder {
  readonly #calls = new Map<number, HeldCall>()
  /** Behind the open call, in the order they began. */
  #waiting: (HeldCall | AnswerPiece)[] = []
  #open: HeldCall | null = null;

  /** Something other than a call. */
  *said(said: AnswerPiece): Iterable<AnswerPiece> {
    yield* this.#closeIfWhole()
    if (this.#open === null) yield said
    else this.#waiting.push(said)
  }

  *take(piece: JsonObject): Iterable<AnswerPiece> {
    const called = { ...objectOf(piece['custom']), ...objectOf(piece['function']) }
    const [id, name] = [wordsAt(piece, 'id'), textOf(called['name'])]
    const isNamed = id !== null || name !== ''
    const index = numberAt(piece, 'index') ?? (isNamed ? this.#calls.size : Math.max(0, this.#calls.size - 1))
    const text = textOf(called['arguments'] ?? called['input'])
    let call = this.#calls.get(index)
    // Some upstreams give all calls the same index. A new id alone does not begin a call: some give every piece one.
    if (call === undefined || (name !== '' && id !== null && call.id !== null && call.id !== id)) {
      call = { id, name, input: '', passed: 0, partial: 0 }
      this.#calls.set(index, call)
      yield* this.#closeIfWhole()
      if (this.#open === null) yield* this.#openCall(call)
      else this.#waiting.push(call)
    }
    call.input += text
    if (call === this.#open) yield* this.#pass(call)
  }

  *finish(): Iterable<AnswerPiece> {
    while (this.#open !== null) yield* this.#close()
    this.#calls.clear()
  }

  *#closeIfWhole(): Iterable<AnswerPiece> {
    while (this.#open !== null && isWhole(this.#open)) yield* this.#close()
  }

  *#close(): Iterable<AnswerPiece> {
    this.#open = null
    yield { kind: 'called' }
    const waiting = this.#waiting
    for (const [at, next] of waiting.entries()) {
      if ('kind' in next) {
        yield next
        continue
      }
      this.#waiting = waiting.slice(at + 1)
      yield* this.#openCall(next)
      return
    }
    this.#waiting = []
  }

  *#openCall(call: HeldCall): Iterable<AnswerPiece> {
    this.#open = call
    yield { kind: 'call', id: call.id, name: call.name }
    yield* this.#pass(call)
  }

  *#pass(call: HeldCall): Iterable<AnswerPiece> {
    if (call.passed === call.input.length) return
    yield { kind: 'input', text: call.input.slice(call.passed) }
    call.passed = call.input.length
  }
}

/** What did not grow since is not read again. */
function isWhole(call: HeldCall): boolean {
  if (call.partial === call.input.length) return false
  const isObjectNow = isObject(parsed(call.input))
  if (!isObjectNow) call.partial = call.input.length
  return isObjectNow
}

function usageOf(usage: JsonObject): Usage {
  return {
    input: countAt(usage, 'prompt_tokens'),
    cacheRead: countAt(objectOf(usage['prompt_tokens_details']), 'cached_tokens'),
    cacheWrite: null,
    output: countAt(usage, 'completion_tokens'),
    thought: countAt(objectOf(usage['completion_tokens_details']), 'reasoning_tokens'),
  }
}
