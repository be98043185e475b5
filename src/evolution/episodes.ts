/** Plays the episodes of a step, from the cache where possible: runs the agent on a task, and scores it while its workspace still exists. */
import { setTimeout as wait } from 'node:timers/promises'
import { isRefusal } from '../contract/index.ts'
import type {
  Adapter,
  Entry,
  Episode,
  Evaluator,
  Executor,
  JsonObject,
  Launch,
  ModelAddress,
  Scene,
  Side,
  Task,
  Trial,
} from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { wordsOf } from '../kit/index.ts'
import { cacheKey, type EpisodeCache } from './cache.ts'

/** What all episodes of a step share. */
interface EpisodeSetup extends Pick<Scene, 'executor' | 'models' | 'signal'> {
  readonly adapter: Adapter
  /** Whether the executor isolates agents. */
  readonly contained: boolean
  /** The evaluation routes of the scenario. */
  readonly model: ModelAddress
  /** Folders of the deployment that no episode may see. */
  readonly hides: readonly string[]
  /** Throws when the program cannot be installed. */
  program(): Promise<Program>
  readonly timeoutSeconds: number
  evaluatorOf(task: Task): Promise<Evaluator>
}

/** How the agent's program is started on this machine. */
export interface Program {
  readonly argv: readonly string[]
  readonly needs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** A part of the cache key. */
  readonly version: string
}

export interface EpisodeOutcome extends Trial {
  /** The evaluator's note; null where it wrote none. */
  readonly note: { readonly words: string; readonly more: JsonObject } | null
  /** What failed where the missing score is neither side's fault. */
  readonly trouble: 'machine' | 'evaluator' | null
}

/** The evaluator returned something other than a number, or failed on every episode: the evaluation cannot be trusted. */
export class ScorerProblem extends Error {}

/** The machine cannot run episodes, which says nothing about the change. */
export class MachineProblem extends Error {}

/** The score of the current side where an evaluator compares the candidate with it. */
const AS_GOOD = 0.5

interface EpisodeInput {
  readonly side: Side
  readonly entries: readonly Entry[]
  readonly task: Task
  /** The current side's episode, for evaluators that compare. */
  readonly reference: Episode | null
}

async function playEpisode(setup: EpisodeSetup, { side, entries, task, reference }: EpisodeInput): Promise<EpisodeOutcome> {
  const { adapter, executor, model, models, signal } = setup
  const evaluator = await setup.evaluatorOf(task)
  const program = await setup.program()
  let note: EpisodeOutcome['note'] = null
  let score: number | null = null
  let left: Episode | null = null
  const inspect = async (workspace: string | null, episode: Episode): Promise<void> => {
    left = episode
    // An episode that never started is no reference: any answer of the candidate would win.
    if (evaluator.compares === true && side === 'current') score = episode.ended === 'start' ? null : AS_GOOD
    else
      score = await evaluator.score(task, episode, {
        workspace,
        models,
        executor: hiding(executor, setup.hides),
        reference: evaluator.compares === true ? reference : null,
        note: (words, more = {}) => void (note = { words: wordsOf(words), more }),
        signal,
      })
  }
  try {
    const episode = await executor.run(
      {
        files: (address) => renderTree(adapter, entries, address),
        workspace: task.files ?? {},
        model,
        launch: (root) => launchOf(setup, program, task, root),
        readTrajectory: (root) => adapter.readTrajectory(root),
        inspect,
        needs: program.needs,
        hides: setup.hides,
      },
      signal,
    )
    // An executor without a workspace never calls inspect.
    if (left === null) await inspect(null, episode)
    return { score: checkedScore(task, score), failure: failureOf(episode, score), episode, note, trouble: null }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ScorerProblem) throw error
    return {
      score: null,
      failure: `${left === null ? 'could not be run' : 'could not be scored'}: ${wordsOf(error)}`,
      episode: left,
      note,
      trouble: isMachines(error, left !== null) ? 'machine' : left !== null ? 'evaluator' : null,
    }
  }
}

/** What an evaluator runs may run what the agent left. */
const hiding = (executor: Executor, hides: readonly string[]): Executor => ({
  run: (play, signal) => executor.run({ ...play, hides: [...hides, ...(play.hides ?? [])] }, signal),
})

/** Codes by which an executor says that the machine is to blame; an evaluator may run commands with it too. */
const MACHINE_CODES: ReadonlySet<string> = new Set(['no_sandbox', 'no_room', 'no_process', 'episode_folder', 'episode_processes'])

function isMachines(error: unknown, isScoring: boolean): boolean {
  return isRefusal(error) && error.kind === 'unavailable' && (!isScoring || MACHINE_CODES.has(error.code))
}

function launchOf({ adapter, contained, timeoutSeconds }: EpisodeSetup, program: Program, task: Task, root: string): Launch {
  const { argv, env } = adapter.launch({ prompt: task.prompt, contained }, root)
  return { argv: [...program.argv, ...argv.slice(1)], env: { ...program.env, ...env }, timeoutSeconds }
}

function checkedScore(task: Task, score: number | null): number | null {
  if (score === null || (typeof score === 'number' && Number.isFinite(score))) return score
  throw new ScorerProblem(`the evaluator answered ${String(score)} for task ${task.name}; a score is a finite number or null`)
}

function failureOf({ ended, exitCode, stderr }: Episode, score: number | null): string | null {
  if (ended !== undefined) return ENDED[ended]
  if (exitCode !== 0) return `exit code ${exitCode}: ${wordsOf(stderr.trimEnd().split('\n').at(-1) ?? '')}`
  return score === null ? 'the evaluator gave no score' : null
}

const ENDED: Readonly<Record<NonNullable<Episode['ended']>, string>> = {
  start: 'the program could not be started',
  time: 'it took too long and was ended',
  memory: 'it used too much memory and was ended',
  processes: 'it started too many processes and was ended',
  disk: 'it wrote too much and was ended',
  files: 'it made too many files and was ended',
  output: 'it printed too much and was ended',
}

/** Trouble of the machine says nothing about the change: the episode is repeated, then the step, and none of them is scored. */
async function playUntilScored(setup: EpisodeSetup, input: EpisodeInput): Promise<EpisodeOutcome> {
  for (let tries = 1; ; tries += 1) {
    const played = await playEpisode(setup, input)
    if (played.trouble !== 'machine') return played
    if (tries === MACHINE_TRIES) throw new MachineProblem(`an episode ${played.failure ?? 'failed'}`)
    await wait(PAUSE_MS * tries ** 2, undefined, { signal: setup.signal })
  }
}

const MACHINE_TRIES = 3
/** Times the number of tries so far, squared: a neighbour is ended at its own limit within a second. */
const PAUSE_MS = 100

/** One episode of the step, played or cached. */
export interface EpisodeResult extends EpisodeOutcome {
  readonly side: Side | 'trial'
  readonly task: Task
  readonly repeat: number
  readonly cached: boolean
}

interface EpisodeRunnerParts {
  readonly setup: EpisodeSetup
  readonly cache: EpisodeCache
  /** What the outcome also depends on: the agent's version, the model, the evaluator. */
  readonly scoredWith: JsonObject
  /** 0: no limit. */
  readonly episodesMax: number
  /** Records the episode; never throws. */
  readonly keep: (result: EpisodeResult) => Promise<void>
}

export class EpisodeRunner {
  readonly #parts: EpisodeRunnerParts
  readonly results: EpisodeResult[] = []
  readonly #treeKeys = new Map<readonly Entry[], string>()
  /** How many episodes ran. */
  played = 0

  constructor(parts: EpisodeRunnerParts) {
    this.#parts = parts
  }

  /** Null: no limit. */
  get left(): number | null {
    const { episodesMax } = this.#parts
    return episodesMax === 0 ? null : Math.max(0, episodesMax - this.played)
  }

  /** Whether the task's evaluator compares the candidate with the current side. */
  async compares(task: Task): Promise<boolean> {
    return (await this.#parts.setup.evaluatorOf(task)).compares === true
  }

  /** Null when the budget is spent. */
  async play(
    side: EpisodeResult['side'],
    entries: readonly Entry[],
    task: Task,
    repeat: number,
    reference: Episode | null,
  ): Promise<EpisodeResult | null> {
    const { setup, cache, keep } = this.#parts
    const compares = await this.compares(task)
    const { version } = await setup.program()
    const { name, prompt, files = {}, data = {} } = task
    const key = cacheKey([[version, this.#treeKey(entries)], { name, prompt, files, data }, this.#parts.scoredWith, repeat])
    const known = compares ? null : cache.get(key)
    if (known !== null)
      return this.#add({ side, task, repeat, cached: true, episode: cache.episode(key), note: null, trouble: null, ...known })
    if (this.left === 0) return null
    this.played += 1
    const played = await playUntilScored(setup, { side: side === 'current' ? side : 'candidate', entries, task, reference })
    if (played.score !== null && !compares) await cache.put(key, { score: played.score, failure: played.failure })
    if (side === 'trial' && played.episode !== null) cache.study(key, played.episode)
    const result = this.#add({ side, task, repeat, cached: false, ...played })
    await keep(result)
    return result
  }

  #add(result: EpisodeResult): EpisodeResult {
    // The row needs the result, not the whole text.
    this.results.push({ ...result, episode: null, ...(result.note !== null && { note: { ...result.note, more: {} } }) })
    return result
  }

  /** Cached, since a step plays the same few trees. */
  #treeKey(entries: readonly Entry[]): string {
    const known = this.#treeKeys.get(entries) ?? cacheKey([renderTree(this.#parts.setup.adapter, entries)])
    this.#treeKeys.set(entries, known)
    return known
  }
}
