/** Scenarios that share one engine: each trains separately, within the engine's capacity, and no request is lost to a swap. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { expectRefusal } from '../spec/support/refusal.ts'
import { textAt } from '../spec/support/helpers.ts'
import { memberOf, trainee } from '../spec/support/trainee.ts'
import type { World } from '../support/world.ts'
import { openRemoteTrainingWorld } from './support/remote-training-world.ts'
import { openTrainingWorld, playGroup, rowAt, say, type TrainingWorld } from './support/training-world.ts'
import { seedsFrom, spoken, voiceOf } from './support/spoken.ts'

const PROMPT = 'Pick a colour.'
const GROUP = 12
const ROUNDS = 4
const SETTINGS = { 'training.group_size': GROUP, 'training.learning_rate': 0.006 }
const CAPACITY = 2

const OPEN = {
  llama: () => openTrainingWorld({ ...SETTINGS, 'inference.engine.capacity': CAPACITY }),
  sglang: () => openRemoteTrainingWorld('sglang', CAPACITY, SETTINGS),
}

function play(at: World, scenario: string, round: number, wanted: string): Promise<number> {
  return playGroup(at, scenario, `${round}`, {
    prompt: PROMPT,
    seeds: seedsFrom(round * 1000, GROUP),
    score: (texts, index) => (texts[index] === wanted ? 1 : 0) + index / 1000,
  })
}

/** How often each of the wanted answers is given. */
async function sharesIn(at: World, scenario: string): Promise<{ readonly blue: number; readonly green: number }> {
  const said = await Promise.all(seedsFrom(10_000, 40).map((seed) => say(at, scenario, PROMPT, { seed })))
  const share = (wanted: string): number => said.filter(({ text }) => text === wanted).length / said.length
  return { blue: share('blue'), green: share('green') }
}

/** Requests to the scenario, one after the other, for as long as the work takes. Answers the statuses they came to. */
async function askedDuring(at: World, scenario: string, work: () => Promise<void>): Promise<readonly number[]> {
  const over = new AbortController()
  const statuses: number[] = []
  const asking = Array.from({ length: 3 }, async (_, client) => {
    for (let seed = client * 1000; !over.signal.aborted; seed += 1) {
      const body = { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 12, temperature: 1, seed }
      statuses.push((await at.post('/v1/chat/completions', body, { 'x-svc-scenario': scenario })).status)
    }
  })
  await work().finally(() => over.abort())
  await Promise.all(asking)
  return statuses
}

/** `npm run test:weights:sharing` takes both; `npm run test:machine` the one in the process. */
const ENGINES = process.env['WEIGHT_ENGINES'] === 'all' ? (['llama', 'sglang'] as const) : (['llama'] as const)

describe.each(ENGINES)('two scenarios on one %s engine', (kind) => {
  let training: TrainingWorld
  let world: World
  beforeAll(async () => {
    training = await OPEN[kind]()
    world = training.world
  })
  afterAll(() => training.close())

  it('learn different answers by turns, and neither changes what the other says [limits.weights]', async () => {
    const base = await sharesIn(world, 'north')
    for (let round = 1; round <= ROUNDS; round += 1) {
      await Promise.all([play(world, 'north', round, 'blue'), play(world, 'south', round, 'green')])
      await Promise.all([rowAt(world, 'north', round), rowAt(world, 'south', round)])
    }
    const voice = await voiceOf(world, 'north', PROMPT)
    await play(world, 'south', ROUNDS + 1, 'green')
    await rowAt(world, 'south', ROUNDS + 1)
    expect(await voiceOf(world, 'north', PROMPT)).toEqual(voice)
    expect(await voiceOf(world, 'south', PROMPT)).not.toEqual(voice)
    const [north, south] = [await sharesIn(world, 'north'), await sharesIn(world, 'south')]
    expect(north.blue).toBeGreaterThan(base.blue + 0.2)
    expect(south.green).toBeGreaterThan(base.green + 0.2)
    expect([north.green < south.green, south.blue < north.blue]).toEqual([true, true])
  })

  it('leave no room for a third, however it is asked for, and say what to do about it [limits.weights]', async () => {
    const refusals = await Promise.all([
      world.post('/svc/scenarios', { name: 'third' }),
      world.post('/v1/chat/completions', { model: 'tiny', messages: [] }, { 'x-svc-scenario': 'third' }),
    ])
    for (const refused of refusals) {
      expectRefusal(refused, 409, 'too_many_weight_scenarios')
      expect(refused.text).toMatch(/holds 2 adapters.*delete one.*inference\.engine\.capacity/)
    }
    expect((await world.get('/svc/scenarios')).text).not.toContain('third')
  })

  it('are both answered while one of them is swapped in an engine that has no room for it [inference.rule-6]', async () => {
    const north = trainee(world, 'north')
    const releases = (await north.releases()).filter(({ step }) => Number(step) > 0).map((release) => textAt(release, 'release_id'))
    const before = await evictions(world)
    const quiet = await voiceOf(world, 'south', PROMPT)
    const asked: (readonly number[])[] = []
    const swap = async (): Promise<void> => {
      for (const release of [...releases, ...releases.toReversed().slice(1)].slice(1))
        expect((await north.move('rollback', release)).status).toBe(200)
    }
    asked.push(await askedDuring(world, 'north', async () => void asked.push(await askedDuring(world, 'south', swap))))
    expect(new Set(asked.flat())).toEqual(new Set([200]))
    expect(asked.flat().length).toBeGreaterThan(releases.length)
    expect(await evictions(world)).toBeGreaterThanOrEqual(before + releases.length)
    expect(await north.status()).toMatchObject({ inference_admission: 'open' })
    expect(await voiceOf(world, 'south', PROMPT)).toEqual(quiet)
    const [said] = await spoken(world, 'north', PROMPT, [1])
    expect(said?.loadId).toBe(textAt(await north.status(), 'current_runtime_load_id'))
  })

  it('make room for another when one of them is deleted [limits.weights]', async () => {
    expect((await trainee(world, 'south').remove()).status).toBe(200)
    const third = await say(world, 'third', PROMPT, { seed: 1 })
    expect(third.text).not.toBe('')
    await play(world, 'third', 1, 'red')
    expect(await rowAt(world, 'third', 1)).toMatchObject({ metrics: { optimizer_steps: 1, selected: true } })
  })
})

async function evictions(world: World): Promise<number> {
  const { adapters } = memberOf((await world.get('/svc/status')).json, 'serving')
  return Number(memberOf(adapters, 'counters')['evictions'])
}

describe('an engine that holds one adapter', () => {
  let training: TrainingWorld
  beforeAll(async () => {
    training = await openTrainingWorld({ ...SETTINGS, 'inference.engine.capacity': 1 })
  })
  afterAll(() => training.close())

  it('takes one of two scenarios that are made at once, and refuses the other with 409 [limits.weights]', async () => {
    const made = await Promise.all(['only', 'other'].map((name) => training.world.post('/svc/scenarios', { name })))
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
    for (const refused of made.filter(({ status }) => status === 409)) expectRefusal(refused, 409, 'too_many_weight_scenarios')
  })

  it('trains it step after step, and answers every request meanwhile', async () => {
    const [name = ''] = ((await training.world.get('/svc/scenarios')).text.match(/only|other/) ?? []).values()
    await play(training.world, name, 1, 'blue')
    await rowAt(training.world, name, 1)
    const statuses = await askedDuring(training.world, name, async () => {
      await play(training.world, name, 2, 'blue')
      await rowAt(training.world, name, 2)
    })
    expect(new Set(statuses)).toEqual(new Set([200]))
    const rows = await trainee(training.world, name).rows()
    expect(rows.map(({ metrics }) => memberOf({ metrics }, 'metrics')['selected'])).toEqual([true, true])
    expect(await trainee(training.world, name).status()).toMatchObject({ inference_admission: 'open' })
  })
})
