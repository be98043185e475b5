/** What of a responses request can be translated. */
import type { JsonObject } from '../../contract/index.ts'
import { strictNames } from '../chat/fields.ts'
import { NOTHING_BESIDES, saidText, type AskedBesides } from '../translation/asked.ts'
import {
  fields,
  flag,
  hint,
  kinds,
  limit,
  list,
  number,
  object,
  only,
  read,
  text,
  textOr,
  Untranslatable,
  type Rule,
} from '../translation/rules.ts'
import { isList, objectOf, objectsOf, textOf } from '../values.ts'

/** Items carry the names and states that they had at the provider. */
const item = { type: read, id: read, status: read }

const inputText = fields({ type: read, text })
const inputImage = fields({ type: read, image_url: text, detail: hint })

const message = fields({
  ...item,
  role: text,
  phase: hint,
  content: textOr(
    list(
      kinds({
        input_text: inputText,
        output_text: fields({ type: read, text, annotations: hint, logprobs: hint }),
        input_image: inputImage,
        refusal: fields({ type: read, refusal: text }),
      }),
    ),
  ),
})

const output = fields({ ...item, call_id: text, output: textOr(list(kinds({ input_text: inputText, input_image: inputImage }))) })

const inputItem = kinds({
  '': message,
  message,
  function_call: fields({ ...item, call_id: text, name: text, namespace: read, arguments: text }),
  function_call_output: output,
  custom_tool_call: fields({ ...item, call_id: text, name: text, namespace: read, input: text }),
  custom_tool_call_output: output,
  reasoning: hint,
})

const ownTool = {
  function: fields({ type: read, name: text, description: text, parameters: object, strict: flag }),
  custom: fields({ type: read, name: text, description: text, format: hint }),
}
const tool = kinds({
  ...ownTool,
  namespace: fields({ type: read, name: text, description: hint, tools: list(kinds(ownTool)) }),
})

const named = fields({ type: read, name: text })

const format = kinds({
  text: fields({ type: read }),
  json_object: fields({ type: read }),
  json_schema: fields({ type: read, name: text, schema: object, strict: flag, description: hint }),
})

/** Thoughts are not given back to a model of another format, so that their keys are of no use. */
const include: Rule = (value, where, leftOut) => {
  for (const [at, wanted] of (isList(value) ? value : [value]).entries())
    if (wanted === 'reasoning.encrypted_content') leftOut.push(`${where}.${at}`)
    else throw new Untranslatable(`${where}.${at}`, 'it has no counterpart')
}

export const responsesFields: Rule = fields({
  model: text,
  instructions: text,
  input: textOr(list(inputItem)),
  tools: list(tool),
  tool_choice: textOr(kinds({ function: named, custom: named }), only('auto', 'none', 'required')),
  parallel_tool_calls: flag,
  max_output_tokens: limit,
  temperature: number,
  top_p: number,
  text: fields({ format, verbosity: hint }),
  reasoning: fields({ effort: text, summary: hint, generate_summary: hint }),
  stream: flag,
  stream_options: fields({ include_obfuscation: hint }),
  include,
  background: only(false),
  truncation: only('disabled'),
  top_logprobs: only(0),
  store: hint,
  metadata: hint,
  client_metadata: hint,
  user: hint,
  service_tier: hint,
  safety_identifier: hint,
  prompt_cache_key: hint,
  prompt_cache_retention: hint,
})

export function responsesBesides(body: JsonObject): AskedBesides {
  const schema = objectOf(objectOf(body['text'])['format'])
  const tools = objectsOf(body['tools']).flatMap((one) => (one['type'] === 'namespace' ? objectsOf(one['tools']) : [one]))
  return {
    ...NOTHING_BESIDES,
    names: { stops: 'stop', format: 'text.format', parallel: 'parallel_tool_calls' },
    effort: saidText(objectOf(body['reasoning']), 'effort', 'reasoning.'),
    strictTools: strictNames(tools),
    formatName: textOf(schema['name']) || null,
    isFormatStrict: typeof schema['strict'] === 'boolean' ? schema['strict'] : null,
  }
}
