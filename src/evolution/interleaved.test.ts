/** Scores of earlier steps: how long they are used, how they are checked, and that nothing is published on them. */
import { describe, expect, it } from 'vitest'
import type { Evaluator, Executor, Mutation, Play } from '../contract/index.ts'
import { ALWAYS, episodeOf, metric, REQUEST, taskNamed, testBench, type Tools } from './testing/bench.ts'

const TASKS = Array.from({ length: 40 }, (_, n) => taskNamed(`task-${n}`))

/** Another change each time, none of which does anything. */
const proposing = (): NonNullable<Tools['propose']> => {
  let asked = 0
  return () => ({ mutations: [noOp((asked += 1))] })
}
const noOp = (number: number): Mutation => ({
  op: 'create',
  id: 'kind',
  options: { name: 'rules', config: { text: `Be kind ${number} times.` } },
})

const sideOf = (play: Play): string => {
  const files = play.files({ url: '', model: 'm', api: 'openai', apiKey: null })
  return files['agent/RULES.md']?.includes('kind') === true ? 'candidate' : 'current'
}

/** A model whose ability changes behind its name. */
function world(more: Tools = {}) {
  const model = { score: 0, answeredBy: 'm' }
  const played: string[] = []
  const run: Executor['run'] = async (play) => {
    played.push(sideOf(play))
    const episode = { ...episodeOf(''), answeredBy: model.answeredBy }
    await play.inspect?.('/root/workspace', episode)
    return episode
  }
  const evaluator: Evaluator = { score: async () => model.score }
  return { model, played, bench: testBench({ run, evaluator, tasks: TASKS, propose: proposing(), ...more }) }
}

const currentIn = (played: readonly string[]): number => played.filter((side) => side === 'current').length

describe('the score of the served release', () => {
  it('is used again by the next step, but for a sample', async () => {
    const { bench: opening, played } = world()
    const bench = await opening
    await bench.step()
    played.length = 0
    expect(await bench.step()).toMatchObject({ kind: 'reject' })
    expect(currentIn(played)).toBeGreaterThanOrEqual(1)
    expect(currentIn(played)).toBeLessThan(15)
  })

  it.each([31 * 60_000, -31 * 60_000])('is played again %d ms later: sides of a pair are never from different hours', async (ms) => {
    const { bench: opening, played } = world()
    const bench = await opening
    await bench.step()
    played.length = 0
    bench.time.ms += ms
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { episodes_cached: 0 } })
    expect(currentIn(played)).toBe(TASKS.length)
  })

  it('is never used again where the configuration says so', async () => {
    const { bench: opening } = world({ settings: { score_age_max_s: 0 } })
    const bench = await opening
    await bench.step()
    bench.time.ms += 1
    expect(await bench.step()).toMatchObject({ metrics: { episodes_used: 2 * TASKS.length } })
  })

  it('is played again before anything is published, and the change with it, for traffic and for a request', async () => {
    for (const request of [null, REQUEST]) {
      const { bench: opening } = world({ selection: { decide: (_, { seed }) => ({ selected: seed.includes(':2:'), reason: 'x' }) } })
      const bench = await opening
      await bench.step({ request })
      const result = await bench.step({ request })
      const rechecked = Number(metric(result, 'episodes_rechecked'))
      expect(rechecked).toBeGreaterThan(TASKS.length / 2)
      expect(result).toMatchObject({ kind: 'publish', metrics: { episodes_used: 2 * TASKS.length + rechecked } })
    }
  })

  it('is used with what the same step played before it was tried again', async () => {
    let isBroken = true
    const { bench: opening, played } = world({
      selection: {
        decide() {
          if (isBroken) throw new Error('killed')
          return { selected: true, reason: 'x' }
        },
      },
    })
    const bench = await opening
    expect(await bench.step()).toMatchObject({ kind: 'fail' })
    isBroken = false
    bench.time.ms += 1000
    const again = await testBench({
      cacheFrom: bench,
      tasks: TASKS,
      propose: proposing(),
      selection: ALWAYS,
      evaluator: { score: async () => 1 },
    })
    expect(await again.step()).toMatchObject({ kind: 'publish', metrics: { episodes_used: 2 * TASKS.length, episodes_cached: 0 } })
    expect([played.length, again.played.length]).toEqual([2 * TASKS.length, 0])
  })
})

describe('a model that changes behind its name', () => {
  it('for the better publishes no change that does nothing, on a few tasks and on many', async () => {
    for (const tasks of [TASKS.slice(0, 14), TASKS]) {
      const { model, bench: opening } = world({ tasks })
      const bench = await opening
      await bench.step()
      model.score = 1
      for (let step = 0; step < 3; step += 1) expect(await bench.step()).toMatchObject({ kind: 'reject' })
    }
  })

  it('back and forth publishes no change that does nothing: both sides are played again, one after the other', async () => {
    const { model, bench: opening } = world({
      tasks: TASKS.slice(0, 14),
      selection: {
        decide(pairs) {
          const margin = pairs.reduce((sum, { candidate, current }) => sum + (candidate ?? 0) - (current ?? 0), 0)
          // The good stretch ends with the step's first look.
          model.score = 0
          return { selected: margin > 0, reason: `a margin of ${margin}` }
        },
      },
    })
    const bench = await opening
    await bench.step()
    model.score = 1
    expect(await bench.step()).toMatchObject({
      kind: 'reject',
      metrics: { selection: { reason: 'a margin of 0' }, episodes_rechecked: expect.any(Number) },
    })
  })

  it('is noticed by the sample: all known scores are dropped, the step measures again, and its row says why', async () => {
    const { model, bench: opening, played } = world()
    const bench = await opening
    model.score = 1
    await bench.step()
    model.score = 0
    const results = []
    for (let step = 0; step < 3; step += 1) results.push(await bench.step())
    const dropped = results.find((result) => metric(result, 'known_scores_dropped') !== undefined)
    expect(dropped).toMatchObject({
      metrics: {
        known_scores_dropped: expect.stringMatching(/^of \d+ known scores .* 0 rose and \d fell: the model or the grader has changed$/),
        // Both sides are measured by the same model.
        selection: { reason: 'a margin of 0' },
      },
    })
    played.length = 0
    await bench.step()
    expect(currentIn(played)).toBeLessThan(15)
  })

  it('and names itself otherwise is noticed at once', async () => {
    const { model, bench: opening } = world()
    const bench = await opening
    await bench.step()
    Object.assign(model, { answeredBy: 'm fp_2', score: 1 })
    const known_scores_dropped = 'the answers name another model or version than before'
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { known_scores_dropped, selection: { reason: 'a margin of 0' } } })
    expect(bench.lines).toContain(`check! ${known_scores_dropped}; all known scores are dropped, and played again`)
    expect(metric(await bench.step(), 'known_scores_dropped')).toBeUndefined()
  })
})

it('an outage that comes and goes makes no change better that does nothing', async () => {
  let isDown = true
  const { bench: opening } = world({
    tasks: TASKS.slice(0, 14),
    run: async (play) => {
      const episode = { ...episodeOf(''), ...(isDown && sideOf(play) === 'current' && { modelFailure: 'it answered with status 503' }) }
      await play.inspect?.('/root/workspace', episode)
      return episode
    },
    evaluator: { score: async () => 1 },
  })
  const bench = await opening
  expect(await bench.step()).toMatchObject({ kind: 'skip', reason: 'the evaluation failed' })
  isDown = false
  expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { selection: { reason: 'a margin of 0' } } })
})

it('a budget that ends while known scores are played again publishes nothing on them', async () => {
  const { bench: opening, model } = world({ settings: { max_episodes_per_step: TASKS.length + 10 } })
  const bench = await opening
  await bench.step({ request: REQUEST })
  model.score = 1
  expect(await bench.step()).toMatchObject({ kind: 'reject' })
})
