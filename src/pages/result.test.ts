/** The evidence of a decision, drawn. What it says is held by the tests of the presentation. */
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../contract/index.ts'
import { evidenceOf } from '../presentation/index.ts'
import { evidenceSections } from './result.ts'
import { markup } from './html.ts'
import { USUAL_METRICS } from './testing/views.ts'

const drawn = (metrics: JsonObject): string => markup`${evidenceSections(evidenceOf(metrics))}`.text
const evidence = isObject(USUAL_METRICS['evidence']) ? USUAL_METRICS['evidence'] : {}
const withEvidence = (more: JsonObject): string => drawn({ ...USUAL_METRICS, evidence: { ...evidence, ...more } })
const marksOf = (page: string): readonly number[] =>
  ['win', 'loss', 'tie'].map((kind) => page.match(new RegExp(`<rect class="${kind}"`, 'g'))?.length ?? 0)

/** The figure whose caption begins so. */
const figureOf = (page: string, title: string): string => page.split(`<b>${title}</b>`)[1]?.split('</figure>')[0] ?? ''

describe('the pairs', () => {
  it('are drawn one by one, with their words as the label', () => {
    expect(marksOf(drawn(USUAL_METRICS))).toEqual([14, 2, 8])
    expect(figureOf(drawn(USUAL_METRICS), 'Pairs')).toContain('role="img" aria-label="14 won, 2 lost and 8 tied of 24 pairs."')
  })

  it('of a row that only counts them are drawn from the counts', () => {
    expect(marksOf(withEvidence({ differences: null }))).toEqual([14, 2, 8])
  })

  it('are drawn up to a number', () => {
    const many = { wins: 1000, losses: 0, ties: 0, evidence: { ...evidence, pairs: 1000, differences: Array(1000).fill(1) } }
    expect(marksOf(drawn(many))).toEqual([240, 0, 0])
  })
})

describe('the mean difference', () => {
  it('stands in its interval, beside zero and the margin', () => {
    const figure = figureOf(withEvidence({ margin: 0.05 }), 'Mean difference')
    for (const drawing of ['<rect class="band win"', '<rect class="zero" x="49.8"', '<rect class="limit"'])
      expect(figure).toContain(drawing)
  })

  it.each([
    [[-0.4, 0.2], 'band tie'],
    [[-0.4, -0.2], 'band loss'],
  ])('with the interval %j is a %s', (interval, kind) => {
    expect(withEvidence({ interval })).toContain(`<rect class="${kind}"`)
  })
})

describe('the e-values', () => {
  it.each([
    [1e-30, 'band loss'],
    [0, 'band loss'],
    [3, 'band tie'],
    [1e300, 'band win'],
  ])('of %d stay within the figure, beside the threshold: a %s', (e_value, kind) => {
    const figure = figureOf(withEvidence({ e_value }), 'e-value over pairs')
    for (const name of [kind, 'limit']) expect(figure).toContain(`<rect class="${name}"`)
    const places = [...figure.matchAll(/ x="([^"]+)"/g)].map(([, x]) => Number(x))
    expect(places.every((x) => x >= -1 && x <= 100)).toBe(true)
  })
})

it('evidence that is none is not shown', () => {
  for (const none of [null, 'x', [], 7, { stopped: 'health' }]) expect(drawn({ evidence: none })).toBe('')
})
