import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { heapOf, leftForLong } from '../../test/support/heap.ts'
import { BytePieces, CollectedBytes, textOf, withBody } from './pieces.ts'

const TEXT = Buffer.from('{"a":"é 🌍 \\u00e9"}'.repeat(3))
const byteByByte = (bytes: Buffer): Buffer[] => Array.from(bytes, (byte) => Buffer.of(byte))
/** Memory of its own, as a connection gives it. */
const own = (bytes: number): Buffer => Buffer.allocUnsafeSlow(bytes).fill('a')

describe('bytes in pieces', () => {
  it('are the whole, and every stretch of them is that stretch of the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5 })), fc.nat(30), fc.nat(30), (list, start, length) => {
        const pieces = new BytePieces(list.map((piece) => Buffer.from(piece)))
        const whole = Buffer.concat(list)
        expect(pieces.joined()).toEqual(whole)
        expect(Buffer.concat(pieces.between(start, start + length))).toEqual(whole.subarray(start, start + length))
      }),
    )
  })

  it('are not copied for a stretch, nor where there is one piece', () => {
    const list = [own(10), own(10)]
    const stretch = new BytePieces(list).between(5, 15)
    expect(stretch.map(({ buffer }) => buffer)).toEqual(list.map(({ buffer }) => buffer))
    stretch[0]?.fill('b')
    expect(list[0]?.toString()).toBe('aaaaabbbbb')
    const [one] = [own(10)]
    expect(new BytePieces([one]).joined()).toBe(one)
  })

  it('are the same text wherever a character is cut', () => {
    expect(textOf([TEXT])).toBe(TEXT.toString())
    expect(textOf(byteByByte(TEXT))).toBe(TEXT.toString())
    expect(textOf([])).toBe('')
  })

  it('that were given back take no memory, and reading them fails', () => {
    const list = [own(8192), own(8192)]
    const pieces = new BytePieces(list)
    pieces.letGo()
    expect(list.map(({ length }) => length)).toEqual([0, 0])
    for (const read of [() => pieces.list, () => pieces.joined(), () => pieces.between(0, 1), () => pieces.letGo()])
      expect(read).toThrow('given back')
  })

  it('that share their memory leave it to the others', () => {
    const slab = own(3 * 8192)
    const pieces = new BytePieces([slab.subarray(0, 8192), slab.subarray(8192)])
    pieces.letGo()
    expect(slab.length).toBe(3 * 8192)
  })

  it('belong to one object: a copy of it with another body has none', () => {
    const holder = withBody({ path: '/' }, new BytePieces(byteByByte(TEXT)))
    expect(holder.pieces).toHaveLength(TEXT.length)
    expect(holder.body).toEqual(TEXT)
    expect({ ...holder }.body).toEqual(TEXT)
    expect(withBody({}, new BytePieces([TEXT]))).toEqual({ body: TEXT })
    expect({ ...holder, body: own(1) }).not.toHaveProperty('pieces')
  })

  it('are held no longer than that object', async () => {
    const PIECES = 1000
    const left = await leftForLong(() => withBody({}, new BytePieces(Array.from({ length: PIECES }, () => TEXT))))
    expect(left).toBeLessThan(8 * PIECES * 0.5)
  })
})

describe('bytes that are collected', () => {
  it('are the whole', () => {
    fc.assert(
      fc.property(fc.array(fc.uint8Array({ maxLength: 5 }), { maxLength: 5000, size: 'max' }), (list) => {
        const collected = new CollectedBytes()
        for (const piece of list) collected.push(Buffer.from(piece))
        expect(collected.whole).toEqual(Buffer.concat(list))
      }),
      { numRuns: 10 },
    )
  })

  it('take little more than themselves, also where each came alone', () => {
    const chunk = own(1024 * 1024)
    const collected = new CollectedBytes()
    const bytes = heapOf(() => {
      for (let at = 0; at < chunk.length; at += 1) collected.push(chunk.subarray(at, at + 1))
    })
    expect(bytes).toBeLessThan(4 * chunk.length)
    expect(collected.whole).toEqual(chunk)
  })
})
