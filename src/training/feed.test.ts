/** What a feed reads, in which order and how far, and what becomes of a record that no step can use. */
import { describe, expect, it } from 'vitest'
import {
  ASIDE_REASONS_MAX,
  BATCH_BYTES_MAX,
  PENDING_PAGE_RECORDS_MAX,
  type PendingPage,
  type PendingRecord,
  type Processor,
} from '../contract/index.ts'
import { Feed } from './feed.ts'
import { recordsProcessor } from './processors/records.ts'
import { reportedProcessor } from './processors/reported.ts'
import { memoryOf } from './rows.ts'

const json = (value: object): Uint8Array => Buffer.from(JSON.stringify(value))

function record(sequence: number, more: Partial<PendingRecord> = {}): PendingRecord {
  const base = { score: null, artifact_ref: null, created_at: 0, references: [], quoted: [], payload: json({}) }
  return { ...base, sequence, agent_record_id: `r${sequence}`, request_type: 'report', ...more }
}

/** A report about one exchange of its own. */
function report(sequence: number, exchange = `x${sequence}`, more: Partial<PendingRecord['quoted'][number]> = {}): PendingRecord {
  const { quoted: _none, ...quoted } = record(0, { agent_record_id: exchange, request_type: 'inference' })
  return record(sequence, { references: [exchange], quoted: [{ ...quoted, consumed: false, ...more }] })
}
const instruction = (
  sequence: number,
  payload: Uint8Array | null = json({ text: `t${sequence}`, session: '', release_id: '', requires: [] }),
) => record(sequence, { request_type: 'train', payload })

const sound = (batchSize = 1): Processor => reportedProcessor({ name: 'p', batchSize })

/** A store of these, that remembers what it was asked for. */
function stored(records: readonly PendingRecord[], onRead: (page: PendingPage) => void = () => undefined) {
  const asked: PendingPage[] = []
  const kept = [...records]
  const pending = (page: PendingPage): Promise<readonly PendingRecord[]> => {
    asked.push(page)
    const found = kept.filter(({ request_type, sequence }) => page.types.includes(request_type) && sequence > page.after)
    onRead(page)
    return Promise.resolve(found.slice(0, page.limit))
  }
  return { pending, asked, kept }
}

const feedOf = (store: ReturnType<typeof stored>, processor = sound(), memory = memoryOf(undefined)) =>
  new Feed({ store, component: 'part', processor, takesInstructions: true }, memory)

/** A feed that has read what the mode needs. */
async function filled(records: readonly PendingRecord[], processor?: Processor): Promise<Feed> {
  const feed = feedOf(stored(records), processor)
  await feed.fill('auto')
  return feed
}

const unitsOf = (feed: Feed) => feed.waiting().units.samples.map(({ record_ids }) => record_ids.at(-1))
const asideIn = (feed: Feed) => feed.status()['set_aside']

describe('a feed', () => {
  it('sets aside what was recorded without its words, and reports about it [recording.training]', async () => {
    const payload = json({ recording: 'metadata' })
    const feed = await filled([record(1, { payload }), report(2, 'x2', { payload }), report(3)])
    expect(unitsOf(feed)).toEqual(['r3'])
    expect(asideIn(feed)).toEqual({ 'its words were not recorded': 1, 'the words of an exchange it quotes were not recorded': 1 })
  })
  it('reads traffic no further than the next batch', async () => {
    const store = stored(Array.from({ length: PENDING_PAGE_RECORDS_MAX * 3 }, (_, at) => report(at + 1)))
    const feed = feedOf(store)
    await feed.fill('auto')
    await feed.fill('auto')
    expect(store.asked.filter(({ types }) => types.includes('report'))).toEqual([
      { component: 'part', types: ['report'], after: 0, limit: PENDING_PAGE_RECORDS_MAX },
    ])
    expect(unitsOf(feed)).toEqual(['r1'])
  })

  it('leaves traffic unread in manual, and reads it once a mode takes it', async () => {
    const store = stored([report(1), instruction(2)])
    const feed = feedOf(store)
    await feed.fill('manual')
    expect(store.asked.every(({ types }) => types.includes('train'))).toBe(true)
    expect(feed.waiting()).toMatchObject({ instruction: { request: { id: 'r2', text: 't2' }, problem: null }, units: { samples: [] } })
    await feed.fill('hybrid')
    expect(unitsOf(feed)).toEqual(['r1'])
  })

  it('goes on after what the last row settled', async () => {
    const store = stored([report(1), report(2), report(3)])
    const feed = feedOf(store, undefined, { settled_through: 2, set_aside: { old: 4 }, trainer: {} })
    await feed.fill('auto')
    expect(unitsOf(feed)).toEqual(['r3'])
    expect(asideIn(feed)).toEqual({ old: 4 })
  })

  it('misses nothing that is appended while it reads', async () => {
    const late = [report(2), instruction(3)]
    const store = stored([], ({ types }) => {
      const own = late.findIndex(({ request_type }) => types.includes(request_type))
      if (own === -1) return
      const [one] = late.splice(own, 1)
      if (one === undefined) return
      store.kept.push(one)
      feed.announce(one.request_type)
    })
    const feed = feedOf(store)
    await feed.fill('hybrid')
    expect(unitsOf(feed)).toEqual(['r2'])
    expect(feed.waiting().instruction?.request.id).toBe('r3')
  })

  it('is woken by what it reads and by nothing else', () => {
    const feed = feedOf(stored([]))
    expect((['inference', 'report', 'train'] as const).map((type) => feed.announce(type))).toEqual([false, true, true])
  })

  it('queues instructions oldest first, and one that cannot be read with its problem', async () => {
    const feed = feedOf(stored([instruction(1), instruction(2, null), instruction(3, Buffer.from('{'))]))
    await feed.fill('manual')
    expect(feed.status()).toMatchObject({ buffered_requests: 3, pending_instructions: 3 })
    expect(feed.waiting().instruction).toMatchObject({ request: { id: 'r1' }, problem: null })
    for (const id of ['r2', 'r3']) {
      feed.settle([feed.waiting().instruction?.request.id ?? ''])
      expect(feed.waiting().instruction).toMatchObject({ request: { id, requires: [] }, problem: expect.stringContaining('evicted') })
    }
    feed.settle(['r3'])
    expect(feed.waiting().instruction).toBeNull()
  })
})

const fail = (): never => {
  throw new Error('a secret of the record')
}

describe('a record that no step can use', () => {
  it.each<[string, PendingRecord]>([
    ['its body was evicted', { ...report(1), payload: null }],
    ['an exchange it quotes was evicted', report(1, 'x', { payload: null })],
    ['an exchange it quotes was evicted', { ...report(1), quoted: [] }],
    ['an exchange it quotes was used by another report', report(1, 'x', { consumed: true })],
    ['quotes no receipt', record(1)],
    ['it and what it quotes are too large together', { ...report(1, 'x', { payload: null }), payload: null, too_large: true }],
  ])('is set aside, counted and joins the next row: %s', async (reason, bad) => {
    const feed = await filled([bad, report(2)])
    expect(unitsOf(feed)).toEqual(['r2'])
    expect(feed.aside()).toEqual(['r1'])
    expect(asideIn(feed)).toEqual({ [reason]: 1 })
    feed.settle(['r1', 'x2', 'r2'])
    expect(feed.aside()).toEqual([])
    expect(asideIn(feed)).toEqual({ [reason]: 1 })
  })

  it('is also one that its processor throws over', async () => {
    const processor = sound()
    const broken: Processor = { ...processor, ingest: (one) => (one.sequence === 1 ? fail() : processor.ingest(one)) }
    const feed = await filled([report(1), report(2)], broken)
    expect(unitsOf(feed)).toEqual(['r2'])
    expect(asideIn(feed)).toEqual({ 'the processor failed over it': 1 })
  })

  it('is also one whose exchange the row of another used', async () => {
    const feed = await filled([report(1, 'x'), report(2, 'x')])
    await feed.fill('auto')
    feed.settle(['x', 'r1'])
    expect(feed.aside()).toEqual(['r2'])
    expect(feed.waiting().units.samples).toEqual([])
  })

  it('is counted under its reason as long as there are few, and together with others after that', async () => {
    const count = ASIDE_REASONS_MAX + 3
    const processor: Processor = { ...sound(), ingest: ({ sequence }) => `reason ${sequence}` }
    const feed = await filled(
      Array.from({ length: count }, (_, at) => report(at + 1)),
      processor,
    )
    const counts = Object.entries(Object(asideIn(feed)))
    expect(counts).toHaveLength(ASIDE_REASONS_MAX + 1)
    expect(counts.at(-1)).toEqual(['other reasons', 3])
  })
})

describe('what a row remembers', () => {
  it('is everything read, when nothing is held any more', async () => {
    const feed = await filled([report(1), report(4)], sound(2))
    expect(feed.memory(['x1', 'r1', 'x4', 'r4'], { mine: 1 })).toEqual({ settled_through: 4, set_aside: {}, trainer: { mine: 1 } })
  })

  it('ends before the oldest that is still held, so that a restart reads it again', async () => {
    const feed = await filled([report(1), report(2), report(5), report(7)], sound(2))
    expect(feed.memory(['x1', 'r1', 'x2', 'r2'], {}).settled_through).toBe(4)
    expect(feed.memory([], {}).settled_through).toBe(0)
    feed.settle(['x1', 'r1', 'x2', 'r2'])
    expect(feed.memory([], {}).settled_through).toBe(4)
  })

  it('holds nothing back for a record that was set aside', async () => {
    const feed = await filled([record(1), report(2)])
    expect(feed.memory(['r1', 'x2', 'r2'], {})).toEqual({ settled_through: 2, set_aside: { 'quotes no receipt': 1 }, trainer: {} })
  })
})

const exchange = (sequence: number, payload: Uint8Array) => record(sequence, { request_type: 'inference', payload })

describe('a batch of large exchanges', () => {
  /** Never written to, so it takes no memory, and one serves for all of them. */
  const large = Buffer.alloc(BATCH_BYTES_MAX * 0.4)

  it.each<[string, Processor, (sequence: number, payload: Uint8Array) => PendingRecord]>([
    ['reports', sound(10), (sequence, payload) => report(sequence, `x${sequence}`, { payload })],
    ['records', recordsProcessor({ name: 'p', batchSize: 10 }), exchange],
  ])('ends before it holds too many bytes, and one that is larger goes alone: %s', async (_what, processor, made) => {
    const payloads = [large, large, large, Buffer.alloc(BATCH_BYTES_MAX + 1), large]
    const feed = feedOf(stored(payloads.map((payload, at) => made(at + 1, payload))), processor)
    const batches: unknown[] = []
    for (;;) {
      await feed.fill('auto')
      const { samples, ready } = feed.waiting().units
      batches.push(unitsOf(feed))
      if (!ready) break
      feed.settle(samples.flatMap(({ record_ids }) => record_ids))
    }
    expect(batches).toEqual([['r1', 'r2'], ['r3'], ['r4'], ['r5']])
  })
})

const offered = (record_ids: readonly string[]) => ({ record_ids, exchanges: [], score: null, feedback: null })

describe('a processor that does not do as it should', () => {
  it('holds no row up by throwing over it, and is not taken at its word about what is consumed', async () => {
    const processor = sound()
    const broken: Processor = {
      ...processor,
      settle: (consumed) => {
        processor.settle(consumed)
        if (consumed.includes('r1')) throw new Error('broken on purpose')
        return [...consumed, 'r1', 'foreign']
      },
    }
    const feed = feedOf(stored([report(1), report(2), report(3)]), broken)
    for (const id of [1, 2, 3]) {
      await feed.fill('auto')
      expect(unitsOf(feed)).toEqual([`r${id}`])
      feed.settle([`x${id}`, `r${id}`])
      expect(feed.aside()).toEqual([])
      expect(feed.own([`r${id}`])).toEqual([])
    }
    expect(asideIn(feed)).toEqual({})
  })

  it.each([
    ['what it was not handed', [offered(['foreign'])]],
    ['what is consumed', [offered(['x1', 'r1'])]],
    ['what it does not hold beside what it does', [offered(['x2', 'r2']), offered(['x1', 'r1'])]],
    ['nothing at all', []],
  ])('is refused a batch of %s', async (_what, samples) => {
    let next: ReturnType<Processor['next']> = { samples: [], ready: false }
    const feed = feedOf(stored([report(1), report(2)]), { ...sound(), next: () => next })
    await feed.fill('auto')
    feed.settle(['x1', 'r1'])
    next = { samples: [offered(['x2', 'r2'])], ready: true }
    expect(unitsOf(feed)).toEqual(['r2'])
    next = { samples, ready: true }
    expect(() => feed.waiting()).toThrow('processor p offers records that it does not hold')
  })
})
