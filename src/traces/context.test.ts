import { describe, expect, it } from 'vitest'
import { begunContext, continuedContext, traceHeaders } from './context.ts'

const TRACE = '4bf92f3577b34da6a3ce929d0e0e4736'
const PARENT = '00f067aa0ba902b7'

describe('a caller that has a trace', () => {
  it.each([
    [`00-${TRACE}-${PARENT}-01`, true],
    [`00-${TRACE}-${PARENT}-00`, false],
    [`00-${TRACE}-${PARENT}-03`, true],
    [`00-${TRACE}-${PARENT}-fe`, false],
    [`cc-${TRACE}-${PARENT}-01`, true],
    [`cc-${TRACE}-${PARENT}-01-what-comes-later`, true],
  ])('is continued, kept as it says: %s', (traceparent, isSampled) => {
    const read = { traceId: TRACE, parentSpanId: PARENT, isSampled, state: null }
    expect(continuedContext({ traceparent }, 0)).toEqual(read)
    expect(continuedContext({ traceparent }, 1)).toEqual(read)
  })

  it.each([
    '',
    'nonsense',
    `00-${TRACE}-${PARENT}`,
    `00-${TRACE}-${PARENT}-1`,
    `00-${TRACE}-${PARENT}-01-more`,
    `ff-${TRACE}-${PARENT}-01`,
    `00-${TRACE.toUpperCase()}-${PARENT}-01`,
    `00-${'0'.repeat(32)}-${PARENT}-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
    `00-${TRACE}-${PARENT}-01, 00-${TRACE}-${PARENT}-01`,
    ` 00-${TRACE}-${PARENT}-01`,
  ])('has none when its header is no such: %j', (traceparent) => {
    const read = continuedContext({ traceparent, tracestate: 'a=b' }, 1)
    expect(read).toMatchObject({ parentSpanId: null, isSampled: true, state: null })
    expect(read.traceId).not.toBe(TRACE)
  })

  it.each([
    ['a=b,c=d', 'a=b,c=d'],
    ['', null],
    ['caf\u00e9=1', null],
    ['x'.repeat(513), null],
  ])('may want something passed on: %j', (tracestate, state) => {
    expect(continuedContext({ traceparent: `00-${TRACE}-${PARENT}-01`, tracestate }, 1).state).toBe(state)
  })
})

/** How many of two thousand are kept. */
const share = (ratio: number): number => Array.from({ length: 2000 }, () => begunContext(ratio)).filter(({ isSampled }) => isSampled).length

describe('a trace that begins here', () => {
  it('is kept by the ratio: none, all, or about so many', () => {
    expect([share(0), share(1)]).toEqual([0, 2000])
    // Ten standard deviations to either side.
    expect(Math.abs(share(0.25) - 500)).toBeLessThan(200)
  })

  it('has an id of its own each time', () => {
    const ids = Array.from({ length: 2000 }, () => begunContext(1).traceId)
    expect(new Set(ids).size).toBe(ids.length)
    for (const id of ids) expect(id).toMatch(/^[0-9a-f]{32}$/)
  })
})

it('what is carried on names the span that asks, and says whether the trace is kept', () => {
  const context = { traceId: TRACE, parentSpanId: null, isSampled: true, state: null }
  expect(traceHeaders(context, PARENT)).toEqual({ traceparent: `00-${TRACE}-${PARENT}-01` })
  expect(traceHeaders({ ...context, isSampled: false, state: 'a=b' }, PARENT)).toEqual({
    traceparent: `00-${TRACE}-${PARENT}-00`,
    tracestate: 'a=b',
  })
})
