/** Tokens and money of a step: what its row says, and how caps end it. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { testServer } from '../../../test/support/server.ts'
import type { Executor, Selection } from '../../contract/index.ts'
import { ALWAYS, episodeOf, metric, REQUEST, RULE, taskNamed, testBench, WORSE, type Tools } from '../testing/bench.ts'

const TASKS = Array.from({ length: 10 }, (_, n) => taskNamed(`task-${n}`))
const DAY_MS = 24 * 60 * 60 * 1000

let modelUrl = ''
beforeEach(async () => {
  modelUrl = await testServer((_request, response) =>
    response.end('{"usage":{"prompt_tokens":90,"prompt_tokens_details":{"cached_tokens":40},"completion_tokens":10}}'),
  )
})

/** Of ninety bytes, with an answer of ten tokens at most. */
const QUESTION = JSON.stringify({ max_tokens: 10, messages: [{ role: 'user', content: 'Say it.'.padEnd(31) }] })

/** Every episode is one call of a hundred tokens. */
function world(more: Tools = {}) {
  const played: string[] = []
  const run: Executor['run'] = async (play) => {
    const isCandidate = JSON.stringify(play.files(play.model)).includes('magic')
    const answer = await fetch(`${play.model.url}/v1/chat/completions`, { method: 'POST', body: QUESTION })
    await answer.text()
    if (answer.ok) played.push(isCandidate ? 'candidate' : 'current')
    const episode = episodeOf(isCandidate ? 'magic' : 'nothing')
    await play.inspect?.('/root/workspace', episode)
    return episode
  }
  const settings = { prices: { m: { input: 1000, output: 10_000, cached: 500 } }, ...more.settings }
  return { played, bench: testBench({ run, tasks: TASKS, modelUrl, ...more, settings }) }
}

/** Of one episode: 50 tokens at 1000, 40 at 500, 10 at 10,000 a million. */
const COST = 0.17

/** Plays two rounds of every task. */
const twice: Selection = {
  next: ({ pairs, tasks, episodesLeft }) =>
    pairs.length >= 2 * tasks.length || episodesLeft === 0
      ? []
      : tasks.map(({ name }) => ({ task: name, repeat: pairs.length / tasks.length })),
  decide: (pairs) => ({ selected: pairs.length >= 2 * TASKS.length, reason: `${pairs.length} pairs` }),
}

describe('the row of a step', () => {
  it('says what its episodes took, by the prices of the model', async () => {
    const { bench } = world()
    const step = await (await bench).step()
    const spent = { calls: 20, input_tokens: 1800, cached_tokens: 800, output_tokens: 200, cost: expect.closeTo(20 * COST) }
    expect(step).toMatchObject({ kind: 'publish', metrics: { spent: { ...spent, episodes: spent, proposer: { calls: 0 } } } })
    expect(metric(step, 'improvement_spent')).toMatchObject({ ...spent, steps: 1 })
  })

  it('shows tokens, and no cost, where no price is known', async () => {
    const { bench } = world({ settings: { prices: {} } })
    expect(metric(await (await bench).step(), 'spent')).toMatchObject({ calls: 20, input_tokens: 1800, cost: null, unpriced_calls: 20 })
  })

  it('of an improvement counts all steps since the release before, also those that failed', async () => {
    let outcome: 'reject' | 'fail' | 'publish' = 'reject'
    const { bench: opening } = world({
      settings: { score_age_max_s: 0 },
      propose: () => ({
        mutations: outcome === 'reject' ? [WORSE] : [{ op: 'create', id: 'x', options: { name: 'rules', config: { text: 'magic' } } }],
      }),
      selection: {
        decide: () => {
          if (outcome === 'fail') throw new Error('broken')
          return { selected: outcome === 'publish', reason: 'as told' }
        },
      },
    })
    const bench = await opening
    expect(await bench.step()).toMatchObject({ kind: 'reject' })
    outcome = 'fail'
    bench.time.ms += 1
    expect(await bench.step()).toMatchObject({ kind: 'fail', metrics: { spent: { calls: 20 } } })
    outcome = 'publish'
    bench.time.ms += 1
    const published = await bench.step()
    expect(published).toMatchObject({ kind: 'publish', metrics: { spent: { calls: 20 }, improvement_spent: { calls: 60, steps: 3 } } })
  })
})

/** What a call is held at. */
const NEXT = '100 tokens (90 of its question, 10 of its answer)'

describe('a cap', () => {
  it.each([
    ['max_tokens_per_step', 1000, 'the step has used 1000 tokens, and its cap is 1000 (evolution.max_tokens_per_step)'],
    [
      'max_cost_per_step',
      1.7,
      `the step has used 1.53 of money, its next call may take 0.19 for ${NEXT}, and its cap is 1.7: raise evolution.max_cost_per_step`,
    ],
    [
      'max_tokens_per_day',
      950,
      `the scenario has used today 900 tokens, its next call may take ${NEXT}, and its cap is 950: raise evolution.max_tokens_per_day`,
    ],
  ])('%s ends the step before the next episode, publishes nothing, and says so', async (name, most, words) => {
    const { bench, played } = world({ settings: { [name]: most }, selection: ALWAYS })
    const step = await (await bench).step()
    expect(step).toMatchObject({ kind: 'reject', metrics: { selection: { reason: `${words}; until then: always` }, cap_reached: words } })
    expect(played).toHaveLength(words.includes(NEXT) ? 9 : 10)
  })

  it('below the first call of a step ends it with one line that says what to raise', async () => {
    const { bench, played } = world({ settings: { max_tokens_per_step: 99 }, selection: ALWAYS })
    const words = `the step has used 0 tokens, its next call may take ${NEXT}, and its cap is 99: raise evolution.max_tokens_per_step`
    expect(metric(await (await bench).step(), 'selection')).toMatchObject({ reason: `${words}; until then: always` })
    expect(played).toEqual([])
  })

  it('that is reached before anything protects a request leaves it to a person [trust.unprotected]', async () => {
    const { bench } = world({
      settings: { max_tokens_per_step: 99 },
      propose: async ({ models }) => {
        for (const model of Object.values(models)) await expect(model.chat([{ role: 'user', content: 'x' }])).rejects.toThrow('cap')
        return { mutations: [RULE] }
      },
      selection: { next: () => [], ...ALWAYS },
    })
    const held_because = expect.stringContaining('no task could show that it harms nothing')
    expect(await (await bench).step({ request: REQUEST })).toMatchObject({ kind: 'hold', metrics: { held_because } })
  })

  it.each([4, 7])('is not passed by the calls of %i pairs at once, and all of it is used', async (episode_workers) => {
    const { bench: opening, played } = world({ settings: { max_tokens_per_step: 1050, episode_workers }, selection: twice })
    const bench = await opening
    expect(await bench.step()).toMatchObject({ kind: 'reject', metrics: { spent: { calls: 10, input_tokens: 900, output_tokens: 100 } } })
    expect(played).toHaveLength(10)
  })

  it('holds for an agent that asks several times, and what a cap cut is no score', async () => {
    const answers: number[] = []
    const { bench: opening } = world({
      settings: { max_tokens_per_step: 1250, episode_workers: 3 },
      run: async (play) => {
        for (let call = 0; call < 3; call += 1) {
          const { status } = await fetch(`${play.model.url}/v1/chat/completions`, { method: 'POST', body: QUESTION })
          answers.push(status)
        }
        const episode = episodeOf('whatever')
        await play.inspect?.('/root/workspace', episode)
        return episode
      },
    })
    const bench = await opening
    const step = await bench.step()
    expect(answers.filter((status) => status === 200).length).toBeLessThanOrEqual(12)
    expect(answers).toContain(403)
    expect(step).toMatchObject({ kind: 'reject', state: { cases: [{ open: {} }] } })
    const { calls } = Object(metric(step, 'spent'))
    expect(calls).toBe(answers.filter((status) => status === 200).length)
    for (const { input_tokens } of bench.told) expect(input_tokens).toBe(3 * 90)
  })

  it('that people set for the scenario goes before the configured one, with the next step', async () => {
    const { bench: opening, played } = world({ settings: { max_tokens_per_step: 1000 }, selection: ALWAYS })
    const bench = await opening
    const step = await bench.step({ evolution: { max_tokens_per_step: 500 } })
    expect(metric(step, 'selection')).toMatchObject({ reason: expect.stringContaining('its cap is 500 (evolution.max_tokens_per_step)') })
    expect(played).toHaveLength(5)
  })

  it('leaves the case open: the next step goes on with its pairs and publishes', async () => {
    const { bench: opening, played } = world({ settings: { max_tokens_per_step: 2000 }, selection: twice })
    const bench = await opening
    expect(await bench.step()).toMatchObject({ kind: 'reject', state: { cases: [{ open: { pairs: { length: 10 } } }], decided: 1 } })
    expect(played).toHaveLength(20)
    bench.time.ms += 1
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { pairs_resumed: 10, improvement_spent: { steps: 2 } } })
  })

  it('ends a request too, which is not published either', async () => {
    const { bench } = world({ settings: { max_tokens_per_step: 500 }, selection: ALWAYS })
    expect(await (await bench).step({ request: REQUEST })).toMatchObject({ kind: 'reject' })
  })

  it('of the day keeps the next step from beginning, with its batch, until the next day', async () => {
    const { bench: opening, played } = world({ settings: { max_tokens_per_day: 1000 }, selection: ALWAYS })
    const bench = await opening
    await bench.step()
    const fail = { kind: 'fail', retry: true, error: expect.stringContaining('it goes on tomorrow (UTC)') }
    expect(await bench.step()).toMatchObject(fail)
    expect(played).toHaveLength(10)
    bench.time.ms += DAY_MS
    expect(await bench.step()).toMatchObject({ kind: 'publish', metrics: { pairs_resumed: 5 } })
    expect(played.length).toBeGreaterThan(10)
  })

  it.each([
    ['traffic', {}],
    ['a request', { request: REQUEST }],
  ])('of the day that a call of a proposer does not fit into makes a step on %s wait, and it is not asked again', async (_of, batch) => {
    let [asked, tokensMax] = [0, 100]
    const { bench: opening } = world({
      settings: { max_tokens_per_day: 1000 },
      modelUrl: await testServer((_request, response) =>
        response.end('{"choices":[{"message":{"content":"yes"}}],"usage":{"prompt_tokens":300,"completion_tokens":100}}'),
      ),
      propose: async ({ models }) => {
        asked += 1
        await models['served']?.chat([{ role: 'user', content: 'What now?' }], { tokensMax })
        return null
      },
    })
    const bench = await opening
    expect(await bench.step(batch)).toMatchObject({ kind: 'skip' })
    tokensMax = 700
    const waits = { kind: 'fail', retry: true, error: expect.stringMatching(/has used today 400 tokens.*it goes on tomorrow \(UTC\)$/) }
    expect(await bench.step(batch)).toMatchObject(waits)
    tokensMax = 100
    expect(await bench.step(batch)).toMatchObject(waits)
    expect(asked).toBe(2)
    bench.time.ms += DAY_MS
    expect(await bench.step(batch)).toMatchObject({ kind: 'skip' })
    tokensMax = 2000
    const never = await bench.step(batch)
    expect(never).toMatchObject({ kind: 'fail', error: expect.stringContaining('raise evolution.max_tokens_per_day') })
    expect(never).not.toHaveProperty('retry')
    tokensMax = 100
    expect(await bench.step(batch)).toMatchObject({ kind: 'skip' })
  })

  it('holds for the attempts of a step together: what a killed one spent is in the ledger', async () => {
    const { bench: first } = world({ selection: twice })
    const killed = await first
    await killed.step()
    const { bench: second, played } = world({ cacheFrom: killed, settings: { max_tokens_per_step: 1000 } })
    const again = await second
    expect(await again.step()).toMatchObject({
      kind: 'fail',
      error: expect.stringContaining('evolution.max_tokens_per_step'),
      metrics: { spent: { calls: 40 } },
    })
    expect(played).toEqual([])
  })

  it('stops a proposer that plays trials without end, and the reason is its', async () => {
    const { bench, played } = world({
      settings: { max_tokens_per_step: 500 },
      tasks: [...TASKS, taskNamed('practice', { role: 'train' })],
      propose: async (brief) => {
        for (;;) for (const task of brief.tasks) await brief.trial([], task)
      },
    })
    expect(await (await bench).step()).toMatchObject({ kind: 'fail', error: expect.stringContaining('evolution.max_tokens_per_step') })
    expect(played).toHaveLength(5)
  })

  it('cannot be passed by a disk that takes nothing: no episode begins, and the step is tried again', async () => {
    const { bench: opening, played } = world()
    const bench = await opening
    const spending = join(bench.folder, 'spending')
    writeFileSync(spending, 'in the way')
    expect(await bench.step()).toMatchObject({ kind: 'fail', retry: true, error: expect.stringContaining('cannot be recorded') })
    expect(played).toHaveLength(1)
    rmSync(spending)
    bench.time.ms += 1
    expect(await bench.step()).toMatchObject({ kind: 'publish' })
  })
})

it('says what episodes will take before it plays them, once some are known', async () => {
  const selection: Selection = { decide: () => ({ selected: false, isOpen: true, reason: 'never' }) }
  const { bench: opening } = world({ selection, settings: { score_age_max_s: 0, max_tokens_per_step: 3000, max_cost_per_step: 5 } })
  const bench = await opening
  await bench.step()
  expect(bench.lines.join('\n')).not.toContain('by the episodes of the last days')
  bench.time.ms += 1
  await bench.step()
  expect(bench.lines.join('\n')).toMatch(
    /check 20 episodes at most take about 2000 tokens, cost 3.40, \d+ s, by the episodes of the last days; no call of the step is sent that could take it beyond 3000 tokens or 5.00 of money/,
  )
})

it('tells of each episode as it ends, with its transcript and the sums so far', async () => {
  const { bench: opening } = world({
    evaluator: {
      score: async (_task, _episode, scene) => {
        scene.note?.('as it should be')
        return 1
      },
    },
  })
  const bench = await opening
  await bench.step()
  const [first] = bench.told
  const took = { input_tokens: 90, output_tokens: 10, cost: COST }
  expect(first).toMatchObject({ side: 'candidate', task: 'task-0', repeat: 0, score: 1, words: 'as it should be', ...took })
  expect(first?.transcript).toBe('episodes/candidate-0')
  expect(bench.told.at(-1)?.so_far).toEqual({ episodes: 20, input_tokens: 1800, output_tokens: 200, cost: expect.closeTo(20 * COST) })
})
