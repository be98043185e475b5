/** The evidence of a decision as figures and sentences. */
import { describe, expect, it } from 'vitest'
import { evidenceOf, headlineOf, tasksOf, type BarFigure } from './evidence.ts'

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
const wordsOf = (metrics: object): string | undefined => evidenceOf({ ...metrics })[0]?.pairs?.words
const barsOf = (evidence: unknown): readonly BarFigure[] => evidenceOf({ evidence })[0]?.bars ?? []

describe('the evidence of a decision', () => {
  it('is an interval and a strength, and says the same in words', () => {
    expect(barsOf(EVIDENCE).map(({ title, words, tone }) => [title, words, tone])).toEqual([
      ['Mean difference', '+1, with confidence between +0.51 and +1.', 'good'],
      ['e-value over pairs', '7,390: strong enough (1 in 7,390 by luck).', 'good'],
      ['e-value over tasks', '19,400: strong enough (1 in 19,400 by luck).', 'good'],
    ])
  })

  it('has for each e-value a threshold of its own', () => {
    const evidence = { ...EVIDENCE, e_value_tasks: 30, threshold_tasks: 20.2 }
    expect(barsOf(evidence).map(({ tone }) => tone)).toEqual(['good', 'good', 'good'])
    expect(headlineOf({ wins: 5, losses: 0, evidence })).toBe(
      '5 of 5 improved, none worse; the evidence is strong enough (1 in 30 by luck)',
    )
    expect(headlineOf({ wins: 5, losses: 0, evidence: { ...evidence, e_value: 30 } })).toContain(
      'not strong enough (1 in 30 by luck, 1 in 40',
    )
  })

  it('says that there were too few tasks, and how many families they are', () => {
    const facts = evidenceOf({ evidence: { ...EVIDENCE, tasks: 9, families: 3, stopped: 'families' } })[0]?.facts ?? []
    expect(facts).toEqual(
      expect.arrayContaining([
        ['Families of tasks', '3', expect.stringContaining('count as one')],
        ['Ended by', 'too few tasks that are not alike'],
      ]),
    )
  })

  it('keeps everything on the line', () => {
    const extreme = { ...EVIDENCE, e_value: 1e300, e_value_tasks: 0, mean_difference: -1, interval: [-1, 0.2], margin: 0.3 }
    for (const { from, to, marks } of barsOf(extreme)) {
      expect(from).toBeGreaterThanOrEqual(0)
      expect(to).toBeLessThanOrEqual(100)
      expect(from).toBeLessThanOrEqual(to)
      for (const { at } of marks) expect(at >= 0 && at <= 100).toBe(true)
    }
  })

  it('marks what was not reached, and what points the other way', () => {
    const [interval, strength] = barsOf({ ...EVIDENCE, e_value: 0.2, e_value_tasks: null, interval: [-0.6, -0.1], mean_difference: -0.3 })
    expect([interval?.tone, strength?.tone]).toEqual(['bad', 'bad'])
    const unsure = barsOf({ ...EVIDENCE, e_value: 3, interval: [-0.1, 0.4] }).slice(0, 2)
    expect(unsure.map(({ tone }) => tone)).toEqual(['plain', 'plain'])
    expect(unsure[1]?.words).toBe('3: not strong enough (1 in 3 by luck, 1 in 40.5 needed).')
  })

  it('says how much worse was allowed', () => {
    expect(barsOf({ ...EVIDENCE, test: 'non_inferiority', margin: 0.3 })[0]?.words).toMatch(/up to 0.3 worse is allowed\.$/)
  })

  it('says what had to be shown, on which tasks, and what could not be compared', () => {
    const guard = { ...EVIDENCE, test: 'non_inferiority', margin: 0.1, tasks: 4, pairs: 20, uncompared: 3 }
    const [regression] = evidenceOf({ evidence: { ...guard, role: 'regression' } })
    expect(regression?.question).toBe(
      'The candidate had to be shown to be at most 0.1 worse than the served release, in the mean score of the 4 protected tasks, those of role regression.',
    )
    expect(regression?.facts).toContainEqual(['Pairs not compared', '3 of 20: the other side had no score, so they do not count'])
    const [, sum] = evidenceOf({ evidence: EVIDENCE, evidence_sum: { ...guard, tasks: 1, role: 'gate' } })
    expect(sum).toMatchObject({
      title: 'Evidence that it did no harm together with the changes before it',
      question:
        'The candidate had to be shown to be at most 0.1 worse than what was served before those changes, in the mean score of the 1 protected task, those of the gate, since none has the role regression.',
    })
    expect(evidenceOf({ evidence: { ...EVIDENCE, test: 'other' } })[0]?.question).toBe('The policy decided by this.')
    expect(evidenceOf({ evidence: { ...EVIDENCE, test: 'non_inferiority' } })[0]?.question).toContain('not much worse than')
  })

  it('lists its numbers and why it ended', () => {
    expect(evidenceOf({ evidence: EVIDENCE })[0]?.facts).toEqual([
      ['Chance of a mistake allowed', '0.0247', expect.stringContaining('without any effect')],
      ['Pairs played', '16', expect.stringContaining('one task')],
      ['Ended by', 'enough evidence'],
    ])
  })

  it('counts the pairs in words, also those that are not drawn', () => {
    expect(wordsOf({ wins: 14, losses: 2, ties: 8, evidence: { pairs: 24 } })).toBe('14 won, 2 lost and 8 tied of 24 pairs.')
    expect(wordsOf({ evidence: { pairs: 12, differences: [0, 0] } })).toBe('0 won, 0 lost and 12 tied of 12 pairs; the first 2 are drawn.')
    const many = { wins: 1000, losses: 0, evidence: { pairs: 1000, differences: Array(1000).fill(1) } }
    expect(wordsOf(many)).toBe('1,000 won, 0 lost and 0 tied of 1,000 pairs; the first 240 are drawn.')
  })

  it('has a second part where nothing may get worse', () => {
    expect(evidenceOf({ evidence: EVIDENCE, evidence_regression: EVIDENCE }).map(({ title }) => title)).toEqual([
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
    expect(evidenceOf({ evidence })).toEqual([])
  })
})

describe('the result in one sentence', () => {
  it.each([
    [
      { wins: 10, losses: 0, ties: 4, evidence: { e_value: 1200, threshold: 324 } },
      '10 of 14 improved, none worse; the evidence is strong enough (1 in 1,200 by luck)',
    ],
    [
      { wins: 3, losses: 1, ties: 0, evidence: { e_value: 90, e_value_tasks: 5, threshold: 41 } },
      '3 of 4 improved, 1 worse; the evidence is not strong enough (1 in 5 by luck, 1 in 41 needed)',
    ],
    [
      { wins: 0, losses: 2, ties: 1, evidence: { e_value: 0.3, threshold: 41 } },
      'None of 3 improved, 2 worse; the evidence is not strong enough (1 in 41 needed)',
    ],
    [
      { wins: 9, losses: 0, ties: 0, evidence: { e_value: 1e300, threshold: 41 } },
      '9 of 9 improved, none worse; the evidence is strong enough (less than 1 in 1,000,000,000,000 by luck)',
    ],
    [
      { wins: 0, losses: 1, ties: 19, evidence: { test: 'non_inferiority', margin: 0.1, e_value: 25, threshold: 20 } },
      'None of 20 improved, 1 worse; the evidence that it is at most 0.1 worse is strong enough (1 in 25 by luck)',
    ],
    [{ wins: 2, losses: 0, ties: 2 }, '2 of 4 improved, none worse'],
    [{ passed: 3, failed: 1 }, null],
  ])('of %j', (metrics, sentence) => {
    expect(headlineOf(metrics)).toBe(sentence)
  })
})

it("the candidate's first episodes are listed one by one, whatever is missing", () => {
  const episodes = [{ task: 'roman-4', score: 1 }, { task: 'x', score: null, repeat: 1, failure: 'timed out', evaluation: 'none' }, 7, {}]
  expect(tasksOf({ candidate_episodes: episodes })).toEqual([
    { task: 'roman-4', again: '', score: 1, scoreText: '1', notes: [] },
    { task: 'x', again: 'played again (2)', score: null, scoreText: 'no score', notes: ['timed out', 'none'] },
    { task: 'unnamed', again: '', score: null, scoreText: 'no score', notes: [] },
  ])
})
