import { expect, test } from 'vitest'
import { wantsColours } from './surroundings.ts'

test.each([
  [{}, true, true],
  [{}, false, false],
  [{ NO_COLOR: '1' }, true, false],
  [{ NO_COLOR: '' }, true, true],
  [{ TERM: 'dumb' }, true, false],
  [{ FORCE_COLOR: '1', NO_COLOR: '1' }, false, true],
  [{ FORCE_COLOR: '0' }, true, false],
])('%j on a terminal (%s): %s', (environment, isTerminal, wanted) => {
  expect(wantsColours(environment, isTerminal)).toBe(wanted)
})
