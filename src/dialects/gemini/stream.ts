/** generateContent streamed: chunks that are answers of their own, without a terminal event; the receipt is on the last chunk. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { parseExactly } from '../digits.ts'
import { failureOf, numberAt, readObject, stringAt, withReceipt, type StreamReader } from '../stream.ts'
import { listOf, objectOf } from '../values.ts'

interface Candidate {
  readonly parts: Record<string, Json>[]
  role: string
  rest: JsonObject
}

export class GeminiReader implements StreamReader {
  /** A chunk that gives a reason to end, or follows when all candidates have given theirs, is the last one only when the stream ends after it. */
  readonly endsWithStream = true as const
  #head: JsonObject = {}
  readonly #candidates = new Map<number, Candidate>()
  failure: string | null = null

  take(frame: Buffer): boolean {
    const chunk = readObject(frame, parseExactly)
    if (chunk === null) return false
    const { candidates: _candidates, ...head } = chunk
    this.#head = { ...this.#head, ...head }
    const isFailure = chunk['error'] !== undefined
    if (isFailure) this.failure = failureOf(chunk['error'])
    let isEnd = stringAt(objectOf(chunk['promptFeedback']), 'blockReason') !== null
    for (const candidate of listOf(chunk['candidates'])) if (isObject(candidate) && this.#takeCandidate(candidate)) isEnd = true
    return isEnd || (!isFailure && this.#haveAllEnded)
  }

  /** Some send their counts in a chunk of their own behind that. */
  get #haveAllEnded(): boolean {
    const candidates = [...this.#candidates.values()]
    return candidates.length > 0 && candidates.every(({ rest }) => stringAt(rest, 'finishReason') !== null)
  }

  /** Whether it gives a reason to end. */
  #takeCandidate(given: JsonObject): boolean {
    const { content, index: _index, ...rest } = given
    const index = numberAt(given, 'index') ?? 0
    const candidate = this.#candidates.get(index) ?? { parts: [], role: 'model', rest: {} }
    this.#candidates.set(index, candidate)
    candidate.rest = { ...candidate.rest, ...rest }
    if (isObject(content)) {
      candidate.role = stringAt(content, 'role') ?? candidate.role
      for (const part of listOf(content['parts'])) if (isObject(part)) addPart(candidate.parts, part)
    }
    return stringAt(given, 'finishReason') !== null
  }

  answer(): JsonObject {
    const candidates = [...this.#candidates].sort(([a], [b]) => a - b)
    if (candidates.length === 0) return this.#head
    return {
      candidates: candidates.map(([index, { parts, role, rest }]) => ({ content: { parts, role }, ...rest, index })),
      ...this.#head,
    }
  }

  ending(terminal: Buffer, receipt: string): Buffer {
    return withReceipt(terminal, receipt)
  }

  failing(message: string): Buffer {
    return writeEvent(null, JSON.stringify({ error: { code: 502, message, status: 'UNAVAILABLE' } }))
  }
}

/** Texts grow; a part that has anything else to it, a signature for one, stays by itself. */
function addPart(parts: Record<string, Json>[], part: JsonObject): void {
  const last = parts.at(-1)
  if (last !== undefined && isPlain(last) && isPlain(part) && last['thought'] === part['thought'])
    last['text'] = `${stringAt(last, 'text')}${stringAt(part, 'text')}`
  else parts.push({ ...part })
}

const isPlain = (part: JsonObject): boolean =>
  typeof part['text'] === 'string' && Object.keys(part).every((key) => key === 'text' || key === 'thought')
