import type { ReleaseRow } from '@svc-ai/client'
import { describe, expect, test } from 'vitest'
import { findRelease, heldRows, scoresOf, shortId } from './release.ts'

const id = (start: string): string => start.padEnd(40, '0')
const row = (step: number, release: string, more: Partial<ReleaseRow> = {}): ReleaseRow => ({
  step,
  release_id: id(release),
  content_id: 'c',
  parent_release_id: null,
  operation: 'train',
  recorded_at: 0,
  pending: false,
  restorable: true,
  current: false,
  result: 'published',
  metrics: {},
  ...more,
})
/** Newest first, as the service lists them. */
const ROWS = [
  row(1234, 'beef'),
  row(4, '1234', { operation: 'promote', rollback_target_release_id: id('abcdef') }),
  row(3, 'abcdef', { pending: true, result: 'pending' }),
  row(2, 'abc0', { result: 'rejected' }),
  row(1, 'abc0'),
]
const find = (words: string): number => findRelease(ROWS, words, 'svc releases').step

describe('a release is named', () => {
  test.each([
    [id('abc0'), 1],
    ['abc0', 1],
    ['ABC0', 1],
    ['v3', 3],
    ['V3', 3],
    ['step 3', 3],
    ['step3', 3],
    ['3', 3],
    ['v1234', 1234],
    [' v4 ', 4],
  ])('by %j', (words, step) => {
    expect(find(words)).toBe(step)
  })

  test.each([
    [
      '1234',
      /^several releases are meant by that: v1234 \(beef0000…\), v4 \(12340000…\); give more of the id, or the number: svc releases$/,
    ],
    ['v2', /^step 2 made no release \(rejected\); see which did: svc releases$/],
    ['v9', /^no release is called v9; see them: svc releases$/],
    ['ffff', /^no release is called ffff; see them: svc releases$/],
    ['abc', /^give the number of a release, or 4 characters of its id and more: svc releases$/],
    ['', /^give the number of a release/],
  ])('but not by %j', (words, problem) => {
    expect(() => find(words)).toThrow(problem)
  })
})

test('what was promoted waits no longer', () => {
  expect(heldRows(ROWS)).toEqual([])
  expect(heldRows(ROWS.slice(2)).map(({ step }) => step)).toEqual([3])
})

test('scores are those of what training published, oldest first, after what there was before', () => {
  const scored = [
    row(4, 'd', { metrics: { current_score: 0.5, candidate_score: 0.9 } }),
    row(3, 'c', { result: 'rejected', metrics: { current_score: 0.5, candidate_score: 0.1 } }),
    row(2, 'b', { metrics: { current_score: 0.2, candidate_score: 0.5 } }),
    row(1, 'a', { operation: 'create' }),
  ]
  expect(scoresOf(scored)).toEqual([0.2, 0.5, 0.9])
  expect(scoresOf([row(1, 'a', { metrics: { candidate_score: 'high' } })])).toEqual([])
})

test('scores are means per episode: a step that played less does not look worse, and one that played more does not look better', () => {
  const rows = [
    row(2, 'b', { metrics: { current_score: 16, candidate_score: 24, wins: 10, losses: 2, ties: 28 } }),
    row(1, 'a', { metrics: { current_score: 2, candidate_score: 7, wins: 5, losses: 0, ties: 3 } }),
  ]
  expect(scoresOf(rows)).toEqual([0.25, 0.875, 0.6])
})

test('of many scores the latest are shown, as many as fit a line', () => {
  const many = Array.from({ length: 60 }, (_, at) => row(60 - at, 'a', { metrics: { current_score: 59 - at, candidate_score: 60 - at } }))
  expect(scoresOf(many)).toEqual(Array.from({ length: 41 }, (_, at) => at + 20))
})

test('ids that are no hashes stay whole, made fit for a terminal', () => {
  expect(shortId(id('abcdef'))).toBe('abcdef00')
  expect(shortId('live:1:2\u001b')).toBe('live:1:2\\u001b')
})
