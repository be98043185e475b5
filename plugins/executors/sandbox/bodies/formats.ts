/** What an agent may ask of a model, in each format: the conversation, its own tools, and how to answer. Nothing that the provider would do itself. */
import { base64, count, flag, inline, list, members, number, plain, text, textOr, typed, word, type Shape } from './shape.ts'

const type = text
const cache_control = members({ type: word('ephemeral'), ttl: word('5m', '1h') }, ['type'])
const sampling = { temperature: number, top_p: number, top_k: number, stream: flag }
const schema = members({ name: text, description: text, schema: plain, strict: flag })

/** A choice among the agent's own tools. */
const choiceKinds = typed({
  function: members({ type, name: text, function: members({ name: text }, ['name']) }),
  custom: members({ type, name: text, custom: members({ name: text }, ['name']) }),
  auto: members({ type, disable_parallel_tool_use: flag }),
  any: members({ type, disable_parallel_tool_use: flag }),
  none: members({ type }),
  tool: members({ type, name: text, disable_parallel_tool_use: flag }, ['name']),
})
const tool_choice: Shape = (value, at, drop) =>
  typeof value === 'string' ? word('auto', 'none', 'required', 'any')(value, at, drop) : choiceKinds(value, at, drop)

const chatPart = typed({
  text: members({ type, text, cache_control }, ['text']),
  refusal: members({ type, refusal: text }, ['refusal']),
  image_url: members({ type, image_url: members({ url: inline, detail: text }, ['url']) }, ['image_url']),
  input_audio: members({ type, input_audio: members({ data: base64, format: text }, ['data']) }, ['input_audio']),
  file: members({ type, file: members({ filename: text, file_data: inline }, ['file_data']) }, ['file']),
})
const called = members({ name: text, arguments: text }, ['name'])
const chatCall = typed(
  {
    function: members({ id: text, index: count, type, function: called }, ['function']),
    custom: members({ id: text, type, custom: members({ name: text, input: text }, ['name']) }, ['custom']),
  },
  'function',
)
const role = word('system', 'developer', 'user', 'assistant', 'tool', 'function')
const functionOf = { name: text, description: text, parameters: plain, strict: flag }
const customOf = { name: text, description: text, format: plain }

export const chat: Shape = members({
  ...sampling,
  messages: list(
    members(
      {
        role,
        content: textOr(list(chatPart)),
        name: text,
        refusal: text,
        reasoning: text,
        reasoning_content: text,
        tool_calls: list(chatCall),
        tool_call_id: text,
        function_call: called,
        cache_control,
      },
      ['role'],
    ),
  ),
  tools: list(
    typed({
      function: members({ type, function: members(functionOf, ['name']), cache_control }, ['function']),
      custom: members({ type, custom: members(customOf, ['name']) }, ['custom']),
    }),
  ),
  tool_choice,
  parallel_tool_calls: flag,
  max_tokens: count,
  max_completion_tokens: count,
  n: word(1),
  stop: textOr(list(text)),
  seed: count,
  presence_penalty: number,
  frequency_penalty: number,
  reasoning_effort: text,
  verbosity: text,
  enable_thinking: flag,
  response_format: members({ type: word('text', 'json_object', 'json_schema'), json_schema: schema }, ['type']),
  stream_options: members({ include_usage: flag }),
})

const responsePart = typed({
  input_text: members({ type, text }, ['text']),
  output_text: members({ type, text }, ['text']),
  refusal: members({ type, refusal: text }, ['refusal']),
  input_image: members({ type, image_url: inline, detail: text }, ['image_url']),
  input_file: members({ type, filename: text, file_data: inline }, ['file_data']),
  summary_text: members({ type, text }, ['text']),
  reasoning_text: members({ type, text }, ['text']),
})
const output = textOr(list(responsePart))
/** Ids of stored items are left out: an item says itself what it holds. */
const item = typed(
  {
    message: members({ type, role, content: textOr(list(responsePart)), status: text, phase: text }, ['role']),
    function_call: members({ type, call_id: text, name: text, namespace: text, arguments: text, status: text }, ['call_id', 'name']),
    function_call_output: members({ type, call_id: text, output, status: text }, ['call_id', 'output']),
    custom_tool_call: members({ type, call_id: text, name: text, namespace: text, input: text, status: text }, ['call_id', 'name']),
    custom_tool_call_output: members({ type, call_id: text, output }, ['call_id', 'output']),
    // Without its content it would be looked up by its id.
    reasoning: members({ type, id: text, summary: list(responsePart), content: list(responsePart), encrypted_content: text }, [
      'encrypted_content',
    ]),
  },
  'message',
)
const responseTools = {
  function: members({ type, ...functionOf }, ['name']),
  custom: members({ type, ...customOf }, ['name']),
}

export const responses: Shape = members({
  ...sampling,
  instructions: text,
  input: textOr(list(item)),
  tools: list(
    typed({
      ...responseTools,
      namespace: members({ type, name: text, description: text, tools: list(typed(responseTools)) }, ['name', 'tools']),
    }),
  ),
  tool_choice,
  parallel_tool_calls: flag,
  max_output_tokens: count,
  reasoning: members({ effort: text, summary: text }),
  include: list(word('reasoning.encrypted_content')),
  text: members({
    verbosity: text,
    format: members({ type: word('text', 'json_object', 'json_schema'), name: text, description: text, schema: plain, strict: flag }, [
      'type',
    ]),
  }),
  truncation: word('auto', 'disabled'),
  store: word(false),
})

const inlineSource = typed({
  base64: members({ type, media_type: text, data: base64 }, ['media_type', 'data']),
  text: members({ type, media_type: text, data: text }, ['data']),
})
const shownParts = {
  text: members({ type, text, cache_control }, ['text']),
  image: members({ type, source: inlineSource, cache_control }, ['source']),
  document: members({ type, source: inlineSource, title: text, context: text, cache_control }, ['source']),
}
const messagePart = typed({
  ...shownParts,
  tool_use: members({ type, id: text, name: text, input: plain, cache_control }, ['id', 'name', 'input']),
  tool_result: members({ type, tool_use_id: text, content: textOr(list(typed(shownParts))), is_error: flag, cache_control }, [
    'tool_use_id',
  ]),
  thinking: members({ type, thinking: text, signature: text }, ['thinking']),
  redacted_thinking: members({ type, data: text }, ['data']),
})
const outputFormat = members({ type: word('json_schema'), schema: plain }, ['type'])

const messageMembers = {
  system: textOr(list(typed({ text: shownParts.text }))),
  messages: list(members({ role: word('user', 'assistant', 'system'), content: textOr(list(messagePart)) }, ['role', 'content'])),
  tools: list(
    typed(
      { custom: members({ type, name: text, description: text, input_schema: plain, strict: flag, cache_control }, ['name']) },
      'custom',
    ),
  ),
  tool_choice,
  thinking: members({ type: word('enabled', 'disabled', 'adaptive'), budget_tokens: count, display: text }, ['type']),
  output_config: members({ effort: text, format: outputFormat }),
}

export const messages: Shape = members({ ...sampling, ...messageMembers, max_tokens: count, stop_sequences: list(text) })
export const countTokens: Shape = members(messageMembers)
