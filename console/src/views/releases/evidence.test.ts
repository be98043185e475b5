import { describe, expect, it } from 'vitest'
import { costOf, episodesOf, evidencesOf, type Picture } from './evidence.ts'

const EVIDENCE = {
  test: 'superiority',
  e_value: 7394,
  e_value_tasks: 19_351,
  threshold: 40.5,
  alpha_spent: 0.0247,
  mean_difference: 1,
  interval: [0.51, 1],
  pairs: 16,
  stopped: 'success',
}
const picturesOf = (evidence: unknown): readonly Picture[] => evidencesOf({ evidence })[0]?.pictures ?? []

describe('the evidence of a decision', () => {
  it('is drawn as an interval and as how far it got, and says the same in words', () => {
    expect(picturesOf(EVIDENCE).map(({ title, words, tone }) => [title, words, tone])).toEqual([
      ['Mean difference', '+1, and with confidence between +0.51 and +1', 'good'],
      ['e-value over pairs', '7.39k of the 40.5 needed; 1 says nothing either way', 'good'],
      ['e-value over tasks', '19.4k of the 40.5 needed; 1 says nothing either way', 'good'],
    ])
  })

  it('keeps everything it draws on the line', () => {
    const extreme = { ...EVIDENCE, e_value: 1e300, e_value_tasks: 0, mean_difference: -1, interval: [-1, 0.2], margin: 0.3 }
    for (const { from, to, marks } of picturesOf(extreme)) {
      expect(from).toBeGreaterThanOrEqual(0)
      expect(to).toBeLessThanOrEqual(100)
      expect(from).toBeLessThanOrEqual(to)
      for (const { at } of marks) expect(at >= 0 && at <= 100).toBe(true)
    }
  })

  it('marks what was not crossed, and what points the other way', () => {
    const [interval, weight] = picturesOf({ ...EVIDENCE, e_value: 0.2, e_value_tasks: null, interval: [-0.6, -0.1], mean_difference: -0.3 })
    expect([interval?.tone, weight?.tone]).toEqual(['bad', 'bad'])
    expect(
      picturesOf({ ...EVIDENCE, e_value: 3, interval: [-0.1, 0.4] })
        .map(({ tone }) => tone)
        .slice(0, 2),
    ).toEqual(['plain', 'plain'])
  })

  it('says how much worse was allowed', () => {
    expect(picturesOf({ ...EVIDENCE, test: 'non_inferiority', margin: 0.3 })[0]?.words).toMatch(/at most 0.3 worse was allowed$/)
  })

  it('tells its numbers and why it ended', () => {
    expect(evidencesOf({ evidence: EVIDENCE })[0]?.numbers).toEqual([
      ['Pairs played', '16'],
      ['Chance of a mistake allowed', '0.0247'],
      ['Ended because', 'it was shown'],
    ])
  })

  it('has a second part where nothing may get worse', () => {
    expect(evidencesOf({ evidence: EVIDENCE, evidence_regression: EVIDENCE }).map(({ title }) => title)).toEqual([
      'Evidence',
      'Evidence that nothing got worse',
    ])
  })

  it.each([
    undefined,
    null,
    'text',
    [],
    { stopped: 'health' },
    { interval: ['a', 'b'], mean_difference: 1 },
    { interval: [1, 0], mean_difference: 0 },
    { threshold: 0.5, e_value: 3 },
  ])('is none in %j', (evidence) => {
    expect(evidencesOf({ evidence })).toEqual([])
  })
})

it("the candidate's first episodes are told one by one, whatever is missing", () => {
  expect(
    episodesOf({ candidate_episodes: [{ task: 'roman-4', score: 1 }, { task: 'x', score: null, repeat: 2, failure: 'timed out' }, 7, {}] }),
  ).toEqual([
    { task: 'roman-4', score: 1, failure: null },
    { task: 'x, repeat 2', score: null, failure: 'timed out' },
    { task: 'unnamed', score: null, failure: null },
  ])
})

it('what a step cost is one line', () => {
  expect(costOf({ episodes_used: 144, episodes_cached: 16, episodes_saved: 496 })).toBe(
    '144 episodes played, 16 known from before, 496 saved by ending early',
  )
  expect(costOf({ episodes_used: 1 })).toBe('1 episode played')
  expect(costOf({})).toBeNull()
})
