import { expect, it } from 'vitest'
import { ago, brief, bytes, counted, duration, signed, whole } from './numbers.ts'

it.each([
  [0, '0 B'],
  [1023, '1023 B'],
  [1024, '1 KiB'],
  [3466, '3.38 KiB'],
  [21_474_836_480, '20 GiB'],
  [2 ** 60, '1020 PiB'],
  [Number.NaN, '0 B'],
])('%f bytes are %s', (count, text) => {
  expect(bytes(count)).toBe(text)
})

it.each([
  [0.0042, '4.2 ms'],
  [0.9, '900 ms'],
  [1.25, '1.3 s'],
  [119, '120 s'],
  [600, '10 min'],
  [9000, '2.5 h'],
])('%f seconds are %s', (seconds, text) => {
  expect(duration(seconds)).toBe(text)
})

it.each([
  [-30, 'just now'],
  [4.9, 'just now'],
  [59.9, '59 s ago'],
  [60, '1 min ago'],
  [3599, '59 min ago'],
  [3600, '1 h ago'],
  [86_400, '1 d ago'],
  [86_400 * 9, '9 d ago'],
])('%d seconds before now reads %s', (seconds, text) => {
  expect(ago(1_700_000_000 - seconds, 1_700_000_000)).toBe(text)
})

it('counts things, one of them alone without an s, and every digit of many', () => {
  expect([counted(1, 'file'), counted(0, 'file'), counted(12_345_678, 'file')]).toEqual(['1 file', '0 files', '12,345,678 files'])
  expect(counted(2, 'release waits', 'releases wait')).toBe('2 releases wait')
  expect([whole(1234.6), whole(Number.NaN)]).toEqual(['1,235', 'none'])
})

it('shows three digits, and says that a gain is one', () => {
  expect([brief(7394), brief(0.333_333)]).toEqual(['7,390', '0.333'])
  expect([signed(0.25), signed(0), signed(-0.1)]).toEqual(['+0.25', '0', '-0.1'])
})
