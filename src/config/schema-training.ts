/** The keys of `training` and `inference.engine`: what a step may cost, how weights are trained, and the engine that serves them. */
import * as z from 'zod'
import { baseUrl, count, flag, from0, oneOf, ratio, seconds, secret, section, text, whole } from './types.ts'

const above0 = () => z.number('must be a number above 0').gt(0, 'must be a number above 0')
const atLeast0 = () => z.number('must be a number of at least 0').min(0, 'must be a number of at least 0')
const own = (what: string) =>
  z
    .record(z.string(), z.json('must be JSON').describe(`A setting of the ${what}.`), `must be a section with the settings of the ${what}`)
    .default({})

/** How one adapter is shaped and how one optimizer step is taken: the words of the trainers' calls. */
const weightKeys = {
  trainer_url: baseUrl()
    .nullable()
    .default(null)
    .describe('Where the trainer answers: what `svc trainer start` prints, or any service of the same calls. Weight recipes need it.'),
  trainer_api_key: secret().nullable().default(null).describe('The key sent to the trainer.'),
  base_model: text().nullable().default(null).describe("The base model by the trainer's name for it. Unset: what the engine calls it."),
  teacher_model: text()
    .nullable()
    .default(null)
    .describe('With the objective `distill`: the model to learn from, by the trainer’s name for it.'),
  objective: text()
    .default('grouped')
    .describe('What a batch becomes a gradient by: `grouped`, `baseline`, `tttd`, `sft`, `distill`, or an objective plug-in.'),
  objective_config: own('objective'),
  group_size: count().default(8).describe('With the objective `grouped`: how many reports of one `metadata.comparison_set` make a group.'),
  lora_rank: whole('must be a whole number from 1 to 1024', 1, 1024).default(16).describe('The rank of the adapters.'),
  lora_alpha: above0().nullable().default(null).describe("The adapters' scale. Unset: the trainer's own."),
  lora_seed: from0().default(0).describe('What a first adapter is drawn from.'),
  learning_rate: above0().default(0.0001).describe('The size of an optimizer step.'),
  beta1: ratio().default(0.9).describe("Adam's first decay."),
  beta2: ratio().default(0.95).describe("Adam's second decay."),
  eps: above0().default(1e-8).describe("Adam's smallest divisor."),
  weight_decay: atLeast0().default(0).describe('How much weights decay with every step.'),
  grad_clip_norm: atLeast0().default(0).describe('The longest gradient; 0 cuts none.'),
  max_staleness: from0()
    .default(0)
    .describe(
      'How many publications an exchange may be behind what is served and still be learnt from. What is older is dropped, and counted.',
    ),
  multi_turn: flag().default(true).describe('Whether a report that quotes several receipts is learnt from as one trajectory.'),
  checkpoint_every: count()
    .default(1)
    .describe('Every how many publications a checkpoint is put into the artifact repository; those between live in the engine.'),
  examiner: text()
    .default('always')
    .describe('Who decides whether a trained candidate is published: `always`, `threshold`, or an examiner plug-in.'),
  examiner_config: own('examiner'),
}

export const training = section({
  step_timeout_s: seconds('above zero')
    .default(14_400)
    .describe('How long one step may take, in seconds; then it is ended and counts as failed.'),
  memory_mib: whole('must be a whole number from 64 to 65536', 64, 65_536)
    .default(1024)
    .describe(
      'How much memory the thread of a trainer may hold, in MiB; one that holds more is ended and its step counts as failed. Weight trainers have no thread and are not watched.',
    ),
  ...weightKeys,
})

/** What is not set is not handed on, so that every engine has its own defaults and refuses what it does not know. */
export const engine = section({
  url: baseUrl().nullable().default(null).describe('With `sglang` and `vllm`: where the engine answers, without `/v1`.'),
  api_key: secret().nullable().default(null).describe('With `sglang` and `vllm`: the key of the engine.'),
  model: text()
    .nullable()
    .default(null)
    .describe(
      "With `llama`: the GGUF file of the base model. With `sglang` and `vllm`: the base model's name; unset, the engine is asked.",
    ),
  capacity: count()
    .nullable()
    .default(null)
    .describe('How many adapters the engine holds at once; as many scenarios may train weights. Unset: 4.'),
  parallel: count().nullable().default(null).describe('With `llama`: how many generations run at once. Unset: 4.'),
  context_tokens: count()
    .nullable()
    .default(null)
    .describe('With `llama`: how long prompt and answer may be together. Unset: what the model was trained for, 4096 at most.'),
  threads: count().nullable().default(null).describe('With `llama`: how many cores it may use. Unset: as many as help.'),
  vocabulary: count()
    .nullable()
    .default(null)
    .describe('With `sglang` and `vllm`: how many token ids the model has. Set, ids outside are refused.'),
  gpu: oneOf(['auto', 'off']).nullable().default(null).describe('With `llama`: whether a graphics card is used. Unset: `off`.'),
})
