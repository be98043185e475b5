import { expect, it } from 'vitest'
import { pretty, prettyText } from './json.ts'

const nested = (depth: number): unknown => JSON.parse(`${'['.repeat(depth)}${']'.repeat(depth)}`)

it('a value is laid out, brackets and quotes in its texts notwithstanding', () => {
  const value = { a: ['x'], b: `\\"${'[{'.repeat(200)}` }
  expect(pretty(value)).toBe(JSON.stringify(value, null, 2))
})

it('a deep value stays on one line; one that this Node cannot print is reported as such', () => {
  expect(pretty(nested(1000))).toHaveLength(2000)
  expect(pretty(nested(1_000_000))).toMatch(/too deep|^\[+\]+$/)
})

it.each([
  ['{"a":1}', '{\n  "a": 1\n}'],
  ['{"a":', '{"a":'],
  ['plain words', 'plain words'],
  ['12', '12'],
])('the text %j is shown as %j', (text, shown) => {
  expect(prettyText(text)).toBe(shown)
})

it('a long text is not laid out again', () => {
  const long = JSON.stringify(['x'.repeat(500_000)])
  expect(prettyText(long)).toBe(long)
})
