/** Score against money and time: what a pair is worth, and what a step makes of it. */
import { beforeEach, expect, it } from 'vitest'
import { testServer } from '../../test/support/server.ts'
import type { Executor, Pair, Selection } from '../contract/index.ts'
import { gainOf, worthOf } from './objective.ts'
import { episodeOf, GATE, metric, REQUEST, RULE, taskNamed, testBench, type Tools } from './testing/bench.ts'

const BOTH = { cost_per_point: 2, seconds_per_point: 100 }
const SCORE_ALONE = { cost_per_point: null, seconds_per_point: null }

it.each([
  [BOTH, { score: 1, took: { cost: 0.5, seconds: 10 } }, 0.65],
  [{ ...BOTH, cost_per_point: null }, { score: 1, took: { cost: null, seconds: 10 } }, 0.9],
  [{ ...BOTH, seconds_per_point: null }, { score: 7, took: { cost: 0.5, seconds: 10 } }, 0.75],
  [BOTH, { score: 1, took: { cost: null, seconds: 10 } }, null],
  [BOTH, { score: 1, took: null }, null],
  [BOTH, { score: null, took: { cost: 0, seconds: 0 } }, null],
])('with %j an episode %j is worth %s', (objective, played, worth) => {
  expect(worthOf(objective, played)).toEqual(worth === null ? null : expect.closeTo(worth))
})

it('a gain is bounded, and there is none where only the score counts', () => {
  const [cheap, dear] = [0, 50].map((cost) => ({ score: 1, took: { cost, seconds: 0 } }))
  expect([gainOf(BOTH, cheap, dear), gainOf(BOTH, dear, cheap)]).toEqual([1, -1])
  expect(gainOf(SCORE_ALONE, cheap, dear)).toBeNull()
  expect(gainOf(BOTH, undefined, dear)).toBeNull()
})

let modelUrl = ''
beforeEach(async () => {
  modelUrl = await testServer((_request, response) => response.end('{"usage":{"prompt_tokens":100,"completion_tokens":0}}'))
})

/** The candidate makes one call, and the served side three; both score the same. */
const run: Executor['run'] = async (play) => {
  const isCandidate = JSON.stringify(play.files(play.model)).includes('magic')
  for (let call = isCandidate ? 2 : 0; call < 3; call += 1)
    await (await fetch(`${play.model.url}/v1/messages`, { method: 'POST', body: '{}' })).text()
  const episode = episodeOf('magic')
  await play.inspect?.('/root/workspace', episode)
  return episode
}

function world(more: Tools = {}) {
  const seen: Pair[] = []
  const selection: Selection = {
    decide(pairs) {
      seen.splice(0, Infinity, ...pairs)
      return { selected: false, isOpen: true, reason: 'never' }
    },
  }
  const settings = {
    prices: { m: { input: 1000, output: 0, cached: null } },
    objective: { ...SCORE_ALONE, cost_per_point: 0.5 },
    ...more.settings,
  }
  return { seen, opening: testBench({ run, selection, modelUrl, ...more, settings }) }
}

it('pairs say how far the candidate is ahead, also where the score is known from before, and the row has the means', async () => {
  const { seen, opening } = world()
  const bench = await opening
  const step = await bench.step()
  expect(seen.map(({ gain, candidate, current }) => [gain, candidate, current])).toEqual(GATE.map(() => [expect.closeTo(0.4), 1, 1]))
  expect(step).toMatchObject({
    metrics: { candidate_mean_cost: 0.1, current_mean_cost: 0.3, objective: { cost_per_point: 0.5, seconds_per_point: null } },
    state: { cases: [{ open: { pairs: GATE.map(({ name }) => [name, 0, 1, 1, null, false, expect.closeTo(0.4)]) } }] },
  })
  expect(metric(step, 'candidate_mean_seconds')).toEqual(expect.any(Number))
  await bench.step({ id: 'again' })
  expect(seen.map(({ gain }) => gain)).toEqual(GATE.map(() => expect.closeTo(0.4)))
})

it('nothing counts but the score where no objective is set, and the means are in the row all the same', async () => {
  const { seen, opening } = world({ settings: { objective: SCORE_ALONE } })
  const step = await (await opening).step()
  expect(seen.every(({ gain }) => gain === undefined)).toBe(true)
  expect(metric(step, 'objective')).toBeUndefined()
  expect(metric(step, 'candidate_mean_cost')).toBe(0.1)
})

it('without a price of the model nothing is played, and the reason says what to set; a request goes on', async () => {
  const { opening } = world({ settings: { prices: {} } })
  const bench = await opening
  expect(await bench.step()).toMatchObject({
    kind: 'skip',
    reason:
      'evolution.objective.cost_per_point is set, and the price of the model m is not known; set evolution.prices, or leave the objective out',
  })
  expect(await bench.step({ request: REQUEST })).toMatchObject({ kind: 'reject' })
})

it('the screening keeps a change that only saves money', async () => {
  const train = Array.from({ length: 6 }, (_, n) => taskNamed(`train-${n}`, { role: 'train' }))
  const { opening } = world({
    tasks: [...GATE, ...train],
    propose: () => ({ mutations: [RULE] }),
    settings: {
      prices: { m: { input: 1000, output: 0, cached: null } },
      objective: { ...SCORE_ALONE, cost_per_point: 0.5 },
      candidates: 1,
    },
  })
  expect(metric(await (await opening).step(), 'screened_kept')).toBe(1)
})
