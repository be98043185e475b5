/** Says an answer of another format as the chunks of generateContent. */
import type { JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { parsedExactly } from '../digits.ts'
import type { AnswerEnd, Usage } from '../translation/pieces.ts'
import { AnswerWriting, type OpenCall } from '../translation/writing.ts'
import { isObject } from '../values.ts'

const REASONS = { end: 'STOP', stop: 'STOP', call: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' } as const

export class GeminiSaying extends AnswerWriting {
  #isCallBroken = false;

  *begin(): Iterable<Buffer> {
    yield* []
  }

  /** There is no part for a refusal: it is a text, and the reason to stop. */
  *piece(kind: 'text' | 'thinking' | 'refusal', text: string): Iterable<Buffer> {
    yield this.#chunk({ content: { parts: [{ text, ...(kind === 'thinking' && { thought: true }) }], role: 'model' } })
  }

  *openCall(): Iterable<Buffer> {
    yield* []
  }

  *input(): Iterable<Buffer> {
    yield* []
  }

  /** A call is one part: it is passed on when its input is whole. One whose input is no object is not passed on at all, which the reason to stop says. */
  *closeCall({ id, name, input }: OpenCall): Iterable<Buffer> {
    const args = parsedExactly(input)
    if (isObject(args)) yield this.#chunk({ content: { parts: [{ functionCall: { id, name, args } }], role: 'model' } })
    else this.#isCallBroken = true
  }

  *finish(reason: AnswerEnd): Iterable<Buffer> {
    const usage = usageOf(this.usage)
    const isBroken = this.#isCallBroken && reason === 'call'
    yield this.#chunk(
      { finishReason: isBroken ? 'MALFORMED_FUNCTION_CALL' : REASONS[reason] },
      usage === null ? {} : { usageMetadata: usage },
    )
  }

  *fail(message: string): Iterable<Buffer> {
    yield frame({ error: { code: 502, message, status: 'UNAVAILABLE' } })
  }

  #chunk(candidate: JsonObject, more: JsonObject = {}): Buffer {
    const { id, model } = this.speaker
    return frame({ candidates: [{ ...candidate, index: 0 }], ...more, modelVersion: model, responseId: id })
  }
}

const frame = (chunk: JsonObject): Buffer => writeEvent(null, JSON.stringify(chunk))

/** What was only thought is counted beside the output here. */
function usageOf({ input, output, cacheRead, thought }: Usage): JsonObject | null {
  if (input === null && output === null) return null
  return {
    promptTokenCount: input ?? 0,
    candidatesTokenCount: Math.max(0, (output ?? 0) - (thought ?? 0)),
    totalTokenCount: (input ?? 0) + (output ?? 0),
    ...(cacheRead !== null && { cachedContentTokenCount: cacheRead }),
    ...(thought !== null && { thoughtsTokenCount: thought }),
  }
}
