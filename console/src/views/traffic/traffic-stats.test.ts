import { expect, it } from 'vitest'
import type { RecordRow } from '@svc-ai/client'
import { rowOf } from './testing/fake-scenario.ts'
import { statsOf } from './traffic-stats.ts'

const row = (at: number, summary?: RecordRow['summary']): RecordRow => rowOf(at, 0, summary === undefined ? {} : { summary })

it('of nothing are nothing', () => {
  expect(statsOf([])).toMatchObject({ requests: [], latencyMedian: [], tokensIn: [] })
})

it('count requests by the second, the quiet ones too', () => {
  expect(statsOf([row(13.9), row(10.1), row(10.8)]).requests).toEqual([
    { x: 10, y: 2 },
    { x: 11, y: 0 },
    { x: 12, y: 0 },
    { x: 13, y: 1 },
  ])
})

it('take longer stretches for longer times, and never too many of them', () => {
  for (const span of [40, 3000, 100_000, 1e7, 1e9]) {
    const { requests } = statsOf([row(1_700_000_000), row(1_700_000_000 + span)])
    expect(requests.length).toBeGreaterThan(1)
    expect(requests.length).toBeLessThanOrEqual(50)
  }
})

it('show p50 and p95 of the latency of exchanges', () => {
  const rows = Array.from({ length: 100 }, (_, at) => row(5, { latency_ms: (at + 1) * 10 }))
  expect(statsOf(rows)).toMatchObject({ latencyMedian: [{ x: 5, y: 0.5 }], latencySlow: [{ x: 5, y: 0.95 }] })
})

it('add up tokens where they were counted, and what broke off', () => {
  const rows = [
    row(1, { latency_ms: 1, input_tokens: 3, output_tokens: 0 }),
    row(1, { latency_ms: 1, input_tokens: 4, complete: false }),
    row(2),
    row(Number.NaN),
  ]
  expect(statsOf(rows)).toMatchObject({ tokensIn: [{ x: 1, y: 7 }], tokensOut: [{ x: 1, y: 0 }], failures: [{ x: 1, y: 1 }] })
})
