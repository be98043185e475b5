/** The calls of a trainer, one method each: requests are typed, answers are checked before use. */
import { z } from 'zod'
import type { Json, JsonObject, Loss, TrainerSeen } from '../../contract/index.ts'
import { summedLoss } from './losses.ts'
import { badAnswer, TrainerWire, type TrainerAddress } from './wire.ts'

/** A model at the trainer, and the number by which the trainer recognises a repeated call. */
interface CallOf {
  readonly model: string
  readonly sequence: number
}
/** A call that must not run twice. */
interface StepOf extends CallOf {
  /** Whether the trainer recognises repeated calls by their numbers. Otherwise a lost call is never sent again. */
  readonly isNumbered: boolean
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
export type AdamParams = Readonly<Record<'learning_rate' | 'beta1' | 'beta2' | 'eps' | 'weight_decay' | 'grad_clip_norm', number>>
/** One row as the trainer takes it: inputs, their targets, and numbers for each target. */
export interface Datum {
  readonly inputs: readonly number[]
  readonly targets: readonly number[]
  readonly numbers: Readonly<Record<string, readonly number[]>>
}
export interface Pass {
  readonly data: readonly Datum[]
  readonly loss: Loss
  readonly lossConfig: Readonly<Record<string, number>>
}
interface Passed {
  readonly logProbs: readonly (readonly number[])[]
  /** Summed over all rows. */
  readonly loss: number
}

export type TrainerClient = ReturnType<typeof makeTrainerClient>

/** How a trainer calls the adapter and optimizer state it saved, and the adapter alone. */
export const statePath = (model: string, name: string): string => `${SCHEME}${model}/weights/${name}`
export const samplerPath = (model: string, name: string): string => `${SCHEME}${model}/sampler_weights/${name}`
const SCHEME = 'tinker://'
const runOf = (path: string): string => path.slice(SCHEME.length).split('/')[0] ?? ''

export function makeTrainerClient(address: TrainerAddress) {
  const wire = new TrainerWire(address)
  let about: TrainerSeen | null = null
  const ask = async <T>(call: string, body: JsonObject, schema: z.ZodType<T>, signal: AbortSignal): Promise<T> =>
    checked(call, schema, await wire.post(call, body, signal))
  const order = async <T>(call: string, body: JsonObject, schema: z.ZodType<T>, signal: AbortSignal, mayRepeat = true): Promise<T> =>
    checked(call, schema, await wire.result(call, body, signal, mayRepeat))
  const save = async (call: string, { model, sequence }: CallOf, name: string, paths: readonly string[], signal: AbortSignal) => {
    const saved = await order(call, { model_id: model, path: name, seq_id: sequence }, pathResult, signal)
    if (!paths.includes(saved.path))
      throw badAnswer(call, 'path must be tinker://, the model, the kind of weights and the name they were to be saved under')
  }
  /** For trainers whose weights_info knows training states alone. */
  const isListed = async (path: string, signal: AbortSignal): Promise<boolean> => {
    const listed = await wire.get(`training_runs/${encodeURIComponent(runOf(path))}/checkpoints`, signal)
    return listed !== null && checked('checkpoints', checkpoints, listed).checkpoints.some(({ tinker_path }) => tinker_path === path)
  }
  return {
    createSession: async (owner: JsonObject, signal: AbortSignal): Promise<string> => {
      const body = { tags: ['svc'], user_metadata: owner, sdk_version: 'svc' }
      return (await ask('create_session', body, session, signal)).session_id
    },
    /** Who answers, for the status: asked once, and needed by no job. */
    about: async (signal: AbortSignal): Promise<void> => {
      if (about !== null) return
      const said = await wire.get('get_server_capabilities', signal).catch(() => null)
      const { data: { server = null, server_version: version = null } = {} } = capabilities.safeParse(said)
      about = { server, version, format: wire.format }
    },
    get known(): TrainerSeen | null {
      return about === null ? null : { ...about, format: wire.format }
    },
    /** Keeps the session's models at the trainer. */
    heartbeat: async (session_id: string, signal: AbortSignal): Promise<void> =>
      void (await ask('session_heartbeat', { session_id }, anything, signal)),
    /** The same session gets the same model. */
    createModel: async (session_id: string, base_model: string, lora: LoraConfig, signal: AbortSignal): Promise<string> => {
      const body = { session_id, model_seq_id: 0, base_model, lora_config: { ...lora }, user_metadata: {} }
      return (await order('create_model', body, model, signal)).model_id
    },
    /**
     * The first call of a job, made twice: whether a repeated call gets the ticket of the first. Some trainers ignore the numbers of calls and
     * would run it twice. The fresh adapter changes nothing, so the answer is the base's.
     */
    begin: async ({ model, sequence }: CallOf, given: Pass, signal: AbortSignal): Promise<Passed & { readonly isNumbered: boolean }> => {
      const body = { model_id: model, forward_input: passBody(given), seq_id: sequence }
      const { isSameTicket, result } = await wire.twice('forward', body, signal)
      return { isNumbered: isSameTicket, ...passedOf('forward', given, checked('forward', passResult, result)) }
    },
    forward: async ({ model, sequence }: CallOf, given: Pass, signal: AbortSignal): Promise<Passed> => {
      const body = { model_id: model, forward_input: passBody(given), seq_id: sequence }
      return passedOf('forward', given, await order('forward', body, passResult, signal))
    },
    forwardBackward: async ({ model, sequence, isNumbered }: StepOf, given: Pass, signal: AbortSignal): Promise<Passed> => {
      const body = { model_id: model, forward_backward_input: passBody(given), seq_id: sequence }
      return passedOf('forward_backward', given, await order('forward_backward', body, passResult, signal, isNumbered))
    },
    optimStep: async ({ model: model_id, sequence, isNumbered }: StepOf, adam: AdamParams, signal: AbortSignal) => {
      const body = { model_id, adam_params: { ...adam }, seq_id: sequence }
      return (await order('optim_step', body, stepResult, signal, isNumbered)).metrics ?? {}
    },
    loadWeights: async ({ model: model_id, sequence }: CallOf, path: string, signal: AbortSignal): Promise<void> =>
      void (await order('load_weights', { model_id, path, optimizer: true, seq_id: sequence }, anything, signal)),
    saveWeights: (call: CallOf, name: string, signal: AbortSignal): Promise<void> =>
      save('save_weights', call, name, [statePath(call.model, name)], signal),
    saveForSampler: (call: CallOf, name: string, signal: AbortSignal): Promise<void> =>
      save('save_weights_for_sampler', call, name, [samplerPath(call.model, name), `${SCHEME}${call.model}/${name}`], signal),
    knows: async (tinker_path: string, signal: AbortSignal): Promise<boolean> =>
      (await wire.isKnown('weights_info', { tinker_path }, signal)) ?? isListed(tinker_path, signal),
    /** Some trainers name a checkpoint without its kind there. */
    archive: (id: string, name: string, signal: AbortSignal): Promise<AsyncIterable<Uint8Array>> =>
      wire.download([`${checkpointOf(id, 'sampler_weights', name)}/archive`, `${checkpointOf(id, null, name)}/archive`], signal),
    unload: async (model_id: string, signal: AbortSignal): Promise<void> =>
      void (await order('unload_model', { model_id }, anything, signal)),
    /** Deletes it from the trainer's disk, whether it is there or not. */
    discard: (id: string, kind: 'weights' | 'sampler_weights', name: string, signal: AbortSignal): Promise<void> =>
      wire.drop(checkpointOf(id, kind, name), signal),
    close: (): Promise<void> => wire.close(),
  }
}

const checkpointOf = (model: string, kind: string | null, name: string): string =>
  `training_runs/${encodeURIComponent(model)}/checkpoints/${kind === null ? '' : `${kind}/`}${encodeURIComponent(name)}`

/** Names the first field that is wrong, and never quotes its value. */
function checked<T>(call: string, schema: z.ZodType<T>, answer: Json): T {
  const result = schema.safeParse(answer)
  if (result.success) return result.data
  const [issue] = result.error.issues
  throw badAnswer(call, `${(issue?.path ?? []).map(String).join('.') || 'the whole'}: ${issue?.message ?? 'not acceptable'}`)
}

/** Ids become parts of URLs and of stored names. */
const id = z.string().regex(/^[A-Za-z0-9._:-]{1,256}$/, 'must be 1 to 256 letters, digits, dots, colons, dashes or underscores')
const anything = z.unknown()
const session = z.object({ session_id: id })
const model = z.object({ model_id: id })
const pathResult = z.object({ path: z.string() })
/** A null is how a number that is not finite often arrives. */
export const trainerMetrics = z.record(z.string(), z.union([z.number(), z.string(), z.boolean()], { error: 'must be a finite number' }))
const capabilities = z.object({ server: z.string().max(200).nullish(), server_version: z.string().max(200).nullish() })
const stepResult = z.object({ metrics: trainerMetrics.nullish() })
const checkpoints = z.object({ checkpoints: z.array(z.object({ tinker_path: z.string() })) })
const passResult = z.object({
  loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(z.number()) }) })),
  metrics: z.object({ 'loss:sum': z.number().optional() }).nullish(),
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

function passedOf(call: string, given: Pass, { loss_fn_outputs, metrics }: z.infer<typeof passResult>): Passed {
  const { data } = given
  if (loss_fn_outputs.length !== data.length) throw badAnswer(call, `loss_fn_outputs must be as many as rows, ${data.length}`)
  const logProbs = loss_fn_outputs.map(({ logprobs }) => logprobs.data)
  const wrong = data.findIndex(({ targets }, at) => logProbs[at]?.length !== targets.length)
  if (wrong >= 0) throw badAnswer(call, `loss_fn_outputs.${wrong}.logprobs must be as many as its targets`)
  return { logProbs, loss: metrics?.['loss:sum'] ?? summedLoss(given, logProbs) }
}
