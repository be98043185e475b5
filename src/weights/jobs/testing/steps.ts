/** What tests of steps begin with: a batch, an engine that answers nothing, a trainer of Tinker's calls, and a folder. */
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import { temporaryFolder } from '../../../../test/support/folder.ts'
import type { Examiner, Objective, Sample, StepOrder, StepResult, WeightRuntime } from '../../../contract/index.ts'
import { textOf } from '../../../dialects/index.ts'
import { exportPath } from '../exports.ts'
import { ADAM, clientOf, LORA, startFakeTrainer, type FakeTrainer } from '../testing.ts'
import { makeWeightTrainer, type WeightTrainerOptions } from '../trainer.ts'

export const sampleOf = (id: string, score: number, load = 'life:0'): Sample => ({
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
export const ONE = [sampleOf('a', 1)]

/** Weighs by score alone, and counts the rollouts it has seen. */
export const byScore: Objective = {
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

export const refuse = () => Promise.reject(new Error('no part of this test'))
export const weightsOf = (more: Partial<WeightRuntime>): WeightRuntime => ({
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

export const orderOf = (samples: readonly Sample[], more: Partial<StepOrder> = {}): StepOrder => ({
  step: 1,
  batch: { id: 'b1', samples, request: null },
  base: { release_id: 'r0', parent_release_id: null, content_id: 'c0' },
  files: {},
  runtime_load_id: 'life:0',
  model: { model: 'tiny', api: 'openai' },
  state: {},
  ...more,
})

export const jobOf = ({ metrics }: StepResult): string => textOf(metrics?.['training_job_id'])

/** A trainer and a folder for each test, and the steps that use them. */
class Bench {
  readonly trainer: FakeTrainer
  readonly directory = temporaryFolder()
  /** What the steps reported. */
  readonly lines: string[] = []
  readonly statuses: string[] = []

  constructor(trainer: FakeTrainer) {
    this.trainer = trainer
  }

  optionsOf(more: Partial<WeightTrainerOptions> = {}): WeightTrainerOptions {
    const evaluation = { url: 'http://127.0.0.1:9', model: null, api: 'openai', apiKey: null } as const
    return {
      scope: { scenario: 'shop', component: '', config: {}, evaluation, directory: this.directory },
      weights: weightsOf({}),
      client: clientOf(this.trainer.url),
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

  step(
    options: Partial<WeightTrainerOptions> = {},
    order: StepOrder = orderOf(ONE),
    signal: AbortSignal = new AbortController().signal,
  ): Promise<StepResult> {
    const report = {
      phase: () => undefined,
      line: (_kind: string, text: string) => void this.lines.push(text),
      job: (_id: string, status: string) => void this.statuses.push(status),
    }
    return makeWeightTrainer(this.optionsOf(options)).step(order, report, signal)
  }

  provenanceOf(result: StepResult): string {
    return readFileSync(join(this.directory, exportPath(jobOf(result)), 'svc-provenance.json'), 'utf8')
  }

  /** The order after a step that published: on its release, with its text files. */
  after(result: StepResult, samples: readonly Sample[], load: string): StepOrder {
    const files = { 'svc-provenance.json': this.provenanceOf(result), 'adapter_config.json': '{}' }
    return orderOf(samples, { files, runtime_load_id: load, state: result.state ?? {} })
  }
}

/** A new one before each test. */
export function benches(): { readonly at: Bench } {
  let bench: Bench
  beforeEach(async () => {
    bench = new Bench(await startFakeTrainer())
  })
  return {
    get at() {
      return bench
    },
  }
}
