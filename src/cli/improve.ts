/** `svc improve`: from a repository to a better agent, in one command that goes on where it was stopped. */
import { stat } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import { hash } from 'node:crypto'
import { ConfigProblem, type CommandLineReading, type LoadedConfig } from '../config/index.ts'
import { canonicalJson, invalid, type Adapter, type Files } from '../contract/index.ts'
import {
  AGENTS,
  branchProblem,
  changesOf,
  copyTasks,
  findAgents,
  gitPlaceOf,
  improve as runImprove,
  layoutOf,
  makeBranch,
  makeSample,
  makeSampleTasks,
  messageOf,
  NATIVE,
  openState,
  patchOf,
  readHarness,
  readResult,
  uncommitted,
  writePatch,
  type AgentLayout,
  type HarnessRead,
  type ImproveResult,
  type ImproveState,
} from '../improve/index.ts'
import { printError } from './explain.ts'
import { askModelOnce } from './improve/ask-model.ts'
import { keepTasks, refuseOtherTasks, TASKS_MINED, type TaskOptions } from './improve/asked.ts'
import { mineFor } from './improve/mine.ts'
import { costText, openScreen, type ImproveScreen } from './improve/screen.ts'
import { configFor, loadAdapter, playerFor, requireModel, startFor, tasksFolder, withTools, type RunConfig } from './improve/service.ts'
import type { RemoteOptions } from './remote/address.ts'
import { shellWord } from './screen/text.ts'
import { stoppable } from './stopping.ts'
import { EXIT, type Surroundings } from './surroundings.ts'

export interface ImproveOptions extends TaskOptions {
  readonly dir?: string
  readonly agent?: string
  readonly url?: string
  readonly budget: number
  readonly modelUrl?: string
  readonly branch?: string
  readonly patch?: string
  readonly serve?: boolean
  readonly practice?: boolean
  readonly yes?: boolean
  readonly fresh?: boolean
  readonly json?: boolean
  readonly commandLine: CommandLineReading
}

export async function improve(options: ImproveOptions, surroundings: Surroundings): Promise<number> {
  const stopping = stoppable(surroundings)
  let state: ImproveState | null = null
  try {
    const folder = await folderOf(options)
    state = await openState(folder, surroundings.environment)
    return await run(options, { folder, state, surroundings, signal: stopping.signal })
  } catch (error) {
    const code = stopping.exitCode()
    if (code === null) {
      printError(error, null, surroundings)
      return error instanceof ConfigProblem ? EXIT.misconfigured : EXIT.failed
    }
    surroundings.err(`stopped; the same command goes on from here, and --fresh begins anew`)
    return code
  } finally {
    state?.close()
  }
}

async function folderOf({ dir = '.' }: ImproveOptions): Promise<string> {
  const folder = resolve(dir)
  const found = await stat(folder).catch(() => null)
  if (found?.isDirectory() !== true) throw new ConfigProblem([`${shellWord(dir)} is no folder; name the folder of a repository`])
  return folder
}

interface RunPlace {
  readonly folder: string
  readonly state: ImproveState
  readonly surroundings: Surroundings
  readonly signal: AbortSignal
}

/** The repository with its agent, and what the agent reads there. */
interface Subject {
  readonly repository: string
  readonly agent: string
  readonly why: string
  readonly layout: AgentLayout
  readonly adapter: Adapter
  readonly read: HarnessRead
}

async function run(options: ImproveOptions, place: RunPlace): Promise<number> {
  const { state, surroundings } = place
  const screen = openScreen(surroundings, options.json === true)
  if (options.fresh === true) await state.clear()
  const subject = await subjectOf(options, place)
  const begins = beginningOf(subject, options)
  const ended = (await isBegun(state, begins)) ? await readResult(state) : null
  await checkBranch(options, subject, ended !== null)
  await begin(state, begins)
  await refuseOtherTasks(state, options)
  const { agent, why, read } = subject
  screen.show({ event: 'found', agent, why, files: Object.values(read.sources).map(({ path }) => path), left_out: read.leftOut })
  if (ended !== null) {
    screen.say(`this run has ended; --fresh begins a new one`)
    screen.show({ event: 'result', ...ended.result })
    return finish(options, place, subject, ended, screen)
  }
  const config = runConfigOf(options, place, subject)
  const loaded = await configFor(config, null, surroundings)
  requireModel(loaded, options.practice === true)
  const { model, found } = loaded.upstream
  if (model !== null) screen.say(`model ${model.model ?? ''} at ${model.url} (${found}); another with --inference.upstream_model`)
  await askModelOnce(loaded, place.signal)
  await takeTasks(options, place, subject, loaded, screen)
  await keepModel(state, loaded.upstream.model?.model ?? null)
  const player = await playerFor(loaded, subject.adapter, (line) => surroundings.err(line))
  const problem = await player.problem()
  if (problem !== null) throw noEpisodes(problem)
  screen.show({ event: 'tasks', tasks: player.tasks.map(({ name, role }) => ({ name, role })), folder: tasksFolder(state.folder) })
  const end = await runImprove({
    state,
    adapter: subject.adapter,
    entries: config.entries,
    player,
    budget: options.budget,
    workers: workersOf(loaded),
    signal: place.signal,
    open: async (limits) => startFor(await configFor(config, limits, surroundings), state.folder, surroundings),
    emit: (event) => screen.show(event),
    agree: (cost) => agree(options, screen, costText(cost)),
  })
  if (end.kind === 'ended') return finish(options, place, subject, end, screen)
  screen.say('nothing more is played without a yes; the same command with --yes goes on from here')
  return EXIT.fine
}

function runConfigOf(options: ImproveOptions, { state }: RunPlace, { agent, adapter, read }: Subject): RunConfig {
  const { practice = false } = options
  return { folder: state.folder, agent, practice, commandLine: withModel(options), entries: withTools(adapter, read.entries, practice) }
}

/** `--model-url` is the key of the configuration by a shorter name. */
const withModel = ({ modelUrl, commandLine }: ImproveOptions): CommandLineReading =>
  modelUrl === undefined
    ? commandLine
    : { ...commandLine, given: [{ path: ['inference', 'upstream_url'], value: modelUrl, origin: 'command line' }, ...commandLine.given] }

const evolutionOf = ({ config }: LoadedConfig) => config.recipes[config.recipe]?.evolution
const workersOf = (loaded: LoadedConfig): number => evolutionOf(loaded)?.episode_workers ?? 1

/** Of the folder, or of the sample that the demonstration makes where the folder holds no agent's files. */
async function subjectOf(options: ImproveOptions, { folder, state, surroundings }: RunPlace): Promise<Subject> {
  const found = await findAgents(folder, surroundings.environment['PATH'] ?? '')
  const isSample = options.practice === true && options.agent === undefined
  const repository = isSample && found.why.startsWith('the repository holds no') ? await makeSample(state.folder) : folder
  const agent = isSample ? NATIVE : await chosenAgent(options, found, surroundings)
  const layout = layoutOf(agent)
  if (layout === null) throw new ConfigProblem([`--agent must be one of ${[...Object.keys(AGENTS), NATIVE].join(', ')}`])
  const adapter = await loadAdapter(agent, folder)
  const read = await readHarness(adapter, layout.places, repository)
  const refused = read.leftOut.find(({ path }) => layout.places.rules.includes(path))
  if (refused !== undefined) throw invalid('rules_refused', `${refused.path} cannot be improved: ${refused.why}`)
  return { repository, agent, why: options.agent === undefined ? found.why : 'as asked for', layout, adapter, read }
}

async function chosenAgent(
  { agent }: ImproveOptions,
  { agents, why }: Awaited<ReturnType<typeof findAgents>>,
  surroundings: Surroundings,
): Promise<string> {
  if (agent !== undefined) return agent
  const [first, second] = agents
  if (first !== undefined && second === undefined) return first
  const known = agents.length === 0 ? Object.keys(AGENTS) : agents
  const problem = agents.length === 0 ? `${why}, and none is installed` : `it may be for ${agents.join(', ')}`
  const said = (await surroundings.ask(`Which agent should improve (${problem})? ${known.join(', ')}\n> `))?.trim()
  if (said !== undefined && known.includes(said)) return said
  throw new ConfigProblem([`it is not clear which agent should improve: ${problem}; name it with --agent ${known.join('|')}`])
}

async function checkBranch({ branch }: ImproveOptions, { repository, read }: Subject, hasEnded: boolean): Promise<void> {
  if (branch === undefined) return
  const problem = await branchProblem(repository, branch, hasEnded)
  if (problem !== null) throw new ConfigProblem([problem])
  const edited = await uncommitted(
    repository,
    Object.values(read.sources).map(({ path, text }) => ({ path, before: text })),
  )
  if (edited.length > 0)
    throw new ConfigProblem([
      `${edited.join(', ')} holds edits that are not committed, and a branch would carry them along; commit them, or use --patch FILE`,
    ])
}

/** A run belongs to one agent and one tree. */
const beginningOf = ({ agent, read }: Subject, { practice = false }: ImproveOptions) => ({
  agent,
  practice,
  tree: hash('sha256', canonicalJson(read.entries.map((entry) => ({ ...entry })))),
})
type Beginning = ReturnType<typeof beginningOf>

const isBegun = async (state: ImproveState, begins: Beginning): Promise<boolean> =>
  JSON.stringify(await state.read('begun')) === JSON.stringify(begins)

/** A run that has ended, or has no tasks yet, makes room for the next by itself. */
async function begin(state: ImproveState, begins: Beginning): Promise<void> {
  if (await isBegun(state, begins)) return
  if ((await state.read('begun')) !== null) {
    if ((await state.read('tasks')) !== null && (await readResult(state)) === null)
      throw invalid(
        'another_run',
        'a run that has not ended began with another agent or other rules; go back to those, or begin anew with --fresh',
      )
    await state.clear()
  }
  await state.write('begun', begins)
}

/** Scores of two models say nothing about a change of rules. */
async function keepModel(state: ImproveState, model: string | null): Promise<void> {
  const kept = await state.read('model')
  if (kept === null) return state.write('model', { model })
  if (JSON.stringify(kept) === JSON.stringify({ model })) return
  throw invalid(
    'another_run',
    `a run that has not ended began with another model than ${model}; go back to that one, or begin anew with --fresh`,
  )
}

/** Kept as they are once taken: a run is measured by the same tasks to its end. */
async function takeTasks(
  options: ImproveOptions,
  place: RunPlace,
  subject: Subject,
  loaded: LoadedConfig,
  screen: ImproveScreen,
): Promise<void> {
  const { state, surroundings, signal } = place
  if ((await state.read('tasks')) !== null) return
  const { repository, layout } = subject
  const executor = evolutionOf(loaded)?.executor ?? null
  const problem = executor === null ? await (await surroundings.service()).sandboxProblem(loaded) : null
  if (problem !== null) throw noEpisodes(`no episode runs here: ${problem}`)
  const given = options.tasksDir ?? (options.practice === true ? await makeSampleTasks(state.folder) : null)
  const from =
    given ??
    (await mineFor({
      repository,
      folder: state.folder,
      tasksMax: options.tasks ?? TASKS_MINED,
      recorded: recordedOf(options),
      executor,
      signal,
      surroundings,
      screen,
    }))
  const below = given === null ? (await gitPlaceOf(repository))?.prefix : undefined
  await copyTasks(resolve(from), tasksFolder(state.folder), layout.places, below)
  await keepTasks(state, resolve(from), options)
}

/** Keys of the command line are those of the run's own service. */
const recordedOf = ({ scenario, url }: ImproveOptions): RemoteOptions => ({
  ...(scenario !== undefined && { scenario }),
  ...(url !== undefined && { url }),
  commandLine: { given: [], rest: [], problems: [] },
})

const noEpisodes = (problem: string): Error =>
  invalid('no_episodes', `${problem}; or take --evolution.executor local, which runs agents without a sandbox, with all your rights`)

async function agree({ yes }: ImproveOptions, screen: ImproveScreen, cost: string): Promise<boolean> {
  if (yes === true) return true
  const said = await screen.ask(`Go on? At most ${cost}. [y/N] `)
  return said !== null && /^y(?:es)?$/i.test(said.trim())
}

interface Ended {
  readonly result: ImproveResult
  readonly files: Files
}

/** The change as a branch, a patch, or a scenario that is served. */
async function finish(
  options: ImproveOptions,
  place: RunPlace,
  subject: Subject,
  { result, files: served }: Ended,
  screen: ImproveScreen,
): Promise<number> {
  const { adapter, layout, read, repository } = subject
  const changes = result.improved ? changesOf(adapter, layout.places, read, served) : []
  if (changes.length > 0) {
    const message = messageOf(result)
    const files = changes.map(({ path }) => path)
    if (options.branch !== undefined) {
      const commit = await makeBranch(repository, options.branch, changes, message)
      screen.show({ event: 'change', folder: repository, files, branch: options.branch, commit })
    } else {
      const patch = resolve(options.patch ?? join(place.state.folder, 'change.patch'))
      await writePatch(patch, await patchOf(repository, changes, message))
      screen.show({ event: 'change', folder: repository, files, patch })
    }
  }
  if (options.serve === true) await serveScenario(options, place, subject, screen)
  return EXIT.fine
}

/** Until it is stopped. */
async function serveScenario(options: ImproveOptions, place: RunPlace, subject: Subject, screen: ImproveScreen): Promise<void> {
  const { surroundings, state, signal } = place
  const config = runConfigOf(options, place, subject)
  const service = await startFor(await configFor(config, null, surroundings), state.folder, surroundings)
  try {
    screen.show({ event: 'serving', scenario: 'improve', url: service.url, token: service.token ?? '' })
    await new Promise<void>((done) => (signal.aborted ? done() : signal.addEventListener('abort', () => done(), { once: true })))
  } finally {
    await service.close()
  }
}
