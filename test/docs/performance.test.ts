/** The page about performance can take the benchmark's tables, and the soak's growth is the slope of a line. */
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import { sessionBodies } from '../../bench/session.ts'
import { slope } from '../../bench/stats.ts'
import { withBlocks } from '../../bench/tables.ts'

const PAGE = readFileSync(new URL('../../docs/performance.md', import.meta.url), 'utf8')

describe('the page about performance', () => {
  it('takes tables between its marks and keeps what people wrote', () => {
    const written = withBlocks(PAGE, [
      { titles: ['goal', 'wanted'], rows: [['speed', '1']] },
      '',
      { titles: ['a table without rows'], rows: [] },
    ])
    expect(written).toContain('\n\n| goal | wanted |\n| --- | --: |\n| speed | 1 |\n\n<!-- bench: end -->')
    expect(written).not.toContain('a table without rows')
    expect(written).toContain('## What limits it')
    expect(withBlocks(written, ['two\nlines'])).toContain('--page -->\n\ntwo\n\nlines\n\n<!-- bench: end -->')
  })

  it('is refused without its marks', () => {
    expect(() => withBlocks('# Performance\n', [])).toThrow('the page has no <!-- bench: begin')
  })
})

describe('the soak', () => {
  it('takes growth as the slope of the nearest line', () => {
    expect(
      slope([
        [0, 10],
        [1, 13],
        [2, 12],
        [3, 15],
      ]),
    ).toBeCloseTo(1.4)
    expect(slope([[1, 10]])).toBeNaN()
  })
})

describe('a session of the benchmark', () => {
  it('sends all earlier turns again, and the same for the same seed', () => {
    const [first = '', second = '', ...rest] = sessionBodies({ turns: 100, seed: 1 }, 'chat')
    const last: { readonly messages: readonly unknown[] } = JSON.parse(rest.at(-1) ?? '')
    expect(JSON.parse(second).messages.slice(0, 2)).toEqual(JSON.parse(first).messages)
    expect(last.messages).toHaveLength(200)
    expect(rest.at(-1)?.length).toBeGreaterThan(200_000)
    expect([...sessionBodies({ turns: 1, seed: 1 }, 'chat')]).toEqual([first])
    expect([...sessionBodies({ turns: 1, seed: 2 }, 'chat')]).not.toEqual([first])
  })
})
