/** Plays single tasks outside of a step: for a baseline before there is a change, and for what a change reached. Nothing is published by it. */
import type { Adapter, Entry, JsonObject, ModelAddress, Parts, Task } from '../contract/index.ts'
import { playUntilScored } from './episodes.ts'
import { shortageOf, type TaskShortage } from './families/shortage.ts'
import { hostAlone } from './hosts/here.ts'
import { evolutionSettings, loadMethod } from './method.ts'
import { openModels, SILENT } from './models/index.ts'
import { NOTHING_SPENT, pricesOf, spentBoth, spentBy, type ModelCallUse, type Spent } from './money/spent.ts'
import { evaluatorOf, readTasks } from './tasks/read.ts'

export interface Player {
  readonly tasks: readonly Task[]
  /** Why no episode runs on this machine, and the fix; null where they run. */
  problem(): Promise<string | null>
  /** Null where the tasks are enough for so many decisions. */
  shortage(decisions: number): TaskShortage | null
  play(order: PlayOrder): Promise<PlayedTask>
}

interface PlayOrder {
  readonly entries: readonly Entry[]
  readonly task: Task
  readonly model: ModelAddress
  readonly signal: AbortSignal
}

export interface PlayedTask {
  /** Null where there is none, which is not a 0. */
  readonly score: number | null
  readonly failure: string | null
  /** The evaluator's words about the score. */
  readonly note: string | null
  /** The end of what the evaluator's command printed; empty where it runs none. */
  readonly printed: string
  /** What the agent printed. */
  readonly answer: string
  /** By the agent, all tries together. */
  readonly spent: Spent
  /** How many of its calls the model answered. */
  readonly answered: number
}

interface PlayerParts {
  readonly adapter: Adapter
  readonly parts: Parts
  /** Where agents' programs are installed. */
  readonly programs: string
}

/** `config` is what a recipe is made from. */
export async function openPlayer(config: JsonObject, { adapter, parts, programs }: PlayerParts): Promise<Player> {
  const settings = evolutionSettings(config)
  const method = await loadMethod(settings, { ...Object(config['evolution']), base_directory: parts.baseDirectory }, parts)
  const tasks = await readTasks(settings, parts.baseDirectory, [])
  const host = hostAlone({ adapter, method, settings }, parts, programs)
  return {
    tasks,
    problem: () => method.unplayable(),
    shortage: (decisions) => shortageOf(method.selection, tasks, decisions, settings.tasks_alike),
    async play({ entries, task, model, signal }) {
      const { models } = openModels(model, { callsMax: 0, report: SILENT, signal })
      let repeats = 0
      let answered = 0
      let spent = NOTHING_SPENT
      const count = (call: ModelCallUse): void => {
        answered += call.isAnswered ? 1 : 0
        spent = spentBoth(spent, spentBy(call, pricesOf(settings, call.model)))
      }
      const played = await playUntilScored(
        {
          host,
          model,
          models,
          priority: 'request',
          pauseMs: PAUSE_MS,
          evaluatorOf: (each) => method.evaluator(evaluatorOf(each, settings.evaluator)),
          signal,
          budget: null,
          hold: async () => null,
          used: count,
          counted: count,
        },
        { side: 'candidate', entries, task, reference: null, luck: settings.sampling_seeds === 'off' ? null : task.name },
        () => (repeats += 1) <= REPEATS_MAX,
      )
      const { score, failure, note, episode, trouble } = played
      // What the model or the evaluator could not do says nothing about the tree.
      return {
        score: trouble === null ? score : null,
        failure,
        note: note?.words ?? null,
        printed: [note?.more['stdout'], note?.more['stderr']].filter((text) => typeof text === 'string').join('\n'),
        answer: episode?.stdout ?? '',
        spent,
        answered,
      }
    },
  }
}

const PAUSE_MS = 100
/** After the trouble of a model or an evaluator. */
const REPEATS_MAX = 2
