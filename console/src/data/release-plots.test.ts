import { describe, expect, it } from 'vitest'
import { measurePlots, releaseNames, scoreSeries, taskHeat, trainingPlots } from './release-plots.ts'
import { chainOf, rowOf } from './testing/rows.ts'

describe('the plots of a chain', () => {
  it('has two lines of scores over its steps', () => {
    const chain = chainOf(rowOf(0), rowOf(1, { metrics: { candidate_score: 4, current_score: 2, ties: 4 } }), rowOf(2))
    expect(scoreSeries(chain)).toEqual([
      { name: 'candidate', tone: 'accent', points: [{ x: 1, y: 1, label: 'v1, Published' }] },
      { name: 'served then', tone: 'plain', points: [{ x: 1, y: 0.5, label: 'v1, Published' }] },
    ])
    expect(scoreSeries(chainOf(rowOf(0)))).toEqual([])
  })

  it('name releases alone', () => {
    const chain = chainOf(rowOf(0), rowOf(1, { result: 'rejected' }), rowOf(2, { result: 'pending', pending: true }))
    expect(Object.fromEntries(releaseNames(chain))).toEqual({ 0: 'v0', 2: 'v2' })
  })

  it('draw the interval of the difference on top of what was served', () => {
    const evidence = { interval: [0.125, 0.375] }
    const metrics = { candidate_mean_score: 0.75, current_mean_score: 0.5, evidence }
    const pointOf = (more: object) => scoreSeries(chainOf(rowOf(0), rowOf(1, { metrics: { ...metrics, ...more } })))[0]?.points[0]
    expect(pointOf({})?.interval).toEqual([0.625, 0.875])
    expect(pointOf({ objective: { cost_per_point: 1, seconds_per_point: null } })?.interval).toBeUndefined()
    expect(pointOf({ evidence: { interval: [-0.75, 0.625] } })?.interval).toEqual([0, 1])
    for (const interval of [[0.5, 0.1], ['x', 1], null, [1]]) expect(pointOf({ evidence: { interval } })?.interval).toBeUndefined()
  })

  it('have cost and time where they were measured', () => {
    const metrics = { candidate_mean_cost: 0.5, candidate_mean_seconds: 12, current_mean_seconds: 20 }
    expect(measurePlots(chainOf(rowOf(0), rowOf(1, { metrics })))).toMatchObject([
      { title: 'Cost over releases, mean per episode', series: [{ name: 'candidate', points: [{ x: 1, y: 0.5 }] }] },
      { unit: 's', series: [{ points: [{ y: 12 }] }, { name: 'served then', points: [{ y: 20 }] }] },
    ])
    expect(measurePlots(chainOf(rowOf(0)))).toEqual([])
    expect(measurePlots(chainOf(rowOf(0), rowOf(1, { metrics: { candidate_mean_cost: 0 } })))).toEqual([])
  })
})

describe('the plots of a training of weights', () => {
  it('have reward, distance, entropy and length over the steps, and what candidates answered before they were published', () => {
    const selection = { candidate_score: 0.75, current_score: 0.5 }
    const metrics = { reward_mean: 0.3, kl_to_base: 0.01, entropy: 1.5, answer_tokens_mean: 12, selection }
    const plots = trainingPlots(chainOf(rowOf(0), rowOf(1, { metrics }), rowOf(2, { metrics: { ...metrics, reward_mean: 0.6 } })))
    expect(plots.map(({ title, series }) => [title.split(/[ ,]/)[0], series.map(({ points }) => points.map(({ y }) => y))])).toEqual([
      ['Reward', [[0.3, 0.6]]],
      ['Distance', [[0.01, 0.01]]],
      ['Entropy', [[1.5, 1.5]]],
      ['Length', [[12, 12]]],
      [
        'Held-out',
        [
          [0.75, 0.75],
          [0.5, 0.5],
        ],
      ],
    ])
    expect(plots[1]?.unit).toBe('nats')
  })

  it('are none where nothing was trained, and leave out what was not measured', () => {
    expect(trainingPlots(chainOf(rowOf(0), rowOf(1, { metrics: { candidate_score: 1 } })))).toEqual([])
    expect(trainingPlots(chainOf(rowOf(1, { metrics: { entropy: 'high', reward_mean: 1 } })))).toHaveLength(1)
  })
})

const scored = (...task_scores: readonly object[]) => ({ metrics: { task_scores } })

describe('the heat map of tasks', () => {
  it('has a column for each release that played any, and rows by family, those without one last', () => {
    const heat = taskHeat(
      chainOf(
        rowOf(0),
        rowOf(1, scored({ task: 'b', candidate: 0.5 }, { task: 'a', candidate: 1, family: 'sums' })),
        rowOf(2, { ...scored({ task: 'b', candidate: 0 }), result: 'rejected' }),
        rowOf(3, scored({ task: 'b', candidate: 0.75 }, { task: 'c', current: 1 })),
      ),
    )
    expect(heat?.columns.map(({ name }) => name)).toEqual(['v1', 'v3'])
    expect(heat?.families).toMatchObject([
      { family: 'sums', rows: [{ task: 'a', cells: [1, null] }] },
      {
        family: null,
        rows: [
          { task: 'b', cells: [0.5, 0.75] },
          { task: 'c', cells: [null, null] },
        ],
      },
    ])
  })

  it('is nothing where no release has scores of tasks', () => {
    expect(taskHeat(chainOf(rowOf(0), rowOf(1, { metrics: { task_scores: 'x' } })))).toBeNull()
  })
})
