/** Conformance suite for processors, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { PendingRecord, Processor, StoredSample } from '../src/contract/index.ts'
import { exchange, report } from './processor-samples.ts'
import { assertPlain, type Runner } from './support.ts'

export interface ProcessorSuite extends Runner {
  /** A new processor, the same each time. */
  readonly make: () => Processor | Promise<Processor>
}

/** How many records of each type a processor gets. */
const RECORDS_EACH = 40
/** More than the suite's records. */
const BATCHES_MAX = 1000

export function processorConformance(suite: ProcessorSuite): void {
  const { describe } = suite
  describe('what it says of itself', () => describeItself(suite))
  describe('what it offers', () => describeOffers(suite))
  describe('what was consumed', () => describeSettling(suite))
  describe('what it cannot use', () => describeUnusable(suite))
}

function describeItself(suite: ProcessorSuite): void {
  const test = over(suite)
  test('it has a name, and a mode or more of the three', async ({ name, modes }) => {
    assert.notEqual(name.trim(), '')
    assert.ok(modes.length > 0, 'it runs in no mode')
    assertSome(modes, ['auto', 'manual', 'hybrid'])
  })
  test('it reads exchanges and reports at most, and says that clients must send what it reads', async ({ reads, requestTypes }) => {
    assertSome(reads, ['inference', 'report'])
    assertSome(requestTypes, ['inference', 'report', 'train'])
    for (const type of reads) assert.ok(requestTypes.includes(type), `it reads ${type} and does not ask for it`)
  })
  test('its status is plain JSON, before it was handed anything and after', async (processor) => {
    assertPlain(processor.status(), 'its status')
    hand(processor, recordsFor(processor))
    assertPlain(processor.status(), 'its status')
  })
}

function describeOffers(suite: ProcessorSuite): void {
  const test = over(suite)
  test('before it was handed anything it offers nothing', async (processor) => {
    for (const drained of [false, true]) assert.deepEqual(processor.next(drained), { samples: [], ready: false })
  })
  test('asking changes nothing, however often', async (processor) => {
    hand(processor, recordsFor(processor))
    const first = [processor.next(false), processor.next(true), processor.status()]
    assert.deepEqual([processor.next(false), processor.next(true), processor.status()], first)
  })
  test('a record more puts nothing before what was offered and leaves what was enough enough', async (processor) => {
    for (const record of recordsFor(processor)) {
      const before = [false, true].map((drained) => processor.next(drained))
      hand(processor, [record])
      const after = [false, true].map((drained) => processor.next(drained))
      for (const [at, { samples, ready }] of before.entries()) {
        assert.deepEqual(after[at]?.samples.slice(0, samples.length), samples)
        assert.ok(!ready || after[at]?.ready, 'it was ready, and a record more undid that')
      }
    }
  })
  test('a batch that is ready holds something', async (processor) => {
    for (const record of recordsFor(processor)) {
      hand(processor, [record])
      for (const drained of [false, true]) {
        const { samples, ready } = processor.next(drained)
        assert.ok(!ready || samples.length > 0, 'it is ready with nothing')
      }
    }
  })
  test('a sample holds records that were kept, each once, and their bodies as they were stored', async (processor) => {
    const records = recordsFor(processor)
    const kept = hand(processor, records)
    const known = new Map(kept.flatMap((record) => [record, ...record.quoted]).map((record) => [record.agent_record_id, record]))
    for (const { record_ids, exchanges } of processor.next(true).samples) {
      assert.ok(record_ids.length > 0, 'a sample consumes nothing')
      assertSome(record_ids, [...known.keys()])
      const bodies = record_ids.flatMap((id) => known.get(id)?.payload ?? [])
      const isStored = (body: Uint8Array): boolean => bodies.some((stored) => Buffer.compare(stored, body) === 0)
      assert.ok(exchanges.every(isStored), 'an exchange was never stored')
    }
  })
  test('another one that is handed the same records offers the same', async (processor) => {
    const twin = await suite.make()
    for (const each of [processor, twin]) hand(each, recordsFor(each))
    assert.deepEqual(batchesOf(twin), batchesOf(processor))
  })
}

function describeSettling(suite: ProcessorSuite): void {
  const test = over(suite)
  test('nothing is offered twice, and what is offered comes to an end', async (processor) => {
    hand(processor, recordsFor(processor))
    const ids = batchesOf(processor).flatMap(idsOf)
    assert.deepEqual(ids, [...new Set(ids)])
  })
  test('one consumed record is enough: no sample that holds it is offered again', async (processor) => {
    hand(processor, recordsFor(processor))
    for (let [first] = processor.next(true).samples; first !== undefined; [first] = processor.next(true).samples) {
      const [consumed] = first.record_ids
      assert.ok(consumed !== undefined)
      processor.settle([consumed])
      assert.ok(!idsOf(processor.next(true).samples).includes(consumed), 'it offers what was consumed')
    }
  })
  test('consuming again, or what it never held, changes nothing', async (processor) => {
    hand(processor, recordsFor(processor))
    const consumed = idsOf(processor.next(true).samples)
    processor.settle(consumed)
    const rest = [processor.next(true), processor.status()]
    assert.deepEqual(processor.settle([...consumed, ...consumed, 'never held', '__proto__']), [])
    assert.deepEqual([processor.next(true), processor.status()], rest)
  })
  test('a report whose exchange another one used up is answered once and never offered', async (processor) => {
    if (!processor.reads.includes('report')) return
    const rivals = Array.from({ length: RECORDS_EACH }, (_, n) => report(`rival-${n}`, [`own-${n}`, 'shared'], { score: n }))
    const held = new Set(hand(processor, rivals).map((record) => record.agent_record_id))
    const consumed = ['shared', 'own-0', 'rival-0']
    const useless = processor.settle(consumed)
    held.delete('rival-0')
    assert.deepEqual(useless.toSorted(), [...held].toSorted())
    assert.deepEqual(processor.next(true), { samples: [], ready: false })
    assert.deepEqual(processor.settle(useless), [])
  })
}

function describeUnusable(suite: ProcessorSuite): void {
  const test = over(suite)
  test('a record it cannot use is skipped with a reason, throws nothing and is never offered', async (processor) => {
    const kept = new Set(hand(processor, hostileFor(processor)).map((record) => record.agent_record_id))
    const offered = batchesOf(processor).flat()
    assert.ok(
      offered.every(({ record_ids }) => record_ids.some((id) => kept.has(id))),
      'it offers what it skipped',
    )
  })
  test('what it cannot use stands in the way of nothing', async (processor) => {
    const plain = await suite.make()
    hand(plain, recordsFor(plain))
    for (const record of hostileFor(processor)) if (processor.ingest(record) === null) processor.settle([record.agent_record_id])
    hand(processor, recordsFor(processor))
    assert.deepEqual(batchesOf(processor), batchesOf(plain))
  })
}

function over({ it, make }: ProcessorSuite): (name: string, body: (processor: Processor) => Promise<void>) => void {
  return (name, body) => it(name, async () => body(await make()))
}

function assertSome(values: readonly string[], allowed: readonly string[]): void {
  assert.deepEqual(values, [...new Set(values)])
  for (const value of values) assert.ok(allowed.includes(value), `${value} is none of ${allowed.join(', ')}`)
}

/** Records that share nothing with each other. */
function recordsFor({ reads }: Processor): readonly PendingRecord[] {
  return Array.from({ length: RECORDS_EACH }, (_, n) => [
    exchange(`exchange-${n}`, { sequence: 2 * n + 1 }),
    report(`report-${n}`, [`turn-${n}-1`, `turn-${n}-2`], { score: n, feedback: 'so so' }, { sequence: 2 * n + 2 }),
  ])
    .flat()
    .filter(({ request_type }) => request_type !== 'train' && reads.includes(request_type))
}

/** Bodies that routes refuse but a store may hold: cut off, of another type, too deep, missing. */
function hostileFor({ reads }: Processor): readonly PendingRecord[] {
  const deep = `{"metadata":{"task":${'['.repeat(100_000)}${']'.repeat(100_000)}}}`
  const odd = '{"score":"high","feedback":[1],"metadata":{"task":7,"bench":{"task_name":{}},"__proto__":{}}}'
  const bodies = ['', '{', 'null', '[]', '"text"', '{"metadata":7}', odd, deep].map((text) => new TextEncoder().encode(text))
  const payloads = [...bodies, Uint8Array.of(0xff, 0xfe), null]
  return reads.flatMap((request_type) =>
    payloads.flatMap((payload, n) => {
      const alone = exchange(`hostile-${request_type}-${n}`, { request_type, payload })
      return request_type === 'report' ? [alone, report(`hostile-quoting-${n}`, [`turn-of-${n}`], {}, { payload })] : [alone]
    }),
  )
}

/** Returns the records that the processor kept. */
function hand(processor: Processor, records: readonly PendingRecord[]): readonly PendingRecord[] {
  return records.filter((record) => {
    const reason = processor.ingest(record)
    assert.ok(reason === null || reason.trim() !== '', 'a record was skipped without a reason')
    return reason === null
  })
}

/** All batches, each consumed as by a commit. */
function batchesOf(processor: Processor): readonly (readonly StoredSample[])[] {
  const batches: (readonly StoredSample[])[] = []
  for (;;) {
    const { samples } = processor.next(true)
    if (samples.length === 0) return batches
    batches.push(samples)
    assert.ok(batches.length <= BATCHES_MAX, 'it never stops offering')
    processor.settle(idsOf(samples))
  }
}

const idsOf = (samples: readonly StoredSample[]): string[] => samples.flatMap(({ record_ids }) => record_ids)
