import { describe, expect, it } from 'vitest'
import { chainOfReleases, madeBy, moveIn, paretoPlots, stepIn, viewOf } from './chain.ts'
import { chainOf, rowOf, stepAt } from './testing/rows.ts'

const means = (score: number, cost: number) => ({ metrics: { candidate_mean_score: score, candidate_mean_cost: cost } })

describe('the chain of a scenario', () => {
  it('of files goes by places and has pages, newest first', () => {
    const chain = chainOf(rowOf(0), rowOf(4, { current: true }))
    expect(chain.steps.map(({ id, name, pagePath }) => [id, name, pagePath])).toEqual([
      ['1', 'v1', '/svc/harness/releases/4/page?scenario=demo&key=k'],
      ['0', 'v0', '/svc/harness/releases/0/page?scenario=demo&key=k'],
    ])
    expect(chain.head?.name).toBe('v1')
    expect(moveIn(chain, stepAt(chain, 0))).toBe('rollback')
  })

  it('of anything else goes by steps and has none', () => {
    const chain = chainOfReleases([rowOf(4, { current: true }), rowOf(0)])
    expect(chain.steps.map(({ id, name, pagePath }) => [id, name, pagePath])).toEqual([
      ['4', 'v4', null],
      ['0', 'v0', null],
    ])
  })

  it.each(['javascript:alert(1)', '//elsewhere.example/', 'https://elsewhere.example/'])('links to no page at %s', (page_path) => {
    expect(stepAt(chainOf(rowOf(0, { page_path })), 0).pagePath).toBeNull()
  })

  it('finds the step that made a release among those that only ran on it', () => {
    const chain = chainOf(rowOf(0), rowOf(1), rowOf(2, { result: 'rejected', release_id: 'release-1' }))
    expect(madeBy(chain, 'release-1')?.name).toBe('v1')
    expect(madeBy(chain, null)).toBeUndefined()
    expect(stepIn(chain, 'release-1')?.name).toBe('v1')
    expect(stepIn(chain, 'release-9')).toBeUndefined()
  })

  it('calls a step by its name in the chain', () => {
    const chain = chainOf(rowOf(0), rowOf(3), rowOf(4, { operation: 'rollback', rollback_target_release_id: 'release-3' }))
    expect(viewOf(chain, stepAt(chain, 2)).reason.text).toBe('Serves the content of v1.')
  })

  it('plots scores against money and time, once two of what was tried have them', () => {
    const chain = chainOf(rowOf(0), rowOf(1, { ...means(0.5, 2), result: 'rejected' }), rowOf(2, { ...means(0.9, 1), current: true }))
    expect(paretoPlots(chain)).toEqual([
      {
        title: 'Score against cost, means per episode',
        series: [
          { name: 'nothing beats it', tone: 'good', points: [{ x: 1, y: 0.9, label: 'v2, Served now, cost 1.00' }] },
          { name: 'beaten', tone: 'plain', points: [{ x: 2, y: 0.5, label: 'try of 2026-11-15 15:52:09 UTC, Rejected, cost 2.00' }] },
        ],
      },
    ])
    expect(paretoPlots(chainOf(rowOf(0), rowOf(1, means(0.5, 2))))).toEqual([])
    expect(paretoPlots(chainOf(rowOf(0), rowOf(1, means(0.5, 2)), rowOf(2, means(0.9, 2))))).toEqual([])
  })
})
