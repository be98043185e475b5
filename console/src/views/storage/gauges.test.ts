import { expect, it } from 'vitest'
import { linesOf, readingOf, routeRows, withReading, type Reading } from './gauges.ts'
import { readMetrics } from '../../data/metrics.ts'

const at = (seconds: number, count: number, cpu: number): Reading =>
  readingOf(
    seconds,
    readMetrics(
      [
        `svc_request_seconds_bucket{route="/a",status="200",le="0.1"} ${count}`,
        `svc_request_seconds_bucket{route="/a",status="200",le="+Inf"} ${count}`,
        `svc_request_seconds_count{route="/a",status="200"} ${count}`,
        'process_resident_memory_bytes 1000',
        `process_cpu_seconds_total ${cpu}`,
      ].join('\n'),
    ),
  )

it('rates, times and the processor are what came between two readings', () => {
  const lines = linesOf([at(10, 5, 1), at(12, 11, 2)])
  expect(lines.rate).toEqual([{ x: 12, y: 3 }])
  expect(lines.cpu).toEqual([{ x: 12, y: 50 }])
  expect(lines.median).toEqual([{ x: 12, y: expect.closeTo(0.05, 6) }])
  expect(lines.memory).toHaveLength(2)
})

it('a time in which nothing was asked has a rate and no latency', () => {
  const lines = linesOf([at(10, 5, 1), at(12, 5, 1)])
  expect([lines.rate, lines.median]).toEqual([[{ x: 12, y: 0 }], []])
})

it('a service that was started again makes nothing negative', () => {
  const lines = linesOf([at(10, 500, 90), at(12, 4, 1)])
  expect([lines.rate[0]?.y, lines.cpu[0]?.y]).toEqual([2, 0])
})

it('keeps the latest readings and no more', () => {
  let readings: readonly Reading[] = []
  for (let second = 0; second < 400; second += 1) readings = withReading(readings, at(second, 0, 0))
  expect([readings.length, readings[0]?.at]).toEqual([300, 100])
})

it('a clock that is put back begins the lines anew, and makes no rate out of no time', () => {
  const readings = [at(10, 5, 1), at(12, 11, 2), at(4, 20, 3), at(6, 22, 4)].reduce<readonly Reading[]>(withReading, [])
  expect(linesOf(readings).rate).toEqual([{ x: 6, y: 1 }])
})

it('routes are listed by how much they were asked, with the rate of now', () => {
  expect(routeRows([at(10, 5, 1), at(12, 11, 2)])).toEqual([
    { route: '/a', count: 11, failed: 0, rate: 3, median: expect.closeTo(0.05, 6), slow: expect.closeTo(0.095, 6) },
  ])
  expect(routeRows([at(10, 5, 1)])[0]?.rate).toBe(0)
  expect(routeRows([])).toEqual([])
})
