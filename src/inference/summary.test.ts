import { describe, expect, it } from 'vitest'
import { dialects } from '../dialects/index.ts'
import { summaryOf } from './serve.ts'

const { chat } = dialects

describe('the summary of an exchange', () => {
  it.each([
    ['chat', { prompt_tokens: 3, completion_tokens: 4 }],
    ['responses', { input_tokens: 3, output_tokens: 4 }],
    ['gemini', { promptTokenCount: 3, candidatesTokenCount: 1, thoughtsTokenCount: 3 }],
    ['messages', { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 4 }],
  ] as const)('reads the tokens of %s; in messages what came from the cache is counted beside', (name, usage) => {
    expect(summaryOf(dialects[name], '', { [dialects[name].answer.usage]: usage }, 0)).toEqual({
      latency_ms: 0,
      input_tokens: 3,
      output_tokens: 4,
    })
  })

  it('reads the tokens also where an upstream counts in the words of another format', () => {
    const counted = { latency_ms: 0, input_tokens: 3, output_tokens: 4 }
    expect(summaryOf(chat, '', { usage: { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 4 } }, 0)).toEqual(counted)
    expect(summaryOf(dialects.messages, '', { usage: { prompt_tokens: 3, completion_tokens: 4 } }, 0)).toEqual(counted)
  })

  it('names the model that answered, or else the one that was asked for', () => {
    expect(summaryOf(chat, 'asked', { model: 'answered' }, 0.25)).toEqual({ model: 'answered', latency_ms: 250 })
    expect(summaryOf(chat, 'asked', {}, 0)).toMatchObject({ model: 'asked' })
  })

  it('says nothing where an answer says nothing it could use', () => {
    const strange = { model: 7, usage: { prompt_tokens: 'many', completion_tokens: -1, output_tokens: null } }
    expect(summaryOf(chat, '', strange, -5)).toEqual({ latency_ms: 0 })
    expect(summaryOf(chat, '', { usage: { prompt_tokens: 1.5, completion_tokens: 1e300 } }, 0)).toEqual({ latency_ms: 0 })
  })

  it('cuts a long name, but no character in half', () => {
    expect(summaryOf(chat, `${'m'.repeat(199)}😀`, {}, 0).model).toBe(`${'m'.repeat(199)}\ufffd`)
  })
})
