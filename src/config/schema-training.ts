/** The keys of `training` and `inference.engine`: limits of a step, how weights are trained, and the engine that serves them. */
import * as z from 'zod'
import { baseUrl, count, flag, from0, oneOf, ratio, seconds, secret, section, text, whole } from './types.ts'

const above0 = () => z.number('must be a number above 0').gt(0, 'must be a number above 0')
const atLeast0 = () => z.number('must be a number of at least 0').min(0, 'must be a number of at least 0')
const own = (what: string) =>
  z
    .record(z.string(), z.json('must be JSON').describe(`A setting of the ${what}.`), `must be a section with the settings of the ${what}`)
    .default({})

/** The shape of an adapter and the settings of an optimizer step, named as in the trainer's API. */
const weightKeys = {
  trainer_url: baseUrl
    .nullable()
    .default(null)
    .describe('The address of the trainer: what `svc trainer start` prints, or any service with the same API. Weight recipes need it.'),
  trainer_api_key: secret.nullable().default(null).describe('The key sent to the trainer.'),
  base_model: text.nullable().default(null).describe("The base model by the trainer's name for it. Unset: the engine's name."),
  teacher_model: text.nullable().default(null).describe("With the objective `distill`: the teacher model, by the trainer's name for it."),
  objective: text
    .default('grouped')
    .describe('How a batch becomes a gradient: `grouped`, `baseline`, `tttd`, `dpo`, `kto`, `sft`, `distill`, or an objective plug-in.'),
  objective_config: own('objective'),
  group_size: count.default(8).describe('With the objective `grouped`: how many reports of one `metadata.comparison_set` make a group.'),
  measure_kl: flag
    .default(false)
    .describe('Whether every step asks the trainer what the base thinks of its tokens, and reports the distance as `kl_to_base`.'),
  tensorboard_dir: text
    .nullable()
    .default(null)
    .describe('A directory for files of TensorBoard with the numbers of every step, a folder for each scenario. Unset: none are written.'),
  mlflow_url: baseUrl.nullable().default(null).describe('An MLflow server that gets the numbers of every step. Unset: none does.'),
  mlflow_api_key: secret.nullable().default(null).describe('The key sent to MLflow, as a bearer token.'),
  mlflow_experiment: text.default('svc').describe('The experiment of MLflow; every scenario is a run of it.'),
  lora_rank: whole('must be a whole number from 1 to 1024', 1, 1024).default(16).describe('The rank of the adapters.'),
  lora_modules: z
    .array(oneOf(['attention', 'mlp']), 'must be a list of attention, mlp or both')
    .min(1, 'must name attention, mlp or both')
    .default(['attention', 'mlp'])
    .describe('Which layers the adapters change: `attention` (q, k, v and o), `mlp` (gate, up and down), or both.'),
  lora_alpha: above0().nullable().default(null).describe("The adapters' scale. Unset: the trainer's own."),
  lora_seed: from0.default(0).describe('The seed of a first adapter.'),
  learning_rate: above0().default(0.0001).describe("Adam's learning rate."),
  beta1: ratio.default(0.9).describe("Adam's beta1."),
  beta2: ratio.default(0.95).describe("Adam's beta2."),
  eps: above0().default(1e-8).describe("Adam's epsilon."),
  weight_decay: atLeast0().default(0).describe('The weight decay per step.'),
  grad_clip_norm: atLeast0().default(0).describe('The gradient norm above which gradients are clipped; 0: never.'),
  max_staleness: from0
    .default(0)
    .describe(
      'How many publications an exchange may be behind the served weights and still be used. Older exchanges are dropped and counted.',
    ),
  multi_turn: flag.default(true).describe('Whether a report that quotes several receipts is trained on as one trajectory.'),
  checkpoint_every: count
    .default(1)
    .describe(
      'After how many publications a checkpoint is written to the artifact repository; those between exist only in the engine. Where several gateways share a store, every publication writes one.',
    ),
  examiner: text
    .default('always')
    .describe('Which examiner decides whether a trained candidate is published: `always`, `threshold`, or an examiner plug-in.'),
  examiner_config: own('examiner'),
}

export const training = section({
  step_timeout_s: seconds('above zero')
    .default(14_400)
    .describe('How long one step may take, in seconds. A longer step is ended and counts as failed.'),
  memory_mib: whole('must be a whole number from 64 to 65536', 64, 65_536)
    .default(1024)
    .describe(
      'How much memory the thread of a trainer may use, in MiB. Above that it is ended, and its step counts as failed. Weight trainers have no thread and no such limit.',
    ),
  ...weightKeys,
})

/** Unset keys are not passed on: every engine has its own defaults and refuses unknown keys. */
export const engine = section({
  url: baseUrl.nullable().default(null).describe('With `sglang` and `vllm`: the address of the engine, without `/v1`.'),
  api_key: secret.nullable().default(null).describe('With `sglang` and `vllm`: the key of the engine.'),
  model: text
    .nullable()
    .default(null)
    .describe(
      "With `llama`: the GGUF file of the base model. With `sglang` and `vllm`: the base model's name; unset, the engine is asked.",
    ),
  capacity: count
    .nullable()
    .default(null)
    .describe('How many adapters the engine holds at once, which is also how many scenarios may train weights. Unset: 4.'),
  adapter_prefix: z
    .string('must be 1 to 32 letters, digits or dashes')
    .regex(/^[A-Za-z0-9-]{1,32}$/, 'must be 1 to 32 letters, digits or dashes')
    .nullable()
    .default(null)
    .describe(
      "With `sglang` and `vllm`: what the names of this service's adapters begin with. Services that share an engine need different ones; gateways over one PostgreSQL add a part of their own. Unset: made once, and kept beside the records.",
    ),
  max_lora_rank: count
    .nullable()
    .default(null)
    .describe('With `sglang` and `vllm`: the rank that the engine was started for. Unset: the engine is asked, where it tells.'),
  parallel: count.nullable().default(null).describe('With `llama`: how many generations run at once. Unset: 4.'),
  context_tokens: count
    .nullable()
    .default(null)
    .describe('With `llama`: the context length, prompt and answer together. Unset: what the model was trained for, at most 4096.'),
  threads: count.nullable().default(null).describe('With `llama`: how many cores it may use. Unset: chosen automatically.'),
  vocabulary: count
    .nullable()
    .default(null)
    .describe('With `sglang` and `vllm`: the size of the vocabulary. If set, token ids outside it are refused.'),
  gpu: oneOf(['auto', 'off']).nullable().default(null).describe('With `llama`: whether to use a GPU. Unset: `off`.'),
})
