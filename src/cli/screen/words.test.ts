import { expect, test } from 'vitest'
import { ago, bytes, duration, several, sparkline } from './words.ts'

test.each([
  [-60, 'now'],
  [1, 'now'],
  [5, '5 s ago'],
  [119, '119 s ago'],
  [121, '2 min ago'],
  [7300, '2 h ago'],
  [200_000, '2 d ago'],
])('%d seconds ago is %s', (seconds, words) => {
  expect(ago(1_700_000_000, 1_700_000_000 + seconds)).toBe(words)
})

test.each([
  [3.4, '3 ms'],
  [1234, '1.2 s'],
  [180_000, '3 min'],
])('%d milliseconds last %s', (milliseconds, words) => {
  expect(duration(milliseconds)).toBe(words)
})

test.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [2048, '2.0 KiB'],
  [5 * 1024 ** 3, '5.0 GiB'],
  [1024 ** 6, '1048576.0 TiB'],
])('%d bytes are %s', (count, words) => {
  expect(bytes(count)).toBe(words)
})

test('one is one, and more are many', () => {
  expect([several(1, 'record'), several(1200, 'record')]).toEqual(['1 record', '1,200 records'])
})

test('a sparkline goes from the lowest to the highest, and is level where nothing changes', () => {
  expect(sparkline([0.1, 0.5, 0.9])).toBe('▁▅█')
  expect(sparkline([0.3, 0.3])).toBe('▄▄')
})
