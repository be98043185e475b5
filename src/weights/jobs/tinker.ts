/** The calls of a trainer, one method each: what goes out is typed, and what comes back is checked before anybody uses it. */
import { z } from 'zod'
import type { Json, JsonObject, Loss } from '../../contract/index.ts'
import { badAnswer, TrainerWire, type TrainerAddress } from './wire.ts'

/** What a call names: a model at the trainer, and the number that makes a call sent twice the same call. */
interface CallOf {
  readonly model: string
  readonly sequence: number
}
export interface LoraConfig {
  readonly rank: number
  /** Absent: the trainer's own. */
  readonly alpha?: number
  readonly seed: number
  readonly train_attn: boolean
  readonly train_mlp: boolean
  readonly train_unembed: boolean
}
export interface AdamParams {
  readonly learning_rate: number
  readonly beta1: number
  readonly beta2: number
  readonly eps: number
  readonly weight_decay: number
  readonly grad_clip_norm: number
}
/** One row as the trainer takes it: what it reads, what it should have said next, and numbers for each of those. */
export interface Datum {
  readonly inputs: readonly number[]
  readonly targets: readonly number[]
  readonly numbers: Readonly<Record<string, readonly number[]>>
}
interface Pass {
  readonly data: readonly Datum[]
  readonly loss: Loss
  readonly lossConfig: Readonly<Record<string, number>>
}
interface Passed {
  /** For each row the log-probabilities of its targets. */
  readonly logProbs: readonly (readonly number[])[]
  /** Summed over all rows. */
  readonly loss: number
}

export type TrainerMetrics = Readonly<Record<string, number | string | boolean>>

export interface TrainerClient {
  createSession(owner: JsonObject, signal: AbortSignal): Promise<string>
  /** Keeps the session's models at the trainer. */
  heartbeat(session: string, signal: AbortSignal): Promise<void>
  /** The model's id: the same for the same session. */
  createModel(session: string, base: string, lora: LoraConfig, signal: AbortSignal): Promise<string>
  forward(call: CallOf, pass: Pass, signal: AbortSignal): Promise<Passed>
  forwardBackward(call: CallOf, pass: Pass, signal: AbortSignal): Promise<Passed>
  optimStep(call: CallOf, adam: AdamParams, signal: AbortSignal): Promise<TrainerMetrics>
  loadWeights(call: CallOf, path: string, signal: AbortSignal): Promise<void>
  saveWeights(call: CallOf, name: string, signal: AbortSignal): Promise<void>
  saveForSampler(call: CallOf, name: string, signal: AbortSignal): Promise<void>
  /** Whether it keeps what is called so. */
  knows(path: string, signal: AbortSignal): Promise<boolean>
  /** A tar of the adapter's folder. */
  archive(model: string, name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>>
  unload(model: string, signal: AbortSignal): Promise<void>
  /** From its disk, whether it is there or not. */
  discard(model: string, kind: 'weights' | 'sampler_weights', name: string, signal: AbortSignal): Promise<void>
  close(): Promise<void>
}

/** How a trainer calls the adapter and optimizer state it saved, and the adapter alone. */
export const statePath = (model: string, name: string): string => `tinker://${model}/weights/${name}`
export const samplerPath = (model: string, name: string): string => `tinker://${model}/sampler_weights/${name}`

export function makeTrainerClient(address: TrainerAddress): TrainerClient {
  const wire = new TrainerWire(address)
  const ask = async <T>(call: string, body: JsonObject, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> =>
    checked(call, schema, await wire.post(call, body, signal))
  const order = async <T>(call: string, body: JsonObject, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> =>
    checked(call, schema, await wire.result(call, body, signal))
  const pass = async (call: 'forward' | 'forward_backward', { model, sequence }: CallOf, given: Pass, signal: AbortSignal) => {
    const body = { model_id: model, [`${call}_input`]: passBody(given), seq_id: sequence }
    return passedOf(call, given, await order(call, body, passResult, signal))
  }
  const save = async (call: string, { model, sequence }: CallOf, name: string, path: string, signal: AbortSignal): Promise<void> => {
    const saved = await order(call, { model_id: model, path: name, seq_id: sequence }, pathResult, signal)
    if (saved.path !== path)
      throw badAnswer(call, 'path must be tinker://, the model, the kind of weights and the name they were to be saved under')
  }
  return {
    createSession: async (owner, signal) => {
      const body = { tags: ['svc'], user_metadata: owner, sdk_version: 'svc' }
      return (await ask('create_session', body, session, signal)).session_id
    },
    heartbeat: async (session_id, signal) => void (await ask('session_heartbeat', { session_id }, anything, signal)),
    createModel: async (session_id, base_model, lora_config, signal) => {
      const body = { session_id, model_seq_id: 0, base_model, lora_config: { ...lora_config }, user_metadata: {} }
      return (await order('create_model', body, model, signal)).model_id
    },
    forward: (call, given, signal) => pass('forward', call, given, signal),
    forwardBackward: (call, given, signal) => pass('forward_backward', call, given, signal),
    optimStep: async ({ model: model_id, sequence }, adam, signal) => {
      const body = { model_id, adam_params: { ...adam }, seq_id: sequence }
      return (await order('optim_step', body, stepResult, signal)).metrics ?? {}
    },
    loadWeights: async ({ model: model_id, sequence }, path, signal) => {
      await order('load_weights', { model_id, path, optimizer: true, seq_id: sequence }, anything, signal)
    },
    saveWeights: (call, name, signal) => save('save_weights', call, name, statePath(call.model, name), signal),
    saveForSampler: (call, name, signal) => save('save_weights_for_sampler', call, name, samplerPath(call.model, name), signal),
    knows: async (tinker_path, signal) => (await wire.find('weights_info', { tinker_path }, signal)) !== null,
    archive: (id, name, signal) => wire.download(`${checkpointOf(id, 'sampler_weights', name)}/archive`, signal),
    unload: async (model_id, signal) => void (await order('unload_model', { model_id }, anything, signal)),
    discard: (id, kind, name, signal) => wire.drop(checkpointOf(id, kind, name), signal),
    close: () => wire.close(),
  }
}

const checkpointOf = (model: string, kind: string, name: string): string =>
  `training_runs/${encodeURIComponent(model)}/checkpoints/${kind}/${encodeURIComponent(name)}`

/** Names the first field that is wrong, and never quotes what stands in it. */
function checked<T>(call: string, schema: z.ZodType<T>, answer: Json): T {
  const result = schema.safeParse(answer)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw badAnswer(call, `${(issue?.path ?? []).map(String).join('.') || 'the whole'}: ${issue?.message ?? 'not acceptable'}`)
}

/** Ids become parts of addresses and of names that are kept. */
const id = z.string().regex(/^[A-Za-z0-9._:-]{1,256}$/, 'must be 1 to 256 letters, digits, dots, colons, dashes or underscores')
const anything = z.unknown()
const session = z.object({ session_id: id })
const model = z.object({ model_id: id })
const pathResult = z.object({ path: z.string() })
/** A null is how a number that is not finite often arrives. */
export const trainerMetrics = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()], { error: 'must be a finite number' }))
const stepResult = z.object({ metrics: trainerMetrics.optional() })
const passResult = z.object({
  loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(z.number()) }) })),
  metrics: z.object({ 'loss:sum': z.number() }),
})

function passBody({ data, loss, lossConfig }: Pass): JsonObject {
  return { data: data.map(datumBody), loss_fn: loss, loss_fn_config: lossConfig }
}

function datumBody({ inputs, targets, numbers }: Datum): JsonObject {
  const arrays = Object.entries(numbers).map(([name, data]) => [name, { data, dtype: 'float32', shape: [data.length] }] as const)
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: inputs }] },
    loss_fn_inputs: { target_tokens: { data: targets, dtype: 'int64', shape: [targets.length] }, ...Object.fromEntries(arrays) },
  }
}

function passedOf(call: string, { data }: Pass, { loss_fn_outputs, metrics: { 'loss:sum': loss } }: z.infer<typeof passResult>): Passed {
  if (loss_fn_outputs.length !== data.length) throw badAnswer(call, `loss_fn_outputs must be as many as rows, ${data.length}`)
  const logProbs = loss_fn_outputs.map(({ logprobs }) => logprobs.data)
  const wrong = data.findIndex(({ targets }, at) => logProbs[at]?.length !== targets.length)
  if (wrong >= 0) throw badAnswer(call, `loss_fn_outputs.${wrong}.logprobs must be as many as its targets`)
  return { logProbs, loss }
}
