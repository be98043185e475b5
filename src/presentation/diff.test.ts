/** The difference of two texts, line by line and word by word. */
import { describe, expect, it } from 'vitest'
import { compare, sideBySide, timeFor, withGaps, type DiffGap, type DiffLimits, type DiffLine } from './diff.ts'

const ample = (): DiffLimits => ({ timeLeft: timeFor(60_000) })
const SIGNS = { same: ' ', removed: '-', added: '+' } as const

/** "-old [word]" with marked words in brackets. */
const printed = (line: DiffLine | DiffGap): string =>
  line.kind === 'gap'
    ? `… ${line.count}`
    : `${SIGNS[line.kind]}${line.parts.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join('')}`
const linesOf = (before: string, after: string): readonly DiffLine[] => compare(before, after, ample())?.lines ?? []
const diff = (before: string, after: string): readonly string[] => withGaps(linesOf(before, after)).map(printed)
const lines = (count: number, from = 1): string => Array.from({ length: count }, (_, n) => `line ${n + from}\n`).join('')
const noise = (seed: number): string => Array.from({ length: 60_000 }, (_, n) => `${(n * seed) % 99_991}\n`).join('')

describe('a change', () => {
  it.each([
    [
      'marks the words that differ in lines that have most in common',
      'Answer in one sentence.\nBe kind.\n',
      'Answer in two sentences.\nBe kind.\n',
      ['-Answer in [one] [sentence].', '+Answer in [two] [sentences].', ' Be kind.'],
    ],
    [
      'marks no words in lines that have little in common',
      'Never use tools.',
      'Write Roman numerals.',
      ['-Never use tools.', '+Write Roman numerals.'],
    ],
    [
      'compares removed lines with those that replaced them, and leaves the rest as they are',
      'a b c d\nnext',
      'a b c e\nnew\nnext',
      ['-a b c [d]', '+a b c [e]', '+new', ' next'],
    ],
    ['of an empty text has additions alone', '', 'one\ntwo\n', ['+one', '+two']],
    ['of an empty text and a long one leaves no line out', '', lines(20), Array.from({ length: 20 }, (_, n) => `+line ${n + 1}`)],
  ])('%s', (_, before, after, shown) => {
    expect(diff(before, after)).toEqual(shown)
  })

  it('counts the lines, and numbers them in each text', () => {
    const made = compare('a\nb\nc\n', 'a\nc\nd\ne\n', ample())
    expect(made).toMatchObject({ added: 2, removed: 1 })
    expect(made?.lines.map(({ before, after }) => [before, after])).toEqual([
      [1, 1],
      [2, null],
      [3, 2],
      [null, 3],
      [null, 4],
    ])
  })

  it('of line endings alone is none', () => {
    expect(compare('a\r\nb', 'a\nb\n', ample())).toMatchObject({ added: 0, removed: 0 })
  })

  it('cuts a very long line, and compares none of its words', () => {
    expect(diff('x'.repeat(1_000_000), 'y'.repeat(1_000_000))[0]).toMatch(/^-x{2000} … 998000 more characters$/)
  })
})

describe('lines far from any change', () => {
  const all = linesOf(`${lines(20)}old\n${lines(5, 21)}`, `${lines(20)}new\n${lines(5, 21)}`)

  it('are left out and counted, three around it stay', () => {
    expect(withGaps(all).map(printed).join('|')).toBe(
      '… 17| line 18| line 19| line 20|-old|+new| line 21| line 22| line 23| line 24| line 25',
    )
  })

  it('are shown once they are opened', () => {
    expect(withGaps(all, new Set([0]))).toEqual(all)
  })

  it('are all there is of two equal texts', () => {
    expect(diff(lines(9), lines(9))).toEqual(['… 9'])
  })
})

it('side by side, a removed line stands beside the one that replaced it', () => {
  const pairs = sideBySide(withGaps(linesOf('a\nb\nc\nz\n', 'a\nB\nz\n')))
  const shown = pairs.map((pair) =>
    pair.kind === 'gap' ? printed(pair) : [pair.left && printed(pair.left), pair.right && printed(pair.right)],
  )
  expect(shown).toEqual([
    [' a', ' a'],
    ['-b', '+B'],
    ['-c', null],
    [' z', ' z'],
  ])
})

it.each<[string, string, string, Partial<DiffLimits>]>([
  ['they are too different to be compared in time', noise(7919), noise(104_729), { timeLeft: timeFor(500) }],
  ['more lines differ than may', lines(5000), lines(5000, 10_000), { lineEditsMax: 500 }],
  ['there is no time left', 'a', 'b', { timeLeft: () => 0 }],
  ['one of them is larger than it may be', 'a', 'x'.repeat(600_000), { charactersMax: 500_000 }],
])('two texts are not compared when %s', (_, before, after, limits) => {
  expect(compare(before, after, { ...ample(), ...limits })).toBeNull()
})
