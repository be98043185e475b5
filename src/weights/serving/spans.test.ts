import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isRefusal, type AdapterSpan, type Capture } from '../../contract/index.ts'
import { adapterName, parseAdapterName } from '../load-id.ts'
import { trainingOf, type Bounds } from './spans.ts'

const VOCABULARY = 50
const nameOf = (sequence: number, scenario = 'a', incarnation = 'ab'): string => adapterName(scenario, { incarnation, sequence })
const boundsOf = (frozen: number, newest: number): Bounds => ({
  scenario: 'a',
  frozen: { incarnation: 'ab', sequence: frozen },
  base: frozen === 0 ? { incarnation: 'ab', sequence: frozen } : null,
  newest: { incarnation: 'ab', sequence: newest, isBase: newest === 0 },
  vocabulary: VOCABULARY,
})
const capture = (spans: readonly AdapterSpan[], more: Partial<Capture> = {}): Capture => {
  const tokens = Array.from({ length: spans.at(-1)?.end ?? 0 }, () => 3)
  return { prompt: [1, 2], tokens, logProbs: tokens.map(() => -0.25), spans, ...more }
}
const refusalOf = (work: () => unknown): unknown => {
  try {
    work()
    return null
  } catch (error) {
    return isRefusal(error) ? `${error.kind} ${error.code}` : error
  }
}
const BROKEN = 'conflict spans_do_not_add_up'

describe('the account of an answer', () => {
  it('of one load is kept with its id [inference.rule-5]', () => {
    expect(trainingOf(capture([{ start: 0, end: 2, adapter: nameOf(3) }]), boundsOf(3, 3))).toEqual({
      tokens: [1, 2, 3, 3],
      loss_mask: [1, 1],
      rollout_log_probs: [-0.25, -0.25],
      runtime_load_id: 'ab:3',
      runtime_load_spans: [{ start: 0, end: 2, runtime_load_id: 'ab:3' }],
    })
  })

  it('that covers several loads names each, and none for the whole', () => {
    const spans = [
      { start: 0, end: 1, adapter: null },
      { start: 1, end: 4, adapter: nameOf(2) },
    ]
    expect(trainingOf(capture(spans), boundsOf(0, 2))).toMatchObject({
      runtime_load_id: null,
      runtime_load_spans: [
        { start: 0, end: 1, runtime_load_id: 'ab:0' },
        { start: 1, end: 4, runtime_load_id: 'ab:2' },
      ],
    })
  })

  it('without a token is of the load it was frozen on', () => {
    expect(trainingOf(capture([]), boundsOf(3, 4))).toMatchObject({ runtime_load_id: 'ab:3', runtime_load_spans: [], tokens: [1, 2] })
  })

  it('of the base that was served again is of that load, not of the first', () => {
    const newest = { incarnation: 'ab', sequence: 5, isBase: true }
    const spans = [
      { start: 0, end: 1, adapter: nameOf(4) },
      { start: 1, end: 2, adapter: null },
    ]
    expect(trainingOf(capture(spans), { ...boundsOf(4, 5), newest })).toMatchObject({
      runtime_load_spans: [{ runtime_load_id: 'ab:4' }, { runtime_load_id: 'ab:5' }],
    })
  })

  it('of the base, where every load so far was an adapter, is refused', () => {
    expect(refusalOf(() => trainingOf(capture([{ start: 0, end: 2, adapter: null }]), { ...boundsOf(0, 1), base: null }))).toBe(BROKEN)
  })

  it.each<[string, Partial<Capture>]>([
    ['a prompt without tokens', { prompt: [] }],
    ['an id beyond the vocabulary', { tokens: [3, VOCABULARY] }],
    ['an id below nothing', { prompt: [-1] }],
    ['an id that is no whole number', { tokens: [3, 1.5] }],
    ['a log-probability too few', { logProbs: [-1] }],
    ['a log-probability that is no number', { logProbs: [-1, Number.NaN] }],
    ['a log-probability of the impossible', { logProbs: [-1, -Infinity] }],
    ['a log-probability above certainty', { logProbs: [-1, 0.1] }],
  ])('with %s is refused', (_what, more) => {
    expect(refusalOf(() => trainingOf(capture([{ start: 0, end: 2, adapter: nameOf(1) }], more), boundsOf(1, 1)))).toBe(BROKEN)
  })

  it.each<[string, string]>([
    ['another scenario', nameOf(1, 'b')],
    ['another life', nameOf(1, 'a', 'cd')],
    ['no scenario', 'lora'],
    ['a name written in another way', nameOf(1).replace('.YQ.', '.YQ==.')],
  ])('that names an adapter of %s is refused', (_whose, adapter) => {
    expect(refusalOf(() => trainingOf(capture([{ start: 0, end: 2, adapter }]), boundsOf(1, 1)))).toBe(BROKEN)
  })
})

describe('random accounts', () => {
  const truth = fc
    .record({
      gaps: fc.array(fc.record({ tokens: fc.integer({ min: 1, max: 4 }), step: fc.integer({ min: 1, max: 3 }) }), { maxLength: 5 }),
      frozen: fc.nat(3),
      ahead: fc.nat(3),
    })
    .map(({ gaps, frozen, ahead }) => {
      const spans: AdapterSpan[] = []
      let sequence = frozen - 1
      for (const { tokens, step } of gaps) {
        sequence += step
        const start = spans.at(-1)?.end ?? 0
        spans.push({ start, end: start + tokens, adapter: sequence === 0 ? null : nameOf(sequence) })
      }
      return { spans, frozen, newest: Math.max(frozen, sequence + ahead) }
    })
  const mutation = fc.record({
    at: fc.nat(5),
    how: fc.constantFrom('start', 'end', 'adapter', 'drop', 'twice', 'swap', 'split', 'tail', 'none'),
    by: fc.constantFrom(-2, -1, 1, 2),
  })

  it('are accepted when they add up', () => {
    fc.assert(
      fc.property(truth, ({ spans, frozen, newest }) => {
        const kept = trainingOf(capture(spans), boundsOf(frozen, newest))
        expect(kept['runtime_load_spans']).toHaveLength(spans.length)
      }),
      { numRuns: 2000 },
    )
  })

  it('that are bent in any way are accepted exactly when every token has one load and the loads ascend', () => {
    let refused = 0
    fc.assert(
      fc.property(truth, fc.array(mutation, { minLength: 1, maxLength: 3 }), ({ spans, frozen, newest }, mutations) => {
        const tokens = Array.from({ length: spans.at(-1)?.end ?? 0 }, () => 3)
        const bent = mutations.reduce(bend, spans)
        const said = refusalOf(() => trainingOf(capture(bent, { tokens, logProbs: tokens.map(() => -1) }), boundsOf(frozen, newest)))
        expect(said).toBe(addsUp(bent, tokens.length, frozen, newest) ? null : BROKEN)
        if (said !== null) refused += 1
      }),
      { numRuns: 5000 },
    )
    expect(refused).toBeGreaterThan(1000)
  })
})

interface Mutation {
  readonly at: number
  readonly how: string
  readonly by: number
}

function bend(spans: readonly AdapterSpan[], { at, how, by }: Mutation): readonly AdapterSpan[] {
  const span = spans[at]
  if (how === 'tail') return [...spans, { start: spans.at(-1)?.end ?? 0, end: (spans.at(-1)?.end ?? 0) + by, adapter: nameOf(9) }]
  if (span === undefined) return spans
  const bent: Readonly<Record<string, readonly AdapterSpan[]>> = {
    start: [{ ...span, start: span.start + by }],
    end: [{ ...span, end: span.end + by / 2 }],
    adapter: [{ ...span, adapter: nameOf((span.adapter === null ? 0 : (parseAdapterName(span.adapter)?.sequence ?? 0)) + by + 2) }],
    drop: [],
    twice: [span, span],
    split: [
      { ...span, end: span.start + 1 },
      { ...span, start: span.start + 1 },
    ],
    swap: [...spans.slice(at + 1, at + 2), span],
  }
  return [...spans.slice(0, at), ...(bent[how] ?? [span]), ...spans.slice(at + (how === 'swap' ? 2 : 1))]
}

/** Computed differently than in the code: token by token. */
function addsUp(spans: readonly AdapterSpan[], tokens: number, frozen: number, newest: number): boolean {
  if (!spans.every(({ start, end }) => Number.isInteger(start) && Number.isInteger(end) && start >= 0 && end <= tokens)) return false
  const loads: number[][] = Array.from({ length: tokens }, () => [])
  for (const { start, end, adapter } of spans)
    for (let at = start; at < end; at++) loads[at]?.push(adapter === null ? 0 : (parseAdapterName(adapter)?.sequence ?? -1))
  const each = loads.map((all) => (all.length === 1 ? (all[0] ?? -1) : -1))
  const changes = each.filter((load, at) => at === 0 || load !== each[at - 1]).length
  const isAscending = each.every((load, at) => at === 0 || load >= (each[at - 1] ?? 0))
  const areInOrder = spans.every(({ start }, at) => at === 0 || start > (spans[at - 1]?.start ?? 0))
  return each.every((load) => load >= frozen && load <= newest) && isAscending && areInOrder && changes === spans.length
}
