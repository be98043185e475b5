/** A running step: its inputs, and everything that goes into its row. */
import { randomBytes } from 'node:crypto'
import { z } from 'zod'
import { finalText, isObject } from '../contract/index.ts'
import type {
  Adapter,
  Documents,
  Entry,
  Json,
  JsonObject,
  ModelAddress,
  Proposal,
  Rejected,
  Release,
  Reporter,
  StepOrder,
  Task,
} from '../contract/index.ts'
import { entriesIn, renderTree } from '../harness/index.ts'
import { openStepRecord, type StepRecord } from './archive/record.ts'
import { cacheKey, type EpisodeCache } from './cache.ts'
import { EpisodeRunner, type EpisodeResult } from './episodes.ts'
import type { EpisodeHost } from './hosts/host.ts'
import { playedWith } from './hosts/plays.ts'
import { NO_MOVES, type Moves } from './families/moves.ts'
import type { Inbox, SettledProposal } from './inbox/inbox.ts'
import type { Method, EvolutionSettings } from './method.ts'
import { openModels, type OpenedModels } from './models/index.ts'
import type { Ledger } from './money/ledger.ts'
import { capsOf } from './money/caps.ts'
import { spendingState } from './money/improvement.ts'
import { Purse } from './money/purse.ts'
import { spentJson } from './money/spent.ts'
import { evaluatorOf } from './tasks/read.ts'
import { EpisodeTelling } from './telling.ts'
import { keptRejections, withRejections } from './rejections.ts'
import type { UnplayedProposal } from './unplayed.ts'

/** What the steps of one scenario share. */
export interface EvolutionContext {
  readonly settings: EvolutionSettings
  readonly method: Method
  readonly adapter: Adapter
  readonly tasks: readonly Task[]
  /** The evaluation routes; the model's name comes with each step. */
  readonly evaluation: Pick<ModelAddress, 'url' | 'apiKey'>
  readonly cache: EpisodeCache
  readonly ledger: Ledger
  readonly inbox: Inbox
  readonly unplayed: UnplayedProposal
  readonly scenario: string
  /** '' where the scenario has no components. */
  readonly component: string
  /** Where all gateways share the records of steps; null: in a folder of this machine. */
  readonly steps: Documents | null
  /** The name of the scenario's folder. */
  readonly folder: string
  /** Before another try of an episode that the model or the machine failed. */
  readonly pauseMs: number
  /** The time, in milliseconds. */
  readonly now: () => number
  /** Plays its episodes. */
  readonly host: EpisodeHost
}

export interface StepRun {
  readonly context: EvolutionContext
  readonly order: StepOrder
  readonly report: Reporter
  readonly signal: AbortSignal
  /** The served tree. */
  readonly entries: readonly Entry[]
  readonly record: StepRecord | null
  readonly models: OpenedModels
  readonly purse: Purse
  readonly episodes: EpisodeRunner
  /** Goes into the row, also when the step fails. */
  readonly metrics: Record<string, JsonObject[string]>
  state: EvolutionState
  /** Where the change came from, once there is one. */
  origin: { readonly claimed: string } | { readonly answers: readonly Proposal[] } | null
  phase: 'proposing' | 'evaluating'
  /** Null where changes go to the gate as they are. */
  screening: Screening | null
}

/** What changes are screened with before the gate. */
export interface Screening {
  readonly tasks: readonly Task[]
  /** Of episodes, at most. */
  readonly pairs: number
}

/** A screened change whose case is open: the next step goes on with it. */
interface ProvingChange {
  readonly mutations: Rejected['mutations']
  readonly requires: readonly Json[]
  /** How many steps played it. */
  readonly steps: number
}

export async function beginRun(context: EvolutionContext, order: StepOrder, report: Reporter, signal: AbortSignal): Promise<StepRun> {
  const { settings, adapter, folder } = context
  const model = { ...context.evaluation, ...order.model }
  const before = withRejections(evolutionState.parse(order.state), order.rejections)
  const purse = new Purse(context.ledger, settings, order.step, context.now)
  let begun: StepRun | null = null
  const models = openModels(model, {
    callsMax: settings.max_model_calls_per_step,
    report,
    signal,
    hold: async (bound, over) => {
      await refuseSpent(purse, begun?.phase ?? 'proposing')
      return purse.hold('model', bound, over)
    },
    used: (call, held) => void purse.spend('model', call, held),
  })
  const record = await openStepRecord(settings.step_record_dir, folder, order.step, context.steps)
  const entries = entriesIn(adapter, order.files)
  report.phase('proposing', typeof record?.name === 'string' ? { step_record: record.name } : {})
  begun = {
    context,
    order,
    report,
    signal,
    entries,
    record,
    models,
    purse,
    episodes: runnerOf(context, { model, models, purse, record, report, signal, order, entries }),
    metrics: {
      steps: before.steps + 1,
      traces: order.batch.samples.length,
      evaluation_context: scoreContext(context, model),
    },
    state: { ...before, steps: before.steps + 1 },
    origin: null,
    phase: 'proposing',
    screening: null,
  }
  return begun
}

/** An episode that was played is scored, also by a model, as long as what that takes fits below the cap. */
async function refuseSpent(purse: Purse, phase: StepRun['phase']): Promise<void> {
  await purse.settle()
  if (phase === 'proposing' && purse.reached !== null) throw new Error(purse.reached)
}

type Means = Pick<StepRun, 'models' | 'purse' | 'record' | 'report' | 'signal' | 'order' | 'entries'> & {
  readonly model: ModelAddress
}

function runnerOf(context: EvolutionContext, { model, models, purse, record, report, signal, order, entries }: Means): EpisodeRunner {
  const { settings, method, adapter, cache, scenario } = context
  const telling = new EpisodeTelling(report)
  return new EpisodeRunner({
    setup: {
      host: context.host,
      adapter,
      model,
      models: models.models,
      priority: order.batch.request === null ? 'traffic' : 'request',
      budget: { step: order.step, model: model.model, ...capsOf(settings) },
      pauseMs: context.pauseMs,
      evaluatorOf: (task) => method.evaluator(evaluatorOf(task, settings.evaluator)),
      signal,
    },
    cache,
    purse,
    step: order.step,
    now: context.now,
    ageMaxMs: settings.score_age_max_s * 1000,
    scoredWith: { ...scoreContext(context, model), ...scoreInputs(context, order.base) },
    // A change that is published does not keep the luck that it was chosen by.
    luck: settings.sampling_seeds === 'off' ? null : cacheKey([scenario, renderTree(adapter, entries)]),
    episodesMax: settings.max_episodes_per_step,
    keep: async (result) => {
      const folder = await record?.episode(episodeName(context, result), episodeRecord(result), result.episode?.trajectory ?? [])
      telling.tell(result, folder ?? null)
      return typeof folder === 'string' ? `${record?.name}/${folder}` : null
    },
  })
}

function scoreContext({ adapter }: EvolutionContext, model: ModelAddress): JsonObject {
  return { model: model.model, adapter: adapter.name, adapter_version: adapter.install?.version ?? null }
}

/** Further inputs of a score: a change of settings, or a release of another component, must not reuse cached scores. */
const scoreInputs = ({ settings, component }: EvolutionContext, base: Release): JsonObject => ({
  ...playedWith(settings),
  others: othersIn(base, component),
})

/** The content ids of the release's other components. */
export function othersIn({ components = {} }: Release, component: string): Readonly<Record<string, string>> {
  return Object.fromEntries(Object.entries(components).filter(([name]) => name !== component))
}

function episodeName({ tasks }: EvolutionContext, { side, task, repeat }: EpisodeResult): string {
  const index = tasks.findIndex(({ name }) => name === task.name)
  return `${side}-${index === -1 ? task.name : index}${repeat === 0 ? '' : `-${repeat}`}`
}

function episodeRecord({ side, task, repeat, score, failure, episode, note, troubles, spent, seconds, seeds }: EpisodeResult): JsonObject {
  const { exitCode = null, stdout = '', stderr = '', ended = null, notes = [] } = episode ?? {}
  const evaluation = note === null ? {} : { evaluation: { words: note.words, ...note.more } }
  return {
    side,
    task: task.name,
    prompt: task.prompt,
    repeat,
    score,
    failure,
    ...(troubles > 0 && { troubles }),
    ...evaluation,
    seconds,
    ...(spent.calls > 0 && { spent: spentJson(spent) }),
    // A null is a call without a seed of the pair.
    ...(seeds.some((seed) => seed !== null) && { seeds }),
    exit_code: exitCode,
    ended,
    ...(notes.length > 0 && { notes }),
    answer: episode === null ? '' : finalText(episode),
    stdout,
    stderr,
  }
}

export const metricsOf = (run: StepRun): JsonObject => ({ ...run.metrics, ...run.models.usage(), ...run.purse.metrics() })

/** Records the model calls, whatever the outcome, and returns the record's fields for the row. */
export async function endRun({ record, models, context }: StepRun): Promise<JsonObject> {
  await record?.write('proposer.json', models.calls)
  return (await record?.close(context.settings.step_record_bytes)) ?? {}
}

/** How many settled proposals the inbox needs to reconcile. */
const SETTLED_PROPOSALS_MAX = 32

/** What the gate was asked about one candidate. */
export interface GateCase {
  /** The candidate's rendered tree, and what it is measured against. */
  readonly tree: string
  readonly against: string
  /** Only of an open case. */
  readonly open?: OpenCase
}
export interface OpenCase {
  /** The history that its first decision had, which sets its level. */
  readonly decided: number
  readonly selected: number
  readonly seed: string
  readonly pairs: readonly KeptPair[]
  /** The families that tasks were joined into for its first decision. What is learnt meanwhile would count its pairs otherwise than they were drawn. */
  readonly families?: Readonly<Record<string, string>>
}
export type KeptPair = readonly [
  task: string,
  repeat: number,
  candidate: number | null,
  current: number | null,
  weight: number | null,
  isStale: boolean,
  gain?: number,
]

/** What requests are measured against together: the tree that was served before the first of them. */
export interface Baseline {
  /** The served trees since then: its own, then one for each change that was published and is added up. */
  readonly trees: readonly string[]
  /** Its entries in order, and those of them that were changed since, as they were. The others are as they are now. */
  readonly ids: readonly string[]
  readonly changed: readonly Entry[]
  /** How many changes passed by themselves and were not shown to be harmless together with those before. */
  readonly failed: number
}

/** An entry that a request wrote, so that a later change of it can name the request. */
export interface AskedEntry {
  readonly entry: string
  readonly request: string
  readonly step: number
  /** The first words of the request. Absent of one that an older version kept. */
  readonly text?: string
}
const ASKED_ENTRIES_MAX = 256

const count = z.number().int().nonnegative().catch(0)
const list = <T>() => z.custom<readonly T[]>(Array.isArray).catch([])

/** The state that a step passes to the next in its row. It may be older than this code: fields that do not fit get their default. */
const evolutionState = z.object({
  steps: count,
  /** Seeds the choice of failing reports that join the gate. Secret: a client that knew it could choose the role of its report. */
  key: z.string().min(1).catch(newKey),
  /** Candidates from traffic that the gate decided on, and how many of them it selected. */
  decided: count,
  selected: count,
  /** Which decisions selected, newest last. */
  selected_at: z.array(z.number()).catch([]),
  /** Names of tasks whose text reached a proposer. */
  exposed: z.array(z.string()).catch([]),
  promoted: list<Task>(),
  promoted_clients: z.record(z.string(), z.number()).readonly().catch({}),
  rejected: list<Rejected>(),
  /** The newest row by which a person rejected a release, of those that are among the rejected. */
  reviewed: count,
  /** What the gate was asked, newest last. */
  cases: list<GateCase>(),
  /** How tasks of the gate moved under earlier candidates. */
  moves: z.custom<Moves>((value) => isObject(value) && Array.isArray(value['tasks']) && Array.isArray(value['rows'])).catch(NO_MOVES),
  proving: z
    .custom<ProvingChange>((value) => isObject(value) && Array.isArray(value['mutations']))
    .nullable()
    .catch(null),
  /** Null where no request was published since the last tree that came by other means. */
  baseline: z
    .custom<Baseline>((value) => isObject(value) && [value['trees'], value['ids'], value['changed']].every(Array.isArray))
    .nullable()
    .catch(null),
  proposals: list<SettledProposal>(),
  /** The entries that people's requests wrote, newest last. */
  asked: list<AskedEntry>(),
  memory: z.record(z.string(), z.custom<Json>()).catch({}),
  spending: spendingState,
})
type EvolutionState = Readonly<z.infer<typeof evolutionState>>

function newKey(): string {
  return randomBytes(16).toString('hex')
}

export function stateOf({ state, context }: StepRun): JsonObject {
  const rejected = keptRejections(state.rejected, context.settings.max_rejected_history)
  return JSON.parse(
    JSON.stringify({
      ...state,
      rejected,
      proposals: state.proposals.slice(-SETTLED_PROPOSALS_MAX),
      asked: state.asked.slice(-ASKED_ENTRIES_MAX),
    }),
  )
}
