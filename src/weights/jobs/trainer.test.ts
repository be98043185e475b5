import { existsSync, mkdirSync, readdirSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { conflict, type Examiner, type JsonObject, type Objective, type Sample, type WeightRuntime } from '../../contract/index.ts'
import { textOf } from '../../dialects/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { retireJob } from '../recipe.ts'
import { markerIn } from './marker.ts'
import { benches, byScore, jobOf, ONE, orderOf, sampleOf, weightsOf } from './testing/steps.ts'
import { LORA } from './testing.ts'
import type { WeightTrainerOptions } from './trainer.ts'

const on = benches()
const failing: Examiner = { examine: async () => ({ select: false, metrics: { candidate_score: 0.1 } }) }

describe('a step', () => {
  it('trains nothing for an engine that would not take its adapter, or whose base is not the trainer’s', async () => {
    const asked: unknown[] = []
    const limits = conflict('engine_limits', 'the rank')
    const checkPlan: WeightRuntime['checkPlan'] = async (plan) => {
      asked.push(plan)
      throw limits
    }
    await expect(on.at.step({ weights: weightsOf({ checkPlan }), lora: { ...LORA, train_mlp: false } })).rejects.toBe(limits)
    expect([asked, on.at.trainer.calls]).toEqual([[{ rank: 2, modules: ['q_proj', 'k_proj', 'v_proj', 'o_proj'] }], []])
    const differs = conflict('base_differs', 'the base')
    const checkBase: WeightRuntime['checkBase'] = async (...said) => {
      asked.push(said.slice(0, 2))
      throw differs
    }
    await expect(on.at.step({ weights: weightsOf({ checkBase }) })).rejects.toBe(differs)
    expect(asked[1]).toEqual([[5, 6, 7, 8], [6, 7, 8].map((token) => -1 / (1 + token))])
    expect(on.at.trainer.calls.map(({ name }) => name)).not.toContain('forward_backward')
  })

  it('publishes a checkpoint with its metrics, and keeps the state of the objective', async () => {
    const result = await on.at.step({}, orderOf([sampleOf('a', 1), sampleOf('b', 0)]))
    const job = jobOf(result)
    expect(result).toEqual({
      kind: 'publish',
      content: { kind: 'checkpoint', path: join(on.at.directory, 'weights', 'exports', job) },
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
    expect(on.at.statuses).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'CHECKPOINT', 'EXAMINED'])
  })

  it('is the same job again under another batch and step, and answers the same without training', async () => {
    const first = await on.at.step()
    expect(await on.at.step({}, { ...orderOf(ONE), step: 9, batch: { id: 'b2', samples: ONE, request: null } })).toEqual(first)
    expect(on.at.trainer.optimizerSteps).toBe(1)
  })

  it('continues from what is served, and keeps every second publication as a checkpoint where that is set', async () => {
    const first = await on.at.step({ checkpointEvery: 2 })
    expect(first).toMatchObject({ kind: 'live', path: join('weights', 'exports', jobOf(first)), state: { published: 1 } })
    const second = await on.at.step({ checkpointEvery: 2 }, on.at.after(first, [sampleOf('b', 2, 'life:1')], 'life:1'))
    expect(second).toMatchObject({ kind: 'publish', content: { kind: 'checkpoint' }, state: { published: 2 } })
    const provenance: JsonObject = JSON.parse(on.at.provenanceOf(second))
    expect(provenance).toMatchObject({ parent: { release_id: 'r0', job: jobOf(first) }, optimizer_steps: 2 })
    expect(on.at.trainer.stepsOf(textOf(provenance['trainer_state']))).toBe(2)
  })

  it('whose candidate fails its examination rejects it, and is not examined twice', async () => {
    const result = await on.at.step({ examiner: failing })
    expect(result).toMatchObject({
      kind: 'reject',
      metrics: { selected: false, selection: { candidate_score: 0.1 } },
      state: { objective: { seen: 1 }, published: 0 },
    })
    expect(on.at.statuses.at(-1)).toBe('REJECTED')
    expect(await on.at.step()).toEqual(result)
  })

  it('whose examiner throws fails, and is examined again without training', async () => {
    const examiner: Examiner = { examine: () => Promise.reject(new Error('no tasks')) }
    await expect(on.at.step({ examiner })).rejects.toThrow('no tasks')
    expect(await markerIn(new FolderDocuments(on.at.directory)).read()).toMatchObject({ status: 'CHECKPOINT' })
    expect(await on.at.step()).toMatchObject({ kind: 'publish' })
    expect(on.at.trainer.optimizerSteps).toBe(1)
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
    const result = await on.at.step({ weights, examiner })
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
    expect(await on.at.step(options, orderOf(samples))).toMatchObject({ kind: 'skip', reason })
    expect(on.at.trainer.calls).toEqual([])
  })
})

it('a base that is an adapter without provenance is refused instead of ignored', async () => {
  const order = orderOf(ONE, { files: { 'adapter_config.json': '{}' } })
  await expect(on.at.step({}, order)).rejects.toMatchObject({ code: 'no_trainer_state' })
})

it('a sample longer than the context of the engine is dropped, and the others are learnt from', async () => {
  const tokens = Array.from({ length: 65 }, () => 5)
  const exchanges = [{ tokens, loss_mask: [1, 1], rollout_log_probs: [-1, -1], runtime_load_id: 'life:0' }]
  const { metrics } = await on.at.step({}, orderOf([{ ...sampleOf('long', 1), exchanges }, sampleOf('a', 1)]))
  expect(metrics).toMatchObject({ samples_fresh: 1, samples_dropped: 1, drop_reasons: { too_long: 1 } })
})

it('a scenario that is deleted unloads the model of its job, and ignores a trainer that cannot be reached [delete.rule-5]', async () => {
  on.at.trainer.faults = (call) => (call === 'optim_step' ? { status: 400 } : undefined)
  const { client } = on.at.optionsOf()
  await expect(on.at.step({ client })).rejects.toMatchObject({ code: 'trainer_refused' })
  expect(on.at.trainer.models.size).toBe(1)
  on.at.trainer.faults = () => undefined
  await retireJob(client, markerIn(new FolderDocuments(on.at.directory)), new AbortController().signal)
  expect(on.at.trainer.models.size).toBe(0)
  on.at.trainer.faults = () => 'lost before'
  await retireJob(client, markerIn(new FolderDocuments(on.at.directory)), new AbortController().signal)
})

it('only the exports of what is served and of the candidate are kept', async () => {
  const folder = join(on.at.directory, 'weights', 'exports')
  const first = await on.at.step()
  mkdirSync(join(folder, `${'0'.repeat(64)}.tmp-left`))
  const second = await on.at.step({}, on.at.after(first, [sampleOf('b', 1, 'life:1')], 'life:1'))
  const third = await on.at.step({}, on.at.after(second, [sampleOf('c', 1, 'life:2')], 'life:2'))
  expect(readdirSync(folder).sort()).toEqual([second, third].map(jobOf).sort())
})
