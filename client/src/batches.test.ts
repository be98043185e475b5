/** Where batches begin and end. */
import { assert, asyncProperty, array, constantFrom, integer, record } from 'fast-check'
import { describe, expect, it } from 'vitest'
import { bodyOf, readBatches } from './batches.ts'
import type { ImportBatch } from './batches.ts'
import { envelope, envelopes } from './testing/files.ts'

describe('batches', () => {
  it('end at the record cap [importer.batch-size]', async () => {
    const batches = await collect(envelopes(7), { batchRecordsMax: 3, batchBytesMax: 4096 })
    expect(batches.map((batch) => batch.lines.map((line) => line.number))).toEqual([[1, 2, 3], [4, 5, 6], [7]])
  })

  it('fill the byte cap to the last byte and not beyond [importer.batch-bytes]', async () => {
    const exact = Buffer.byteLength(bodyOf({ end: 0, lines: ['r1', 'r2'].map((id) => ({ number: 1, id, text: envelope(id) })) }))
    expect(await sizesOfTwo(exact)).toEqual([2])
    expect(await sizesOfTwo(exact - 1)).toEqual([1, 1])
  })

  it('cover every line once, whatever the caps, the chunks and the blank lines, and can go on at every end', async () => {
    const lines = array(record({ blank: integer({ min: 0, max: 2 }), pad: integer({ min: 0, max: 80 }), end: constantFrom('\n', '\r\n') }))
    await assert(
      asyncProperty(
        lines,
        integer({ min: 1, max: 5 }),
        integer({ min: 420, max: 900 }),
        integer({ min: 1, max: 64 }),
        async (shape, records, bytes, chunk) => {
          const text = shape
            .map((line, index) => '\n'.repeat(line.blank) + envelope(`r${index}${'é'.repeat(line.pad)}`) + line.end)
            .join('')
          const caps = { batchRecordsMax: records, batchBytesMax: bytes }
          const batches = await collect(text, caps, chunk)
          const ids = batches.flatMap((batch) => batch.lines.map((line) => line.id))
          expect(ids.map((id) => id.replaceAll('é', ''))).toEqual(shape.map((_, index) => `r${index}`))
          for (const batch of batches) expect(Buffer.byteLength(bodyOf(batch))).toBeLessThanOrEqual(bytes)
          const middle = batches[Math.floor(batches.length / 2)]
          if (middle === undefined) return
          const rest = Buffer.from(text).subarray(middle.end).toString()
          const later = (await collect(rest, caps, chunk)).flatMap((batch) => batch.lines.map((line) => line.id))
          expect(later).toEqual(ids.slice(ids.length - later.length))
          expect(later.length).toBe(
            ids.length - batches.slice(0, batches.indexOf(middle) + 1).reduce((sum, batch) => sum + batch.lines.length, 0),
          )
        },
      ),
    )
  })
})

async function sizesOfTwo(batchBytesMax: number): Promise<number[]> {
  const batches = await collect(envelopes(2), { batchRecordsMax: 10, batchBytesMax })
  return batches.map((batch) => batch.lines.length)
}

async function collect(
  text: string,
  caps: { batchRecordsMax: number; batchBytesMax: number },
  chunkBytes = 1 << 20,
): Promise<ImportBatch[]> {
  const batches: ImportBatch[] = []
  for await (const batch of readBatches(chunksOf(Buffer.from(text), chunkBytes), { offset: 0, linesBefore: 0 }, caps)) batches.push(batch)
  return batches
}

async function* chunksOf(bytes: Buffer, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < bytes.length; at += size) yield bytes.subarray(at, at + size)
}
