/** One step on its way: what it works with, and everything its row will tell. */
import type { Adapter, Entry, JsonObject, ModelAddress, Proposal, Release, Reporter, StepOrder, Task } from '../contract/index.ts'
import { entriesIn } from '../harness/index.ts'
import { openStepRecord, type StepRecord } from './archive/index.ts'
import type { EpisodeCache } from './cache.ts'
import type { Program } from './episodes.ts'
import type { Inbox } from './inbox/index.ts'
import type { Method } from './method.ts'
import { openModels, type OpenedModels } from './models/index.ts'
import { Players, type Told } from './players.ts'
import type { EvolutionSettings } from './settings.ts'
import { printState, readState, type EvolutionState } from './state.ts'
import type { Unplayed } from './unplayed.ts'

/** What the steps of one scenario work with. */
export interface Workshop {
  readonly settings: EvolutionSettings
  readonly method: Method
  readonly adapter: Adapter
  readonly tasks: readonly Task[]
  /** The routes that candidates are played against; what the model there is called comes with each step. */
  readonly evaluation: Pick<ModelAddress, 'url' | 'apiKey'>
  readonly cache: EpisodeCache
  readonly inbox: Inbox
  readonly unplayed: Unplayed
  readonly scenario: string
  /** '' where the scenario has no other. */
  readonly component: string
  /** The scenario's folder below those that all scenarios share. */
  readonly folder: string
  /** Installed when the first episode needs it. */
  program(): Promise<Program>
}

export interface Run {
  readonly workshop: Workshop
  readonly order: StepOrder
  readonly report: Reporter
  readonly signal: AbortSignal
  /** The tree that is served. */
  readonly entries: readonly Entry[]
  readonly record: StepRecord | null
  readonly models: OpenedModels
  readonly players: Players
  /** Whatever happens, what is in here by then is told. */
  readonly metrics: Record<string, JsonObject[string]>
  state: EvolutionState
  /** Where the change of this step comes from, once there is one. */
  origin: { readonly claimed: string } | { readonly answer: Proposal } | null
  phase: 'proposing' | 'evaluating'
}

export async function beginRun(workshop: Workshop, order: StepOrder, report: Reporter, signal: AbortSignal): Promise<Run> {
  const { settings, adapter, folder } = workshop
  const model = { ...workshop.evaluation, ...order.model }
  const before = readState(order.state)
  const record = await openStepRecord(settings.step_record_dir, folder, order.step, [model.apiKey ?? ''])
  report.phase('proposing', typeof record?.name === 'string' ? { step_record: record.name } : {})
  const models = openModels(model, { callsMax: settings.max_model_calls_per_step, report, signal })
  return {
    workshop,
    order,
    report,
    signal,
    entries: entriesIn(adapter, order.files),
    record,
    models,
    players: playersOf(workshop, { model, models, record, signal, base: order.base }),
    metrics: {
      steps: before.steps + 1,
      traces: order.batch.samples.length,
      evaluation_context: contextOf(workshop, model),
    },
    state: { ...before, steps: before.steps + 1 },
    origin: null,
    phase: 'proposing',
  }
}

type Means = Pick<Run, 'models' | 'record' | 'signal'> & { readonly model: ModelAddress; readonly base: Release }

function playersOf(workshop: Workshop, { model, models, record, signal, base }: Means): Players {
  const { settings, method, adapter, cache } = workshop
  const evaluatorName = ({ data }: Task): string => (typeof data?.['evaluator'] === 'string' ? data['evaluator'] : settings.evaluator)
  return new Players({
    stage: {
      adapter,
      executor: method.executor,
      contained: method.contained,
      model,
      models: models.models,
      program: () => workshop.program(),
      timeoutSeconds: settings.episode_timeout_s,
      evaluatorOf: (task) => method.evaluator(evaluatorName(task)),
      signal,
    },
    cache,
    context: { ...contextOf(workshop, model), ...circumstancesOf(workshop, base) },
    episodesMax: settings.max_episodes_per_step,
    keep: async (told) => record?.episode(episodeName(workshop, told), toldInFull(told), told.episode?.trajectory ?? []),
  })
}

/** What the scores of a step hold for. */
function contextOf({ adapter }: Workshop, model: ModelAddress): JsonObject {
  return { model: model.model, adapter: adapter.name, adapter_version: adapter.install?.version ?? null }
}

/**
 * What a score depends on beyond that, so that no side is held to what the other was measured by before the settings changed, or before another
 * component of the same scenario published: a model that learns keeps its name.
 */
function circumstancesOf({ settings, component }: Workshop, base: Release): JsonObject {
  const { evaluator, evaluator_module, executor, binary, sandbox, episode_timeout_s } = settings
  return {
    scored_as: SCORED_AS,
    evaluator,
    evaluator_module,
    executor,
    binary,
    sandbox,
    episode_timeout_s,
    others: othersIn(base, component),
  }
}

/** Raised when an evaluator of ours comes to score otherwise: what is known from before then is not known any more. */
const SCORED_AS = 2

/** What the other components of the release are. */
export function othersIn({ components = {} }: Release, component: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(components).filter(([name]) => name !== component))
}

function episodeName({ tasks }: Workshop, { side, task, repeat }: Told): string {
  const index = tasks.findIndex(({ name }) => name === task.name)
  return `${side}-${index === -1 ? task.name : index}${repeat === 0 ? '' : `-${repeat}`}`
}

function toldInFull({ side, task, repeat, score, failure, episode, grounds }: Told): JsonObject {
  const { exitCode = null, stdout = '', stderr = '', ended = null } = episode ?? {}
  const evaluation = grounds === null ? {} : { evaluation: { words: grounds.words, ...grounds.more } }
  return { side, task: task.name, prompt: task.prompt, repeat, score, failure, ...evaluation, exit_code: exitCode, ended, stdout, stderr }
}

export const metricsOf = (run: Run): JsonObject => ({ ...run.metrics, ...run.models.usage() })

export const stateOf = ({ state, workshop }: Run): JsonObject => printState(state, workshop.settings.max_rejected_history)

/** What was asked of models is kept whatever came of it. Answers what the row says of the record. */
export async function endRun({ record, models, workshop }: Run): Promise<JsonObject> {
  await record?.write('proposer.json', models.calls)
  return (await record?.close(workshop.settings.step_record_bytes)) ?? {}
}
