/** Plays an episode in this process: runs the agent on a task, and scores it while its workspace still exists. */
import { unavailable } from '../../contract/index.ts'
import type { Adapter, Episode, Executor, Launch, ModelAddress, Parts, Play, Scene, Task } from '../../contract/index.ts'
import { renderTree } from '../../harness/index.ts'
import { wordsOf } from '../../kit/index.ts'
import { failureOf, isMachines, troubleOf } from '../episode-end.ts'
import type { EvolutionSettings, Method } from '../method.ts'
import { openModels, SILENT } from '../models/index.ts'
import { meteredLine } from '../money/meter.ts'
import { openProgram, type Program } from '../program.ts'
import { checkedScore, scoredOrAgain, ScorerProblem } from '../scoring.ts'
import { evaluatorOf } from '../tasks/read.ts'
import { MachineProblem, type EpisodeInput, type EpisodeMeans, type EpisodeOutcome, type LocalHost } from './host.ts'
import { askOnce, NOT_RULES_ALONE, rulesAlone } from './words.ts'

/** What all episodes share. */
export interface HostParts {
  readonly adapter: Adapter
  readonly method: Pick<Method, 'executor' | 'contained' | 'runsPrograms' | 'unplayable' | 'evaluator'>
  readonly settings: Pick<EvolutionSettings, 'evaluator' | 'episode_timeout_s'>
  /** Folders of the deployment that no episode may see. */
  readonly hides: readonly string[]
  /** Throws when the program cannot be installed. */
  program(): Promise<Program>
}

export function hostHere(parts: HostParts): LocalHost {
  return {
    async ready() {
      const problem = await parts.method.unplayable()
      if (problem !== null) throw new MachineProblem(problem)
      try {
        await parts.program()
      } catch (error) {
        throw new MachineProblem(wordsOf(error), { cause: error })
      }
    },
    distrusts: () => false,
    version: async () => (await parts.program()).version,
    play: (input, means) => playEpisode(parts, input, means),
  }
}

/** For episodes outside of a step's trainer; `programs` is where agents are installed. */
export function hostAlone(
  { adapter, method, settings }: Pick<HostParts, 'adapter' | 'method'> & { readonly settings: EvolutionSettings },
  { baseDirectory, ownPaths = [] }: Pick<Parts, 'baseDirectory' | 'ownPaths'>,
  programs: string,
): LocalHost {
  return hostHere({
    adapter,
    method,
    settings,
    hides: [baseDirectory, ...ownPaths],
    program: () => openProgram({ adapter, binary: settings.binary, directory: programs }),
  })
}

/** The score of the current side where an evaluator compares the candidate with it. */
const AS_GOOD = 0.5

async function playEpisode(parts: HostParts, input: EpisodeInput, means: EpisodeMeans): Promise<EpisodeOutcome> {
  const { side, entries, task, reference, luck } = input
  const { adapter, method, settings } = parts
  const { executor } = method
  const { models, signal } = means
  const evaluator = await method.evaluator(evaluatorOf(task, settings.evaluator))
  const program = await parts.program()
  const line = await meteredLine(means.model, luck, means)
  const { cut } = line
  let note: EpisodeOutcome['note'] = null
  let score: number | null = null
  let left: Episode | null = null
  const began = performance.now()
  let agentSeconds = 0
  const inspect = async (workspace: string | null, episode: Episode): Promise<void> => {
    left = episode
    agentSeconds = secondsSince(began)
    if (episode.modelFailure !== undefined) return
    const scene: Scene = {
      workspace,
      models,
      executor: hiding(executor, parts.hides),
      reference: evaluator.compares === true ? reference : null,
      note: (words, more = {}) => void (note = { words: wordsOf(words), more }),
      signal,
    }
    // An episode that never started is no reference: any answer of the candidate would win.
    if (evaluator.compares === true && side === 'current') score = episode.ended === 'start' ? null : AS_GOOD
    else score = await scoredOrAgain(() => evaluator.score(task, episode, scene), signal)
  }
  try {
    const play: Play = {
      files: (address) => renderTree(adapter, entries, address),
      workspace: task.files ?? {},
      ...(task.dependencies && { dependencies: task.dependencies }),
      model: line.model,
      launch: (root) => launchOf(parts, program, task, root),
      readTrajectory: (root) => adapter.readTrajectory(root),
      inspect,
      needs: program.needs,
      hides: parts.hides,
    }
    const ended = AbortSignal.any([signal, cut])
    const episode = method.runsPrograms ? await executor.run(play, ended) : await playRules(parts, input, line.model, ended)
    cut.throwIfAborted()
    // An executor without a workspace never calls inspect.
    if (left === null) await inspect(null, episode)
    return {
      score: checkedScore(task, score),
      failure: failureOf(episode, score),
      episode,
      note,
      trouble: troubleOf(episode, score),
      seeds: line.seeds,
      agentSeconds,
      worker: null,
    }
  } catch (error) {
    signal.throwIfAborted()
    cut.throwIfAborted()
    if (error instanceof ScorerProblem) throw error
    return {
      score: null,
      failure: `${left === null ? 'could not be run' : 'could not be scored'}: ${wordsOf(error)}`,
      episode: left,
      note,
      trouble: isMachines(error, left !== null) ? 'machine' : left !== null ? 'evaluator' : null,
      seeds: line.seeds,
      agentSeconds,
      worker: null,
    }
  } finally {
    await line.close()
  }
}

/** Anything but words is refused: nothing here keeps it from the machine. */
async function playRules(
  { adapter, settings }: HostParts,
  { entries, task }: EpisodeInput,
  address: ModelAddress,
  signal: AbortSignal,
): Promise<Episode> {
  const rules = rulesAlone(adapter, entries)
  if (rules === null || Object.keys(task.files ?? {}).length > 0) throw unavailable('no_sandbox', NOT_RULES_ALONE)
  const { served } = openModels(address, { callsMax: 0, report: SILENT, signal }).models
  return askOnce(served, { rules, prompt: task.prompt, timeoutSeconds: settings.episode_timeout_s }, signal)
}

export const secondsSince = (began: number): number => Math.round(performance.now() - began) / 1000

/** What an evaluator runs may run what the agent left. */
const hiding = (executor: Executor, hides: readonly string[]): Executor => ({
  run: (play, signal) => executor.run({ ...play, hides: [...hides, ...(play.hides ?? [])] }, signal),
})

function launchOf({ adapter, method, settings }: HostParts, program: Program, task: Task, root: string): Launch {
  const { argv, env } = adapter.launch({ prompt: task.prompt, contained: method.contained }, root)
  return { argv: [...program.argv, ...argv.slice(1)], env: { ...program.env, ...env }, timeoutSeconds: settings.episode_timeout_s }
}
