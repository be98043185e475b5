/** Writing GGUF and reading its head back; hostile heads are refused. */
import { open, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { readGguf, readGgufFile, writeGguf, type Gguf, type GgufElement, type GgufItem, type GgufTensor, type GgufValue } from './gguf.ts'
import { elementsOf } from './tensor.ts'
import { onlyRefuses, refusal } from './testing.ts'

const text = fc.string({ unit: 'grapheme', maxLength: 12 })
const wholes = (type: 'u8' | 'i8' | 'u16' | 'i16' | 'u32' | 'i32', min: number, max: number) => ({ type, item: fc.integer({ min, max }) })
const longs = (type: 'u64' | 'i64', min: bigint, max: bigint) => ({ type, item: fc.bigInt({ min, max }) })
const KINDS: readonly { readonly type: GgufElement; readonly item: fc.Arbitrary<GgufItem> }[] = [
  wholes('u8', 0, 255),
  wholes('i8', -128, 127),
  wholes('u16', 0, 65_535),
  wholes('i16', -32_768, 32_767),
  wholes('u32', 0, 2 ** 32 - 1),
  wholes('i32', -(2 ** 31), 2 ** 31 - 1),
  longs('u64', 0n, 2n ** 64n - 1n),
  longs('i64', -(2n ** 63n), 2n ** 63n - 1n),
  { type: 'f32', item: fc.float({ noNaN: true }) },
  { type: 'f64', item: fc.double({ noNaN: true }) },
  { type: 'bool', item: fc.boolean() },
  { type: 'string', item: text },
]
const list = fc
  .constantFrom(...KINDS)
  .chain(({ type, item }) => fc.array(item, { maxLength: 5 }).map((items): GgufValue => ({ type: 'array', of: type, value: items })))
/** One of each kind for itself: what a list of it holds is read by the same code. */
const single: fc.Arbitrary<GgufValue> = fc.oneof(
  fc.nat().map((value) => ({ type: 'u32' as const, value })),
  fc.double({ noNaN: true }).map((value) => ({ type: 'f64' as const, value })),
  fc.bigInt({ min: 0n, max: 2n ** 64n - 1n }).map((value) => ({ type: 'u64' as const, value })),
  fc.boolean().map((value) => ({ type: 'bool' as const, value })),
  text.map((value) => ({ type: 'string' as const, value })),
)
const tensor: fc.Arbitrary<GgufTensor> = fc
  .record({ name: text, type: fc.constantFrom('F32' as const, 'F16' as const), shape: fc.array(fc.nat(4), { minLength: 1, maxLength: 4 }) })
  .map((head) => ({ ...head, bytes: new Uint8Array(elementsOf(head.shape) * (head.type === 'F32' ? 4 : 2)).fill(7) }))
const gguf: fc.Arbitrary<Gguf> = fc.record({
  metadata: fc
    .uniqueArray(fc.tuple(text, fc.oneof(single, list)), { selector: ([key]) => key, maxLength: 6 })
    .map((pairs) => new Map(pairs.filter(([key]) => key !== 'general.alignment'))),
  tensors: fc.array(tensor, { maxLength: 4 }),
})

const SAMPLE = writeGguf({
  metadata: new Map<string, GgufValue>([
    ['general.architecture', { type: 'string', value: 'llama' }],
    ['some.list', { type: 'array', of: 'u32', value: [1, 2, 3] }],
  ]),
  tensors: [{ name: 'a', type: 'F32', shape: [2, 2], bytes: new Uint8Array(16) }],
})
/** The sample with eight bytes written over, little end first. */
const withLong = (at: number, long: bigint): Buffer => {
  const bytes = Buffer.from(SAMPLE)
  bytes.writeBigUInt64LE(long, at)
  return bytes
}
const placeOf = (part: string): number => SAMPLE.indexOf(part)

describe('gguf', () => {
  it('reads back every key, and the place of every tensor', () => {
    fc.assert(
      fc.property(gguf, (written) => {
        const bytes = writeGguf(written)
        const { metadata, tensors } = readGguf(bytes, bytes.length)
        expect([...metadata]).toEqual([...written.metadata])
        expect(tensors.map(({ name, shape }) => ({ name, shape }))).toEqual(written.tensors.map(({ name, shape }) => ({ name, shape })))
        for (const [index, { offset }] of tensors.entries()) {
          const expected = written.tensors[index]?.bytes ?? new Uint8Array()
          expect(offset % 32).toBe(0)
          expect(bytes.subarray(offset, offset + expected.length).equals(expected)).toBe(true)
        }
      }),
    )
  })

  it('reads only the head of a file', async () => {
    const path = join(temporaryFolder(), 'sparse.gguf')
    const bytes = writeGguf({ metadata: new Map([['a', { type: 'u32', value: 5 }]]), tensors: [] })
    await writeFile(path, bytes)
    // Larger than memory, and nearly all of it a hole.
    const file = await open(path, 'r+')
    await file.truncate(2 ** 40)
    await file.close()
    expect((await readGgufFile(path)).metadata.get('a')).toEqual({ type: 'u32', value: 5 })
  })

  it.each([
    ['nothing at all', Buffer.alloc(0), 'ends inside its head'],
    ['another format', Buffer.from('PK\u0003\u0004 and so on'), 'must begin with GGUF'],
    ['another version', Buffer.from('GGUF\u0001\0\0\0'), 'version'],
    ['2^64 - 1 tensors', withLong(8, 2n ** 64n - 1n), 'too large'],
    ['more tensors than there are', withLong(8, 2n ** 50n), 'ends inside its head'],
    ['more keys than there are', withLong(16, 2n ** 50n), ''],
    ['a key longer than the file', withLong(24, 2n ** 50n), 'ends inside its head'],
    ['a list longer than the file', withLong(placeOf('some.list') + 17, 4_000_000n), 'ends inside its head'],
    ['a list that would fill the memory', withLong(placeOf('some.list') + 17, 2n ** 40n), 'list may hold'],
    ['a tensor larger than the file', withLong(SAMPLE.lastIndexOf('a') + 5, 2n ** 52n), 'inside the file'],
  ])('refuses %s', (_, bytes, rule) => {
    expect(() => readGguf(bytes, bytes.length)).toThrow(refusal('bad_gguf', rule))
  })

  it('fails only with a refusal when bytes are changed or cut', () => {
    fc.assert(
      fc.property(fc.nat(SAMPLE.length - 1), fc.nat(255), fc.nat(SAMPLE.length), (at, byte, length) => {
        const bytes = Buffer.from(SAMPLE.subarray(0, length))
        if (at < length) bytes[at] = byte
        onlyRefuses(() => readGguf(bytes, bytes.length))
      }),
      { numRuns: 2000 },
    )
  })
})
