import { describe, expect, it } from 'vitest'
import { summaryOf } from './summary.ts'

describe('the summary of an exchange', () => {
  it.each([
    ['chat completions', { prompt_tokens: 3, completion_tokens: 4 }],
    ['responses', { input_tokens: 3, output_tokens: 4 }],
    ['messages, where what came from the cache is counted beside', { input_tokens: 1, cache_read_input_tokens: 2, output_tokens: 4 }],
  ])('reads the tokens of %s', (_, usage) => {
    expect(summaryOf({}, { usage }, 0)).toEqual({ latency_ms: 0, input_tokens: 3, output_tokens: 4 })
  })

  it('names the model that answered, or else the one that was asked for', () => {
    expect(summaryOf({ model: 'asked' }, { model: 'answered' }, 0.25)).toEqual({ model: 'answered', latency_ms: 250 })
    expect(summaryOf({ model: 'asked' }, {}, 0)).toMatchObject({ model: 'asked' })
  })

  it('says nothing where an answer says nothing it could use', () => {
    const strange = { model: 7, usage: { prompt_tokens: 'many', completion_tokens: -1, output_tokens: null } }
    expect(summaryOf({ model: '' }, strange, -5)).toEqual({ latency_ms: 0 })
    expect(summaryOf({}, { usage: { prompt_tokens: 1.5, completion_tokens: 1e300 } }, 0)).toEqual({ latency_ms: 0 })
  })

  it('cuts a long name, but no character in half', () => {
    expect(summaryOf({ model: `${'m'.repeat(199)}😀` }, {}, 0).model).toBe(`${'m'.repeat(199)}\ufffd`)
  })
})
