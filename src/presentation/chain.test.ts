/** The chain of a scenario: what waits, what may be moved, and what the releases scored. */
import { describe, expect, it } from 'vitest'
import { behindLine, heldRows, isRejectable, makerOf, moveOf, publishedScores, releaseWord, type MovableRow } from './chain.ts'
import { HELD, PROMOTED, REJECTED, rowOf } from './testing/rows.ts'

const movesOf = (...rows: readonly MovableRow[]) => rows.map((row) => moveOf(rows, row))

describe('what may be done with a step', () => {
  it('is to promote what is held, once', () => {
    expect(movesOf(rowOf(0, { current: true }), HELD)).toEqual([null, 'promote'])
    expect(movesOf(rowOf(0), HELD, PROMOTED)).toEqual(['rollback', null, null])
  })

  it('is to roll back to what was published and is not served', () => {
    expect(movesOf(rowOf(0), rowOf(1, { current: true }))).toEqual(['rollback', null])
  })

  it('is nothing where the same content would be served, or nothing was made', () => {
    const rows = [
      rowOf(0),
      rowOf(1, { result: 'rejected', release_id: 'release-0', content_id: 'content-0' }),
      rowOf(2, { restorable: false }),
      rowOf(3, { operation: 'rollback', content_id: 'content-0', current: true }),
    ]
    expect(movesOf(...rows)).toEqual([null, null, null, null])
  })
})

it('the row that made a release is found among those that only ran on it', () => {
  const rows = [rowOf(2, { result: 'rejected', release_id: 'release-1' }), rowOf(1), rowOf(0)]
  expect(makerOf(rows, 'release-1')?.step).toBe(1)
  expect(makerOf(rows, null)).toBeUndefined()
})

it('what was rejected waits no longer, may not be promoted, and is no release of its own', () => {
  const rows = [REJECTED, HELD, rowOf(0, { current: true })]
  expect(heldRows(rows)).toEqual([])
  expect(rows.map((row) => isRejectable(rows, row))).toEqual([false, false, false])
  expect(movesOf(...rows)).toEqual([null, null, null])
  expect(rows.map(releaseWord)).toEqual(['Rejects', 'Release', 'Release'])
  expect(makerOf(rows, 'release-1')).toBe(HELD)
  expect(isRejectable([HELD, rowOf(0)], HELD)).toBe(true)
})

it('what was promoted waits no longer', () => {
  expect(heldRows([PROMOTED, HELD, rowOf(0)])).toEqual([])
  expect(heldRows([HELD, rowOf(0)])).toEqual([HELD])
})

describe('the scores of releases', () => {
  it('are those of what training published, oldest first, after what there was before', () => {
    const rows = [
      rowOf(4, { metrics: { current_score: 0.5, candidate_score: 0.9 } }),
      rowOf(3, { result: 'rejected', metrics: { current_score: 0.5, candidate_score: 0.1 } }),
      rowOf(2, { metrics: { current_score: 0.2, candidate_score: 0.5 } }),
      rowOf(1, { operation: 'create' }),
    ]
    expect(publishedScores(rows, 40)).toEqual([0.2, 0.5, 0.9])
    expect(publishedScores([rowOf(1, { metrics: { candidate_score: 'high' } })], 40)).toEqual([])
  })

  it('are means per episode: a step that played less does not look worse, and one that played more does not look better', () => {
    const rows = [
      rowOf(2, { metrics: { current_score: 16, candidate_score: 24, wins: 10, losses: 2, ties: 28 } }),
      rowOf(1, { metrics: { current_score: 2, candidate_score: 7, wins: 5, losses: 0, ties: 3 } }),
    ]
    expect(publishedScores(rows, 40)).toEqual([0.25, 0.875, 0.6])
  })

  it('of many are the latest', () => {
    const many = Array.from({ length: 60 }, (_, at) => rowOf(60 - at, { metrics: { current_score: 59 - at, candidate_score: 60 - at } }))
    expect(publishedScores(many, 40)).toEqual(Array.from({ length: 41 }, (_, at) => at + 20))
  })
})

it('gateways that do not serve a move yet are one line; none where all do', () => {
  expect([[], ['a:1'], ['a:1', 'b:2'], null].map(behindLine)).toEqual([
    null,
    'not served yet by a:1, which follows as soon as it answers',
    'not served yet by a:1, b:2, which follow as soon as they answer',
    'whether every gateway serves it is not known: the database did not answer',
  ])
})
