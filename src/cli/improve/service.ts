/** The service of a run: in this process, on a free port of the loopback, with its records in the folder of the run. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { stringify } from 'yaml'
import { builtins } from '../../../plugins/index.ts'
import { ConfigProblem, loadConfig, loadPlugin, type CommandLineReading, type LoadedConfig } from '../../config/index.ts'
import { ENV, type Adapter, type Entry, type Parts } from '../../contract/index.ts'
import { openPlayer, type Player } from '../../evolution/index.ts'
import { NATIVE, type OpenedService, type RoundLimits } from '../../improve/index.ts'
import { entriesBelow, writeAtomicFile } from '../../kit/index.ts'
import type { Surroundings } from '../surroundings.ts'
import { calmLog } from '../welcome/index.ts'

export interface RunConfig {
  /** The folder of the run. */
  readonly folder: string
  readonly agent: string
  readonly entries: readonly Entry[]
  readonly practice: boolean
  readonly commandLine: CommandLineReading
}

const TOKEN_BYTES = 24
const GRACE_SECONDS = 1

export const tasksFolder = (folder: string): string => join(folder, 'tasks')
const serviceFolder = (folder: string): string => join(folder, 'service')
const stepsFolder = (folder: string): string => join(serviceFolder(folder), 'steps')

/** The configuration of one step; null: of none. Keys of the command line win over it. A provider that was found has a model that is asked by default. */
export async function configFor(run: RunConfig, limits: RoundLimits | null, surroundings: Surroundings): Promise<LoadedConfig> {
  const { folder, practice } = run
  const own = serviceFolder(folder)
  const settings = {
    svc: { host: '127.0.0.1', port: 0, listeners: 1, token: randomBytes(TOKEN_BYTES).toString('hex') },
    inference: { ...(practice && { runtime: 'practice' }) },
    storage: { agent_record_dir: join(own, 'records'), artifact_repository: join(own, 'artifacts.git') },
    recipe: 'harness',
    // Without a step nothing may begin one, and too few episodes for one are no fault.
    data: { training_mode: limits === null ? 'manual' : 'auto' },
    pipeline: { task2batch: { config: { batch_size: limits?.reports ?? 1 } } },
    evolution: {
      adapter: run.agent,
      version_check: false,
      requests: false,
      tasks_dir: tasksFolder(folder),
      // A person reads the patch before anything of it is used.
      publish_powers: ['words', 'orders'],
      review_kinds: ['code_extension', 'config'],
      max_episodes_per_step: limits?.episodesMax ?? 0,
      proposals_dir: join(own, 'proposals'),
      step_record_dir: stepsFolder(folder),
    },
  }
  const file = join(folder, 'run', 'svc.yaml')
  const seed = run.entries.map((entry) => ({ ...entry }))
  // Text of a configuration is filled from the environment; only the seed is taken as it is.
  const text = stringify(settings).replaceAll('${', () => '$${') + stringify({ evolution: { seed } }).replace(/^evolution:\n/, '')
  await writeAtomicFile(file, text, 0o600)
  const { environment } = surroundings
  const load = (commandLine: CommandLineReading): Promise<LoadedConfig> =>
    loadConfig({ file, baseDirectory: folder, commandLine, environment })
  const loaded = await load(run.commandLine)
  const { model, exampleModel } = loaded.upstream
  if (model === null || model.model !== null || exampleModel === null) return loaded
  const named = { path: ['inference', 'upstream_model'], value: exampleModel, origin: 'command line' } as const
  return load({ ...run.commandLine, given: [...run.commandLine.given, named] })
}

/** Without one the mock model would answer, and nothing would be learnt about the agent. */
export function requireModel({ upstream }: LoadedConfig, practice: boolean): void {
  if (practice) return
  if (upstream.model === null)
    throw new ConfigProblem([
      `no model is set or found; set --model-url, ${ENV.upstreamUrl}, OPENAI_API_KEY or ANTHROPIC_API_KEY, start Ollama, or see a demonstration with --practice`,
    ])
  if (upstream.model.model === null)
    throw new ConfigProblem([`the model at ${upstream.model.url} has no name here; set --inference.upstream_model or ${ENV.upstreamModel}`])
}

export const loadAdapter = (agent: string, folder: string): Promise<Adapter> => loadPlugin('adapter', agent, builtins, folder)

/** The tools of our own agent are no files of a repository; without them it could only talk. */
export const withTools = ({ name, seed = [] }: Adapter, entries: readonly Entry[], practice: boolean): readonly Entry[] =>
  name === NATIVE && !practice ? [...entries, ...seed.filter((entry) => entry.name.startsWith('native_'))] : entries

export async function playerFor(loaded: LoadedConfig, adapter: Adapter, warn: (line: string) => void): Promise<Player> {
  const { config, baseDirectory, ownPaths } = loaded
  const { use: _use, ...sections } = config.recipes[config.recipe] ?? { use: '' }
  const parts: Parts = { plugin: (kind, name) => loadPlugin(kind, name, builtins, baseDirectory), baseDirectory, ownPaths, warn }
  return openPlayer({ ...sections }, { adapter, parts, programs: join(config.storage.agent_record_dir, 'agents') })
}

export async function startFor(loaded: LoadedConfig, folder: string, surroundings: Surroundings): Promise<OpenedService> {
  const { startService } = await surroundings.service()
  const log = calmLog((line) => surroundings.err(line))
  const running = await startService(loaded, { log, graceSeconds: GRACE_SECONDS, trainersGiveWay: false })
  const { upstream, config } = loaded
  return {
    url: running.address,
    token: config.svc.token,
    model: { model: upstream.model?.model ?? upstream.exampleModel, api: upstream.model?.api ?? 'openai' },
    played: () => episodesIn(stepsFolder(folder)),
    close: () => running.close(),
  }
}

/** The steps leave a file of each episode as it ends. */
async function episodesIn(folder: string): Promise<number> {
  const listed = await entriesBelow(folder).catch(() => [])
  return listed.filter(({ name }) => name === 'episode.json').length
}
