/** Hears generateContent, whole or streamed: a chunk of a stream is an answer of its own. */
import type { JsonObject } from '../../contract/index.ts'
import { failureOf } from '../stream.ts'
import { countAt, sumOf, type AnswerEnd, type AnswerPiece, type PieceReader, type Usage } from '../translation/pieces.ts'
import { filledText, isObject, objectOf, objectsOf, textOf, wordsAt } from '../values.ts'

const REASONS: Readonly<Record<string, AnswerEnd>> = {
  STOP: 'end',
  MAX_TOKENS: 'length',
  SAFETY: 'refusal',
  RECITATION: 'refusal',
  LANGUAGE: 'refusal',
  BLOCKLIST: 'refusal',
  PROHIBITED_CONTENT: 'refusal',
  SPII: 'refusal',
}

export class GeminiHearing implements PieceReader {
  #hasBegun = false
  #hasCalls = false
  #hasEnded = false;

  *take(chunk: JsonObject | null): Iterable<AnswerPiece> {
    if (chunk === null) return
    if (chunk['error'] !== undefined) {
      yield { kind: 'failure', message: failureOf(chunk['error']), code: textOf(objectOf(chunk['error'])['status']) }
      return
    }
    if (!this.#hasBegun)
      yield { kind: 'begin', id: wordsAt(chunk, 'responseId'), model: wordsAt(chunk, 'modelVersion'), createdSeconds: null }
    this.#hasBegun = true
    const [candidate] = objectsOf(chunk['candidates'])
    for (const part of objectsOf(objectOf(candidate?.['content'])['parts'])) yield* this.#hear(part)
    if (isObject(chunk['usageMetadata'])) yield { kind: 'usage', usage: usageOf(chunk['usageMetadata']) }
    const blocked = filledText(objectOf(chunk['promptFeedback'])['blockReason'])
    const reason = filledText(candidate?.['finishReason'])
    if (reason !== null) yield this.#end(reason)
    else if (blocked !== null) yield this.#end('SAFETY')
  }

  *takeWhole(answer: JsonObject): Iterable<AnswerPiece> {
    yield* this.take(answer)
    if (!this.#hasEnded) yield { kind: 'failure', message: 'the upstream answered without a candidate' }
    yield { kind: 'over' }
  }

  *close(): Iterable<AnswerPiece> {
    if (this.#hasEnded) yield { kind: 'over' }
  }

  *#hear(part: JsonObject): Iterable<AnswerPiece> {
    const { text, thought, functionCall: call } = part
    if (typeof text === 'string') {
      if (text !== '') yield { kind: thought === true ? 'thinking' : 'text', text }
      return
    }
    if (isObject(call)) {
      this.#hasCalls = true
      yield { kind: 'call', id: wordsAt(call, 'id'), name: textOf(call['name']) }
      yield { kind: 'input', text: JSON.stringify(objectOf(call['args'])) }
      yield { kind: 'called' }
      return
    }
    const what = Object.keys(part).find((name) => name !== 'thoughtSignature')
    if (what !== undefined)
      yield { kind: 'failure', message: `the upstream answered with a part of type ${what}, which cannot be translated` }
  }

  /** Of the other reasons none gives an answer that is whole, a call that it could not write for one. */
  #end(reason: string): AnswerPiece {
    this.#hasEnded = true
    const known = Object.hasOwn(REASONS, reason) ? REASONS[reason] : undefined
    if (known === undefined) return { kind: 'failure', message: `the upstream ended its answer with ${reason}` }
    return { kind: 'end', reason: known === 'end' && this.#hasCalls ? 'call' : known }
  }
}

function usageOf(usage: JsonObject): Usage {
  const thought = countAt(usage, 'thoughtsTokenCount')
  return {
    input: sumOf(countAt(usage, 'promptTokenCount'), countAt(usage, 'toolUsePromptTokenCount')),
    cacheRead: countAt(usage, 'cachedContentTokenCount'),
    cacheWrite: null,
    output: sumOf(countAt(usage, 'candidatesTokenCount'), thought),
    thought,
  }
}
