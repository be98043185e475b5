/** What the processor of a grid makes of reports: slots, steps, and steps of several releases. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { report } from '../../../conformance/processor-samples.ts'
import { isObject, type JsonObject, type PendingRecord, type Processor } from '../../contract/index.ts'
import { gridProcessor, type GridPlace } from './grid.ts'

/** As the report's own metadata says. */
function byMetadata({ metadata }: JsonObject): GridPlace | string {
  if (!isObject(metadata)) return 'names no place'
  return { step: Number(metadata['step']), group: Number(metadata['group']), rollout: Number(metadata['rollout']) }
}
const grid = (): Processor => gridProcessor({ name: 'tttd', groupsPerStep: 2, rolloutsPerGroup: 2, place: byMetadata })

/** In the step's slot `<group><rollout>`, quoting exchanges that these releases served. */
function slot(id: string, step: number, at: string, releases: readonly (string | null)[] = ['one'], exchange = `x-${id}`): PendingRecord {
  const metadata = { step, group: Number(at[0]), rollout: Number(at[1]) }
  const made = report(
    id,
    releases.map((_, n) => `${exchange}${n === 0 ? '' : n}`),
    { score: 1, metadata },
  )
  return { ...made, quoted: made.quoted.map((quoted, n) => ({ ...quoted, artifact_ref: releases[n] ?? null })) }
}
const SLOTS = ['00', '01', '10', '11'] as const
const fill = (processor: Processor, step: number, slots: readonly string[] = SLOTS): void => {
  for (const at of slots) expect(processor.ingest(slot(`${step}-${at}`, step, at))).toBeNull()
}
const offered = (processor: Processor): readonly (string | undefined)[] =>
  processor.next(false).samples.map(({ record_ids }) => record_ids.at(-1))
const idsOf = (processor: Processor): readonly string[] => processor.next(false).samples.flatMap(({ record_ids }) => record_ids)

describe('a step', () => {
  it('is offered when every slot has its report, group by group whatever their order, each under the name of its group', () => {
    const processor = grid()
    fill(processor, 0, ['11', '00', '10'])
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
    expect(processor.status()).toMatchObject({ buffered_units: 0, open_steps: 1, waiting_reports: 3 })
    fill(processor, 0, ['01'])
    expect(offered(processor)).toEqual(SLOTS.map((at) => `0-${at}`))
    expect(processor.next(false).ready).toBe(true)
    expect(processor.next(false).samples.map(({ group }) => group)).toEqual([
      'tttd-step-0-group-0',
      'tttd-step-0-group-0',
      'tttd-step-0-group-1',
      'tttd-step-0-group-1',
    ])
    expect(processor.status()).toMatchObject({ buffered_units: 1, open_steps: 0, waiting_reports: 0 })
  })

  it('keeps the first report of a slot, and takes none once it is whole', () => {
    const processor = grid()
    fill(processor, 0, ['00'])
    expect(processor.ingest(slot('again', 0, '00'))).toBe('another report took its slot in the step')
    fill(processor, 0, ['01', '10', '11'])
    expect(processor.ingest(slot('late', 0, '00'))).toBe('its step was complete already')
    expect(offered(processor)).toEqual(SLOTS.map((at) => `0-${at}`))
    processor.settle(idsOf(processor))
    expect(processor.ingest(slot('later', 0, '00'))).toBe('its step was complete already')
  })

  it('is offered by its number among those that are whole, and never before one that was offered already', () => {
    const processor = grid()
    for (const step of [5, 4, 3]) fill(processor, step)
    const order: (string | undefined)[] = []
    for (; processor.next(false).ready; processor.settle(idsOf(processor))) order.push(offered(processor)[0])
    expect(order).toEqual(['5-00', '3-00', '4-00'])
  })

  it('does not wait for one before it that is never filled', () => {
    const processor = grid()
    fill(processor, 0, ['00', '01'])
    fill(processor, 1)
    expect(offered(processor)).toEqual(SLOTS.map((at) => `1-${at}`))
  })

  it.each([
    ['a negative step', -1, '00'],
    ['half a step', 0.5, '00'],
    ['a group too many', 0, '20'],
    ['a rollout too many', 0, '02'],
  ])('has no place for %s', (_what, step, at) => {
    const processor = grid()
    expect(processor.ingest(slot('r', step, at))).toBe('is outside the grid')
    expect(processor.status()).toMatchObject({ open_steps: 0, waiting_reports: 0 })
  })

  it('loses the one report whose exchange was used up while it is open, and all of them when it is whole', () => {
    const processor = grid()
    fill(processor, 0, ['00', '01'])
    expect(processor.settle(['x-0-00'])).toEqual(['0-00'])
    expect(processor.ingest(slot('instead', 0, '00'))).toBeNull()
    fill(processor, 0, ['10', '11'])
    expect(offered(processor)).toEqual(['instead', '0-01', '0-10', '0-11'])
    expect(processor.settle(['x-0-01', '0-01'])).toEqual(['instead', '0-10', '0-11'])
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
  })
})

describe('a step of several releases', () => {
  const MIXED = { failed_steps: [{ step: 0, reason: 'mixed_release_ids' }] }
  const DISCARDED = 'its step was discarded for exchanges of several releases'

  it.each<[string, readonly (string | null)[]]>([
    ['another one', ['two']],
    ['none at all', [null]],
    ['two of them in one trajectory', ['one', 'two']],
  ])('fails as soon as a report quotes exchanges of %s', (_what, releases) => {
    const processor = grid()
    fill(processor, 0, ['00', '01'])
    expect(processor.ingest(slot('stray', 0, '10', releases))).toBeNull()
    expect(processor.status()).toMatchObject({ ...MIXED, open_steps: 0, waiting_reports: 0 })
    expect(processor.ingest(slot('late', 0, '11'))).toBe(DISCARDED)
    expect(processor.next(true)).toEqual({ samples: [], ready: false })
  })

  it('stands in the way of none, and its reports are answered with the next row, once and all together', () => {
    const processor = grid()
    fill(processor, 0, ['00', '01'])
    processor.ingest(slot('stray', 0, '10', ['two']))
    fill(processor, 1)
    expect(processor.settle(idsOf(processor))).toEqual(['0-00', '0-01', 'stray'])
    expect(processor.settle(['anything'])).toEqual([])
    expect(processor.status()).toMatchObject(MIXED)
  })

  it('fails again on the same records after a restart, as long as no row has consumed them', () => {
    const records = [slot('a', 0, '00'), slot('b', 0, '01', ['two']), ...SLOTS.map((at) => slot(`1-${at}`, 1, at, ['two']))]
    const [before, after] = [grid(), grid()]
    for (const record of records) before.ingest(record)
    const consumed = idsOf(before)
    const aside = before.settle(consumed)
    expect(aside).toEqual(['a', 'b'])
    // The row of step 1 landed, and the process was killed before the next row could take the two along.
    for (const record of records.filter(({ agent_record_id }) => !consumed.includes(agent_record_id))) after.ingest(record)
    expect(after.status()).toMatchObject(MIXED)
    expect(after.ingest(slot('late', 0, '10'))).toBe(DISCARDED)
  })

  it('shows the latest hundred and no more', () => {
    const processor = grid()
    for (let step = 0; step < 150; step++)
      for (const [at, release] of [
        ['00', 'one'],
        ['01', 'two'],
      ] as const)
        processor.ingest(slot(`${step}-${at}`, step, at, [release]))
    const { failed_steps: failed } = processor.status()
    expect(failed).toHaveLength(100)
    expect(failed).toMatchObject(Array.from({ length: 100 }, (_, n) => ({ step: n + 50 })))
  })

  it('may be of exchanges that no release here served, as long as all are', () => {
    const processor = grid()
    for (const at of SLOTS) expect(processor.ingest(slot(at, 0, at, [null]))).toBeNull()
    expect(processor.next(false).ready).toBe(true)
  })
})

const event = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({
      step: fc.nat({ max: 2 }),
      at: fc.constantFrom(...SLOTS),
      release: fc.oneof({ weight: 12, arbitrary: fc.constant('one') }, { weight: 1, arbitrary: fc.constant('two') }),
      exchange: fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h', 'i', 'j', 'k', 'l'),
    }),
  },
  { weight: 1, arbitrary: fc.constant('commit' as const) },
)

describe('whatever the order of reports and commits', () => {
  it('every report that was kept is offered or answered as useless, none twice, and every step that is offered is whole and of one release', () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 60 }), (events) => {
        const processor = grid()
        const held = new Map<string, string>()
        const commit = (): void => {
          const { samples } = processor.next(false)
          const reports = samples.map(({ record_ids }) => record_ids.at(-1) ?? '')
          expect(samples.length % SLOTS.length).toBe(0)
          expect(new Set(reports.map((id) => held.get(id))).size).toBeLessThan(2)
          const consumed = [...new Set(samples.flatMap(({ record_ids }) => record_ids))]
          for (const id of [...reports, ...processor.settle(consumed)]) expect(held.delete(id)).toBe(true)
        }
        for (const [n, each] of events.entries()) {
          if (each === 'commit') commit()
          else if (processor.ingest(slot(`r${n}`, each.step, each.at, [each.release], each.exchange)) === null)
            held.set(`r${n}`, `${each.step} ${each.release}`)
        }
        while (processor.next(true).ready) commit()
        commit()
        expect(held.size).toBe(processor.status()['waiting_reports'])
      }),
      { numRuns: 300 },
    )
  })
})
