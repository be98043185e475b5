/** What of a chat request can be translated. */
import type { JsonObject } from '../../contract/index.ts'
import { saidNumber, saidText, type AskedBesides } from '../translation/asked.ts'
import { fields, flag, hint, kinds, limit, list, number, object, only, read, text, textOr, type Rule } from '../translation/rules.ts'
import { objectOf, objectsOf, textOf } from '../values.ts'

const textPart = fields({ type: read, text, cache_control: hint })
const image = fields({ type: read, image_url: fields({ url: text, detail: hint }), cache_control: hint })
const texts = textOr(list(kinds({ text: textPart })))
const instruction = fields({ role: read, content: texts, cache_control: hint })

const call = kinds({
  function: fields({ type: read, id: text, index: read, function: fields({ name: text, arguments: text }), extra_content: hint }),
  custom: fields({ type: read, id: text, index: read, custom: fields({ name: text, input: text }) }),
})

const message = kinds(
  {
    system: instruction,
    developer: instruction,
    user: fields({ role: read, content: textOr(list(kinds({ text: textPart, image_url: image }))), cache_control: hint }),
    assistant: fields({
      role: read,
      content: textOr(list(kinds({ text: textPart, refusal: fields({ type: read, refusal: text }) }))),
      refusal: text,
      tool_calls: list(call),
      annotations: hint,
      reasoning_content: hint,
      reasoning: hint,
      reasoning_details: hint,
      cache_control: hint,
    }),
    tool: fields({ role: read, content: texts, tool_call_id: text, cache_control: hint }),
  },
  'role',
)

const tool = kinds({
  function: fields({
    type: read,
    function: fields({ name: text, description: text, parameters: object, strict: flag }),
    cache_control: hint,
  }),
  custom: fields({ type: read, custom: fields({ name: text, description: text, format: hint }) }),
})

const choice = kinds({
  function: fields({ type: read, function: fields({ name: text }) }),
  custom: fields({ type: read, custom: fields({ name: text }) }),
})

const format = kinds({
  text: fields({ type: read }),
  json_object: fields({ type: read }),
  json_schema: fields({ type: read, json_schema: fields({ name: text, schema: object, strict: flag, description: hint }) }),
})

export const chatFields: Rule = fields({
  model: text,
  messages: list(message),
  tools: list(tool),
  tool_choice: textOr(choice, only('auto', 'none', 'required')),
  parallel_tool_calls: flag,
  max_tokens: limit,
  max_completion_tokens: limit,
  stop: textOr(list(text)),
  response_format: format,
  temperature: number,
  top_p: number,
  seed: number,
  frequency_penalty: number,
  presence_penalty: number,
  reasoning_effort: text,
  stream: flag,
  stream_options: fields({ include_usage: flag, include_obfuscation: hint }),
  n: only(1),
  logprobs: only(false),
  top_logprobs: only(0),
  logit_bias: only({}),
  modalities: only(['text']),
  prediction: hint,
  verbosity: hint,
  user: hint,
  metadata: hint,
  store: hint,
  service_tier: hint,
  safety_identifier: hint,
  prompt_cache_key: hint,
  prompt_cache_retention: hint,
})

export function chatBesides(body: JsonObject): AskedBesides {
  const schema = objectOf(objectOf(body['response_format'])['json_schema'])
  return {
    effort: saidText(body, 'reasoning_effort'),
    seed: saidNumber(body, 'seed'),
    penalties: { frequency: saidNumber(body, 'frequency_penalty'), presence: saidNumber(body, 'presence_penalty') },
    strictTools: strictNames(objectsOf(body['tools']).map((one) => objectOf(one['function']))),
    names: { stops: 'stop', format: 'response_format', parallel: 'parallel_tool_calls' },
    formatName: textOf(schema['name']) || null,
    isFormatStrict: typeof schema['strict'] === 'boolean' ? schema['strict'] : null,
  }
}

export const strictNames = (tools: readonly JsonObject[]): ReadonlySet<string> =>
  new Set(tools.filter(({ strict }) => strict === true).map(({ name }) => textOf(name)))
