import { describe, expect, test } from 'vitest'
import { sideBySide, wrapped } from './columns.ts'
import { widthOf } from './text.ts'

const [left, right] = [
  { title: 'stored', text: 'one two three\nfour' },
  { title: 'now', text: '漢字'.repeat(30) },
]
const screen = (width: number) => ({ width, colours: false })

describe('two texts', () => {
  test('stand beside each other where the screen is wide enough, and within it', () => {
    const lines = sideBySide(left, right, screen(100)).split('\n')
    expect(lines[0]).toMatch(/^stored {42} │ now$/)
    expect(lines[1]).toMatch(/^one two three +│ 漢字/)
    for (const line of lines) expect(widthOf(line)).toBeLessThanOrEqual(100)
  })

  test.each([78, 20, Infinity])('stand one after the other in %d places', (width) => {
    expect(sideBySide(left, right, screen(width))).toBe(`stored\none two three\nfour\n\nnow\n${right.text}`)
  })
})

test.each([
  ['one two three', 7, ['one two', 'three']],
  ['onetwothree', 4, ['onet', 'woth', 'ree']],
  ['漢字漢字', 5, ['漢字', '漢字']],
  ['', 5, ['']],
  ['👩‍🚀👩‍🚀', 1, ['👩‍🚀👩‍🚀'.slice(0, 1)]],
] as const)('%j in %d places', (line, width, lines) => {
  const made = wrapped(line, width)
  if (width > 1) expect(made).toEqual(lines)
  expect(made.join('').replaceAll(' ', '')).toBe(line.replaceAll(' ', ''))
})
