import { describe, expect, it } from 'vitest'
import { compare, folded, sideBySide, type DiffRow, type Fold } from './diff-rows.ts'

const SIGNS = { same: ' ', gone: '-', new: '+' } as const
const wordsIn = ({ words }: DiffRow): string => words.map(({ text, isChanged }) => (isChanged ? `[${text}]` : text)).join('')
const printed = (row: DiffRow | Fold): string => (row.kind === 'fold' ? `… ${row.count}` : `${SIGNS[row.kind]}${wordsIn(row)}`)
const rowsOf = (before: string, after: string): readonly DiffRow[] => compare(before, after)?.rows ?? []
const noise = (seed: number): string => Array.from({ length: 60_000 }, (_, n) => `${(n * seed) % 99_991}\n`).join('')
const lines = (count: number, from = 1): string => Array.from({ length: count }, (_, n) => `line ${n + from}\n`).join('')

describe('comparing two texts', () => {
  it('marks the words that changed within a line', () => {
    const rows = rowsOf('Answer in one sentence.\nBe kind.\n', 'Answer in two sentences.\nBe kind.\n')
    expect(rows.map(printed)).toEqual(['-Answer in [one] [sentence].', '+Answer in [two] [sentences].', ' Be kind.'])
  })

  it('marks no words in lines that have little in common', () => {
    expect(rowsOf('Never use tools.', 'Write Roman numerals in subtractive notation.').map(printed)).toEqual([
      '-Never use tools.',
      '+Write Roman numerals in subtractive notation.',
    ])
  })

  it('counts lines that came and went, and numbers them in each text', () => {
    const comparison = compare('a\nb\nc\n', 'a\nc\nd\ne\n')
    expect(comparison).toMatchObject({ added: 2, removed: 1 })
    expect(comparison?.rows.map(({ before, after }) => [before, after])).toEqual([
      [1, 1],
      [2, null],
      [3, 2],
      [null, 3],
      [null, 4],
    ])
  })

  it('of nothing and a text has every line as new', () => {
    expect(rowsOf('', 'one\ntwo\n').map(printed)).toEqual(['+one', '+two'])
  })

  it('sees no difference in how lines end', () => {
    expect(compare('a\r\nb', 'a\nb\n')).toMatchObject({ added: 0, removed: 0 })
  })

  it('writes out characters that would turn a line around', () => {
    expect(rowsOf('', 'invoice\u202Egnp.exe').map(printed)).toEqual(['+invoice⟦U+202E⟧gnp.exe'])
  })

  it('cuts a line that never ends, and compares none of its words', () => {
    const [gone, added] = rowsOf('x'.repeat(1_000_000), 'y'.repeat(1_000_000))
    expect(wordsIn(gone ?? added ?? { kind: 'same', before: 1, after: 1, words: [] })).toMatch(/^x{5000} … 995000 more characters$/)
  })

  it('gives up on texts that are too large and too different', () => {
    expect(compare(noise(7919), noise(104_729))).toBeNull()
  })
})

describe('lines far from any change', () => {
  const rows = rowsOf(`${lines(20)}old\n${lines(5, 21)}`, `${lines(20)}new\n${lines(5, 21)}`)

  it('are folded away, three around it stay', () => {
    expect(folded(rows, new Set()).map(printed).join('|')).toBe(
      '… 17| line 18| line 19| line 20|-old|+new| line 21| line 22| line 23| line 24| line 25',
    )
  })

  it('are shown once somebody opens them', () => {
    expect(folded(rows, new Set([0]))).toEqual(rows)
  })

  it('are all there is of two equal texts', () => {
    expect(folded(rowsOf(lines(9), lines(9)), new Set()).map(printed)).toEqual(['… 9'])
  })
})

it('side by side, what went stands beside what came', () => {
  const pairs = sideBySide(folded(rowsOf('a\nb\nc\nz\n', 'a\nB\nz\n'), new Set()))
  const shown = pairs.map((pair) =>
    pair.kind === 'fold' ? printed(pair) : [pair.left && printed(pair.left), pair.right && printed(pair.right)],
  )
  expect(shown).toEqual([
    [' a', ' a'],
    ['-b', '+B'],
    ['-c', null],
    [' z', ' z'],
  ])
})
