/** What of a messages request can be translated. */
import type { JsonObject } from '../../contract/index.ts'
import { strictNames } from '../chat/fields.ts'
import { NOTHING_BESIDES, saidText, type AskedBesides } from '../translation/asked.ts'
import { fields, flag, hint, kinds, limit, list, number, object, only, read, text, textOr, type Rule } from '../translation/rules.ts'
import { objectOf, objectsOf } from '../values.ts'

const textBlock = fields({ type: read, text, cache_control: hint })
const image = fields({
  type: read,
  source: kinds({ base64: fields({ type: read, media_type: text, data: text }), url: fields({ type: read, url: text }) }),
  cache_control: hint,
})
const texts = textOr(list(kinds({ text: textBlock })))

const message = kinds(
  {
    system: fields({ role: read, content: texts }),
    user: fields({
      role: read,
      content: textOr(
        list(
          kinds({
            text: textBlock,
            image,
            tool_result: fields({
              type: read,
              tool_use_id: text,
              content: textOr(list(kinds({ text: textBlock, image }))),
              is_error: flag,
              cache_control: hint,
            }),
          }),
        ),
      ),
    }),
    assistant: fields({
      role: read,
      content: textOr(
        list(
          kinds({
            text: textBlock,
            tool_use: fields({ type: read, id: text, name: text, input: object, caller: hint, cache_control: hint }),
            thinking: hint,
            redacted_thinking: hint,
          }),
        ),
      ),
    }),
  },
  'role',
)

const ownTool = fields({
  type: read,
  name: text,
  description: text,
  input_schema: object,
  strict: flag,
  cache_control: hint,
  eager_input_streaming: hint,
})

const choice = { type: read, disable_parallel_tool_use: flag }

const format = kinds({ json_schema: fields({ type: read, schema: object }) })

export const messagesFields: Rule = fields({
  model: text,
  system: texts,
  messages: list(message),
  tools: list(kinds({ '': ownTool, custom: ownTool })),
  tool_choice: kinds({ auto: fields(choice), any: fields(choice), none: fields(choice), tool: fields({ ...choice, name: text }) }),
  max_tokens: limit,
  stop_sequences: list(text),
  temperature: number,
  top_p: number,
  top_k: number,
  stream: flag,
  output_config: fields({ effort: text, format }),
  output_format: format,
  mcp_servers: only([]),
  thinking: hint,
  context_management: hint,
  cache_control: hint,
  metadata: hint,
  service_tier: hint,
  betas: hint,
})

export const messagesBesides = (body: JsonObject): AskedBesides => ({
  ...NOTHING_BESIDES,
  names: { stops: 'stop_sequences', format: 'output_config.format', parallel: 'tool_choice.disable_parallel_tool_use' },
  effort: saidText(objectOf(body['output_config']), 'effort', 'output_config.'),
  strictTools: strictNames(objectsOf(body['tools'])),
})
