/** What the processors of exchanges make of them: plain traffic, and complete examples. */
import { describe, expect, it } from 'vitest'
import { exchange, json } from '../../../conformance/processor-samples.ts'
import type { PendingRecord, Processor } from '../../contract/index.ts'
import { datasetProcessor, recordsProcessor } from './records.ts'

const MIB = 1024 * 1024

function handed(processor: Processor, records: readonly PendingRecord[]): Processor {
  for (const record of records) expect(processor.ingest(record)).toBeNull()
  return processor
}
function idsOf(processor: Processor, drained = false): readonly (readonly string[])[] {
  return processor.next(drained).samples.map(({ record_ids }) => record_ids)
}
/** A JSON object of that many bytes, nearly all of them white space. */
function example(id: string, bytes: number): PendingRecord {
  const payload = Buffer.alloc(bytes, ' ')
  payload.write('{')
  payload.write('}', bytes - 1)
  return exchange(id, { payload })
}

describe('plain traffic', () => {
  it('becomes samples without a score, each record alone, even where the record has one', () => {
    const payload = json({ score: 1, feedback: 'fine', metadata: { task: 'maze' } })
    const processor = handed(recordsProcessor({ name: 'p', batchSize: 1 }), [exchange('a', { score: 1, payload })])
    expect(processor.next(false)).toEqual({
      samples: [{ record_ids: ['a'], exchanges: [payload], score: null, feedback: null }],
      ready: true,
    })
  })

  it('makes a batch of so many exchanges, and a short tail is none', () => {
    const processor = handed(
      recordsProcessor({ name: 'p', batchSize: 2 }),
      ['a', 'b', 'c'].map((id) => exchange(id)),
    )
    expect(idsOf(processor)).toEqual([['a'], ['b']])
    expect(processor.settle(['a', 'b'])).toEqual([])
    expect(processor.next(true)).toMatchObject({ samples: [{ record_ids: ['c'] }], ready: false })
    expect(processor.status()).toEqual({ batch_size: 2, buffered_units: 1 })
  })

  it('without its body is set aside', () => {
    const processor = recordsProcessor({ name: 'p', batchSize: 1 })
    expect(processor.ingest(exchange('a', { payload: null }))).toBe('its body was evicted')
  })
})

describe('imported examples', () => {
  it('carry the score, the feedback and the task they were imported with', () => {
    const payload = json({ score: 0.5, feedback: { tone: 'kind' }, metadata: { bench: { task_name: 'maze' } } })
    const processor = handed(datasetProcessor({ name: 'p', batchSize: 1 }), [exchange('a', { score: 0.5, payload })])
    expect(processor.next(false).samples).toEqual([
      { record_ids: ['a'], exchanges: [payload], score: 0.5, feedback: { tone: 'kind' }, task: { name: 'maze' } },
    ])
  })

  it('make full batches first, and a short tail once everything stored was handed over', () => {
    const processor = handed(
      datasetProcessor({ name: 'p', batchSize: 2 }),
      ['a', 'b', 'c'].map((id) => exchange(id)),
    )
    expect(processor.next(false)).toMatchObject({ samples: [{ record_ids: ['a'] }, { record_ids: ['b'] }], ready: true })
    expect(processor.settle(['a', 'b'])).toEqual([])
    expect(processor.next(false)).toMatchObject({ samples: [{ record_ids: ['c'] }], ready: false })
    expect(processor.next(true).ready).toBe(true)
    processor.settle(['c'])
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
  })

  it('that are large make a smaller batch, and it is ready when the next one would not fit', () => {
    const processor = handed(datasetProcessor({ name: 'p', batchSize: 10 }), [example('a', 40 * MIB), example('b', 24 * MIB - 1)])
    expect(processor.next(false).ready).toBe(false)
    handed(processor, [example('c', 2)])
    expect([idsOf(processor), processor.next(false).ready]).toEqual([[['a'], ['b']], true])
    processor.settle(['a', 'b'])
    expect([idsOf(processor), processor.next(false).ready]).toEqual([[['c']], false])
  })

  it('that fill a batch to the last byte make it ready', () => {
    const processor = handed(datasetProcessor({ name: 'p', batchSize: 10 }), [example('a', 40 * MIB), example('b', 24 * MIB)])
    expect([idsOf(processor), processor.next(false).ready]).toEqual([[['a'], ['b']], true])
  })

  it('that are too large for any batch go alone', () => {
    const sizes = { a: 2, b: 65 * MIB, c: 2 }
    const records = Object.entries(sizes).map(([id, bytes]) => example(id, bytes))
    const processor = handed(datasetProcessor({ name: 'p', batchSize: 10 }), records)
    for (const id of ['a', 'b']) {
      expect([idsOf(processor), processor.next(false).ready]).toEqual([[[id]], true])
      processor.settle([id])
    }
    expect([idsOf(processor), processor.next(false).ready]).toEqual([[['c']], false])
  })

  it('that cannot be read are set aside', () => {
    const processor = datasetProcessor({ name: 'p', batchSize: 1 })
    for (const payload of [null, Buffer.from('[]'), Buffer.from('{')])
      expect(processor.ingest(exchange('a', { payload }))).toBe('its body is not a JSON object')
  })

  it('are never stepped in manual mode', () => {
    expect(datasetProcessor({ name: 'p', batchSize: 1 }).modes).toEqual(['auto', 'hybrid'])
  })
})
