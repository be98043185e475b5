/** How a change of a text is told. */
import { describe, expect, it } from 'vitest'
import { diffOf, Watch, type Line } from './diff.ts'

const ample = (): Watch => new Watch(60_000)

/** "- old [word]" with marked words in brackets. */
const told = (lines: readonly Line[] | null): readonly string[] | undefined =>
  lines?.map((line) => {
    if (line.kind === 'gap') return `@ ${line.count}`
    const sign = { same: ' ', del: '-', ins: '+' }[line.kind]
    return `${sign} ${line.parts.map(({ text, isMarked }) => (isMarked ? `[${text}]` : text)).join('')}`
  })

const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, n) => `line ${n + 1}`)

const manyLines = (word: string): string => Array.from({ length: 5000 }, (_, n) => `${word} ${n}`).join('\n')

describe('a change', () => {
  it('is told with three lines around it, and the others counted', () => {
    const before = numbered(20)
    const after = before.with(9, 'another thing')
    expect(told(diffOf(before.join('\n'), after.join('\n'), ample()))).toEqual([
      '@ 6',
      '  line 7',
      '  line 8',
      '  line 9',
      '- line 10',
      '+ another thing',
      '  line 11',
      '  line 12',
      '  line 13',
      '@ 7',
    ])
  })

  it('marks the words that differ in lines that have most in common', () => {
    expect(told(diffOf('keep it short and plain', 'keep it long and plain', ample()))).toEqual([
      '- keep it [short] and plain',
      '+ keep it [long] and plain',
    ])
  })

  it('sets removed lines against those that took their place, and leaves the rest as they are', () => {
    expect(told(diffOf('a b c d\nnext', 'a b c e\nnew\nnext', ample()))).toEqual(['- a b c [d]', '+ a b c [e]', '+ new', '  next'])
  })

  it('tells a line end at the very end', () => {
    expect(told(diffOf('a', 'a\n', ample()))).toEqual(['  a', '+ '])
  })

  it('of nothing is nothing but additions', () => {
    expect(told(diffOf('', 'a', ample()))).toEqual(['- ', '+ a'])
  })
})

describe('two texts', () => {
  it('that are too different to compare in time are not compared', () => {
    expect(diffOf(manyLines('one'), manyLines('other'), ample())).toBeNull()
  })

  it('are not compared once there is no time left', () => {
    expect(diffOf('a', 'b', new Watch(0))).toBeNull()
  })

  it('of which one is larger than any entry may be are not compared', () => {
    expect(diffOf('a', 'x'.repeat(600_000), ample())).toBeNull()
  })
})
