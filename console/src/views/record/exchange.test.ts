/** Stored exchanges as conversations: the three formats, whole and streamed, and shapes that are none. */
import { describe, expect, it } from 'vitest'
import { chatStreams } from '../../../../test/support/chat-streams.ts'
import { messageStreams } from '../../../../test/support/message-streams.ts'
import { brokenResponse, responseStreams } from '../../../../test/support/response-streams.ts'
import { exchangeOf } from './exchange.ts'

const PNG = 'iVBORw0KGgo='
const wholeOf = (streams: readonly { readonly name: string; readonly whole: object }[], name: string): object =>
  streams.find((stream) => stream.name === name)?.whole ?? {}
const text = (words: string) => ({ kind: 'text', text: words })
const thinking = (words: string) => ({ kind: 'thinking', text: words })
const partsOfAnswer = (response: unknown) => exchangeOf({ response }).answers[0]?.parts

describe('chat completions', () => {
  it('are a conversation with system, user, assistant and tool turns', () => {
    const call = { id: 'c1', type: 'function', function: { name: 'look', arguments: '{"at":1}' } }
    const { format, asked, settings, tools } = exchangeOf({
      model: 'm',
      temperature: 0.2,
      tools: [{ type: 'function', function: { name: 'look', description: 'Looks.' } }],
      messages: [
        { role: 'developer', content: 'be brief' },
        {
          role: 'user',
          content: [
            { type: 'text', text: 'what is it' },
            { type: 'image_url', image_url: { url: `data:image/png;base64,${PNG}` } },
          ],
        },
        { role: 'assistant', content: null, tool_calls: [call] },
        { role: 'tool', tool_call_id: 'c1', content: 'a cat' },
      ],
      response: wholeOf(chatStreams, 'text'),
    })
    expect(format).toBe('chat completions')
    expect(asked).toEqual([
      { role: 'developer', parts: [text('be brief')] },
      { role: 'user', parts: [text('what is it'), { kind: 'image', source: `data:image/png;base64,${PNG}` }] },
      { role: 'assistant', parts: [{ kind: 'call', name: 'look', callId: 'c1', input: '{\n  "at": 1\n}' }] },
      { role: 'tool', parts: [{ kind: 'result', callId: 'c1', isError: false, parts: [text('a cat')] }] },
    ])
    expect(tools).toEqual([{ name: 'look', description: 'Looks.' }])
    expect(settings).toEqual([
      ['model', 'm'],
      ['temperature', '0.2'],
    ])
  })

  it('show every choice with its reason to stop', () => {
    const { answers } = exchangeOf({ response: wholeOf(chatStreams, 'several choices, mixed up') })
    expect(answers).toEqual([
      { role: 'assistant', parts: [text('aA')], stop: 'length' },
      { role: 'assistant', parts: [text('bB')], stop: 'stop' },
    ])
  })

  it('show calls, refusals, reasoning and the older function call', () => {
    expect(partsOfAnswer(wholeOf(chatStreams, 'tool calls in pieces'))).toMatchObject([
      { name: 'look', callId: 'call_a' },
      { name: 'go', input: '{}' },
    ])
    expect(partsOfAnswer(wholeOf(chatStreams, 'a refusal'))).toEqual([{ kind: 'refusal', text: 'I will not' }])
    expect(partsOfAnswer(wholeOf(chatStreams, 'reasoning beside the text, and the older function call'))).toMatchObject([
      thinking('thinking'),
      { kind: 'call', name: 'f', input: '[]', callId: null },
    ])
  })

  it('show what was counted, with what was counted within', () => {
    const { usage } = exchangeOf({ response: wholeOf(chatStreams, 'a usage chunk with empty choices') })
    expect(usage).toEqual([
      ['prompt_tokens', '3'],
      ['completion_tokens', '4'],
      ['total_tokens', '7'],
      ['reasoning_tokens', '1'],
    ])
  })

  it('name a custom tool and its input', () => {
    const call = { id: 'c', type: 'custom', custom: { name: 'sh', input: 'ls' } }
    expect(partsOfAnswer({ choices: [{ message: { tool_calls: [call] } }] })).toMatchObject([{ name: 'sh', input: 'ls', callId: 'c' }])
  })
})

describe('messages', () => {
  it('have their system text first, and results of tools in the turn of the user', () => {
    const { format, asked } = exchangeOf({
      system: [{ type: 'text', text: 'be brief', cache_control: { type: 'ephemeral' } }],
      messages: [
        { role: 'assistant', content: [{ type: 'tool_use', id: 't1', name: 'look', input: { at: 1 } }] },
        {
          role: 'user',
          content: [
            { type: 'tool_result', tool_use_id: 't1', is_error: true, content: [{ type: 'text', text: 'no such place' }] },
            { type: 'image', source: { type: 'base64', media_type: 'image/jpeg', data: PNG } },
          ],
        },
      ],
      response: wholeOf(messageStreams, 'text with pings between'),
    })
    expect(format).toBe('messages')
    expect(asked).toEqual([
      { role: 'system', parts: [text('be brief')] },
      { role: 'assistant', parts: [{ kind: 'call', name: 'look', callId: 't1', input: '{\n  "at": 1\n}' }] },
      {
        role: 'user',
        parts: [
          { kind: 'result', callId: 't1', isError: true, parts: [text('no such place')] },
          { kind: 'image', source: `data:image/jpeg;base64,${PNG}` },
        ],
      },
    ])
  })

  it('show thinking, also where it is withheld, and the calls of tools', () => {
    expect(exchangeOf({ response: wholeOf(messageStreams, 'thinking with its signature, redacted thinking, then text') }).answers).toEqual([
      { role: 'assistant', parts: [thinking('let me see'), thinking('(withheld by the provider)'), text('yes')], stop: 'end_turn' },
    ])
    expect(partsOfAnswer(wholeOf(messageStreams, 'tool calls whose input comes as JSON text, and one without any'))).toMatchObject([
      { kind: 'call', name: 'look', callId: 'toolu_1' },
      { kind: 'call', name: 'web_search', input: '{}' },
    ])
  })

  it('show the arguments of a call as far as they came', () => {
    expect(partsOfAnswer({ content: [{ type: 'tool_use', id: 't', name: 'look', input: '{"at": [1' }] })).toMatchObject([
      { input: '{"at": [1' },
    ])
  })
})

const read = (name: string) => exchangeOf({ response: wholeOf(responseStreams, name) })

describe('responses', () => {
  it('show what one side says in several items as one turn', () => {
    const input = ['one', 'two'].map((content) => ({ role: 'user', content }))
    expect(exchangeOf({ input }).asked).toEqual([{ role: 'user', parts: [text('one'), text('two')] }])
  })

  it('read instructions, texts and items; what one side says in a row is one turn', () => {
    const { format, asked, answers } = exchangeOf({
      instructions: 'be brief',
      input: [
        { role: 'user', content: 'look there' },
        { type: 'reasoning', summary: [], encrypted_content: 'xx' },
        { type: 'function_call', call_id: 'c1', name: 'look', arguments: '{}' },
        { type: 'function_call_output', call_id: 'c1', output: [{ type: 'input_image', image_url: 'https://example.com/a.png' }] },
      ],
      response: wholeOf(responseStreams, 'items of every kind, completed'),
    })
    expect(format).toBe('responses')
    expect(asked).toEqual([
      { role: 'system', parts: [text('be brief')] },
      { role: 'user', parts: [text('look there')] },
      { role: 'assistant', parts: [thinking('(withheld by the provider)'), { kind: 'call', name: 'look', callId: 'c1', input: '{}' }] },
      {
        role: 'tool',
        parts: [
          {
            kind: 'result',
            callId: 'c1',
            isError: false,
            parts: [{ kind: 'address', what: 'image', address: 'https://example.com/a.png' }],
          },
        ],
      },
    ])
    expect(answers).toMatchObject([
      {
        role: 'assistant',
        stop: 'completed',
        parts: [
          thinking('I looked'),
          text('héllo 🌍'),
          { kind: 'refusal', text: 'not that' },
          { name: 'look' },
          { name: 'sh', input: 'ls -l' },
        ],
      },
    ])
  })

  it('say why they are not whole', () => {
    expect(read('an incomplete response').answers[0]?.stop).toBe('max_output_tokens')
    expect(read('a failed response')).toMatchObject({ trouble: 'it broke' })
    expect(
      exchangeOf({
        input: 'hi',
        response: { ...brokenResponse.whole, stream: true, complete: false, cause: 'the client closed the connection' },
      }),
    ).toMatchObject({
      isStreamed: true,
      trouble: 'the client closed the connection',
      asked: [{ role: 'user', parts: [text('hi')] }],
    })
  })

  it('show a picture that was made', () => {
    expect(partsOfAnswer({ output: [{ type: 'image_generation_call', result: PNG }] })).toEqual([
      { kind: 'image', source: `data:image/png;base64,${PNG}` },
    ])
  })
})
