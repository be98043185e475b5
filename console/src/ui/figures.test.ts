import { expect, it } from 'vitest'
import { brief, bytes, counted, duration, percent, signed, whole } from './figures.ts'

it.each([
  [0, '0'],
  [80, '80'],
  [0.333_333, '0.333'],
  [1234, '1.23k'],
  [-2_500_000, '-2.5M'],
  [7e9, '7G'],
  [3e15, '3.0e+15'],
  [0.000_02, '2.0e-5'],
  [Number.NaN, 'none'],
])('%f is briefly %s', (value, text) => {
  expect(brief(value)).toBe(text)
})

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

it('counts things, one of them alone without an s', () => {
  expect([counted(1, 'file'), counted(0, 'file'), counted(12_345, 'file')]).toEqual(['1 file', '0 files', '12,345 files'])
  expect(whole(1234.6)).toBe('1,235')
})

it('says that a gain is one', () => {
  expect([signed(0.25), signed(0), signed(-0.1)]).toEqual(['+0.25', '0', '-0.1'])
})

it.each([
  [0, '0 %'],
  [0.000_000_2, 'under 0.1 %'],
  [0.4235, '42 %'],
  [1, '100 %'],
])('a share of %f is %s', (share, text) => {
  expect(percent(share)).toBe(text)
})
