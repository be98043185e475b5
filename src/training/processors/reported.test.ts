/** What the processor of reports makes of single reports and of groups. */
import { describe, expect, it } from 'vitest'
import { exchange, json, report } from '../../../conformance/processor-samples.ts'
import { isObject, type JsonObject, type Processor, type StoredSample } from '../../contract/index.ts'
import type { GroupOf } from './groups.ts'
import { reportedProcessor } from './reported.ts'

/** As the report's own metadata says. */
const byMetadata: GroupOf = ({ metadata }) => {
  if (!isObject(metadata)) return null
  const { key, slot, size } = metadata
  if (slot === 'never') return 'is not for this method'
  return typeof key === 'string' && key !== '' && typeof slot === 'string' ? { key, slot, size: Number(size) } : null
}

const single = (batchSize = 1): Processor => reportedProcessor({ name: 'r', batchSize })
const grouped = (batchSize = 1): Processor => reportedProcessor({ name: 'r', batchSize, group: byMetadata })
const member = (id: string, key: string, slot: string, size = 2, quoted = [`x-${id}`]) =>
  report(id, quoted, { metadata: { key, slot, size } })

function samplesOf(processor: Processor): readonly StoredSample[] {
  return processor.next(false).samples
}
function reportsOf(processor: Processor): readonly (string | undefined)[] {
  return samplesOf(processor).map(({ record_ids }) => record_ids.at(-1))
}
function textsOf({ exchanges }: StoredSample): readonly string[] {
  return exchanges.map((bytes) => Buffer.from(bytes).toString())
}

describe('a single report', () => {
  it('becomes one sample: what it quotes in the order quoted, its score, its feedback, and the records it uses up', () => {
    const processor = single()
    expect(processor.ingest(report('r', ['b', 'a'], { score: 0.5, feedback: { tone: 'kind' } }))).toBeNull()
    const { samples, ready } = processor.next(false)
    expect(ready).toBe(true)
    expect(samples).toMatchObject([{ record_ids: ['b', 'a', 'r'], score: 0.5, feedback: { tone: 'kind' } }])
    expect(samples.map(textsOf)).toEqual([['{"exchange":"b"}', '{"exchange":"a"}']])
    expect(Object.keys(samples[0] ?? {})).not.toContain('group')
  })

  it('is set aside when it quotes nothing, when its body cannot be read, and when what it quotes is gone', () => {
    const processor = single()
    expect(processor.ingest(report('r', []))).toBe('quotes no receipt')
    expect(processor.ingest(report('r', ['a'], {}, { payload: Buffer.from('{"score":') }))).toBe('its body is not a JSON object')
    expect(processor.ingest(report('r', ['a'], {}, { payload: null }))).toBe('its body is not a JSON object')
    const long = Buffer.alloc(10 * 1024 * 1024 + 1, ' ')
    expect(processor.ingest(report('r', ['a'], {}, { payload: long }))).toBe('it is too long to learn from')
    const { quoted: _none, ...evicted } = exchange('a', { payload: null })
    const gone = report('r', ['a'], {}, { quoted: [{ ...evicted, consumed: false }] })
    expect(processor.ingest(gone)).toBe('an exchange it quotes was evicted')
    expect(processor.ingest(report('r', ['a', 'b'], {}, { quoted: [] }))).toBe('an exchange it quotes was evicted')
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
    expect(processor.status()).toEqual({ batch_size: 1, buffered_units: 0 })
  })

  it.each<[string, JsonObject, JsonObject | undefined]>([
    ['an object with a name', { task: { name: 'maze', digest: 'd' } }, { name: 'maze', digest: 'd' }],
    ['a name alone', { task: 'maze' }, { name: 'maze' }],
    ['the task rather than the bench', { task: 'maze', bench: { task_name: 'other' } }, { name: 'maze' }],
    ['the name the bench gave', { bench: { task_name: 'maze' } }, { name: 'maze' }],
    ['the name the bench gave beside an empty task', { task: null, bench: { task_name: 'maze' } }, { name: 'maze' }],
    ['nothing for a task without a name', { task: { path: 'p' } }, undefined],
    ['nothing for a blank name', { task: ' ' }, undefined],
    ['nothing for a task of another kind', { task: 7, bench: { task_name: 'maze' } }, undefined],
    ['nothing for a list', { task: ['maze'] }, undefined],
    ['nothing for a bench of another kind', { bench: 'maze' }, undefined],
    ['nothing for a bench without a name', { bench: { task_name: 7 } }, undefined],
  ])('names its task by %s', (_case, metadata, task) => {
    const processor = single()
    processor.ingest(report('r', ['a'], { metadata }))
    expect(samplesOf(processor).map((sample) => sample.task)).toEqual([task])
  })

  it.each<[string, Uint8Array]>([
    ['a list', json({ feedback: ['no'] })],
    ['a number', json({ feedback: 3 })],
    ['nothing', json({})],
  ])('has no feedback when the payload holds %s', (_case, payload) => {
    const processor = single()
    processor.ingest(report('r', ['a'], {}, { payload }))
    expect(samplesOf(processor).map(({ feedback }) => feedback)).toEqual([null])
  })
})

describe('a batch', () => {
  it('is ready with as many units as it takes, holds the oldest and no more, and shows what there is until then', () => {
    const processor = single(2)
    processor.ingest(report('r1', ['a']))
    expect([reportsOf(processor), processor.next(true).ready]).toEqual([['r1'], false])
    for (const [id, quoted] of [
      ['r2', 'b'],
      ['r3', 'c'],
    ] as const)
      processor.ingest(report(id, [quoted]))
    expect([reportsOf(processor), processor.next(false).ready]).toEqual([['r1', 'r2'], true])
    expect(processor.status()).toEqual({ batch_size: 2, buffered_units: 3 })
    expect(processor.settle(['a', 'r1', 'b', 'r2'])).toEqual([])
    expect([reportsOf(processor), processor.next(true).ready]).toEqual([['r3'], false])
  })

  it('counts groups and single reports alike, in the order they became whole', () => {
    const processor = grouped(2)
    processor.ingest(member('g1', 'g', '1'))
    processor.ingest(member('alone', '', ''))
    processor.ingest(member('h1', 'h', '1'))
    processor.ingest(member('h2', 'h', '2'))
    processor.ingest(member('g2', 'g', '2'))
    expect(reportsOf(processor)).toEqual(['alone', 'h1', 'h2'])
    expect(samplesOf(processor).map(({ group }) => group)).toEqual([undefined, 'h', 'h'])
    processor.settle(['alone', 'x-alone'])
    expect(reportsOf(processor)).toEqual(['h1', 'h2', 'g1', 'g2'])
    expect(processor.next(false).ready).toBe(true)
  })
})

describe('a group', () => {
  it('is offered only when every slot is filled, and its reports wait in the status until then', () => {
    const processor = grouped()
    for (const slot of ['a', 'b']) processor.ingest(member(slot, 'g', slot, 3))
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
    expect(processor.status()).toEqual({ batch_size: 1, buffered_units: 0, open_groups: 1, waiting_reports: 2 })
    processor.ingest(member('c', 'g', 'c', 3))
    expect(reportsOf(processor)).toEqual(['a', 'b', 'c'])
    expect(processor.status()).toEqual({ batch_size: 1, buffered_units: 1, open_groups: 0, waiting_reports: 0 })
  })

  it('keeps the first report of a slot, and takes no report of another size', () => {
    const processor = grouped()
    expect(processor.ingest(member('first', 'g', '1'))).toBeNull()
    expect(processor.ingest(member('later', 'g', '1'))).toBe('another report took its slot in the group')
    expect(processor.ingest(member('other', 'g', '2', 3))).toBe('it names another size than its group has')
    expect(processor.ingest(member('second', 'g', '2'))).toBeNull()
    expect(reportsOf(processor)).toEqual(['first', 'second'])
  })

  it('takes no straggler, before it was consumed or after', () => {
    const processor = grouped()
    for (const slot of ['1', '2']) processor.ingest(member(slot, 'g', slot))
    expect(processor.ingest(member('late', 'g', '3'))).toBe('its group was complete already')
    processor.settle(['1', 'x-1', '2', 'x-2'])
    expect(processor.ingest(member('later', 'g', '1'))).toBe('its group was complete already')
  })

  it('is remembered for ten thousand groups and not for ever', () => {
    const processor = grouped()
    const complete = (from: number, to: number) =>
      Array.from({ length: to - from }, (_, n) => `g${from + n}`).filter((key) => {
        const reason = processor.ingest(member(key, key, '1', 1))
        processor.settle([key])
        return reason !== null
      })
    expect(complete(0, 10_001)).toEqual([])
    expect(processor.ingest(member('late', 'g0', '1', 1))).toBe('its group was complete already')
    expect(complete(10_001, 20_001)).toEqual([])
    expect(processor.ingest(member('very late', 'g0', '1', 1))).toBeNull()
  })

  it.each([0, -1, 1.5, Number.NaN, Infinity])('of size %s could never be whole, so its reports are set aside', (size) => {
    const processor = reportedProcessor({ name: 'r', batchSize: 1, group: () => ({ key: 'g', slot: '1', size }) })
    expect(processor.ingest(report('r', ['a']))).toBe('its group has no usable size')
    expect(processor.status()).toMatchObject({ open_groups: 0, waiting_reports: 0 })
  })

  it('does not hold a report that its recipe has no use for', () => {
    const processor = grouped()
    expect(processor.ingest(member('r', 'g', 'never'))).toBe('is not for this method')
    expect(processor.status()).toMatchObject({ buffered_units: 0, open_groups: 0 })
  })
})

describe('an exchange that several reports quote', () => {
  it('takes the reports that were not consumed with it out of the way, and answers them', () => {
    const processor = single()
    processor.ingest(report('r1', ['a', 'b']))
    processor.ingest(report('r2', ['b', 'c']))
    processor.ingest(report('r3', ['c']))
    expect(processor.settle(['a', 'b', 'r1'])).toEqual(['r2'])
    expect(reportsOf(processor)).toEqual(['r3'])
  })

  it('takes a whole group with it, and the group does not open again', () => {
    const processor = grouped(2)
    processor.ingest(member('1', 'g', '1', 2, ['a']))
    processor.ingest(member('2', 'g', '2', 2, ['b']))
    expect(processor.settle(['a'])).toEqual(['1', '2'])
    expect(processor.next(true).samples).toEqual([])
    expect(processor.ingest(member('3', 'g', '1'))).toBe('its group was complete already')
  })

  it('frees the slot of a report that waits in a group, and another report may take it', () => {
    const processor = grouped()
    processor.ingest(member('1', 'g', '1', 3, ['a']))
    processor.ingest(member('2', 'g', '2', 3, ['b']))
    expect(processor.settle(['a'])).toEqual(['1'])
    processor.ingest(member('3', 'g', '3', 3))
    expect(samplesOf(processor)).toEqual([])
    expect(processor.ingest(member('4', 'g', '1', 3))).toBeNull()
    expect(reportsOf(processor)).toEqual(['2', '3', '4'])
  })

  it('leaves nothing of a group that lost its last report, not even its size', () => {
    const processor = grouped()
    processor.ingest(member('1', 'g', '1', 3, ['a']))
    processor.settle(['a'])
    expect(processor.status()).toMatchObject({ open_groups: 0, waiting_reports: 0 })
    for (const slot of ['1', '2']) expect(processor.ingest(member(slot, 'g', slot, 2))).toBeNull()
    expect(processor.next(false).ready).toBe(true)
  })
})
