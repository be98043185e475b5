/** Words of texts and of questions. */
import { describe, expect, it } from 'vitest'
import { hasTerms, searchTerms, searchWords } from './search-words.ts'

describe('words', () => {
  it('are letters and digits, in lower case, without accents', () => {
    expect(searchWords('Größe: ÉTÉ_2026 (naïve)—ＡＢＣ ½')).toEqual(['große', 'ete', '2026', 'naive', 'abc', '1', '2'])
  })

  it('are single characters where a script has no spaces between words', () => {
    expect(searchWords('abc你好x がカ 한국어')).toEqual(['abc', '你', '好', 'x', 'が', 'カ', '한국어'])
  })

  it('are cut where no one would type them, and none holds half a character', () => {
    expect(searchWords('a'.repeat(100_000))).toEqual(['a'.repeat(64)])
    expect(searchWords('\ud800 𐐨'.repeat(2)).every((word) => word.isWellFormed())).toBe(true)
  })

  it('of white space and signs alone there are none', () => {
    expect(searchWords(' \u0000 "*-()\n')).toEqual([])
  })
})

describe('a question', () => {
  it('has words, phrases, beginnings and what must not occur', () => {
    expect(searchTerms('refund "Not Found" order_id ref* -error -"too late"')).toEqual([
      { words: ['refund'], isBeginning: false, isExcluded: false },
      { words: ['not', 'found'], isBeginning: false, isExcluded: false },
      { words: ['order', 'id'], isBeginning: false, isExcluded: false },
      { words: ['ref'], isBeginning: true, isExcluded: false },
      { words: ['error'], isBeginning: false, isExcluded: true },
      { words: ['too', 'late'], isBeginning: false, isExcluded: true },
    ])
  })

  it('takes a quote that is not closed to the end, and signs for nothing', () => {
    expect(searchTerms('"open end').map(({ words }) => words)).toEqual([['open', 'end']])
    expect(searchTerms('- "" * AND')).toEqual([{ words: ['and'], isBeginning: false, isExcluded: false }])
  })
})

describe('a text', () => {
  const fields = ['The order was refunded, not found.', 'Sorry!'].map(searchWords)
  it.each([
    ['order sorry', true],
    ['"was refunded"', true],
    ['"refunded was"', false],
    ['"found sorry"', false],
    ['refund', false],
    ['refund*', true],
    ['order -sorry', false],
    ['order -missing', true],
  ])('has %s: %s', (question, isFound) => {
    expect(hasTerms(fields, searchTerms(question))).toBe(isFound)
  })
})
