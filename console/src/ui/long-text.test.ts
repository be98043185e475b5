import { expect, it } from 'vitest'
import { morePieces, PIECE_CHARACTERS, piecesOf } from './long-text.tsx'

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
