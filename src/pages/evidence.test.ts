/** The evidence of a decision, in figures and in words. */
import { describe, expect, it } from 'vitest'
import { isObject, type JsonObject } from '../contract/index.ts'
import { evidenceOf } from '../presentation/index.ts'
import { evidenceSections } from './evidence.ts'
import { markup } from './html.ts'
import { USUAL_METRICS } from './testing/views.ts'

const drawn = (metrics: JsonObject): string => markup`${evidenceSections(evidenceOf(metrics))}`.text
const evidence = isObject(USUAL_METRICS['evidence']) ? USUAL_METRICS['evidence'] : {}
const withEvidence = (more: JsonObject): string => drawn({ ...USUAL_METRICS, evidence: { ...evidence, ...more } })
const marksOf = (page: string, kind: string): number => page.match(new RegExp(`<rect class="${kind}"`, 'g'))?.length ?? 0

/** The picture whose caption begins so, and its words for who does not see it. */
const pictureOf = (page: string, title: string): string => page.split(`<b>${title}</b>`)[1]?.split('</figure>')[0] ?? ''

describe('the pairs', () => {
  it('are drawn one by one, and counted in words', () => {
    const page = drawn(USUAL_METRICS)
    expect([marksOf(page, 'win'), marksOf(page, 'loss'), marksOf(page, 'tie')]).toEqual([14, 2, 8])
    expect(pictureOf(page, 'Pairs')).toContain('14 won, 2 lost and 8 tied of 24 pairs.')
    expect(pictureOf(page, 'Pairs')).toContain('role="img" aria-label="14 won, 2 lost and 8 tied of 24 pairs."')
  })

  it('of a row that only counts them are drawn from the counts', () => {
    const page = withEvidence({ differences: null })
    expect([marksOf(page, 'win'), marksOf(page, 'loss'), marksOf(page, 'tie')]).toEqual([14, 2, 8])
  })

  it('are drawn up to a number, and words count all', () => {
    const page = drawn({ wins: 1000, losses: 0, ties: 0, evidence: { ...evidence, pairs: 1000, differences: Array(1000).fill(1) } })
    expect(marksOf(page, 'win')).toBe(240)
    expect(page).toContain('1,000 won, 0 lost and 0 tied of 1,000 pairs; the first 240 are drawn.')
  })
})

describe('the mean difference', () => {
  it('stands in its interval, beside zero', () => {
    const picture = pictureOf(drawn(USUAL_METRICS), 'Mean difference')
    expect(picture).toContain('+0.5, with confidence between +0.14 and +0.78.')
    expect(picture).toContain('<rect class="band win"')
    expect(picture).toContain('<rect class="zero" x="49.8"')
  })

  it.each([
    [[-0.4, 0.2], 'band tie'],
    [[-0.4, -0.2], 'band loss'],
  ])('with the interval %j is a %s', (interval, kind) => {
    expect(withEvidence({ interval })).toContain(`<rect class="${kind}"`)
  })

  it('shows how much worse a change may be that was asked for', () => {
    const picture = pictureOf(
      withEvidence({ test: 'non_inferiority', margin: 0.05, interval: [-0.02, 0.03], mean_difference: 0 }),
      'Mean difference',
    )
    expect(picture).toContain('up to 0.05 worse is allowed')
    expect(picture).toContain('<rect class="limit"')
  })

  it.each([[[0.5, 0.1]], [[0.1]], ['x'], [null]])('is not drawn where the interval is %j', (interval) => {
    expect(withEvidence({ interval })).not.toContain('Mean difference')
  })
})

describe('the e-values', () => {
  it('are drawn against the threshold, over pairs and over tasks', () => {
    const page = drawn(USUAL_METRICS)
    expect(pictureOf(page, 'e-value over pairs')).toContain('96.4: strong enough (1 in 96.4 by luck).')
    expect(pictureOf(page, 'e-value over tasks')).toContain('58.1: strong enough (1 in 58.1 by luck).')
    expect(pictureOf(page, 'e-value over pairs')).toContain('<rect class="limit"')
  })

  it.each([
    [1e-30, 'band loss'],
    [0, 'band loss'],
    [3, 'band tie'],
    [1e300, 'band win'],
  ])('of %d stays within the picture and is a %s', (e_value, kind) => {
    const picture = pictureOf(withEvidence({ e_value }), 'e-value over pairs')
    expect(picture).toContain(`<rect class="${kind}"`)
    const places = [...picture.matchAll(/ x="([^"]+)"/g)].map(([, x]) => Number(x))
    expect(places.every((x) => x >= -1 && x <= 100)).toBe(true)
  })
})

describe('evidence', () => {
  it('of a policy that has none is not shown', () => {
    for (const none of [null, 'x', [], 7]) expect(drawn({ wins: 1, evidence: none })).toBe('')
    expect(drawn({ wins: 1 })).toBe('')
    expect(drawn({ evidence: { stopped: 'health' } })).toBe('')
  })

  it('of two stages is shown for both', () => {
    const page = drawn({
      ...USUAL_METRICS,
      evidence_regression: { test: 'non_inferiority', e_value: 30, threshold: 20, pairs: 12, differences: [0, 0] },
    })
    expect(page).toContain('<h3>Evidence</h3>')
    expect(page).toContain('<h3>Evidence that nothing got worse</h3>')
    expect(page).toContain('0 won, 0 lost and 12 tied of 12 pairs; the first 2 are drawn.')
  })

  it('says in words by what it ended', () => {
    expect(withEvidence({ stopped: 'futility' })).toContain('no hope of enough evidence')
  })
})
