/** Scenarios that share one engine: each trains separately, within the engine's capacity, and no request is lost to a swap. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { expectRefusal, textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import type { World } from '../support/world.ts'
import { pupil, sharedTraining, type Pupil } from './support/pupil.ts'
import { openRemoteTrainingWorld } from './support/remote-training-world.ts'
import { openTrainingWorld, type TrainingWorld } from './support/training-world.ts'

const GROUP = 12
const ROUNDS = 4
const SETTINGS = { 'training.group_size': GROUP, 'training.learning_rate': 0.006 }
const CAPACITY = 2

const OPEN = {
  llama: () => openTrainingWorld({ ...SETTINGS, 'inference.engine.capacity': CAPACITY }),
  sglang: () => openRemoteTrainingWorld('sglang', CAPACITY, SETTINGS),
}

async function learn(s: Pupil, round: number, wanted: string): Promise<JsonObject> {
  await s.teach(round, GROUP, wanted)
  return s.row(round)
}

/** Requests to the scenario, one after the other, for as long as the work takes. Answers their statuses. */
async function askedDuring(s: Pupil, work: () => Promise<void>): Promise<readonly number[]> {
  const over = new AbortController()
  const statuses: number[] = []
  const asking = Array.from({ length: 3 }, async (_, client) => {
    for (let seed = client * 1000; !over.signal.aborted; seed += 1) statuses.push((await s.chat({ temperature: 1, seed })).status)
  })
  await work().finally(() => over.abort())
  await Promise.all(asking)
  return statuses
}

/** `npm run test:weights:sharing` takes both; `npm run test:machine` the one in the process. */
const ENGINES = process.env['WEIGHT_ENGINES'] === 'all' ? (['llama', 'sglang'] as const) : (['llama'] as const)

describe.each(ENGINES)('two scenarios on one %s engine', (kind) => {
  const { world } = sharedTraining<TrainingWorld>(OPEN[kind])
  const [north, south, third] = [pupil(world, 'north'), pupil(world, 'south'), pupil(world, 'third')]

  it('learn different answers by turns, and neither changes what the other says [limits.weights]', async () => {
    const base = await sharesOf(north)
    for (let round = 1; round <= ROUNDS; round += 1) await Promise.all([learn(north, round, 'blue'), learn(south, round, 'green')])
    const voice = await north.voice()
    await learn(south, ROUNDS + 1, 'green')
    expect(await north.voice()).toEqual(voice)
    expect(await south.voice()).not.toEqual(voice)
    const [northern, southern] = [await sharesOf(north), await sharesOf(south)]
    expect(northern.blue).toBeGreaterThan(base.blue + 0.2)
    expect(southern.green).toBeGreaterThan(base.green + 0.2)
    expect([northern.green < southern.green, southern.blue < northern.blue]).toEqual([true, true])
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
    const releases = (await north.releases()).filter(({ step }) => Number(step) > 0).map((release) => textAt(release, 'release_id'))
    const before = await evictions(world)
    const quiet = await south.voice()
    const asked: (readonly number[])[] = []
    const swap = async (): Promise<void> => {
      for (const release of [...releases, ...releases.toReversed().slice(1)].slice(1))
        expect((await north.move('rollback', release)).status).toBe(200)
    }
    asked.push(await askedDuring(north, async () => void asked.push(await askedDuring(south, swap))))
    expect(new Set(asked.flat())).toEqual(new Set([200]))
    expect(asked.flat().length).toBeGreaterThan(releases.length)
    expect(await evictions(world)).toBeGreaterThanOrEqual(before + releases.length)
    expect(await north.status()).toMatchObject({ inference_admission: 'open' })
    expect(await south.voice()).toEqual(quiet)
    const [said] = await north.spoken([1])
    expect(said?.loadId).toBe(textAt(await north.status(), 'current_runtime_load_id'))
  })

  it('make room for another when one of them is deleted [limits.weights]', async () => {
    expect((await south.remove()).status).toBe(200)
    expect((await third.say({ seed: 1 })).text).not.toBe('')
    expect(await learn(third, 1, 'red')).toMatchObject({ metrics: { optimizer_steps: 1, selected: true } })
  })
})

/** How often each of the wanted answers is given. */
async function sharesOf(s: Pupil): Promise<{ readonly blue: number; readonly green: number }> {
  const [blue = Number.NaN, green = Number.NaN] = await s.shares('blue', 'green')
  return { blue, green }
}

async function evictions(world: World): Promise<number> {
  const { adapters } = memberOf((await world.get('/svc/status')).json, 'serving')
  return Number(memberOf(adapters, 'counters')['evictions'])
}

describe('an engine that holds one adapter', () => {
  const { world } = sharedTraining(() => openTrainingWorld({ ...SETTINGS, 'inference.engine.capacity': 1 }))

  it('takes one of two scenarios that are made at once, and refuses the other with 409 [limits.weights]', async () => {
    const made = await Promise.all(['only', 'other'].map((name) => world.post('/svc/scenarios', { name })))
    expect(made.map(({ status }) => status).toSorted((a, b) => a - b)).toEqual([201, 409])
    for (const refused of made.filter(({ status }) => status === 409)) expectRefusal(refused, 409, 'too_many_weight_scenarios')
  })

  it('trains it step after step, and answers every request meanwhile', async () => {
    const [name = ''] = ((await world.get('/svc/scenarios')).text.match(/only|other/) ?? []).values()
    const only = pupil(world, name)
    await learn(only, 1, 'blue')
    const statuses = await askedDuring(only, async () => void (await learn(only, 2, 'blue')))
    expect(new Set(statuses)).toEqual(new Set([200]))
    expect((await only.rows()).map((row) => memberOf(row, 'metrics')['selected'])).toEqual([true, true])
    expect(await only.status()).toMatchObject({ inference_admission: 'open' })
  })
})
