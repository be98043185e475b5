/** The plug-in interfaces of weights: engines, weight runtimes, objectives and examiners. */
import type { JsonObject } from './json.ts'
import type { Sample } from './nouns.ts'

// ── Engine: who generates ─────────────────────────────────────────────────────────────────────

/** The smallest thing that can serve weights. It knows adapters by name and nothing of scenarios, releases or leases. */
export interface Engine {
  /** How many adapters it holds at once, beside the base. */
  readonly capacity: number
  /** Whether a generation under way can move to another adapter; elsewhere it ends on the one it began on. */
  readonly moves: boolean
  model(signal: AbortSignal): Promise<EngineModel>
  /** Which adapters it takes, as it was started; absent: it cannot tell. Asked anew every time: it may have been started again. */
  limits?(signal: AbortSignal): Promise<AdapterLimits>
  /** From a folder with a PEFT adapter, and its GGUF beside it. A name is loaded once in its life. Throws Refusal for what is no adapter of its base. */
  load(adapter: AdapterFolder, signal: AbortSignal): Promise<void>
  /** Of a name that it does not hold: nothing happens. */
  unload(name: string, signal: AbortSignal): Promise<void>
  /** What it holds now, by its own account. */
  adapters(signal: AbortSignal): Promise<readonly string[]>
  /** Only where `moves`: generations under way on one adapter go on with the other from the next token. */
  move?(from: string | null, to: string | null): void
  /** From here on no generation begins, and those under way end, are aborted or wait; `resume` undoes it. Neither may be lost: called twice is once. */
  pause(signal: AbortSignal): Promise<void>
  resume(signal: AbortSignal): Promise<void>
  /** Resolves when it answers. */
  health(signal: AbortSignal): Promise<void>
  /** By token ids. After `signal` aborts, it is given up within 100 ms. */
  generate(call: GenerateCall): Promise<Generation>
  /** The log-probability of every token but the first, given those before it. */
  score(tokens: readonly number[], adapter: string | null, signal: AbortSignal): Promise<readonly number[]>
  /** One chat completion by the model's own template: never streamed, one choice. */
  chat(call: EngineChat): Promise<ChatAnswer>
  /** What a chat request comes to as a prompt; with `answer`, what follows it when that is the assistant's next turn. Null: it cannot tell. */
  encode?(body: JsonObject, answer: JsonObject | null, signal: AbortSignal): Promise<Encoded | null>
  status(): JsonObject
  close(): Promise<void>
}

export interface EngineModel {
  readonly name: string
  /** How many ids there are. */
  readonly vocabulary: number
  readonly contextTokens: number
  /** Distinguishes this base from another of its name, where the engine can: adapters are made for one base alone. */
  readonly digest: string | null
  /** Set by an engine that reads adapters as GGUF: what is needed to write one. */
  readonly shape: ModelShape | null
}
/** What a base model is, as far as its adapters depend on it. */
export interface ModelShape {
  readonly architecture: string
  readonly heads: number
  readonly kvHeads: number
}
/** Null wherever the engine does not say. */
export interface AdapterLimits {
  readonly rankMax: number | null
  /** How many it holds at once. */
  readonly adaptersMax: number | null
  /** The ends of the names of the modules that adapters may change. */
  readonly modules: readonly string[] | null
}
/** What an adapter will be, before it is trained. */
export interface AdapterPlan {
  readonly rank: number
  /** The ends of the names of its modules. */
  readonly modules: readonly string[]
}
export interface AdapterFolder {
  readonly name: string
  readonly directory: string
}
export interface Sampling {
  readonly maxTokens: number
  /** 0 takes the likeliest. */
  readonly temperature: number
  readonly topP?: number
  readonly topK?: number
  readonly seed?: number
  readonly stop?: readonly string[]
}
export interface GenerateCall {
  readonly prompt: readonly number[]
  readonly adapter: string | null
  readonly sampling: Sampling
  readonly signal: AbortSignal
}
/** 'aborted': the engine broke it off for a weight update; its result is discarded. */
export interface Generation extends Capture {
  readonly text: string
  readonly finish: 'stop' | 'length' | 'aborted'
}
export interface EngineChat {
  /** A chat completions request without keys of the fence. */
  readonly body: JsonObject
  readonly adapter: string | null
  readonly signal: AbortSignal
}
export type ChatAnswer =
  | { readonly kind: 'answer'; readonly answer: JsonObject; readonly capture: Capture }
  /** A refusal of the engine, as it put it. */
  | { readonly kind: 'refused'; readonly status: number; readonly answer: JsonObject }
  | { readonly kind: 'aborted' }
export interface Encoded {
  readonly prompt: readonly number[]
  readonly answer: readonly number[]
}

/** What an engine saw while it generated. Ids as they were sampled, never made from text again. */
export interface Capture {
  readonly prompt: readonly number[]
  readonly tokens: readonly number[]
  /** After temperature, before any filter; one per generated token. */
  readonly logProbs: readonly number[]
  /** Which adapter made which generated tokens, in order; null is the base. */
  readonly spans: readonly AdapterSpan[]
}
export interface AdapterSpan {
  readonly start: number
  /** Not included. */
  readonly end: number
  readonly adapter: string | null
}

// ── WeightRuntime: what a runtime with an engine can do for a scenario ────────────────────────

export interface WeightRuntime {
  readonly capacity: number
  model(signal: AbortSignal): Promise<EngineModel>
  /** Before anything is trained: throws Refusal 'conflict' where the engine would not take such an adapter, or serves another base than at first. */
  checkPlan(plan: AdapterPlan, signal: AbortSignal): Promise<void>
  /** Throws Refusal 'conflict' where the engine's base does not give these tokens the log-probabilities that the trainer's base gives them. */
  checkBase(tokens: readonly number[], logProbs: readonly number[], signal: AbortSignal): Promise<void>
  /**
   * Makes these weights the scenario's: loaded, probed, and named by its requests from here on. Serving what it serves already does nothing.
   * `switched` is called in the moment that they are, before any request can tell. Throws Refusal when the adapter is not taken; then
   * whatever was served before still is.
   */
  serve(scenario: string, weights: ServedWeights, switched?: () => void): Promise<void>
  /** Null before anything was served. */
  served(scenario: string): ServedAdapter | null
  /** Waits until the scenario takes requests, and holds its adapter in the engine until let go of. */
  lease(scenario: string, signal: AbortSignal): Promise<Lease>
  admission(scenario: string): 'open' | 'closed'
  /** Loads a candidate that serves no traffic, for as long as `work` takes. */
  trial<T>(candidate: AdapterFolder, work: (tryout: Tryout) => Promise<T>, signal: AbortSignal): Promise<T>
  /** What the scenario is served by, asked without a record. */
  ask(scenario: string, body: JsonObject, signal: AbortSignal): Promise<JsonObject>
  /** By the engine's own template; null where it cannot tell. */
  encode(body: JsonObject, answer: JsonObject | null, signal: AbortSignal): Promise<Encoded | null>
  /** The scenario is gone: its adapters may leave the engine. */
  forget(scenario: string): void
}
export interface ServedWeights {
  readonly runtime_load_id: string
  /** Null: nothing was trained yet, the base answers. */
  readonly directory: string | null
}
export interface ServedAdapter {
  readonly runtime_load_id: string
  readonly adapter: string | null
}
export interface Lease extends ServedAdapter {
  end(): void
}
/** What a candidate says. */
export interface Tryout {
  chat(body: JsonObject): Promise<JsonObject>
}

// ── Objective: what a batch becomes a gradient by ─────────────────────────────────────────────

/** The losses of the trainers' calls. */
export type Loss = 'importance_sampling' | 'ppo' | 'cross_entropy'

/** One trajectory with its numbers: everything is per generated token but `tokens`, which are prompt and answer. */
export interface Rollout {
  readonly record_ids: readonly string[]
  readonly group: string | null
  readonly score: number | null
  readonly tokens: readonly number[]
  readonly lossMask: readonly (0 | 1)[]
  /** Empty where they were not sampled: then only a loss without a ratio can use it. */
  readonly logProbs: readonly number[]
  /** Of the frozen base, where the objective asks for them. */
  readonly baseLogProbs?: readonly number[]
  /** Of the weights that are trained further, before the step, where the objective asks for them. */
  readonly policyLogProbs?: readonly number[]
  /** Of the teacher, where the objective asks for them. */
  readonly teacherLogProbs?: readonly number[]
  readonly sample: Sample
}

export interface Objective {
  readonly name: string
  readonly loss: Loss
  readonly lossConfig?: Readonly<Record<string, number>>
  /** Whether rollouts must carry the log-probabilities they were sampled with. */
  readonly needsLogProbs: boolean
  readonly needsBase?: boolean
  /** Its weights are the slopes of a loss of its own, at the weights as they are before the step. */
  readonly needsPolicy?: boolean
  /** Rollouts are compared within their group alone: the recipe collects whole groups. */
  readonly isGrouped?: boolean
  readonly needsTeacher?: boolean
  /** Samples without ids may be encoded by the engine. */
  readonly encodes?: boolean
  /** Pure: the same batch and state give the same answer, since a retry must make the same job. No tensors. */
  prepare(rollouts: readonly Rollout[], state: JsonObject): Prepared
}
export type Prepared =
  | {
      readonly kind: 'train'
      /** What each rollout weighs: one number for all its trained tokens, or one per generated token. */
      readonly advantages: readonly (number | readonly number[])[]
      readonly state?: JsonObject
      readonly metrics?: JsonObject
    }
  /** Nothing to learn: only the state is kept. */
  | { readonly kind: 'skip'; readonly reason: string; readonly state?: JsonObject; readonly metrics?: JsonObject }

// ── Examiner: who judges a candidate ──────────────────────────────────────────────────────────

/** Decides whether a trained candidate is published. What it throws fails the step: nothing is published. */
export interface Examiner {
  examine(candidate: Candidate, signal: AbortSignal): Promise<Examination>
}
export interface Candidate {
  readonly scenario: string
  readonly job: string
  /** What training said of itself. */
  readonly metrics: JsonObject
  /** Loads the candidate for as long as the work takes. */
  try<T>(work: (tryout: Tryout) => Promise<T>): Promise<T>
  /** What is served now. */
  current<T>(work: (tryout: Tryout) => Promise<T>): Promise<T>
}
export interface Examination {
  readonly select: boolean
  readonly metrics?: JsonObject
}

export interface WeightStatus {
  /** What answers now; null before anything was served. */
  readonly runtime_load_id: string | null
  /** The same while it is an adapter; null while the base answers. */
  readonly adapter_runtime_load_id: string | null
  readonly admission: 'open' | 'closed'
  /** Who trains them, as of the latest job; null before the first. */
  readonly trainer: TrainerSeen | null
}
/** What a trainer calls itself and the version of its calls, where it says so, and the form that passes are sent in. */
export interface TrainerSeen {
  readonly server: string | null
  readonly version: string | null
  readonly format: 'json' | 'protobuf'
}

/** What a weight scenario's serving needs beside hooks; the service calls it with every head. */
export interface WeightSurface {
  /** Which component of a composed release they are; absent for a release that is weights alone. */
  readonly component?: string
  /** Throws Refusal 'invalid' or 'conflict' for a folder that the engine would not serve. Nothing that is served changes. */
  admit(directory: string): Promise<void>
  /**
   * As a loader's `load`: what it throws keeps a scenario from being loaded, unless the engine is merely away, and of a new head is shown in
   * the status. `switched` is called in the moment that requests are answered by them.
   */
  serve(weights: ServedWeights, switched?: () => void): Promise<void>
  status(): WeightStatus
}
