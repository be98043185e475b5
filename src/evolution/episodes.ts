/** Plays one episode: renders the tree, runs the agent on a task, and scores it while its workspace still exists. */
import {
  isRefusal,
  type Adapter,
  type Entry,
  type Episode,
  type Evaluator,
  type Executor,
  type JsonObject,
  type Launch,
  type Model,
  type ModelAddress,
  type Side,
  type Task,
} from '../contract/index.ts'
import { renderTree } from '../harness/index.ts'
import { wordsOf } from '../kit/index.ts'
import { withoutSecret } from './models/index.ts'

/** What all episodes of a step share. */
export interface EpisodeSetup {
  readonly adapter: Adapter
  readonly executor: Executor
  /** Whether the executor isolates agents. */
  readonly contained: boolean
  /** The evaluation routes of the scenario. */
  readonly model: ModelAddress
  readonly models: Readonly<Record<string, Model>>
  /** Throws when the program cannot be installed. */
  program(): Promise<Program>
  readonly timeoutSeconds: number
  evaluatorOf(task: Task): Promise<Evaluator>
  readonly signal: AbortSignal
}
/** How the agent's program is started on this machine. */
export interface Program {
  readonly argv: readonly string[]
  readonly needs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** EpisodeInput of the cache key. */
  readonly version: string
}

export interface EpisodeOutcome {
  /** Null when it could not be played or scored. */
  readonly score: number | null
  /** Why there is no score, or what went wrong in a scored episode. */
  readonly failure: string | null
  readonly episode: Episode | null
  /** The evaluator's note; null where it wrote none. */
  readonly note: EvaluatorNote | null
  /** What failed where the missing score is neither side's fault. */
  readonly trouble: 'machine' | 'evaluator' | null
}

interface EvaluatorNote {
  readonly words: string
  readonly more: JsonObject
}

/** The evaluator returned something other than a number, or failed on every episode: the evaluation cannot be trusted. */
export class ScorerProblem extends Error {}

/** The machine cannot run episodes, which says nothing about the change. */
export class MachineProblem extends Error {}

/** The score of the current side where an evaluator compares the candidate with it. */
const AS_GOOD = 0.5

export interface EpisodeInput {
  readonly side: Side
  readonly entries: readonly Entry[]
  readonly task: Task
  /** The current side's episode, for evaluators that compare. */
  readonly reference: Episode | null
}

export async function playEpisode(setup: EpisodeSetup, { side, entries, task, reference }: EpisodeInput): Promise<EpisodeOutcome> {
  const { adapter, executor, model, models, signal } = setup
  // Failures are shown with the row, and an agent may print its key.
  const plain = (words: string): string => withoutSecret(words, model.apiKey)
  const evaluator = await setup.evaluatorOf(task)
  const program = await setup.program()
  let note: EvaluatorNote | null = null
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
        executor,
        reference: evaluator.compares === true ? reference : null,
        note: (words, more = {}) => void (note = { words: wordsOf(plain(words)), more }),
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
      },
      signal,
    )
    // An executor without a workspace never calls inspect.
    if (left === null) await inspect(null, episode)
    return { score: checkedScore(task, score), failure: failureOf(episode, score, plain), episode, note, trouble: null }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ScorerProblem) throw error
    return {
      score: null,
      failure: `${left === null ? 'could not be run' : 'could not be scored'}: ${plain(wordsOf(error))}`,
      episode: left,
      note,
      trouble: left !== null ? 'evaluator' : isRefusal(error) && error.kind === 'unavailable' ? 'machine' : null,
    }
  }
}

function launchOf({ adapter, contained, timeoutSeconds }: EpisodeSetup, program: Program, task: Task, root: string): Launch {
  const { argv, env } = adapter.launch({ prompt: task.prompt, contained }, root)
  return { argv: [...program.argv, ...argv.slice(1)], env: { ...program.env, ...env }, timeoutSeconds }
}

function checkedScore(task: Task, score: number | null): number | null {
  if (score === null || (typeof score === 'number' && Number.isFinite(score))) return score
  throw new ScorerProblem(`the evaluator answered ${String(score)} for task ${task.name}; a score is a finite number or null`)
}

function failureOf({ ended, exitCode, stderr }: Episode, score: number | null, plain: (words: string) => string): string | null {
  if (ended !== undefined) return ENDED[ended]
  if (exitCode !== 0) return `exit code ${exitCode}: ${wordsOf(plain(stderr.trimEnd().split('\n').at(-1) ?? ''))}`
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
