import { existsSync, mkdirSync, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { until } from '../../../test/support/wait.ts'
import {
  conflict,
  unavailable,
  type Examiner,
  type JsonObject,
  type Objective,
  type Sample,
  type StepOrder,
  type StepResult,
  type WeightRuntime,
} from '../../contract/index.ts'
import { textOf } from '../../dialects/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { retireJob } from '../recipe.ts'
import { exportPath } from './exports.ts'
import { markerIn } from './marker.ts'
import { ADAM, clientOf, LORA, SILENT, startFakeTrainer, type FakeTrainer } from './testing.ts'
import { makeWeightTrainer, type WeightTrainerOptions } from './trainer.ts'

let trainer: FakeTrainer
let directory: string
/** What the latest steps reported. */
let lines: string[]
let statuses: string[]
beforeEach(async () => {
  trainer = await startFakeTrainer()
  directory = temporaryFolder()
  lines = []
  statuses = []
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
const ONE = [sampleOf('a', 1)]

/** Weighs by score alone, and counts the rollouts it has seen. */
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
  checkPlan: async () => undefined,
  checkBase: async () => undefined,
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
  const evaluation = { url: 'http://127.0.0.1:9', model: null, api: 'openai', apiKey: null } as const
  return {
    scope: { scenario: 'shop', component: '', config: {}, evaluation, directory },
    weights: weightsOf({}),
    client: clientOf(trainer.url),
    objective: byScore,
    examiner: passing,
    baseModel: null,
    teacher: null,
    measuresKl: false,
    sinks: [],
    lora: LORA,
    adam: ADAM,
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

function step(
  options: Partial<WeightTrainerOptions> = {},
  order: StepOrder = orderOf(ONE),
  signal = new AbortController().signal,
): Promise<StepResult> {
  const report = {
    phase: () => undefined,
    line: (_kind: string, text: string) => void lines.push(text),
    job: (_id: string, status: string) => void statuses.push(status),
  }
  return makeWeightTrainer(optionsOf(options)).step(order, report, signal)
}

const jobOf = ({ metrics }: StepResult): string => textOf(metrics?.['training_job_id'])
const provenanceOf = (result: StepResult): string => readFileSync(join(directory, exportPath(jobOf(result)), 'svc-provenance.json'), 'utf8')

/** The order after a step that published: on its release, with its text files. */
function after(result: StepResult, samples: readonly Sample[], load: string): StepOrder {
  const files = { 'svc-provenance.json': provenanceOf(result), 'adapter_config.json': '{}' }
  return orderOf(samples, { files, runtime_load_id: load, state: result.state ?? {} })
}

describe('a step', () => {
  it('trains nothing for an engine that would not take its adapter, or whose base is not the trainer’s', async () => {
    const asked: unknown[] = []
    const limits = conflict('engine_limits', 'the rank')
    const checkPlan: WeightRuntime['checkPlan'] = async (plan) => {
      asked.push(plan)
      throw limits
    }
    await expect(step({ weights: weightsOf({ checkPlan }), lora: { ...LORA, train_mlp: false } })).rejects.toBe(limits)
    expect([asked, trainer.calls]).toEqual([[{ rank: 2, modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'] }], []])
    const differs = conflict('base_differs', 'the base')
    const checkBase: WeightRuntime['checkBase'] = async (...said) => {
      asked.push(said.slice(0, 2))
      throw differs
    }
    await expect(step({ weights: weightsOf({ checkBase }) })).rejects.toBe(differs)
    expect(asked[1]).toEqual([[5, 6, 7, 8], [6, 7, 8].map((token) => -1 / (1 + token))])
    expect(trainer.calls.map(({ name }) => name)).not.toContain('forward_backward')
  })

  it('publishes a checkpoint with its metrics, and keeps the state of the objective', async () => {
    const result = await step({}, orderOf([sampleOf('a', 1), sampleOf('b', 0)]))
    const job = jobOf(result)
    expect(result).toEqual({
      kind: 'publish',
      content: { kind: 'checkpoint', path: join(directory, 'weights', 'exports', job) },
      state: { objective: { seen: 2 }, published: 1 },
      metrics: {
        training_job_id: job,
        answer_tokens_mean: 2,
        entropy: 0.375,
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
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'CHECKPOINT', 'EXAMINED'])
  })

  it('is the same job again under another batch and step, and answers the same without training', async () => {
    const first = await step()
    expect(await step({}, { ...orderOf(ONE), step: 9, batch: { id: 'b2', samples: ONE, request: null } })).toEqual(first)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('continues from what is served, and keeps every second publication as a checkpoint where that is set', async () => {
    const first = await step({ checkpointEvery: 2 })
    expect(first).toMatchObject({ kind: 'live', path: join('weights', 'exports', jobOf(first)), state: { published: 1 } })
    const second = await step({ checkpointEvery: 2 }, after(first, [sampleOf('b', 2, 'life:1')], 'life:1'))
    expect(second).toMatchObject({ kind: 'publish', content: { kind: 'checkpoint' }, state: { published: 2 } })
    const provenance: JsonObject = JSON.parse(provenanceOf(second))
    expect(provenance).toMatchObject({ parent: { release_id: 'r0', job: jobOf(first) }, optimizer_steps: 2 })
    expect(trainer.stepsOf(textOf(provenance['trainer_state']))).toBe(2)
  })

  it('whose candidate fails its examination rejects it, and is not examined twice', async () => {
    const result = await step({ examiner: failing })
    expect(result).toMatchObject({
      kind: 'reject',
      metrics: { selected: false, selection: { candidate_score: 0.1 } },
      state: { objective: { seen: 1 }, published: 0 },
    })
    expect(statuses.at(-1)).toBe('REJECTED')
    expect(await step()).toEqual(result)
  })

  it('whose examiner throws fails, and is examined again without training', async () => {
    const examiner: Examiner = { examine: () => Promise.reject(new Error('no tasks')) }
    await expect(step({ examiner })).rejects.toThrow('no tasks')
    expect(await markerIn(new FolderDocuments(directory)).read()).toMatchObject({ status: 'CHECKPOINT' })
    expect(await step()).toMatchObject({ kind: 'publish' })
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('lets its examiner ask the candidate and what is served now', async () => {
    const found: unknown[] = []
    const weights = weightsOf({
      trial: async (candidate, work) => {
        found.push(existsSync(join(candidate.directory, 'adapter_model.safetensors')))
        return work({ chat: async () => ({ from: 'candidate' }) })
      },
      ask: async (scenario) => ({ from: scenario }),
    })
    const ask = { messages: [{ role: 'user', content: 'well?' }] }
    const examiner: Examiner = {
      examine: async (candidate) => ({
        select: true,
        metrics: {
          candidate: await candidate.try((tryout) => tryout.chat(ask)),
          current: await candidate.current((tryout) => tryout.chat(ask)),
        },
      }),
    }
    const result = await step({ weights, examiner })
    expect(result.metrics?.['selection']).toEqual({ candidate: { from: 'candidate' }, current: { from: 'shop' } })
    expect(found).toEqual([true])
  })
})

describe('a step with nothing to learn', () => {
  const stale = [sampleOf('a', 1, 'life:9'), sampleOf('b', 1, 'other:0')]
  const skipping: Objective = { ...byScore, prepare: () => ({ kind: 'skip', reason: 'all alike', state: { seen: 7 } }) }
  it.each<readonly [string, Partial<WeightTrainerOptions>, readonly Sample[], string]>([
    ['of an empty batch', {}, [], 'the batch holds no sample'],
    ['of samples that are all stale', {}, stale, 'stale: all 2 samples were dropped (future 1, cross_incarnation 1)'],
    ['of samples without ids', {}, [{ ...sampleOf('a', 1), exchanges: [{}] }], 'unusable: all 1 samples were dropped (missing_tensors 1)'],
    ['of weights that are all zero', {}, [sampleOf('a', 0)], 'every token of the batch weighs nothing'],
    ['by its objective', { objective: skipping }, ONE, 'all alike'],
  ])('%s is skipped without a call', async (_what, options, samples, reason) => {
    expect(await step(options, orderOf(samples))).toMatchObject({ kind: 'skip', reason })
    expect(trainer.calls).toEqual([])
  })
})

describe('an objective', () => {
  it('that is a loss of its own gets what the weights before the step and the base say, and the distance is reported', async () => {
    const seen: { readonly policy: unknown; readonly base: unknown }[] = []
    const objective: Objective = {
      ...byScore,
      loss: 'cross_entropy',
      needsPolicy: true,
      prepare: (rollouts, state) => {
        seen.push(...rollouts.map(({ policyLogProbs: policy, baseLogProbs: base }) => ({ policy, base })))
        return byScore.prepare(rollouts, state)
      },
    }
    const first = await step({ objective, measuresKl: true })
    await step({ objective, measuresKl: true }, after(first, [sampleOf('b', 2)], 'life:0'))
    const [untrained, trained] = seen
    expect(untrained?.policy).toEqual(untrained?.base)
    expect(trained?.base).toEqual(untrained?.base)
    expect(trained?.policy).not.toEqual(trained?.base)
    expect(trainer.calls.filter(({ name }) => name === 'load_weights')).toHaveLength(2)
    expect(first.metrics).toMatchObject({ kl_to_base: expect.any(Number), entropy: 0.375 })
  })

  it('that needs the base and a teacher gets their log-probabilities of the generated tokens, asked for once', async () => {
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
    const opened = makeWeightTrainer(optionsOf({ objective, teacher: 'large' }))
    const models = () => trainer.calls.filter(({ name }) => name === 'create_model').map(({ body }) => body['base_model'])
    await opened.step(orderOf(ONE), SILENT, new AbortController().signal)
    const logProbs = [-1 / 8, -1 / 9]
    expect(seen).toEqual([[logProbs, logProbs]])
    expect(models()).toEqual(['tiny', 'large', 'tiny'])
    await opened.step(orderOf(ONE), SILENT, new AbortController().signal)
    expect(models()).toHaveLength(3)
    expect(trainer.models.size).toBe(0)
  })

  it.each<readonly [string, readonly (number | readonly number[])[], string]>([
    ['too few weights', [], 'for every rollout'],
    ['a list that is too short', [[1]], 'for every generated token'],
    ['a weight that is not finite', [Number.NaN], 'finite weights'],
  ])('that gives %s fails the step without a call', async (_what, advantages, words) => {
    const objective: Objective = { ...byScore, prepare: () => ({ kind: 'train', advantages }) }
    await expect(step({ objective })).rejects.toThrow(words)
    expect(trainer.calls).toEqual([])
  })

  it('that takes exchanges that were not sampled here has them encoded by the engine', async () => {
    const objective: Objective = { ...byScore, loss: 'cross_entropy', needsLogProbs: false, encodes: true }
    const weights = weightsOf({ encode: async () => ({ prompt: [1, 2], answer: [3, 4] }) })
    const exchange = {
      messages: [{ role: 'user', content: 'hi' }],
      response: { choices: [{ message: { role: 'assistant', content: 'ho' } }] },
    }
    expect(await step({ objective, weights }, orderOf([{ ...sampleOf('a', 1), exchanges: [exchange] }]))).toMatchObject({
      kind: 'publish',
      metrics: { tokens_trained: 2 },
    })
  })
})

it('a base that is an adapter without provenance is refused instead of ignored', async () => {
  const order = orderOf(ONE, { files: { 'adapter_config.json': '{}' } })
  await expect(step({}, order)).rejects.toMatchObject({ code: 'no_trainer_state' })
})

describe('a trainer that cannot be reached', () => {
  it('is waited for inside the step with a report, and no step is taken twice', async () => {
    let isAway = false
    trainer.faults = (call) => {
      const isReported = lines.some((line) => line.includes('could not be reached'))
      isAway = !isReported && (isAway || call === 'optim_step')
      return isAway ? 'lost after' : undefined
    }
    expect(await step()).toMatchObject({ kind: 'publish' })
    expect(lines.join('\n')).toMatch(/could not be reached.*svc trainer start.*trying again in 1 s/)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('for ever is waited for until the step is aborted', async () => {
    trainer.faults = () => 'lost before'
    const stopping = new AbortController()
    const stepping = step({}, orderOf(ONE), stopping.signal)
    await until(() => lines.length > 0)
    stopping.abort(new Error('aborted by the caller'))
    await expect(stepping).rejects.toThrow('aborted by the caller')
  })

  it('with its memory, since it forgets everything, fails the step with its own words', async () => {
    trainer.faults = (call) => (call === 'forward_backward' ? { status: 404, body: '{"detail":"no such model"}' } : undefined)
    await expect(step()).rejects.toMatchObject({ code: 'trainer_forgot', message: expect.stringContaining('no such model') })
  })
})

it('an engine that cannot be reached while a candidate is examined is waited for, and nothing is trained again', async () => {
  let trials = 0
  const trial: WeightRuntime['trial'] = async (_candidate, work) => {
    trials += 1
    if (trials === 1) throw unavailable('engine_unreachable', 'the engine does not answer; try again later')
    return work({ chat: refuse })
  }
  const examiner: Examiner = { examine: (candidate) => candidate.try(async () => ({ select: true })) }
  expect(await step({ examiner, weights: weightsOf({ trial }) })).toMatchObject({ kind: 'publish' })
  expect(lines.join('\n')).toContain('the engine does not answer')
  expect([trials, trainer.optimizerSteps]).toEqual([2, 1])
})

it('a sample longer than the context of the engine is dropped, and the others are learnt from', async () => {
  const tokens = Array.from({ length: 65 }, () => 5)
  const exchanges = [{ tokens, loss_mask: [1, 1], rollout_log_probs: [-1, -1], runtime_load_id: 'life:0' }]
  const { metrics } = await step({}, orderOf([{ ...sampleOf('long', 1), exchanges }, sampleOf('a', 1)]))
  expect(metrics).toMatchObject({ samples_fresh: 1, samples_dropped: 1, drop_reasons: { too_long: 1 } })
})

it('a reference that fails is unloaded', async () => {
  trainer.faults = (call) => (call === 'forward' ? { status: 400 } : undefined)
  await expect(step({ objective: { ...byScore, needsBase: true } })).rejects.toMatchObject({ code: 'trainer_refused' })
  expect(trainer.models.size).toBe(0)
})

it('a scenario that is deleted unloads the model of its job, and ignores a trainer that cannot be reached [delete.rule-5]', async () => {
  trainer.faults = (call) => (call === 'optim_step' ? { status: 400 } : undefined)
  const { client } = optionsOf()
  await expect(step({ client })).rejects.toMatchObject({ code: 'trainer_refused' })
  expect(trainer.models.size).toBe(1)
  trainer.faults = () => undefined
  await retireJob(client, markerIn(new FolderDocuments(directory)), new AbortController().signal)
  expect(trainer.models.size).toBe(0)
  trainer.faults = () => 'lost before'
  await retireJob(client, markerIn(new FolderDocuments(directory)), new AbortController().signal)
})

it('only the exports of what is served and of the candidate are kept', async () => {
  const folder = join(directory, 'weights', 'exports')
  const first = await step()
  mkdirSync(join(folder, `${'0'.repeat(64)}.tmp-left`))
  const second = await step({}, after(first, [sampleOf('b', 1, 'life:1')], 'life:1'))
  const third = await step({}, after(second, [sampleOf('c', 1, 'life:2')], 'life:2'))
  expect(readdirSync(folder).sort()).toEqual([second, third].map(jobOf).sort())
})
