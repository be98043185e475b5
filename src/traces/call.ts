/** What the span of a call to the model says of it, in the words of the GenAI conventions. */
import { PRODUCT, type Dialect, type ExchangeSummary, type JsonObject, type ModelAddress } from '../contract/index.ts'
import { dialects } from '../dialects/index.ts'
import { Attributes, shortened } from './attributes.ts'
import { inputMessages, instructionsOf, outputMessages } from './content.ts'
import { NAME } from './names.ts'

const MODEL_CHARACTERS_MAX = 200

/** The model call, including attempts that lost a race. */
export interface TracedCall {
  readonly dialect: Dialect
  readonly model: ModelAddress
  readonly request: JsonObject
  readonly begun: number
  firstChunk: number | null
  answer: { readonly fields: JsonObject; readonly summary: ExchangeSummary; readonly at: number } | null
}

export function callName({ dialect, request: { model } }: TracedCall): string {
  const operation = dialects[dialect].operation
  return typeof model === 'string' && model !== '' ? `${operation} ${shortened(model, MODEL_CHARACTERS_MAX)}` : operation
}

export function callAttributes(call: TracedCall, isWithContent: boolean): Attributes {
  const { dialect, model, request, begun, firstChunk, answer } = call
  const spec = dialects[dialect]
  const settings = spec.settingsIn(request)
  const url = URL.canParse(model.url) ? new URL(model.url) : null
  const attributes = new Attributes()
    .text(NAME.operation, spec.operation)
    // Whose format it is: an address says no more, since many speak the format of another.
    .text(NAME.provider, url === null ? PRODUCT : spec.provider)
    .text(NAME.serverAddress, url?.hostname)
    .whole(NAME.serverPort, url === null ? null : portOf(url))
    .text(NAME.requestModel, request['model'])
    .whole(NAME.maxTokens, settings.maxTokens)
    .number(NAME.temperature, settings.temperature)
    .number(NAME.timeToFirstChunk, firstChunk === null ? null : (firstChunk - begun) / 1000)
  if (request['stream'] === true) attributes.flag(NAME.isStream, true)
  if (isWithContent)
    attributes.json(NAME.instructions, instructionsOf(request, spec.reader)).json(NAME.inputMessages, inputMessages(request, spec.reader))
  if (answer === null) return attributes
  const { fields, summary } = answer
  attributes
    .text(NAME.responseModel, fields[spec.answer.model])
    .text(NAME.responseId, fields[spec.answer.id])
    .texts(NAME.finishReasons, spec.finishReasons(fields))
    .whole(NAME.inputTokens, summary.input_tokens)
    .whole(NAME.outputTokens, summary.output_tokens)
  return isWithContent ? attributes.json(NAME.outputMessages, outputMessages(fields, spec.reader)) : attributes
}

function portOf({ port, protocol }: URL): number {
  if (port !== '') return Number(port)
  return protocol === 'https:' ? 443 : 80
}
