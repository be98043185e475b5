import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { countTokens, firstTokens, streamPieces } from './tokens.ts'

describe('tokens', () => {
  it.each([
    ['', 0],
    ['word', 1],
    ['words', 2],
    ['Hello, world!', 6],
    ['   ', 1],
    ['12345', 2],
  ])('%j costs %i', (text, tokens) => {
    expect(countTokens(text)).toBe(tokens)
  })

  it('the first tokens of a text are its beginning and cost no more than asked', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.nat(20), (text, tokensMax) => {
        const first = firstTokens(text, tokensMax)
        return text.startsWith(first) && countTokens(first) <= tokensMax
      }),
    )
  })

  it('a text cut by its own count is whole, and its stream pieces are the text again', () => {
    fc.assert(
      fc.property(
        fc.string({ unit: 'grapheme' }),
        (text) => firstTokens(text, countTokens(text)) === text && streamPieces(text).join('') === text,
      ),
    )
  })
})
