/** Evolution for a recipe: what it may be asked, what its scenarios take and keep, and the trainer that improves them. */
import { hash } from 'node:crypto'
import { readFile } from 'node:fs/promises'
import { basename, join, resolve } from 'node:path'
import type {
  Adapter,
  Binding,
  JsonObject,
  ModelAddress,
  Parts,
  ScenarioScope,
  Task,
  TrainerPlan,
  TrainerScope,
} from '../contract/index.ts'
import { openArchive } from './archive/index.ts'
import { EpisodeCache } from './cache.ts'
import type { Program } from './episodes.ts'
import { Inbox, openProposals } from './inbox/index.ts'
import { loadMethod, type Method } from './method.ts'
import { openProgram } from './program/index.ts'
import { evolutionSettings, type EvolutionSettings } from './settings.ts'
import { readTasks } from './tasks/index.ts'
import { makeTrainer } from './trainer.ts'

export interface Evolution {
  /** Whether a person may ask for a change. */
  readonly acceptsRequests: boolean
  readonly plan: TrainerPlan
  /** What a scenario has beside its surface. */
  bind(scope: ScenarioScope, component?: string): Required<Pick<Binding, 'proposals' | 'folders'>> & Pick<Binding, 'archive'>
}

export interface EvolutionParts {
  readonly adapter: Adapter
  readonly parts: Parts
  /** The tasks of a recipe whose configuration names none. */
  readonly bundled: readonly JsonObject[]
}

export async function openEvolution(config: JsonObject, { adapter, parts, bundled }: EvolutionParts): Promise<Evolution> {
  const settings = await withModule(evolutionSettings(config), parts.baseDirectory)
  const own: JsonObject = { ...Object(config['evolution']), base_directory: parts.baseDirectory }
  const method = await loadMethod(settings, own, parts)
  const tasks = await readTasks(settings, parts.baseDirectory, bundled)
  return {
    acceptsRequests: method.proposer.acceptsRequests,
    plan: { lane: 'thread', open: (scope) => openTrainer({ settings, method, adapter, tasks }, scope) },
    bind: ({ directory, read }, component = '') => {
      const inbox = inboxOf(settings, directory)
      const { step_record_dir: records } = settings
      return {
        proposals: openProposals({
          inbox,
          adapter,
          problem: method.strangersProblem,
          read: ({ content_id, components = {} }) => read(components[component] ?? content_id),
        }),
        ...(records !== null && { archive: openArchive(resolve(records)) }),
        folders: [inboxFolder(settings, directory), ...(records === null ? [] : [resolve(records, basename(directory))])],
      }
    },
  }
}

/** Here a module is known by what it holds: one that was changed scores otherwise, and its earlier scores are another's. */
async function withModule(settings: EvolutionSettings, baseDirectory: string): Promise<EvolutionSettings> {
  const { evaluator_module: path } = settings
  if (path === null) return settings
  const code = await readFile(resolve(baseDirectory, path)).catch(() => path)
  return { ...settings, evaluator_module: hash('sha256', code) }
}

interface Opened {
  readonly settings: EvolutionSettings
  readonly method: Method
  readonly adapter: Adapter
  readonly tasks: readonly Task[]
}

async function openTrainer({ settings, method, adapter, tasks }: Opened, scope: TrainerScope) {
  const { directory, scenario, component } = scope
  return makeTrainer({
    settings: { ...settings, step_record_dir: settings.step_record_dir === null ? null : resolve(settings.step_record_dir) },
    method,
    adapter,
    tasks,
    evaluation: evaluationOf(scope),
    cache: await EpisodeCache.open(join(directory, 'episodes.jsonl')),
    inbox: inboxOf(settings, directory),
    scenario,
    component,
    folder: basename(directory),
    program: once(() => openProgram({ adapter, binary: settings.binary, directory: join(directory, '../../agents') })),
  })
}

/** A candidate of one component is played with the others as they are served. */
function evaluationOf({ evaluation, component }: TrainerScope): ModelAddress {
  if (component === '') return evaluation
  return { ...evaluation, url: evaluation.url.replace(/\/evaluation$/, `/components/${encodeURIComponent(component)}/evaluation`) }
}

/** Kept once it worked; what failed is tried again by the next step. */
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

/** Named like the scenario's own folder, so that no later scenario of its name inherits it. */
const inboxFolder = ({ proposals_dir }: EvolutionSettings, directory: string): string => resolve(proposals_dir, basename(directory))

const inboxOf = (settings: EvolutionSettings, directory: string): Inbox =>
  new Inbox(inboxFolder(settings, directory), settings.max_pending_proposals)
