import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { until } from '../../../test/support/wait.ts'
import {
  unavailable,
  type Examiner,
  type JsonObject,
  type Objective,
  type Sample,
  type StepOrder,
  type StepResult,
  type WeightRuntime,
} from '../../contract/index.ts'
import { retireJob } from '../recipe.ts'
import { exportPath } from './exports.ts'
import { markerIn } from './marker.ts'
import { startFakeTrainer, wordIn, type FakeTrainer } from './testing.ts'
import { makeTrainerClient } from './tinker.ts'
import { makeWeightTrainer, type WeightTrainerOptions } from './trainer.ts'

let trainer: FakeTrainer
let directory: string
beforeEach(async () => {
  trainer = await startFakeTrainer()
  directory = temporaryFolder()
  return () => trainer.close()
})

const sampleOf = (id: string, score: number, load = 'life:0'): Sample => ({
  record_ids: [id],
  exchanges: [
    {
      response: {
        training: {
          tokens: [5, 6, 7, 8],
          loss_mask: [1, 1],
          rollout_log_probs: [-0.5, -0.25],
          runtime_load_id: load,
          runtime_load_spans: [{ start: 0, end: 2, runtime_load_id: load }],
        },
      },
    },
  ],
  score,
  feedback: null,
})

/** By score alone. Counts in its state how many rollouts it ever saw. */
const byScore: Objective = {
  name: 'by-score',
  loss: 'importance_sampling',
  needsLogProbs: true,
  prepare: (rollouts, { seen = 0 }) => ({
    kind: 'train',
    advantages: rollouts.map(({ score }) => score ?? 0),
    state: { seen: Number(seen) + rollouts.length },
    metrics: { reward_mean: rollouts.reduce((sum, { score }) => sum + (score ?? 0), 0) / rollouts.length },
  }),
}
const passing: Examiner = { examine: async () => ({ select: true }) }
const failing: Examiner = { examine: async () => ({ select: false, metrics: { candidate_score: 0.1 } }) }

const refuse = () => Promise.reject(new Error('no part of this test'))
const weightsOf = (more: Partial<WeightRuntime>): WeightRuntime => ({
  capacity: 2,
  model: async () => ({ name: 'tiny', vocabulary: 100, contextTokens: 64, digest: 'd1', shape: null }),
  serve: refuse,
  served: () => null,
  lease: refuse,
  admission: () => 'open',
  trial: refuse,
  ask: refuse,
  encode: async () => null,
  forget: () => undefined,
  ...more,
})

function optionsOf(more: Partial<WeightTrainerOptions> = {}): WeightTrainerOptions {
  const client = makeTrainerClient({ url: trainer.url, apiKey: null, timeoutSeconds: 30 })
  onTestFinished(() => client.close())
  const evaluation = { url: 'http://127.0.0.1:9', model: null, api: 'openai', apiKey: null } as const
  return {
    scope: { scenario: 'shop', component: '', config: {}, evaluation, directory },
    weights: weightsOf({}),
    client,
    objective: byScore,
    examiner: passing,
    baseModel: null,
    teacher: null,
    lora: { rank: 2, seed: 1, train_attn: true, train_mlp: true, train_unembed: false },
    adam: { learning_rate: 0.1, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 },
    rollouts: {},
    maxStaleness: 0,
    checkpointEvery: 1,
    ...more,
  }
}

const orderOf = (samples: readonly Sample[], more: Partial<StepOrder> = {}): StepOrder => ({
  step: 1,
  batch: { id: 'b1', samples, request: null },
  base: { release_id: 'r0', parent_release_id: null, content_id: 'c0' },
  files: {},
  runtime_load_id: 'life:0',
  model: { model: 'tiny', api: 'openai' },
  state: {},
  ...more,
})

interface Told {
  readonly lines: string[]
  readonly jobs: string[]
}

function step(
  options: WeightTrainerOptions,
  order: StepOrder,
  told: Told = { lines: [], jobs: [] },
  signal = new AbortController().signal,
): Promise<StepResult> {
  const { lines, jobs } = told
  const report = {
    phase: () => undefined,
    line: (_kind: string, text: string) => void lines.push(text),
    job: (_id: string, status: string) => void jobs.push(status),
  }
  return makeWeightTrainer(options).step(order, report, signal)
}

const jobOf = ({ metrics }: StepResult): string => wordIn(metrics, 'training_job_id')

/** The order after a step that published: on its release, with the files that are text. */
function after(result: StepResult, samples: readonly Sample[], load: string): StepOrder {
  const provenance = readFileSync(join(directory, exportPath(jobOf(result)), 'svc-provenance.json'), 'utf8')
  const files = { 'svc-provenance.json': provenance, 'adapter_config.json': '{}' }
  return orderOf(samples, { files, runtime_load_id: load, state: result.state ?? {} })
}

describe('a step', () => {
  it('publishes a checkpoint, says what it did, and keeps what the objective wants to remember', async () => {
    const told = { lines: [], jobs: [] as string[] }
    const result = await step(optionsOf(), orderOf([sampleOf('a', 1), sampleOf('b', 0)]), told)
    const job = jobOf(result)
    expect(result).toEqual({
      kind: 'publish',
      content: { kind: 'checkpoint', path: join(directory, 'weights', 'exports', job) },
      state: { objective: { seen: 2 }, published: 1 },
      metrics: {
        training_job_id: job,
        training_method: 'by-score',
        samples_fresh: 2,
        samples_admitted_stale: 0,
        samples_dropped: 0,
        drop_reasons: {},
        reward_mean: 0.5,
        loss: expect.any(Number),
        optimizer_steps: 1,
        tokens_trained: 2,
        trainer: { grad_norm: expect.any(Number) },
        selected: true,
        selection: {},
      },
    })
    expect(told.jobs).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'CHECKPOINT', 'EXAMINED'])
  })

  it('is the same job again under another batch and step, and answers the same without training', async () => {
    const samples = [sampleOf('a', 1)]
    const first = await step(optionsOf(), orderOf(samples))
    const again = await step(optionsOf(), { ...orderOf(samples), step: 9, batch: { id: 'b2', samples, request: null } })
    expect(again).toEqual(first)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('goes on from what is served, and keeps every second publication where that is said', async () => {
    const options = optionsOf({ checkpointEvery: 2 })
    const first = await step(options, orderOf([sampleOf('a', 1)]))
    expect(first).toMatchObject({ kind: 'live', path: join('weights', 'exports', jobOf(first)), state: { published: 1 } })
    const second = await step(options, after(first, [sampleOf('b', 2, 'life:1')], 'life:1'))
    expect(second).toMatchObject({ kind: 'publish', content: { kind: 'checkpoint' }, state: { published: 2 } })
    const provenance: JsonObject = JSON.parse(readFileSync(join(directory, exportPath(jobOf(second)), 'svc-provenance.json'), 'utf8'))
    expect(provenance).toMatchObject({ parent: { release_id: 'r0', job: jobOf(first) }, optimizer_steps: 2 })
    expect(trainer.stepsOf(wordIn(provenance, 'trainer_state'))).toBe(2)
  })

  it('whose candidate fails its examination rejects it, and says so again without examining twice', async () => {
    const told = { lines: [], jobs: [] as string[] }
    const order = orderOf([sampleOf('a', 1)])
    const result = await step(optionsOf({ examiner: failing }), order, told)
    expect(result).toMatchObject({
      kind: 'reject',
      metrics: { selected: false, selection: { candidate_score: 0.1 } },
      state: { objective: { seen: 1 }, published: 0 },
    })
    expect(told.jobs.at(-1)).toBe('REJECTED')
    expect(await step(optionsOf({ examiner: passing }), order)).toEqual(result)
  })

  it('whose examiner throws fails, and is examined again without training', async () => {
    const examiner: Examiner = { examine: () => Promise.reject(new Error('no tasks')) }
    await expect(step(optionsOf({ examiner }), orderOf([sampleOf('a', 1)]))).rejects.toThrow('no tasks')
    expect(await markerIn(directory).read()).toMatchObject({ status: 'CHECKPOINT' })
    expect(await step(optionsOf(), orderOf([sampleOf('a', 1)]))).toMatchObject({ kind: 'publish' })
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('lets its examiner ask the candidate and what is served now', async () => {
    const asked: unknown[] = []
    const weights = weightsOf({
      trial: async (candidate, work) => {
        asked.push(existsSync(join(candidate.directory, 'adapter_model.safetensors')))
        return work({ chat: async () => ({ from: 'candidate' }) })
      },
      ask: async (scenario) => ({ from: scenario }),
    })
    const examiner: Examiner = {
      examine: async (candidate) => {
        const ask = { messages: [{ role: 'user', content: 'well?' }] }
        const metrics = {
          candidate: await candidate.try((tryout) => tryout.chat(ask)),
          current: await candidate.current((tryout) => tryout.chat(ask)),
        }
        return { select: true, metrics }
      },
    }
    const options = optionsOf({ weights, examiner })
    const result = await step(options, orderOf([sampleOf('a', 1)]))
    expect(result.metrics?.['selection']).toEqual({ candidate: { from: 'candidate' }, current: { from: options.scope.scenario } })
    expect(asked).toEqual([true])
  })
})

describe('a step with nothing to learn', () => {
  it.each<readonly [string, Partial<WeightTrainerOptions>, readonly Sample[], string]>([
    ['of an empty batch', {}, [], 'the batch holds no sample'],
    [
      'of samples that are all stale',
      {},
      [sampleOf('a', 1, 'life:9'), sampleOf('b', 1, 'other:0')],
      'stale: all 2 samples were dropped (future 1, cross_incarnation 1)',
    ],
    ['of samples without ids', {}, [{ ...sampleOf('a', 1), exchanges: [{}] }], 'unusable: all 1 samples were dropped (missing_tensors 1)'],
    ['of weights that are all zero', {}, [sampleOf('a', 0)], 'every token of the batch weighs nothing'],
    [
      'by its objective',
      { objective: { ...byScore, prepare: () => ({ kind: 'skip', reason: 'all alike', state: { seen: 7 } }) } },
      [sampleOf('a', 1)],
      'all alike',
    ],
  ])('%s is skipped, and nobody is called', async (_what, more, samples, reason) => {
    expect(await step(optionsOf(more), orderOf(samples))).toMatchObject({ kind: 'skip', reason })
    expect(trainer.calls).toEqual([])
  })
})

describe('an objective', () => {
  it('that wants the base and a teacher is told what both say of the generated tokens, once', async () => {
    let seen: unknown
    const objective: Objective = {
      ...byScore,
      needsBase: true,
      needsTeacher: true,
      prepare: (rollouts, state) => {
        seen = rollouts.map(({ baseLogProbs, teacherLogProbs }) => [baseLogProbs, teacherLogProbs])
        return byScore.prepare(rollouts, state)
      },
    }
    const opened = makeWeightTrainer(optionsOf({ objective, teacher: { model: 'large', state: null } }))
    const order = orderOf([sampleOf('a', 1)])
    const silent = { phase: () => undefined, line: () => undefined }
    await opened.step(order, silent, new AbortController().signal)
    expect(seen).toEqual([
      [
        [-1 / 8, -1 / 9],
        [-1 / 8, -1 / 9],
      ],
    ])
    const bases = trainer.calls.filter(({ name }) => name === 'create_model').map(({ body }) => body['base_model'])
    expect(bases).toEqual(['tiny', 'large', 'tiny'])
    await opened.step(order, silent, new AbortController().signal)
    expect(trainer.calls.filter(({ name }) => name === 'create_model')).toHaveLength(3)
    expect(trainer.models).toBe(0)
  })

  it.each<readonly [string, readonly (number | readonly number[])[], string]>([
    ['too few weights', [], 'for every rollout'],
    ['a list that is too short', [[1]], 'for every generated token'],
    ['a weight that is not finite', [Number.NaN], 'finite weights'],
  ])('that gives %s fails the step, and nobody is called', async (_what, advantages, words) => {
    const objective: Objective = { ...byScore, prepare: () => ({ kind: 'train', advantages }) }
    await expect(step(optionsOf({ objective }), orderOf([sampleOf('a', 1)]))).rejects.toThrow(words)
    expect(trainer.calls).toEqual([])
  })

  it('that takes what nobody sampled has it encoded by the engine', async () => {
    const objective: Objective = { ...byScore, loss: 'cross_entropy', needsLogProbs: false, encodes: true }
    const weights = weightsOf({ encode: async () => ({ prompt: [1, 2], answer: [3, 4] }) })
    const exchange = {
      messages: [{ role: 'user', content: 'hi' }],
      response: { choices: [{ message: { role: 'assistant', content: 'ho' } }] },
    }
    const sample = { ...sampleOf('a', 1), exchanges: [exchange] }
    expect(await step(optionsOf({ objective, weights }), orderOf([sample]))).toMatchObject({
      kind: 'publish',
      metrics: { tokens_trained: 2 },
    })
  })
})

describe('a base', () => {
  it('that is an adapter without provenance is not trained on as if it were nothing', async () => {
    const order = orderOf([sampleOf('a', 1)], { files: { 'adapter_config.json': '{}' } })
    await expect(step(optionsOf(), order)).rejects.toMatchObject({ code: 'no_trainer_state' })
  })
})

describe('a trainer that is away', () => {
  it('is waited for inside the step, which says so, and no step is taken twice', async () => {
    const told: Told = { lines: [], jobs: [] }
    let isAway = false
    trainer.fault((call) => {
      if (call === 'optim_step' && told.lines.every((line) => !line.includes('could not be reached'))) isAway = true
      if (told.lines.some((line) => line.includes('could not be reached'))) isAway = false
      return isAway ? 'lost after' : undefined
    })
    expect(await step(optionsOf(), orderOf([sampleOf('a', 1)]), told)).toMatchObject({ kind: 'publish' })
    expect(told.lines.join('\n')).toMatch(/could not be reached.*svc trainer start.*trying again in 1 s/)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('for ever is waited for until the step is told to stop', async () => {
    trainer.fault(() => 'lost before')
    const told: Told = { lines: [], jobs: [] }
    const stopping = new AbortController()
    const stepping = step(optionsOf(), orderOf([sampleOf('a', 1)]), told, stopping.signal)
    await until(() => told.lines.length > 0)
    stopping.abort(new Error('told to stop'))
    await expect(stepping).rejects.toThrow('told to stop')
  })

  it('in its mind, forgetting whatever it is given, fails the step in its own words', async () => {
    trainer.fault((call) => (call === 'forward_backward' ? { status: 404, body: '{"detail":"no such model"}' } : undefined))
    await expect(step(optionsOf(), orderOf([sampleOf('a', 1)]))).rejects.toMatchObject({
      code: 'trainer_forgot',
      message: expect.stringContaining('no such model'),
    })
  })
})

describe('an engine that is away', () => {
  it('while a candidate is examined is waited for, and nothing is trained again', async () => {
    let looks = 0
    const away: Examiner = {
      examine: async (candidate) => candidate.try(async () => ({ select: true })),
    }
    const trial: WeightRuntime['trial'] = async (_candidate, work) => {
      looks += 1
      if (looks === 1) throw unavailable('engine_unreachable', 'the engine does not answer; try again later')
      return work({ chat: refuse })
    }
    const told: Told = { lines: [], jobs: [] }
    const options = optionsOf({ examiner: away, weights: weightsOf({ trial }) })
    expect(await step(options, orderOf([sampleOf('a', 1)]), told)).toMatchObject({ kind: 'publish' })
    expect(told.lines.join('\n')).toContain('the engine does not answer')
    expect([looks, trainer.optimizerSteps]).toEqual([2, 1])
  })
})

describe('a sample', () => {
  it('longer than the engine reads is dropped by itself, and the others are learnt from', async () => {
    const long = sampleOf('long', 1)
    const tokens = Array.from({ length: 65 }, () => 5)
    const exchanges = [{ tokens, loss_mask: [1, 1], rollout_log_probs: [-1, -1], runtime_load_id: 'life:0' }]
    const { metrics } = await step(optionsOf(), orderOf([{ ...long, exchanges }, sampleOf('a', 1)]))
    expect(metrics).toMatchObject({ samples_fresh: 1, samples_dropped: 1, drop_reasons: { too_long: 1 } })
  })
})

describe('a reference', () => {
  it('that could not be asked to the end is let go of', async () => {
    const objective: Objective = { ...byScore, needsBase: true }
    trainer.fault((call) => (call === 'forward' ? { status: 400 } : undefined))
    await expect(step(optionsOf({ objective }), orderOf([sampleOf('a', 1)]))).rejects.toMatchObject({ code: 'trainer_refused' })
    expect(trainer.models).toBe(0)
  })
})

describe('a scenario that is deleted', () => {
  it('lets go of the model of a job that is out, and does not mind a trainer that is away [delete.rule-5]', async () => {
    trainer.fault((call) => (call === 'optim_step' ? { status: 400 } : undefined))
    const options = optionsOf()
    await expect(step(options, orderOf([sampleOf('a', 1)]))).rejects.toMatchObject({ code: 'trainer_refused' })
    expect(trainer.models).toBe(1)
    trainer.fault(() => undefined)
    await retireJob(options.client, markerIn(directory), new AbortController().signal)
    expect(trainer.models).toBe(0)
    trainer.fault(() => 'lost before')
    await retireJob(options.client, markerIn(directory), new AbortController().signal)
  })
})

describe('exports', () => {
  it('of what is served and of the candidate are there, and nothing else', async () => {
    const folder = join(directory, 'weights', 'exports')
    const results: StepResult[] = [await step(optionsOf(), orderOf([sampleOf('a', 1)]))]
    mkdirSync(join(folder, `${'0'.repeat(64)}.tmp-left`))
    for (const sequence of [1, 2]) {
      const [latest] = results.slice(-1)
      if (latest === undefined) throw new Error('there is one')
      results.push(await step(optionsOf(), after(latest, [sampleOf(`after-${sequence}`, 1, `life:${sequence}`)], `life:${sequence}`)))
    }
    expect(readdirSync(folder).sort()).toEqual(results.slice(-2).map(jobOf).sort())
  })
})
