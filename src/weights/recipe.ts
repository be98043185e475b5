/** The parts of a recipe of weights: the fence of its requests, the engine that serves it, and the trainer that improves it. */
import { z } from 'zod'
import {
  invalid,
  isRefusal,
  type Binding,
  type Examiner,
  type InferenceHooks,
  type JsonObject,
  type Make,
  type Objective,
  type Parts,
  type ScenarioScope,
  type TrainerPlan,
  type TrainerScope,
  type WeightRuntime,
  type WeightSurface,
} from '../contract/index.ts'
import { FolderDocuments, newId } from '../kit/index.ts'
import { mlflow } from './curves/mlflow.ts'
import type { CurveSink } from './curves/sinks.ts'
import { tensorBoard } from './curves/tensorboard.ts'
import { checkAdapter } from './formats/provenance.ts'
import { markerIn, type MarkerFile } from './jobs/marker.ts'
import { makeTrainerClient, type TrainerClient } from './jobs/tinker.ts'
import { makeWeightTrainer } from './jobs/trainer.ts'
import { makeFence } from './serving/fence.ts'
import { letGo } from './jobs/session.ts'

export interface OpenedWeights {
  /** How many reports are compared with each other; null where each is used by itself. */
  readonly groupSize: number | null
  readonly plan: TrainerPlan
  /** For the component of that name; '' where a release consists of weights only. */
  bind(scope: ScenarioScope, component: string): BoundWeights
}
interface BoundWeights {
  readonly hooks: InferenceHooks
  readonly weights: WeightSurface
  readonly retire: NonNullable<Binding['retire']>
}

/** The time limit of one call to a trainer: a large batch is many calls. */
const CALL_SECONDS_MAX = 600
const RETIRE_SECONDS_MAX = 5
const ADMIT_SECONDS_MAX = 600

/** `objective` replaces the configured one in a recipe that is made for one objective. */
export async function openWeights(config: JsonObject, parts: Parts, objective?: string): Promise<OpenedWeights> {
  const settings = readSettings(config)
  const client = makeTrainerClient({ url: settings.trainer_url, apiKey: settings.trainer_api_key, timeoutSeconds: CALL_SECONDS_MAX })
  const sinks = sinksOf(settings)
  const learn = await made<Objective>(await parts.plugin('objective', objective ?? settings.objective), settings.objective_config)
  const examine = await made<Examiner>(await parts.plugin('examiner', settings.examiner), settings.examiner_config)
  if (learn.needsTeacher === true && settings.teacher_model === null)
    throw invalid('invalid_field', `training.teacher_model: the objective ${learn.name} learns from a teacher; name one`)
  return {
    groupSize: learn.isGrouped === true ? settings.group_size : null,
    plan: { lane: 'weights', open: (scope) => openTrainer(settings, client, learn, examine, sinks, scope) },
    bind: (scope, component) => bindWeights(settings, client, scope, component),
  }
}

type Settings = z.infer<typeof training>

const training = z.object({
  trainer_url: z.string({ error: 'names no trainer; start one with svc trainer start, and give its address here' }),
  trainer_api_key: z.string().nullable(),
  base_model: z.string().nullable(),
  teacher_model: z.string().nullable(),
  objective: z.string(),
  objective_config: z.record(z.string(), z.json()),
  group_size: z.number(),
  measure_kl: z.boolean(),
  tensorboard_dir: z.string().nullable(),
  mlflow_url: z.string().nullable(),
  mlflow_api_key: z.string().nullable(),
  mlflow_experiment: z.string(),
  lora_rank: z.number(),
  lora_modules: z.array(z.enum(['attention', 'mlp'])),
  lora_alpha: z.number().nullable(),
  lora_seed: z.number(),
  learning_rate: z.number(),
  beta1: z.number(),
  beta2: z.number(),
  eps: z.number(),
  weight_decay: z.number(),
  grad_clip_norm: z.number(),
  max_staleness: z.number(),
  multi_turn: z.boolean(),
  checkpoint_every: z.number(),
  examiner: z.string(),
  examiner_config: z.record(z.string(), z.json()),
})

function readSettings({ training: given }: JsonObject): Settings {
  const checked = training.safeParse(given)
  if (checked.success) return checked.data
  const [issue] = checked.error.issues
  throw invalid('invalid_field', `training.${issue?.path.join('.') ?? ''}: ${issue?.message ?? 'is not acceptable'}`)
}

async function made<T extends object>(plugin: T | Make<T>, config: JsonObject): Promise<T> {
  return isMade(plugin) ? plugin.make(config) : plugin
}

const isMade = <T extends object>(plugin: T | Make<T>): plugin is Make<T> => 'make' in plugin

const clock = (): number => Date.now() / 1000

function sinksOf({ tensorboard_dir, mlflow_url, mlflow_api_key: apiKey, mlflow_experiment: experiment }: Settings): readonly CurveSink[] {
  return [
    ...(tensorboard_dir === null ? [] : [tensorBoard(tensorboard_dir, clock, `${Math.floor(clock())}.${newId()}`)]),
    ...(mlflow_url === null ? [] : [mlflow({ url: mlflow_url, experiment, apiKey }, clock)]),
  ]
}

function openTrainer(
  settings: Settings,
  client: TrainerClient,
  objective: Objective,
  examiner: Examiner,
  sinks: readonly CurveSink[],
  scope: TrainerScope,
) {
  const { learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm } = settings
  return makeWeightTrainer({
    scope,
    weights: need(scope.weights),
    client,
    objective,
    examiner,
    sinks,
    baseModel: settings.base_model,
    teacher: settings.teacher_model,
    measuresKl: settings.measure_kl,
    lora: {
      rank: settings.lora_rank,
      seed: settings.lora_seed,
      ...(settings.lora_alpha !== null && { alpha: settings.lora_alpha }),
      train_attn: settings.lora_modules.includes('attention'),
      train_mlp: settings.lora_modules.includes('mlp'),
      train_unembed: false,
    },
    adam: { learning_rate, beta1, beta2, eps, weight_decay, grad_clip_norm },
    rollouts: { acceptMultiTurn: settings.multi_turn },
    maxStaleness: settings.max_staleness,
    // A live release can only name an engine's load, so a release of several components is always a checkpoint.
    checkpointEvery: scope.component === '' ? settings.checkpoint_every : 1,
  })
}

function bindWeights(settings: Settings, client: TrainerClient, scope: ScenarioScope, component: string): BoundWeights {
  const { scenario, runtime, directory, documents } = scope
  const weights = need(runtime.weights)
  return {
    hooks: makeFence(weights, scenario),
    weights: {
      ...(component !== '' && { component }),
      admit: (folder) => admit(weights, settings, folder),
      serve: (served, switched) => weights.serve(scenario, served, switched),
      status() {
        const served = weights.served(scenario)
        const runtime_load_id = served?.runtime_load_id ?? null
        return {
          runtime_load_id,
          adapter_runtime_load_id: served?.adapter == null ? null : runtime_load_id,
          admission: weights.admission(scenario),
          trainer: client.known,
        }
      },
    },
    async retire() {
      weights.forget(scenario)
      await retireJob(
        client,
        markerIn(documents?.('own') ?? new FolderDocuments(directory)),
        AbortSignal.timeout(RETIRE_SECONDS_MAX * 1000),
      )
    },
  }
}

/** Checks its digests and its base, then loads it on trial where the engine has a free slot. */
async function admit(weights: WeightRuntime, settings: Settings, directory: string): Promise<void> {
  const signal = AbortSignal.timeout(ADMIT_SECONDS_MAX * 1000)
  const { name, digest } = await weights.model(signal)
  const { provenance } = await checkAdapter(directory, { name: settings.base_model ?? name, digest })
  try {
    await weights.trial({ name: provenance?.job ?? 'foreign', directory }, () => Promise.resolve(), signal)
  } catch (error) {
    // Every slot is in use: it is tried when it replaces what is served, which is loaded back if that fails.
    if (!isRefusal(error) || (error.code !== 'engine_full' && error.code !== 'engine_busy')) throw error
  }
}

function need(weights: WeightRuntime | undefined): WeightRuntime {
  if (weights !== undefined) return weights
  throw invalid(
    'no_engine',
    'this recipe trains weights, and the runtime cannot change any; set inference.runtime to llama, sglang or vllm',
  )
}

/** Unloads the model of an unfinished job, so that a deleted scenario leaves nothing at the trainer. */
export async function retireJob(client: TrainerClient, marker: MarkerFile, signal: AbortSignal): Promise<void> {
  const known = await marker.read()
  if (known?.status === 'RUNNING' && known.model_id !== undefined) await letGo(client, known.model_id, signal)
}
