/** Which reports the recipe accepts, field by field. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../../src/contract/index.ts'
import { checkTttdReport, gridIn, placeInGrid } from './report.ts'

const grid = { groupsPerStep: 2, rolloutsPerGroup: 4 }
const check = checkTttdReport(grid)
const place = { step: 3, group: 1, rollout: 2, groups_per_step: 2, rollouts_per_group: 4 }
const reportWith = (metadata: JsonObject, score: Json = 0.5): JsonObject => ({
  score,
  metadata: { ...place, ...metadata },
  references: ['r'],
})

describe('a report', () => {
  it.each<[string, JsonObject]>([
    ['nothing but what it must', {}],
    ['an algorithm', { algorithm: 'tttd' }],
    ['the other name of the algorithm', { algorithm: 'ttt-discover' }],
    ['its own comparison set', { comparison_set: 'tttd-step-3-group-1' }],
    ['more than was asked for', { task: 'packing', note: { any: 'thing' } }],
    ['the first slot of the first step', { step: 0, group: 0, rollout: 0 }],
    ['the last slot of the grid', { group: 1, rollout: 3 }],
  ])('with %s is let in', (_what, metadata) => {
    expect(check(reportWith(metadata))).toBeNull()
  })

  it.each([0, -7.5, 1e300])('with a score of %s is let in, since a low score is feedback too', (score) => {
    expect(check(reportWith({}, score))).toBeNull()
  })

  it.each<[string, Json]>([
    ['algorithm', 'grpo'],
    ['algorithm', null],
    ['algorithm', ['tttd']],
    ['step', -1],
    ['step', 1.5],
    ['step', '3'],
    ['step', true],
    ['step', null],
    ['step', 2 ** 53],
    ['group', 2],
    ['group', -1],
    ['group', 0.5],
    ['group', '1'],
    ['group', false],
    ['rollout', 4],
    ['rollout', -1],
    ['rollout', 1e300],
    ['rollout', null],
    ['groups_per_step', 1],
    ['groups_per_step', 3],
    ['groups_per_step', 0],
    ['groups_per_step', '2'],
    ['groups_per_step', null],
    ['rollouts_per_group', 5],
    ['rollouts_per_group', 1],
    ['rollouts_per_group', [4]],
    ['comparison_set', 'tttd-step-3-group-0'],
    ['comparison_set', 'tttd-step-2-group-1'],
    ['comparison_set', ''],
    ['comparison_set', null],
    ['comparison_set', 7],
  ])('whose %s is %j is refused by that name', (field, value) => {
    expect(check(reportWith({ [field]: value }))).toMatch(new RegExp(`^metadata\\.${field}: must be `))
  })

  it.each(['step', 'group', 'rollout', 'groups_per_step', 'rollouts_per_group'])('without a %s is refused by that name', (field) => {
    const metadata = Object.fromEntries(Object.entries(place).filter(([key]) => key !== field))
    expect(check({ score: 1, metadata })).toContain(`metadata.${field}: must be `)
  })

  it.each<[Json]>([[null], ['high'], [true], [Infinity], [Number.NaN]])('with a score of %j is refused', (score) => {
    expect(check(reportWith({}, score))).toBe('score: must be a finite number')
  })

  it('without score or metadata is refused', () => {
    expect(check({ metadata: place })).toBe('score: must be a finite number')
    expect(check({ score: 1 })).toContain('metadata.step')
    expect(check({ score: 1, metadata: 'none' })).toBe('metadata: must be an object')
  })

  it('is refused without its own words in the message', () => {
    for (const field of ['algorithm', 'step', 'group', 'comparison_set'])
      expect(check(reportWith({ [field]: 'sk-secret-text' }))).not.toContain('secret')
  })

  it('fills the slot that it names, and none when it was made for another grid', () => {
    expect(placeInGrid(grid)(reportWith({}))).toEqual({ step: 3, group: 1, rollout: 2 })
    expect(placeInGrid({ ...grid, groupsPerStep: 8 })(reportWith({}))).toBe('does not fit the served grid')
  })
})

describe('the grid', () => {
  it('has eight groups of sixty-four rollouts by default', () => {
    expect(gridIn({})).toEqual({ groupsPerStep: 8, rolloutsPerGroup: 64 })
    expect(gridIn({ groups_per_step: 1, rollouts_per_group: 2, kl_coef: 0 })).toEqual({ groupsPerStep: 1, rolloutsPerGroup: 2 })
  })

  it.each<[string, Json]>([
    ['groups_per_step', 0],
    ['groups_per_step', 1.5],
    ['groups_per_step', '8'],
    ['groups_per_step', null],
    ['rollouts_per_group', 1],
    ['rollouts_per_group', Infinity],
  ])('is refused when %s is %j', (field, value) => {
    expect(() => gridIn({ [field]: value })).toThrow(
      expect.objectContaining({ code: 'bad_setting', message: expect.stringContaining(field) }),
    )
  })
})
