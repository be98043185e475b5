import type { ReleaseRow } from '@svc-ai/client'
import { describe, expect, test } from 'vitest'
import { findRelease, shortId } from './release.ts'

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
    ['v2', /^that step made no release \(rejected\); see which did: svc releases$/],
    ['v9', /^no release is called v9; see them: svc releases$/],
    ['ffff', /^no release is called ffff; see them: svc releases$/],
    ['abc', /^give the number of a release, or 4 characters of its id and more: svc releases$/],
    ['', /^give the number of a release/],
  ])('but not by %j', (words, problem) => {
    expect(() => find(words)).toThrow(problem)
  })
})

test('ids that are no hashes stay whole, made fit for a terminal', () => {
  expect(shortId(id('abcdef'))).toBe('abcdef00')
  expect(shortId('live:1:2\u001b')).toBe('live:1:2[U+001B]')
})
