import { describe, expect, it } from 'vitest'
import { chainOfReleases, madeBy, moveOf, outcomeOf, scoreSeries, scoresOf, statusOf, whyOf } from './chain.ts'
import { chainOf, rowOf, stepAt } from './testing/rows.ts'

type Metrics = Readonly<Record<string, unknown>>
const reasonOf = (metrics: Metrics) => outcomeOf(stepAt(chainOf(rowOf(1, { metrics })), 0))
const scoresIn = (metrics: Metrics) => scoresOf(stepAt(chainOf(rowOf(1, { metrics })), 0))
function whyIn(changes: Parameters<typeof rowOf>[1]) {
  const chain = chainOf(rowOf(0), rowOf(1, changes))
  return whyOf(chain, stepAt(chain, 1))
}
const held = rowOf(1, { result: 'pending', pending: true, restorable: false })

describe('the chain of a scenario', () => {
  it('of files goes by places and has pages, newest first', () => {
    const chain = chainOf(rowOf(0), rowOf(4, { current: true }))
    expect(chain.steps.map(({ id, name, pagePath }) => [id, name, pagePath])).toEqual([
      ['1', 'v1', '/svc/harness/releases/4/page?scenario=demo&key=k'],
      ['0', 'v0', '/svc/harness/releases/0/page?scenario=demo&key=k'],
    ])
    expect(chain.head?.name).toBe('v1')
  })

  it('of anything else goes by steps and has none', () => {
    const chain = chainOfReleases([rowOf(4, { current: true }), rowOf(0)])
    expect(chain.steps.map(({ id, name, pagePath }) => [id, name, pagePath])).toEqual([
      ['4', 'step 4', null],
      ['0', 'step 0', null],
    ])
  })

  it.each(['javascript:alert(1)', '//elsewhere.example/', 'https://elsewhere.example/'])('links to no page at %s', (page_path) => {
    expect(stepAt(chainOf(rowOf(0, { page_path })), 0).pagePath).toBeNull()
  })
})

describe('what a step came to', () => {
  it.each([
    [rowOf(0), 'Starting point', 'plain'],
    [rowOf(1), 'Published', 'good'],
    [held, 'Ready for review', 'warn'],
    [rowOf(1, { result: 'rejected' }), 'Not selected', 'plain'],
    [rowOf(1, { result: 'skipped' }), 'No changes', 'plain'],
    [rowOf(1, { result: 'failed' }), 'Failed', 'bad'],
    [rowOf(1, { operation: 'rollback', rollback_target_release_id: 'release-0' }), 'Published', 'good'],
  ])('is one word and a tone', (row, word, tone) => {
    expect(statusOf(chainOf(row), stepAt(chainOf(row), 0))).toMatchObject({ word, tone })
  })

  it('names the step at which a held release was promoted', () => {
    const chain = chainOf(rowOf(0), held, rowOf(2, { operation: 'promote', rollback_target_release_id: 'release-1', current: true }))
    expect(statusOf(chain, stepAt(chain, 1))).toMatchObject({ word: 'Promoted at v2', tone: 'good' })
  })

  it('has its reason: the decision, why there was none, or the failure', () => {
    expect(reasonOf({ selection: { reason: 'better on 9 of 12' } })).toBe('better on 9 of 12')
    expect(reasonOf({ skipped: 'no proposal' })).toBe('no proposal')
    expect(reasonOf({ skipped: 'step failed', error: 'out of memory' })).toBe('step failed: out of memory')
    expect(reasonOf({ proposal_notes: { failure: 'no answer' } })).toBe('no answer')
    expect(reasonOf({ selection: 'text', skipped: 7, error: [] })).toBeNull()
  })
})

describe('what may be done with a step', () => {
  it('is to promote what is held, once', () => {
    const waiting = chainOf(rowOf(0, { current: true }), held)
    expect(moveOf(waiting, stepAt(waiting, 1))).toBe('promote')
    const done = chainOf(rowOf(0), held, rowOf(2, { operation: 'promote', rollback_target_release_id: 'release-1', current: true }))
    expect(moveOf(done, stepAt(done, 1))).toBeNull()
  })

  it('is to roll back to what was published and is not served', () => {
    const chain = chainOf(rowOf(0), rowOf(1, { current: true }))
    expect([moveOf(chain, stepAt(chain, 0)), moveOf(chain, stepAt(chain, 1))]).toEqual(['rollback', null])
  })

  it('is nothing where the same content would be served, or nothing was made', () => {
    const chain = chainOf(
      rowOf(0),
      rowOf(1, { result: 'rejected', release_id: 'release-0', content_id: 'content-0' }),
      rowOf(2, { restorable: false }),
      rowOf(3, { operation: 'rollback', content_id: 'content-0', current: true }),
    )
    expect([0, 1, 2].map((place) => moveOf(chain, stepAt(chain, place)))).toEqual([null, null, null])
  })

  it('finds the step that made a release among those that only ran on it', () => {
    const chain = chainOf(rowOf(0), rowOf(1), rowOf(2, { result: 'rejected', release_id: 'release-1' }))
    expect(madeBy(chain, 'release-1')?.name).toBe('v1')
    expect(madeBy(chain, null)).toBeUndefined()
  })
})

describe('why a step was made', () => {
  it.each([
    [{ metrics: { training_request: { text: 'Be brief.' }, proposal: { reason: 'x' } } }, { from: 'Asked for', text: 'Be brief.' }],
    [{ metrics: { proposal: { reason: 'people asked' } } }, { from: 'Proposed by an agent', text: 'people asked' }],
    [{ metrics: { proposal: { reason: '' } } }, { from: 'Proposed by an agent', text: null }],
    [
      { operation: 'rollback', rollback_target_release_id: 'release-0' },
      { from: 'A person put v0 back', text: null },
    ],
    [
      { operation: 'promote', rollback_target_release_id: 'gone' },
      { from: 'A person promoted an earlier release', text: null },
    ],
    [{ operation: 'shipped' }, { from: 'Shipped with the service', text: null }],
    [{ metrics: { training_request: 'no object' } }, { from: 'Learned from traffic', text: null }],
  ] as const)('%#', (changes, why) => {
    expect(whyIn(changes)).toEqual(why)
  })
})

describe('the scores of a step', () => {
  it('are means per episode, with the pairs beside them', () => {
    expect(scoresIn({ candidate_score: 12, current_score: 4, wins: 9, losses: 1, ties: 6 })).toEqual({
      candidate: 0.75,
      current: 0.25,
      wins: 9,
      losses: 1,
      ties: 6,
    })
  })

  it('are none of a step that played nothing', () => {
    expect(scoresIn({ wins: 2 })).toBeNull()
  })

  it('make two lines over the steps', () => {
    const chain = chainOf(rowOf(0), rowOf(1, { metrics: { candidate_score: 4, current_score: 2, ties: 4 } }), rowOf(2))
    expect(scoreSeries(chain)).toEqual([
      { name: 'candidate', tone: 'accent', points: [{ x: 1, y: 1, label: 'v1, Published' }] },
      { name: 'served then', tone: 'plain', points: [{ x: 1, y: 0.5, label: 'v1, Published' }] },
    ])
    expect(scoreSeries(chainOf(rowOf(0)))).toEqual([])
  })
})
