import { expect, it } from 'vitest'
import { shortId } from './id.tsx'

it.each([
  ['161e0049d4f0aa0c7ad5b4b1a2f3e4d5c6b7a899', '161e0049d4'],
  ['01a1dd53a5f0700083cfdfa6703ee9ea', '01a1dd…3ee9ea'],
  ['old-1', 'old-1'],
  ['', ''],
])('%s is shown as %s', (id, short) => {
  expect(shortId(id)).toBe(short)
})
