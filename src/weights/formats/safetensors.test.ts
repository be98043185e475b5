/** Reading and writing safetensors: what was written comes back, and no bytes do harm. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { readSafetensors, writeSafetensors } from './safetensors.ts'
import { elementBytes, elementsOf, floatsOf, type Dtype, type Tensor } from './tensor.ts'
import { floats, onlyRefuses, refusal } from './testing.ts'

const dtype = fc.constantFrom<Dtype>('BOOL', 'U8', 'F16', 'BF16', 'F32', 'F64', 'I64')
const tensor: fc.Arbitrary<Tensor> = fc
  .record({ dtype, shape: fc.array(fc.nat(4), { maxLength: 3 }), seed: fc.uint8Array({ minLength: 1, maxLength: 9 }) })
  .map(({ dtype: kind, shape, seed }) => {
    const length = elementsOf(shape) * elementBytes(kind)
    return { dtype: kind, shape, bytes: Uint8Array.from({ length }, (_, index) => seed[index % seed.length] ?? 0) }
  })
const name = fc.oneof(fc.constantFrom('__proto__', 'constructor', '0', 'a.weight'), fc.string({ unit: 'grapheme' }))
const named = fc.uniqueArray(fc.tuple(name, tensor), { selector: ([key]) => key, maxLength: 6 })

const plain = (tensors: ReadonlyMap<string, Tensor>) =>
  [...tensors].map(([key, { dtype: kind, shape, bytes }]) => [key, kind, shape, [...bytes]] as const).sort(([a], [b]) => (a < b ? -1 : 1))

const fileOf = (header: string, data = new Uint8Array()): Buffer => {
  const length = Buffer.alloc(8)
  length.writeBigUInt64LE(BigInt(Buffer.byteLength(header)))
  return Buffer.concat([length, Buffer.from(header), data])
}
const place = (shape: unknown, data_offsets: unknown, kind: unknown = 'F32') => ({ dtype: kind, shape, data_offsets })

describe('safetensors', () => {
  it('read back every tensor that was written', () => {
    fc.assert(
      fc.property(named, (entries) => {
        const tensors = new Map(entries)
        expect(plain(readSafetensors(writeSafetensors(tensors)))).toEqual(plain(tensors))
      }),
    )
  })

  it('are the same bytes for tensors in any order', () => {
    fc.assert(
      fc.property(named, (entries) => {
        expect(writeSafetensors(new Map(entries.toReversed())).equals(writeSafetensors(new Map(entries)))).toBe(true)
      }),
    )
  })

  it('are read in place, not copied', () => {
    const file = writeSafetensors(new Map([['a', floats([2], [1, 2])]]))
    const bytes = Buffer.from(new Uint8Array(file).buffer)
    const found = readSafetensors(bytes).get('a')
    bytes.writeFloatLE(5, bytes.length - 4)
    expect(found === undefined ? [] : [...floatsOf(found)]).toEqual([1, 5])
  })

  it.each([
    ['nothing at all', Buffer.alloc(0), 'shorter'],
    ['a header longer than the file', Buffer.from([255, 0, 0, 0, 0, 0, 0, 0, 123]), 'ends inside its header'],
    ['a header of 2^64 - 1 bytes', Buffer.alloc(16, 255), 'header may be at most'],
    ['a header that is no JSON', fileOf('{'), 'JSON object'],
    ['a header that is a list', fileOf('[]'), 'JSON object'],
    ['an unknown dtype', fileOf(JSON.stringify({ a: place([0], [0, 0], 'toString') })), 'dtype'],
    ['a shape below 0', fileOf(JSON.stringify({ a: place([-1], [0, 0]) })), 'shape'],
    ['a shape with a fraction', fileOf(JSON.stringify({ a: place([0.5], [0, 2]) }), Buffer.alloc(2)), 'shape'],
    ['a shape of more than memory', fileOf(JSON.stringify({ a: place([2 ** 40, 2 ** 40], [0, 4]) }), Buffer.alloc(4)), 'as many bytes'],
    ['a tensor past the end', fileOf(JSON.stringify({ a: place([2], [0, 8]) }), Buffer.alloc(4)), 'inside the file'],
    ['three offsets', fileOf(JSON.stringify({ a: place([0], [0, 0, 0]) })), 'data_offsets'],
    ['overlapping tensors', fileOf(JSON.stringify({ a: place([1], [0, 4]), b: place([1], [0, 4]) }), Buffer.alloc(4)), 'begin where'],
    ['a gap', fileOf(JSON.stringify({ a: place([1], [4, 8]) }), Buffer.alloc(8)), 'begin where'],
    ['bytes that no tensor has', fileOf('{}', Buffer.alloc(4)), 'after its last tensor'],
  ])('refuse %s', (_, bytes, rule) => {
    expect(() => readSafetensors(bytes)).toThrow(refusal('bad_safetensors', rule))
  })

  it('fail only with a refusal when bytes are changed or cut', () => {
    const file = writeSafetensors(new Map([['a', floats([2, 2], [1, 2, 3, 4])]]).set('b', floats([1], [5])))
    fc.assert(
      fc.property(fc.nat(file.length - 1), fc.nat(255), fc.nat(file.length), (at, byte, length) => {
        const bytes = Buffer.from(file.subarray(0, length))
        if (at < length) bytes[at] = byte
        onlyRefuses(() => readSafetensors(bytes))
      }),
      { numRuns: 2000 },
    )
  })
})

describe('numbers of a tensor', () => {
  it.each<[Dtype, readonly number[], readonly number[]]>([
    ['F16', [0x00, 0x3c, 0x00, 0xc0, 0x01, 0x00, 0xff, 0x03, 0xff, 0x7b, 0x00, 0x80], [1, -2, 2 ** -24, 1023 * 2 ** -24, 65_504, -0]],
    ['BF16', [0x80, 0x3f, 0x20, 0xc0], [1, -2.5]],
    ['F64', [0, 0, 0, 0, 0, 0, 0xf8, 0x3f], [1.5]],
  ])('are read from %s', (kind, bytes, numbers) => {
    expect([...floatsOf({ dtype: kind, shape: [numbers.length], bytes: Uint8Array.from(bytes) })]).toEqual(numbers)
  })

  it('keep the infinities and NaN of F16', () => {
    const bytes = Uint8Array.from([0x00, 0x7c, 0x00, 0xfc, 0x00, 0x7e])
    expect([...floatsOf({ dtype: 'F16', shape: [3], bytes })]).toEqual([Infinity, -Infinity, NaN])
  })

  it('are read from F32 that is not aligned in memory', () => {
    const bytes = new Uint8Array(9)
    new DataView(bytes.buffer).setFloat32(1, 2.5, true)
    expect([...floatsOf({ dtype: 'F32', shape: [2], bytes: bytes.subarray(1) })]).toEqual([2.5, 0])
  })

  it('are refused for whole numbers', () => {
    expect(() => floatsOf({ dtype: 'I64', shape: [1], bytes: new Uint8Array(8) })).toThrow(expect.objectContaining({ code: 'bad_tensor' }))
  })
})
