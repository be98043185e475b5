import { describe, expect, it } from 'vitest'
import { morePieces, PIECE_CHARACTERS, piecesOf } from './text.tsx'
import { visible } from './visible.ts'

describe('text that is shown', () => {
  it.each([
    ['an override that would turn the rest around', 'a\u202Eb\u202Cc', 'a[U+202E]b[U+202C]c'],
    ['isolates and marks', '\u2066x\u2069\u200E\u200F\u061C', '[U+2066]x[U+2069][U+200E][U+200F][U+061C]'],
    ['what takes no room', 'a\u200Bb\uFEFF', 'a[U+200B]b[U+FEFF]'],
    ['letters of the tag block, which spell hidden words', '\u{E0041}', '[U+E0041]'],
    ['control characters', '\0\x1b[31m\x7f\r', '[U+0000][U+001B][31m[U+007F][U+000D]'],
    ['half of a character', 'a\ud83d', 'a[U+D83D]'],
  ])('writes out %s', (_, text, shown) => {
    expect(visible(text)).toBe(shown)
  })

  it.each(['plain', 'two\nlines\tand a tab', 'עברית and العربية', '👩‍👩‍👧 é', '<script>alert(1)</script>'])('leaves %j as it is', (text) => {
    expect(visible(text)).toBe(text)
  })

  it('takes the line ends of other systems for line ends', () => {
    expect(visible('a\r\nb')).toBe('a\nb')
  })
})

it('a short text is one piece, an empty one none', () => {
  expect([piecesOf('hello', 5), piecesOf('', 5)]).toEqual([['hello'], []])
})

it('all pieces together are the text, and no piece is longer than allowed', () => {
  for (const text of ['x'.repeat(100_000), '🌍'.repeat(50_001), 'line of text\n'.repeat(10_000)]) {
    const pieces = piecesOf(text, Infinity)
    expect(pieces.join('')).toBe(text)
    for (const piece of pieces) expect(piece.length).toBeLessThanOrEqual(PIECE_CHARACTERS)
  }
})

it('a piece ends with a line, and never in the middle of a character', () => {
  expect(piecesOf('a line\n'.repeat(10_000), 1)[0]).toMatch(/line\n$/)
  expect(piecesOf(`x${'🌍'.repeat(20_000)}`, 1)[0]).toMatch(/🌍$/u)
})

it('ten million characters are reached in a few presses', () => {
  let [count, presses] = [1, 0]
  while (count * PIECE_CHARACTERS < 10_000_000) [count, presses] = [morePieces(count), presses + 1]
  expect(presses).toBeLessThan(15)
})
