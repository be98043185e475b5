/** Writes generateContent: answers, whole or as chunks, and requests. */
import type { ChatMessage, JsonObject } from '../../contract/index.ts'
import { writeEvent } from '../../kit/index.ts'
import { joinNeighbours, type ModelQuestion, type ModelReply, type Pieces, type ReplyCall } from '../conversation.ts'
import { isObject, objectOf, objectsOf, parsed, textOf } from '../values.ts'

export function writeGemini({ id, model, text, calls, ending, usage }: ModelReply): JsonObject {
  const parts = [...(text !== '' || calls.length === 0 ? [{ text }] : []), ...calls.map(callPart)]
  const reason = { end: 'STOP', stop: 'STOP', call: 'STOP', length: 'MAX_TOKENS', refusal: 'SAFETY' }[ending.kind]
  return {
    candidates: [{ content: { parts, role: 'model' }, finishReason: reason, index: 0 }],
    usageMetadata: { promptTokenCount: usage.input, candidatesTokenCount: usage.output, totalTokenCount: usage.input + usage.output },
    modelVersion: model,
    responseId: id,
  }
}

const callPart = ({ id, name, input }: ReplyCall): JsonObject => ({
  functionCall: { ...(id !== null && { id }), name, args: objectOf(parsed(input)) },
})

export function* geminiFrames(answer: JsonObject, _request: JsonObject, pieces: Pieces): Generator<Buffer> {
  const { candidates, usageMetadata = null, ...head } = answer
  const { content, finishReason = null } = objectOf(objectsOf(candidates)[0])
  const chunk = (part: JsonObject, end: JsonObject): Buffer => {
    const { finishReason: reason, ...rest } = end
    const candidate = { content: { parts: [part], role: 'model' }, ...(reason !== undefined && { finishReason: reason }), index: 0 }
    return writeEvent(null, JSON.stringify({ candidates: [candidate], ...rest, ...head }))
  }
  const parts = objectsOf(objectOf(content)['parts']).flatMap((part) => (isObject(part['functionCall']) ? [part] : cut(part, pieces)))
  const last = parts.pop() ?? { text: '' }
  for (const part of parts) yield chunk(part, {})
  yield chunk(last, { finishReason, usageMetadata })
}

const cut = (part: JsonObject, pieces: Pieces): JsonObject[] => pieces(textOf(part['text'])).map((text) => ({ ...part, text }))

export function writeGeminiRequest({ messages, tools, tokensMax }: ModelQuestion): JsonObject {
  const system = messages.flatMap(({ role, content }) => (role === 'system' ? [{ text: content }] : []))
  const names = new Map(
    messages.flatMap((message) => (message.role === 'assistant' ? (message.calls ?? []) : [])).map(({ id, name }) => [id, name]),
  )
  return {
    ...(system.length > 0 && { systemInstruction: { parts: system } }),
    // The answers to several calls are one content.
    contents: joinNeighbours(
      messages.filter(({ role }) => role !== 'system').map((message) => contentOf(message, names)),
      (last, { role, parts }) => ({ role, parts: [...last.parts, ...parts] }),
    ),
    ...(tools.length > 0 && {
      tools: [
        {
          functionDeclarations: tools.map(({ name, description, parameters }) => ({ name, description, parametersJsonSchema: parameters })),
        },
      ],
    }),
    ...(tokensMax !== null && { generationConfig: { maxOutputTokens: tokensMax } }),
  }
}

type Content = {
  readonly role: 'user' | 'model'
  readonly parts: readonly JsonObject[]
}

function contentOf(message: ChatMessage, names: ReadonlyMap<string, string>): Content {
  if (message.role === 'tool') {
    const { call_id: id, content } = message
    return { role: 'user', parts: [{ functionResponse: { id, name: names.get(id) ?? id, response: { result: content } } }] }
  }
  const said = message.content === '' ? [] : [{ text: message.content }]
  if (message.role !== 'assistant') return { role: 'user', parts: said }
  const calls = (message.calls ?? []).map(({ id, name, arguments: given }) => ({
    functionCall: { id, name, args: objectOf(parsed(given)) },
  }))
  return { role: 'model', parts: [...said, ...calls] }
}
