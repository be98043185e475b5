/** Blocks of quantised numbers, against what they come to by hand. */
import { describe, expect, it } from 'vitest'
import { storageOf } from './dequantise.ts'

/** F16, little end first. */
const HALF_ONE = [0x00, 0x3c]
const HALF_MINUS_QUARTER = [0x00, 0xb4]
const HALF_TENTH = [0x66, 0x2e]
/** What F16 makes of a tenth. */
const TENTH = 1638 / 2 ** 14

const counted = (count: number, of: (index: number) => number): readonly number[] => Array.from({ length: count }, (_, index) => of(index))
const numbersOf = (type: number, bytes: readonly number[]): readonly number[] => [
  ...storageOf(type, 'a tensor').numbers(Uint8Array.from(bytes)),
]

describe('a block', () => {
  it('of Q8_0 is whole numbers from -128 to 127, times a factor', () => {
    const wholes = [0, 1, 127, 0x80, 0xff, ...counted(27, () => 2)]
    expect(numbersOf(8, [...HALF_MINUS_QUARTER, ...wholes])).toEqual([-0, -0.25, -31.75, 32, 0.25, ...counted(27, () => -0.5)])
  })

  it('of Q4_0 has the low halves of its bytes first, each less 8', () => {
    const pairs = counted(16, (index) => index | ((15 - index) << 4))
    expect(numbersOf(2, [...HALF_ONE, ...pairs])).toEqual([...counted(16, (index) => index - 8), ...counted(16, (index) => 7 - index)])
  })

  it('of Q4_1 has a least number, and steps up from it', () => {
    const pairs = counted(16, (index) => index)
    const low = counted(16, (index) => Math.fround(index * TENTH - 0.25))
    expect(numbersOf(3, [...HALF_TENTH, ...HALF_MINUS_QUARTER, ...pairs])).toEqual([...low, ...counted(16, () => -0.25)])
  })

  it('is followed by the next, with a factor of its own', () => {
    const block = (half: readonly number[]) => [...half, ...counted(32, () => 4)]
    expect(numbersOf(8, [...block(HALF_ONE), ...block(HALF_TENTH)])).toEqual([
      ...counted(32, () => 4),
      ...counted(32, () => Math.fround(4 * TENTH)),
    ])
  })
})

describe('numbers that are not quantised', () => {
  it.each([
    ['F32', 0, [0x00, 0x00, 0x20, 0xc0]],
    ['F16', 1, [0x00, 0xc1]],
    ['BF16', 30, [0x20, 0xc0]],
  ])('are read from %s', (_, type, bytes) => {
    expect(numbersOf(type, bytes)).toEqual([-2.5])
  })
})

describe('another way to store numbers', () => {
  it.each([
    [14, 'Q6_K'],
    [12, 'Q4_K'],
    [28, 'F64'],
    [4_000_000_000, 'number 4000000000'],
  ])('is refused by its name, with those that will do: %i', (type, name) => {
    expect(() => storageOf(type, 'output.weight')).toThrow(
      expect.objectContaining({
        code: 'unsupported_quantisation',
        message: `output.weight is stored as ${name}${type > 30 ? ' of the format' : ''}; take a file whose tensors are all F32, F16, BF16, Q8_0, Q4_0, Q4_1`,
      }),
    )
  })
})
