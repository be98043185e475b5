import { describe, expect, it } from 'vitest'
import { quantile, readMetrics, since, together, trafficByRoute, valueOf, type RouteTraffic } from './metrics.ts'

/** Buckets up to 0.1 s, up to 1 s, and all. */
const traffic = (count: number, failed: number, seconds: number, buckets: readonly number[]): RouteTraffic => ({
  count,
  failed,
  seconds,
  buckets: buckets.map((within, at) => [[0.1, 1, Infinity][at] ?? NaN, within] as const),
})

const TEXT = `# HELP svc_request_seconds Time from a request to the end of its answer.
# TYPE svc_request_seconds histogram
svc_request_seconds_bucket{route="/v1/chat/completions",status="200",le="0.1"} 6
svc_request_seconds_bucket{route="/v1/chat/completions",status="200",le="1"} 9
svc_request_seconds_bucket{route="/v1/chat/completions",status="200",le="+Inf"} 10
svc_request_seconds_sum{route="/v1/chat/completions",status="200"} 3.5
svc_request_seconds_count{route="/v1/chat/completions",status="200"} 10
svc_request_seconds_bucket{route="/v1/chat/completions",status="502",le="0.1"} 0
svc_request_seconds_bucket{route="/v1/chat/completions",status="502",le="1"} 2
svc_request_seconds_bucket{route="/v1/chat/completions",status="502",le="+Inf"} 2
svc_request_seconds_sum{route="/v1/chat/completions",status="502"} 1
svc_request_seconds_count{route="/v1/chat/completions",status="502"} 2
svc_request_seconds_count{route="/healthz",status="200"} 4
process_resident_memory_bytes 1.93105920e+08
svc_records 9 1794758076000
`

describe('numbers in text', () => {
  it('are read with their labels', () => {
    const samples = readMetrics(TEXT)
    expect(samples).toHaveLength(13)
    expect(samples[2]).toEqual({
      name: 'svc_request_seconds_bucket',
      labels: { route: '/v1/chat/completions', status: '200', le: '+Inf' },
      value: 10,
    })
    expect([valueOf(samples, 'process_resident_memory_bytes'), valueOf(samples, 'svc_records'), valueOf(samples, 'svc_nothing')]).toEqual([
      193_105_920,
      9,
      null,
    ])
  })

  it('have labels that hold anything', () => {
    expect(readMetrics(String.raw`a{x="say \"hi\", \\ and } 3",y="two\nlines"} 1`)[0]?.labels).toEqual({
      x: String.raw`say "hi", \ and } 3`,
      y: 'two\nlines',
    })
  })

  it.each(['', '# TYPE a gauge', 'no number', '{x="y"} 3', '<html>'])('are not found in %j', (text) => {
    expect(readMetrics(text)).toEqual([])
  })

  it('may be no numbers', () => {
    expect(readMetrics('a +Inf\nb -Inf\nc NaN').map(({ value }) => value)).toEqual([Infinity, -Infinity, Number.NaN])
  })
})

describe('requests', () => {
  const routes = trafficByRoute(readMetrics(TEXT))

  it('are counted by route, over every status', () => {
    expect(routes.get('/v1/chat/completions')).toEqual(traffic(12, 2, 4.5, [6, 11, 12]))
    expect(together(routes.values()).count).toBe(16)
  })

  it('between two readings are the difference', () => {
    const before = traffic(10, 2, 4, [6, 9, 10])
    expect(since(before, routes.get('/v1/chat/completions') ?? before)).toEqual(traffic(2, 0, 0.5, [0, 2, 2]))
  })

  it('after a restart count from nothing', () => {
    const before = traffic(500, 0, 1, [])
    expect(since(before, together(routes.values())).count).toBe(16)
  })
})

describe('a share of requests', () => {
  it.each([
    [0.25, 0.05],
    [0.5, 0.1],
    [0.7, 0.55],
    [0.95, 1],
  ])('%f was answered within %f s, as near as the buckets show', (share, seconds) => {
    expect(quantile(traffic(100, 0, 1, [50, 90, 100]), share)).toBeCloseTo(seconds, 6)
  })

  it('is not known without any', () => {
    expect(quantile(traffic(0, 0, 0, [0, 0, 0]), 0.5)).toBeNull()
  })
})
