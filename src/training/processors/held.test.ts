/** What a processor holds costs nothing to ask: the code that runs is counted, with a few units held and with a hundred thousand. */
import { Session, type Profiler } from 'node:inspector'
import { afterAll, describe, expect, it, vi } from 'vitest'
import { exchange, report } from '../../../conformance/processor-samples.ts'
import type { PendingRecord, Processor } from '../../contract/index.ts'

const FEW = 100
const MANY = 100_000

/** The engine counts every turn of a loop in code that it first runs after this; an earlier test file may have run it already. */
const session = new Session()
session.connect()
session.post('Profiler.enable')
session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: true })
afterAll(() => session.disconnect())
vi.resetModules()
const { datasetProcessor, recordsProcessor, reportedProcessor } = await import('./index.ts')

interface Kind {
  readonly make: () => Processor
  readonly recordOf: (n: number) => PendingRecord
}
const kinds: Readonly<Record<string, Kind>> = {
  'single reports': { make: () => reportedProcessor({ name: 'p', batchSize: 4 }), recordOf: (n) => report(`r${n}`, [`x${n}`]) },
  'reports in groups that are whole': { make: () => inGroupsOf(2), recordOf: (n) => report(`r${n}`, [`x${n}`], { score: n }) },
  'reports in groups that never are': { make: () => inGroupsOf(MANY + 1), recordOf: (n) => report(`r${n}`, [`x${n}`], { score: n }) },
  'plain traffic': { make: () => recordsProcessor({ name: 'p', batchSize: 4 }), recordOf: (n) => exchange(`r${n}`) },
  'imported examples': { make: () => datasetProcessor({ name: 'p', batchSize: 4 }), recordOf: (n) => exchange(`r${n}`) },
}

function inGroupsOf(size: number): Processor {
  return reportedProcessor({
    name: 'p',
    batchSize: 4,
    group: ({ score }) => ({ key: `g${Math.floor(Number(score) / size)}`, slot: `${Number(score) % size}`, size }),
  })
}

describe.each(Object.entries(kinds))('a processor of %s', (_name, { make, recordOf }) => {
  function blocksRun(held: number): number {
    const processor = make()
    const records = Array.from({ length: held }, (_, n) => recordOf(n))
    expect(records.filter((record) => processor.ingest(record) !== null)).toEqual([])
    takeCount()
    ask(processor, held)
    return takeCount()
  }

  it('runs no more code to offer, to settle and to show itself when it holds a thousand times as much', () => {
    const few = blocksRun(FEW)
    expect(few).toBeGreaterThan(100)
    expect(blocksRun(MANY)).toBe(few)
  })
})

/** From the front, from the middle, so that there are gaps, and from the end. */
function ask(processor: Processor, held: number): void {
  for (const n of [0, 2, 4, held / 2, held / 2 + 2, held - 1]) {
    processor.next(false)
    processor.settle([`r${n}`, `x${n}`])
    processor.next(true)
    processor.status()
  }
}

/** How often blocks of this folder's code ran since the last time. */
function takeCount(): number {
  const scripts: Profiler.ScriptCoverage[] = []
  session.post('Profiler.takePreciseCoverage', (_error, { result }) => scripts.push(...result))
  return scripts
    .filter(({ url }) => url.includes('/src/training/processors/') && !url.includes('.test.'))
    .flatMap(({ functions }) => functions.flatMap(({ ranges }) => ranges.map(({ count }) => count)))
    .reduce((sum, count) => sum + count, 0)
}
