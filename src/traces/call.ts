/** What the span of a call to the model says of it, in the words of the GenAI conventions. */
import { isObject, PRODUCT, type Dialect, type Json, type JsonObject } from '../contract/index.ts'
import { Attributes, shortened } from './attributes.ts'
import { inputMessages, instructionsOf, outputMessages } from './content.ts'
import { NAME } from './names.ts'
import type { TracedCall } from './request.ts'

const MODEL_CHARACTERS_MAX = 200

export function callName({ dialect, request: { model } }: TracedCall): string {
  const operation = operationOf(dialect)
  return typeof model === 'string' && model !== '' ? `${operation} ${shortened(model, MODEL_CHARACTERS_MAX)}` : operation
}

export function callAttributes(call: TracedCall, isWithContent: boolean): Attributes {
  const { dialect, model, request, begun, firstChunk, answer } = call
  const url = URL.canParse(model.url) ? new URL(model.url) : null
  const attributes = new Attributes()
    .text(NAME.operation, operationOf(dialect))
    .text(NAME.provider, providerOf(url, dialect))
    .text(NAME.serverAddress, url?.hostname)
    .whole(NAME.serverPort, url === null ? null : portOf(url))
    .text(NAME.requestModel, request['model'])
    .whole(NAME.maxTokens, request['max_tokens'] ?? request['max_completion_tokens'] ?? request['max_output_tokens'])
    .number(NAME.temperature, request['temperature'])
    .number(NAME.timeToFirstChunk, firstChunk === null ? null : (firstChunk - begun) / 1000)
  if (request['stream'] === true) attributes.flag(NAME.isStream, true)
  if (isWithContent) attributes.json(NAME.instructions, instructionsOf(request)).json(NAME.inputMessages, inputMessages(request))
  if (answer === null) return attributes
  const { fields, summary } = answer
  attributes
    .text(NAME.responseModel, fields['model'])
    .text(NAME.responseId, fields['id'])
    .texts(NAME.finishReasons, finishReasons(fields))
    .whole(NAME.inputTokens, summary.input_tokens)
    .whole(NAME.outputTokens, summary.output_tokens)
  return isWithContent ? attributes.json(NAME.outputMessages, outputMessages(fields)) : attributes
}

/** All three formats are conversations; only counting is something else. */
function operationOf(dialect: Dialect): string {
  return dialect === 'count_tokens' ? 'count_tokens' : 'chat'
}

/** Whose format it is, where the address does not tell more: many speak the format of one of the two. */
function providerOf(url: URL | null, dialect: Dialect): string {
  if (url === null) return PRODUCT
  return dialect === 'messages' || dialect === 'count_tokens' ? 'anthropic' : 'openai'
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}

/** One per choice; the formats that have a single answer say it once, each in its own place. */
function finishReasons(answer: JsonObject): readonly Json[] {
  const { choices, stop_reason, incomplete_details, status } = answer
  if (Array.isArray(choices)) return choices.flatMap((choice: Json) => (isObject(choice) ? (choice['finish_reason'] ?? []) : []))
  const incomplete = isObject(incomplete_details) ? incomplete_details['reason'] : undefined
  return [stop_reason ?? incomplete ?? status ?? null]
}
