/** Plays one episode: a tree rendered and bound, the agent started on a task, what it left scored while it is still there. */
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

/** Everything that stays the same over the episodes of a step. */
export interface Stage {
  readonly adapter: Adapter
  readonly executor: Executor
  /** Whether it keeps apart what an agent does. */
  readonly contained: boolean
  /** The evaluation routes of the scenario. */
  readonly model: ModelAddress
  readonly models: Readonly<Record<string, Model>>
  /** What it throws is no episode's fault. */
  program(): Promise<Program>
  readonly timeoutSeconds: number
  evaluatorOf(task: Task): Promise<Evaluator>
  readonly signal: AbortSignal
}
/** How the agent's program is started here: what stands for its name, and what it needs to read. */
export interface Program {
  readonly argv: readonly string[]
  readonly needs: readonly string[]
  readonly env: Readonly<Record<string, string>>
  /** Another one may play otherwise: what is known of this one is not known of that. */
  readonly version: string
}

export interface Played {
  /** Null when it could not be played or scored. */
  readonly score: number | null
  /** Why there is no score, or why it is what it is; null for an episode without a mark. */
  readonly failure: string | null
  readonly episode: Episode | null
  /** What the evaluator said of it; null where it said nothing. */
  readonly grounds: Grounds | null
  /** Whose trouble it is that there is no score, where it is neither side's. */
  readonly trouble: 'machine' | 'evaluator' | null
}

interface Grounds {
  /** One line. */
  readonly words: string
  readonly more: JsonObject
}

/** A scorer that answers what is no number, or that scored nothing at all: the evaluation as a whole cannot be trusted, and the step says so. */
export class ScorerProblem extends Error {}

/** What episodes need of the machine is not there: nothing is known to be wrong with what was asked for. */
export class MachineProblem extends Error {}

/** What the current side counts as where the candidate is held against it. */
const AS_GOOD = 0.5

export interface Part {
  readonly side: Side
  readonly entries: readonly Entry[]
  readonly task: Task
  /** What the other side made of it, where that is known. */
  readonly reference: Episode | null
}

export async function playEpisode(stage: Stage, { side, entries, task, reference }: Part): Promise<Played> {
  const { adapter, executor, model, models, signal } = stage
  // Failures are shown with the row, and an agent may print the key it was given.
  const plain = (words: string): string => withoutSecret(words, model.apiKey)
  const evaluator = await stage.evaluatorOf(task)
  const program = await stage.program()
  let grounds: Grounds | null = null
  let score: number | null = null
  let left: Episode | null = null
  const inspect = async (workspace: string | null, episode: Episode): Promise<void> => {
    left = episode
    // One that never started is nothing to be held against: the candidate would win by whatever it said.
    if (evaluator.compares === true && side === 'current') score = episode.ended === 'start' ? null : AS_GOOD
    else
      score = await evaluator.score(task, episode, {
        workspace,
        models,
        executor,
        reference: evaluator.compares === true ? reference : null,
        note: (words, more = {}) => void (grounds = { words: wordsOf(plain(words)), more }),
        signal,
      })
  }
  try {
    const episode = await executor.run(
      {
        files: (address) => renderTree(adapter, entries, address),
        workspace: task.files ?? {},
        model,
        launch: (root) => launchOf(stage, program, task, root),
        readTrajectory: (root) => adapter.readTrajectory(root),
        inspect,
        needs: program.needs,
      },
      signal,
    )
    // An executor without a folder to look at still answers an episode to score.
    if (left === null) await inspect(null, episode)
    return { score: checkedScore(task, score), failure: failureOf(episode, score, plain), episode, grounds, trouble: null }
  } catch (error) {
    signal.throwIfAborted()
    if (error instanceof ScorerProblem) throw error
    return {
      score: null,
      failure: `${left === null ? 'could not be run' : 'could not be scored'}: ${plain(wordsOf(error))}`,
      episode: left,
      grounds,
      trouble: left !== null ? 'evaluator' : isRefusal(error) && error.kind === 'unavailable' ? 'machine' : null,
    }
  }
}

function launchOf({ adapter, contained, timeoutSeconds }: Stage, program: Program, task: Task, root: string): Launch {
  const { argv, env } = adapter.launch({ prompt: task.prompt, contained }, root)
  return { argv: [...program.argv, ...argv.slice(1)], env: { ...program.env, ...env }, timeoutSeconds }
}

function checkedScore(task: Task, score: number | null): number | null {
  if (score === null || (typeof score === 'number' && Number.isFinite(score))) return score
  throw new ScorerProblem(
    `the evaluator answered ${String(score)} for task ${task.name}; a score is a finite number, or null where it cannot say`,
  )
}

function failureOf({ ended, exitCode, stderr }: Episode, score: number | null, plain: (words: string) => string): string | null {
  if (ended !== undefined) return ENDED[ended]
  if (exitCode !== 0) return `exit code ${exitCode}: ${wordsOf(plain(stderr.trimEnd().split('\n').at(-1) ?? ''))}`
  return score === null ? 'the evaluator could not say' : null
}

const ENDED: Readonly<Record<NonNullable<Episode['ended']>, string>> = {
  start: 'the program could not be started',
  time: 'it took too long and was ended',
  memory: 'it held too much memory and was ended',
  processes: 'it started too many processes and was ended',
  disk: 'it wrote too much and was ended',
  files: 'it made too many files and was ended',
  output: 'it printed too much and was ended',
}
