/** The processor of reports against a list that is walked from end to end, under whatever order of reports and commits the generator finds. */
import assert from 'node:assert/strict'
import * as fc from 'fast-check'
import { it } from 'vitest'
import { report } from '../../../conformance/processor-samples.ts'
import { isObject } from '../../contract/index.ts'
import type { Grouping, GroupOf } from './groups.ts'
import { reportedProcessor } from './reported.ts'

const BATCH_SIZE = 2

type Step =
  | { readonly verb: 'report'; readonly quoted: readonly string[]; readonly grouping: Grouping | null }
  /** A commit of the batch that is offered now, ready or not, as beside an instruction. */
  | { readonly verb: 'commit' }
  /** A commit that used up some exchanges and reports of whatever unit. */
  | { readonly verb: 'settle'; readonly exchanges: readonly string[]; readonly reports: readonly number[] }

const exchanges = (minLength: number) =>
  fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'), { minLength, maxLength: 3 })
const grouping = fc.record({
  key: fc.constantFrom('p', 'q', 'r'),
  slot: fc.constantFrom('1', '2', '3'),
  size: fc.oneof({ weight: 6, arbitrary: fc.constant(2) }, { weight: 1, arbitrary: fc.constantFrom(1, 3) }),
})
const step: fc.Arbitrary<Step> = fc.oneof(
  { weight: 8, arbitrary: fc.record({ verb: fc.constant('report' as const), quoted: exchanges(1), grouping: fc.option(grouping) }) },
  { weight: 2, arbitrary: fc.record({ verb: fc.constant('commit' as const) }) },
  {
    weight: 1,
    arbitrary: fc.record({
      verb: fc.constant('settle' as const),
      exchanges: exchanges(0),
      reports: fc.array(fc.nat({ max: 30 }), { maxLength: 2 }),
    }),
  },
)

it('behaves like a list of reports that somebody goes through by hand', () => {
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const pair = makePair()
      for (const each of steps) pair.take(each)
    }),
    { numRuns: 500 },
  )
})

/** The grouping comes to the processor the way a recipe reads it: out of the report. */
const byMetadata: GroupOf = ({ metadata }) => {
  if (!isObject(metadata)) return null
  const { key, slot, size } = metadata
  return typeof key === 'string' && typeof slot === 'string' ? { key, slot, size: Number(size) } : null
}

/** Both must give the same answers, offer the same and show the same numbers, after every step. */
function makePair() {
  const processor = reportedProcessor({ name: 'p', batchSize: BATCH_SIZE, group: byMetadata })
  const model = makeModel()
  let reports = 0

  function ingest({ quoted, grouping: place }: Extract<Step, { verb: 'report' }>): void {
    reports += 1
    const id = `r${reports}`
    const record = report(id, quoted, place === null ? {} : { metadata: { ...place } })
    assert.equal(processor.ingest(record) === null, model.ingest({ id, ids: [...quoted, id], place }))
  }

  function settle(consumed: readonly string[]): void {
    assert.deepEqual([...processor.settle(consumed)].toSorted(), model.settle(consumed).toSorted())
  }

  function check(): void {
    const { samples, ready } = processor.next(false)
    const units = model.units()
    const offered = units.slice(0, BATCH_SIZE).flat()
    assert.deepEqual(
      samples.map(({ record_ids, group }) => [record_ids, group]),
      offered.map(({ ids, place }) => [ids, place?.key]),
    )
    assert.equal(ready, units.length >= BATCH_SIZE)
    assert.deepEqual(processor.status(), { batch_size: BATCH_SIZE, buffered_units: units.length, ...model.waiting() })
  }

  return {
    take(each: Step): void {
      if (each.verb === 'report') ingest(each)
      else if (each.verb === 'commit') settle(processor.next(false).samples.flatMap(({ record_ids }) => record_ids))
      else settle([...each.exchanges, ...each.reports.map((n) => `r${n}`)])
      check()
    },
  }
}

interface Held {
  readonly id: string
  readonly ids: readonly string[]
  readonly place: Grouping | null
}

/** One list of what waits, one of what is whole, and the keys that ever were. */
function makeModel() {
  let waiting: readonly Held[] = []
  let whole: readonly (readonly Held[])[] = []
  const closed = new Set<string>()

  function join(held: Held, { key, slot, size }: Grouping): boolean {
    const others = waiting.filter(({ place }) => place?.key === key)
    if (closed.has(key) || others.some(({ place }) => place?.size !== size || place.slot === slot)) return false
    waiting = [...waiting, held]
    if (others.length + 1 < size) return true
    closed.add(key)
    waiting = waiting.filter(({ place }) => place?.key !== key)
    whole = [...whole, [...others, held]]
    return true
  }

  return {
    ingest(held: Held): boolean {
      if (held.place !== null) return join(held, held.place)
      whole = [...whole, [held]]
      return true
    },
    settle(consumed: readonly string[]): readonly string[] {
      const isHit = ({ ids }: Held): boolean => ids.some((id) => consumed.includes(id))
      const lost = [...whole.filter((unit) => unit.some(isHit)).flat(), ...waiting.filter(isHit)]
      whole = whole.filter((unit) => !unit.some(isHit))
      waiting = waiting.filter((held) => !isHit(held))
      return lost.map(({ id }) => id).filter((id) => !consumed.includes(id))
    },
    units: () => whole,
    waiting: () => ({ open_groups: new Set(waiting.map(({ place }) => place?.key)).size, waiting_reports: waiting.length }),
  }
}
