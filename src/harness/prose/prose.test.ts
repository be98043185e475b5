import { describe, expect, it } from 'vitest'
import { screenProse } from './screen.ts'
import { ATTACKS } from './testing/attacks.ts'
import { EVERYDAY, HELD_THOUGH_ORDINARY } from './testing/everyday.ts'
import { ORDINARY } from './testing/ordinary.ts'
import { LIMITS, RED_TEAM } from './testing/red-team.ts'
import { linesOf } from './tokens.ts'

const whyNot = (text: string): readonly string[] => screenProse(linesOf(text)).map(({ why }) => why)

describe('an ordinary rule is plain prose', () => {
  it.each([...ORDINARY, ...EVERYDAY])('%s', (text) => {
    expect(whyNot(text)).toEqual([])
  })

  it('all of them together are', () => {
    expect(whyNot(ORDINARY.join('\n\n'))).toEqual([])
    expect(whyNot(EVERYDAY.map((text) => `- ${text}`).join('\n'))).toEqual([])
  })

  it('fewer than one in ten of them is held', () => {
    expect(HELD_THOUGH_ORDINARY.filter((text) => whyNot(text).length === 0)).toEqual([])
    expect(HELD_THOUGH_ORDINARY.length / (ORDINARY.length + EVERYDAY.length + HELD_THOUGH_ORDINARY.length)).toBeLessThan(0.1)
  })
})

describe('it is no plain prose, though its words are harmless:', () => {
  it.each(RED_TEAM)('%s: %s', (_, text) => {
    expect(whyNot(text)).not.toEqual([])
  })

  it('each of them, in a long text of ordinary rules', () => {
    const passed = RED_TEAM.filter(([, text]) => whyNot([...EVERYDAY, text, ...ORDINARY].join('\n\n')).length === 0)
    expect(passed).toEqual([])
  })
})

it('what only makes an answer worse is plain prose: evidence has to reject it', () => {
  expect(LIMITS.filter((text) => whyNot(text).length > 0)).toEqual([])
})

describe('it is no plain prose:', () => {
  it.each(ATTACKS)('%s', (_, text) => {
    expect(whyNot(text)).not.toEqual([])
  })

  it.each(ATTACKS)('%s, among ordinary rules', (_, text) => {
    expect(whyNot([...ORDINARY.slice(0, 9), text, ...ORDINARY.slice(9, 18)].join('\n'))).not.toEqual([])
  })
})

describe('blanks at the ends of lines', () => {
  const LINES = Array.from({ length: 9 }, () => 'Add numbers.')
  it.each<[string, readonly string[]]>([
    ['of two kinds', LINES.map((line, index) => line + (index % 2 === 0 ? ' ' : '\t'))],
    ['of one or two', LINES.map((line, index) => line + ' '.repeat(1 + (index % 2)))],
    ['at many ends', LINES.map((line) => `${line}\t`)],
    ['at one end', ['Add numbers. \t\t \t   \t']],
    ['in empty lines', [...LINES, ...LINES.flatMap((line) => [line, ' \t'])]],
    ['before carriage returns', LINES.map((line) => `${line} \r`)],
  ])('%s may spell something', (_, lines) => {
    expect(screenProse(lines)).toContainEqual(
      expect.objectContaining({ power: 'hidden', why: expect.stringContaining('blanks at the ends') }),
    )
  })

  it.each<[string, readonly string[]]>([
    ['that break lines in Markdown', LINES.map((line) => `${line}  `)],
    ['that an editor left in a few places', [...LINES, 'Add numbers. ', 'Add numbers.  ', '   ']],
    ['of which there are none', LINES],
  ])('%s spell nothing', (_, lines) => {
    expect(screenProse(lines)).toEqual([])
  })
})

/** Each is 256 KiB; a screen that is not linear would take minutes. */
const HUGE: readonly (readonly [string, string])[] = [
  ['one word', 'a'],
  ['one letter apart', 'a '],
  ['lines', '\n'],
  ['spaces', ' '],
  ['hyphens', '-'],
  ['backticks', '`'],
  ['dots', 'a.'],
  ['slashes', '/'],
  ['stars', '* '],
  ['letters apart that tell something', 'r u n '],
  ['pairs', 'read file '],
  ['unknown words', 'zxqv '],
  ['marks', '\u0301'],
  ['underscores', '_a'],
  ['digits and commas', '1,'],
  ['brackets', '[('],
  ['orders', 'to order '],
  ['people', 'them customer refund key '],
  ['list items', '- a\n'],
]

it.each(HUGE)('a huge text of %s takes a bounded time', (_, part) => {
  const { user } = process.cpuUsage()
  screenProse(linesOf(part.repeat(Math.floor((256 * 1024) / part.length))))
  expect((process.cpuUsage().user - user) / 1000).toBeLessThan(5000)
})
