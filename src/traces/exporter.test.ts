/** Batches on their way to collectors that take them, refuse them, hang, or are not there. */
import { describe, expect, it, onTestFinished, vi } from 'vitest'
import { startCollector, type Collector } from '../../test/support/collector.ts'
import { until } from '../../test/support/wait.ts'
import { Attributes } from './attributes.ts'
import { begunContext } from './context.ts'
import { Exporter, type ExportPace } from './exporter.ts'
import { newSpanId, type TraceSpan } from './span.ts'

const QUICK: Partial<ExportPace> = { gatherMs: 0, retryFirstMs: 1 }
/** Nothing leaves by itself. */
const WAITING: Partial<ExportPace> = { gatherMs: 600_000, retryFirstMs: 600_000 }

interface Desk {
  readonly exporter: Exporter
  readonly said: string[]
}

function open(endpoint: string, pace: Partial<ExportPace>, headers: Readonly<Record<string, string>> = {}): Desk {
  const said: string[] = []
  const warn = (message: string, error: unknown): number => said.push(`${message}: ${error instanceof Error ? error.message : 'no words'}`)
  const exporter = new Exporter({ endpoint, headers, serviceName: 'a name', warn: (message, error) => void warn(message, error), pace })
  onTestFinished(() => exporter.close())
  return { exporter, said }
}

async function opened(pace: Partial<ExportPace>, headers?: Readonly<Record<string, string>>) {
  const there = await collector()
  return { there, desk: open(there.url, pace, headers) }
}

async function collector(): Promise<Collector> {
  const started = await startCollector()
  onTestFinished(() => started.close())
  return started
}

function span(name: string): TraceSpan {
  const attributes = new Attributes().text('a', 'b')
  return {
    context: begunContext(1),
    id: newSpanId(),
    parentId: null,
    name,
    kind: 'internal',
    begun: 1,
    ended: 2,
    attributes,
    failure: null,
  }
}

function add({ exporter }: Desk, ...names: readonly string[]): void {
  for (const name of names) exporter.add(1, () => [span(name)])
}

const names = ({ spans }: Collector): readonly string[] => spans.map(({ name }) => name)
const numbered = (count: number): readonly string[] => Array.from({ length: count }, (_, at) => `s${at}`)

describe('a collector that takes what comes', () => {
  it('gets spans that came together in one batch, with the headers, at the address for traces', async () => {
    const { there, desk } = await opened(QUICK, { authorization: 'Basic eDp5', 'Content-Type': 'text/plain' })
    add(desk, 'a', 'b')
    await until(() => there.spans.length === 2)
    expect(there.posts).toMatchObject([
      { path: '/v1/traces', headers: { authorization: 'Basic eDp5', 'content-type': 'application/json' } },
    ])
    expect(there.spans[0]?.service).toBe('a name')
    await until(() => desk.exporter.counts.exported === 2)
  })

  it('gets wall-clock times, also after the machine slept', async () => {
    const { there, desk } = await opened(QUICK)
    const morning = Date.UTC(2100, 0, 1)
    vi.useFakeTimers({ toFake: ['Date'], now: morning })
    onTestFinished(() => void vi.useRealTimers())
    const now = performance.now()
    desk.exporter.add(1, () => [{ ...span('a'), begun: now - 1000, ended: now }])
    await until(() => there.spans.length === 1)
    const times = [there.spans[0]?.begun, there.spans[0]?.ended].map((nanos) => Math.ceil(Number(nanos) / 1e9) * 1000)
    expect(times).toEqual([morning - 1000, morning])
  })

  it('gets them at an address that is the one for traces already, as it is', async () => {
    const there = await collector()
    add(open(`${there.url}/api/v0.2/traces`, QUICK), 'a')
    await until(() => there.spans.length === 1)
    expect(there.posts[0]?.path).toBe('/api/v0.2/traces')
  })

  it('gets no batch larger than the largest, and a full one without waiting for the hour', async () => {
    const { there, desk } = await opened({ ...WAITING, batchMax: 3 })
    add(desk, ...numbered(7))
    await until(() => there.spans.length === 6)
    await desk.exporter.close()
    expect(there.posts.map(({ text }) => text.split('"traceId"').length - 1)).toEqual([3, 3, 1])
    expect(names(there)).toEqual(numbered(7))
  })

  it('gets no batch that is too large in print, but every span, however large', async () => {
    const { there, desk } = await opened({ ...WAITING, batchCharactersMax: 1 })
    add(desk, ...numbered(3))
    await desk.exporter.close()
    expect([there.posts.length, names(there)]).toEqual([3, numbered(3)])
  })

  it('is believed when it says that it left some out', async () => {
    const { there, desk } = await opened(QUICK)
    there.answer((response) => void response.end('{"partialSuccess":{"rejectedSpans":"1","errorMessage":"no"}}'))
    add(desk, 'a', 'b')
    await until(() => desk.exporter.counts.dropped === 1)
    expect(desk.exporter.counts.exported).toBe(1)
    expect(desk.said).toEqual(['1 span was dropped: the collector refused them'])
  })

  it('may answer with any nonsense, at any length', async () => {
    const { there, desk } = await opened(QUICK)
    there.answer((response) => void response.end('x'.repeat(1_000_000)))
    add(desk, 'a')
    await until(() => desk.exporter.counts.exported === 1)
  })
})

describe('a collector in trouble', () => {
  it.each([429, 502, 503, 504])('is asked again after a %i, and nothing is lost', async (status) => {
    const { there, desk } = await opened(QUICK)
    there.answer((response, take) => {
      if (there.posts.length > 2) take()
      response.writeHead(there.posts.length > 2 ? 200 : status, { 'retry-after': '0' }).end()
    })
    add(desk, 'a')
    await until(() => desk.exporter.counts.exported === 1)
    expect([there.posts.length, names(there), desk.said]).toEqual([3, ['a'], []])
  })

  it('is left alone as long as it asks for', async () => {
    const [there, beside] = [await collector(), await collector()]
    there.answer((response) => void response.writeHead(503, { 'retry-after': '600' }).end())
    const desk = open(there.url, QUICK)
    add(desk, 'a')
    await until(() => there.posts.length === 1)
    // Long enough for another one to be asked many times over.
    const other = open(beside.url, { ...QUICK, batchMax: 1 })
    for (let count = 1; count <= 30; count += 1) {
      add(other, 'b')
      await until(() => other.exporter.counts.exported === count)
    }
    expect(there.posts.length).toBe(1)
    // The pause is cut short by the end of the service alone: then it is asked once more.
    await desk.exporter.close()
    expect([there.posts.length, desk.exporter.counts]).toEqual([2, { exported: 0, dropped: 1 }])
  })

  it.each([400, 401, 404, 500])('is not asked again after a %i, and what was lost is said once', async (status) => {
    const { there, desk } = await opened({ ...QUICK, batchMax: 1 })
    there.answer((response) => void response.writeHead(status).end())
    add(desk, 'a', 'b')
    await until(() => desk.exporter.counts.dropped === 2)
    expect([there.posts.length, desk.said]).toEqual([2, [`1 span was dropped: the collector answered with status ${status}`]])
  })

  it('that sends elsewhere is not followed there: the headers are for it alone', async () => {
    const [there, elsewhere] = [await collector(), await collector()]
    there.answer((response) => void response.writeHead(307, { location: `${elsewhere.url}/v1/traces` }).end())
    const desk = open(there.url, QUICK, { 'x-key': 'secret' })
    add(desk, 'a')
    await until(() => desk.exporter.counts.dropped === 1)
    expect([elsewhere.posts, desk.said]).toEqual([[], ['1 span was dropped: the collector answered with status 307']])
  })

  it('that never answers is given up after its time, and asked again', async () => {
    const { there, desk } = await opened({ ...QUICK, timeoutMs: 500 })
    there.answer((response, take) => {
      if (there.posts.length === 1) return
      take()
      response.end()
    })
    add(desk, 'a')
    await until(() => desk.exporter.counts.exported === 1)
    expect(there.posts.length).toBeGreaterThan(1)
  })

  it('that is not there costs the spans, after a few tries', async () => {
    const { there, desk } = await opened(QUICK)
    await there.close()
    add(desk, 'a')
    await until(() => desk.exporter.counts.dropped === 1)
    expect(desk.said[0]).toMatch(/^1 span was dropped: the collector could not be reached \(.*ECONNREFUSED/)
  })
})

const unmade = (): never => expect.fail('there is no room for it, and so it is not made')

describe('a queue that is full', () => {
  it('takes no more, counts what it did not take, and makes none of it', async () => {
    const { there, desk } = await opened({ ...QUICK, waitingMax: 3 })
    const held = Promise.withResolvers<void>()
    there.answer((response, take) => {
      take()
      void held.promise.then(() => response.end())
    })
    add(desk, 'first')
    await until(() => there.posts.length === 1)
    add(desk, 'a', 'b')
    desk.exporter.add(2, unmade)
    add(desk, 'c')
    desk.exporter.add(1, unmade)
    expect(desk.exporter.counts.dropped).toBe(3)
    expect(desk.said).toEqual(['2 spans were dropped: the queue is full'])
    held.resolve()
    await until(() => there.spans.length === 4)
    expect(names(there)).toEqual(['first', 'a', 'b', 'c'])
  })

  it('loses a span that cannot be printed, and no other', async () => {
    const { there, desk } = await opened(QUICK)
    add(desk, 'a')
    desk.exporter.add(1, () => {
      throw new Error('nested too deep')
    })
    add(desk, 'b')
    await until(() => there.spans.length === 2)
    expect([desk.exporter.counts.dropped, desk.said]).toEqual([1, ['1 span was dropped: nested too deep']])
  })
})

describe('at the end', () => {
  it('everything that waits is sent, batch by batch', async () => {
    const { there, desk } = await opened({ ...WAITING, batchMax: 2 })
    add(desk, 'a')
    await desk.exporter.close()
    expect([names(there), desk.exporter.counts]).toEqual([['a'], { exported: 1, dropped: 0 }])
  })

  it('a collector that hangs is waited for so long and no longer', async () => {
    const { there, desk } = await opened({ ...WAITING, batchMax: 2, closeMs: 20 })
    there.answer(() => undefined)
    add(desk, ...numbered(5))
    await until(() => there.posts.length === 1)
    await desk.exporter.close()
    expect([there.posts.length, desk.exporter.counts]).toEqual([1, { exported: 0, dropped: 5 }])
  })

  it('a collector that is not there is not waited for', async () => {
    const { there, desk } = await opened(WAITING)
    await there.close()
    add(desk, 'a')
    await desk.exporter.close()
    expect(desk.exporter.counts).toEqual({ exported: 0, dropped: 1 })
  })

  it('may come twice', async () => {
    const { there, desk } = await opened(WAITING)
    add(desk, 'a')
    await Promise.all([desk.exporter.close(), desk.exporter.close()])
    expect(names(there)).toEqual(['a'])
  })
})
