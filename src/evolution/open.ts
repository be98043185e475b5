/** Opens evolution for a recipe: its capabilities, the inbox and step records of its scenarios, and their trainer. */
import { basename, join } from 'node:path'
import { invalid } from '../contract/index.ts'
import type { Adapter, Binding, JsonObject, Parts, ScenarioScope, Surface, Task, TrainerPlan, TrainerScope } from '../contract/index.ts'
import { FolderDocuments, wordsOf } from '../kit/index.ts'
import { openArchive } from './archive/record.ts'
import { openSharedArchive } from './archive/shared.ts'
import { EpisodeCache } from './cache.ts'
import { futileReason } from './evaluate.ts'
import { hostHere, type HostParts } from './hosts/here.ts'
import { NOT_RULES_ALONE, rulesAlone } from './hosts/words.ts'
import { hostWorkers } from './hosts/workers.ts'
import { judged } from './families/shortage.ts'
import { Inbox, openProposals } from './inbox/inbox.ts'
import { openBudgets } from './money/budgets.ts'
import { Ledger } from './money/ledger.ts'
import { loadMethod, evolutionSettings, withModule, type Method, type EvolutionSettings } from './method.ts'
import { openProgram, type Program } from './program.ts'
import { readTasks } from './tasks/read.ts'
import type { EvolutionContext } from './run.ts'
import { makeTrainer } from './trainer.ts'
import { UnplayedProposal } from './unplayed.ts'

export interface Evolution {
  /** Whether a person may ask for a change. */
  readonly acceptsRequests: boolean
  /** Why traffic can never improve anything with this configuration, and the fix; null where it can, or where traffic is not used. */
  readonly idle: string | null
  readonly plan: TrainerPlan
  /** What the surface says of provisional releases. */
  readonly surface: Pick<Surface, 'provisional'>
  bind(scope: ScenarioScope, component?: string): Required<Pick<Binding, 'proposals' | 'folders' | 'budgets'>> & Pick<Binding, 'archive'>
}

interface EvolutionParts {
  readonly adapter: Adapter
  readonly parts: Parts
  /** The tasks used when the configuration names none. */
  readonly bundled: readonly JsonObject[]
  /** Before another try of an episode; a suite whose time is not real waits less. */
  readonly pauseMs?: number
}

export async function openEvolution(
  config: JsonObject,
  { adapter, parts, bundled, pauseMs = PAUSE_MS }: EvolutionParts,
): Promise<Evolution> {
  const settings = await withModule(evolutionSettings(config), parts.baseDirectory)
  const own: JsonObject = { ...Object(config['evolution']), base_directory: parts.baseDirectory }
  const method = await loadMethod(settings, own, parts)
  if (!method.runsPrograms && (settings.binary !== null || rulesAlone(adapter, []) === null)) throw invalid('no_executor', NOT_RULES_ALONE)
  const tasks = await readTasks(settings, parts.baseDirectory, bundled)
  await loadEvaluators(tasks, method)
  return {
    acceptsRequests: method.proposer.acceptsRequests,
    idle: idleOf(config, settings, method, tasks, parts),
    plan: {
      lane: 'thread',
      judgesCommands: true,
      open: (scope) =>
        openTrainer({ settings, method, adapter, tasks, pauseMs, hides: [parts.baseDirectory, ...(parts.ownPaths ?? [])] }, scope),
    },
    surface: settings.provisional === 'canary' ? { provisional: { share: settings.canary_share } } : {},
    bind: ({ directory, documents, read }, component = '') => {
      const inbox = inboxOf(settings, directory, documents)
      const { step_record_dir: records } = settings
      return {
        proposals: openProposals({
          inbox,
          adapter,
          problem: method.unplayable,
          read: ({ content_id, components = {} }) => read(components[component] ?? content_id),
        }),
        budgets: openBudgets({
          documents: documents?.('own') ?? new FolderDocuments(directory),
          component,
          prices: settings,
          now: Date.now,
        }),
        ...(records !== null && { archive: documents === undefined ? openArchive(records) : openSharedArchive(documents('steps')) }),
        folders: [inboxFolder(settings, directory), ...(records === null ? [] : [join(records, basename(directory))])],
      }
    },
  }
}

/** Loads evaluators that tasks name, so that a wrong name is found at start. */
async function loadEvaluators(tasks: readonly Task[], method: Method): Promise<void> {
  for (const { name, data } of tasks) {
    const evaluator = data?.['evaluator']
    if (typeof evaluator !== 'string') continue
    await method.evaluator(evaluator).catch((error: unknown) => {
      throw invalid('task_invalid', `evolution.tasks: task ${name}: its evaluator cannot be used: ${wordsOf(error)}`)
    })
  }
}

/** In hybrid mode requests still work, so this is only a warning. */
function idleOf(config: JsonObject, settings: EvolutionSettings, method: Method, tasks: readonly Task[], parts: Parts): string | null {
  const { training_mode: mode } = Object(config['data'])
  const reason = mode === 'manual' ? null : idleReason(settings, method, tasks)
  if (reason !== null && mode === 'hybrid') parts.warn(reason)
  return mode === 'hybrid' ? null : reason
}

/** Asks the selection as a first step on traffic would. With `promote_failures`, tasks may still be added. */
function idleReason(settings: EvolutionSettings, { selection }: Method, tasks: readonly Task[]): string | null {
  const { promote_failures, max_episodes_per_step: most, episode_repeats: repeats } = settings
  if (promote_failures) return null
  const cure = 'add tasks of role gate (evolution.tasks, evolution.tasks_dir), or learn from requests alone (data.training_mode: manual)'
  if (!tasks.some(({ role }) => role === 'gate')) return `traffic can improve nothing: there is no task of role gate; ${cure}`
  const question = {
    kind: 'traffic',
    tasks: judged(tasks, settings.tasks_alike),
    repeats,
    seed: '',
    history: { decided: 0, selected: 0 },
    pairs: [],
  } as const
  const reason = futileReason(selection, { ...question, episodesLeft: most === 0 ? null : most })
  return reason === null ? null : `traffic can improve nothing: ${reason}; ${cure}`
}

/** A neighbour that fills the machine is ended at its own limit within a second. */
const PAUSE_MS = 100

async function openTrainer(
  opened: Pick<EvolutionContext, 'settings' | 'method' | 'adapter' | 'tasks' | 'pauseMs'> & Pick<HostParts, 'hides'>,
  scope: TrainerScope,
) {
  const { directory, scenario, component, documents } = scope
  const own = documents?.('own') ?? new FolderDocuments(directory)
  const { settings, adapter, method, hides } = opened
  return makeTrainer({
    ...opened,
    host:
      settings.episode_host === 'workers'
        ? hostWorkers(adapter, settings)
        : hostHere({
            adapter,
            method,
            settings,
            // Records of all scenarios.
            hides: [...hides, join(directory, '../..')],
            program: once(() => openProgram({ adapter, binary: settings.binary, directory: join(directory, '../../agents') })),
          }),
    evaluation: evaluationOf(scope),
    cache: await EpisodeCache.open(documents?.('own') ?? new FolderDocuments(directory, { syncsAppends: false })),
    ledger: new Ledger(own, component),
    inbox: inboxOf(settings, directory, documents),
    steps: documents?.('steps') ?? null,
    unplayed: new UnplayedProposal(own, component),
    scenario,
    component,
    folder: basename(directory),
    now: Date.now,
  })
}

/** A candidate component is played with the other components as served. */
function evaluationOf({ evaluation, component }: TrainerScope): TrainerScope['evaluation'] {
  if (component === '') return evaluation
  return { ...evaluation, url: evaluation.url.replace(/\/evaluation$/, `/components/${encodeURIComponent(component)}/evaluation`) }
}

/** Caches a success; the next step retries a failure. */
function once(open: () => Promise<Program>): () => Promise<Program> {
  let opened: Promise<Program> | null = null
  return () => {
    opened ??= open().catch((error: unknown) => {
      opened = null
      throw error
    })
    return opened
  }
}

/** Named like the scenario's folder, so that a later scenario of the same name does not inherit it. */
const inboxFolder = ({ proposals_dir }: EvolutionSettings, directory: string): string => join(proposals_dir, basename(directory))

const inboxOf = (settings: EvolutionSettings, directory: string, shared: TrainerScope['documents']): Inbox =>
  new Inbox(shared?.('proposals') ?? new FolderDocuments(inboxFolder(settings, directory)), settings.max_pending_proposals)
