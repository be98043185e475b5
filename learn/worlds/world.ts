/** A world: what a harness lacks, tasks that show it, and the changes known to fix it. */
import type { Entry, Files, JsonObject, Mutation, Task } from '../../src/contract/index.ts'
import type { AgentModel } from '../agent.ts'

export interface WorldTask {
  readonly prompt: string
  readonly answer: string
  /** Tasks that are alike share it. */
  readonly family?: string
  readonly files?: Files
}

export interface World {
  readonly seed: string
  /** The tree that the scenario starts with. */
  readonly start: readonly Entry[]
  /** The tasks over time. */
  readonly phases: readonly Phase[]
  /** Played only by the suite, to score a tree. */
  readonly sealed: readonly WorldTask[]
  /** Known good changes, each alone. */
  readonly good: readonly (readonly Mutation[])[]
  /** Together the best that can be reached; absent: the best of the good changes alone. */
  readonly best?: readonly Mutation[]
  /** Plausible changes that do not help: they overfit. */
  readonly decoys: readonly (readonly Mutation[])[]
  /** Whether the mock model proposes the good change when it sees failures. */
  readonly isTeachable: boolean
  /** How often the grader is silent, and how often it is wrong. */
  readonly flakiness: { readonly silent: number; readonly wrong: number }
  /** Absent: the built-in mock model. */
  readonly model?: (moment: Moment) => AgentModel
  /** Whether the model cannot be reached in this episode. */
  readonly isOut?: (episode: number) => boolean
  /** What the grader says in this episode instead of the score; `luck` is from 0 up to 1. */
  readonly regrade?: (score: number, luck: number, episode: number) => number
  /** The score of a last line; absent: 1 for the answer alone. */
  readonly scoreOf?: (line: string, answer: string) => number
  /** What is wrong with the reports. */
  readonly reports?: { readonly delaySteps: number; readonly wrongChance: number }
  /** By good change: what the prompts hold that it is about. A proposer takes the one that the reports call for. */
  readonly topics?: readonly string[]
}

/** Which tree runs, and when. */
export interface Moment {
  readonly tree: string
  readonly episode: number
}
/** Sealed tasks are played after all changes of the world, and no tree has luck of its own. */
export const SEALED: Moment = { tree: '', episode: Infinity }

export interface Phase {
  /** The phase starts after this many episodes. */
  readonly fromEpisode: number
  readonly train: readonly Task[]
  readonly gate: readonly Task[]
}

export const TRAIN_TASKS = 12
const GATE_TASKS = 20
const SEALED_TASKS = 40
/** How many tasks a family makes. */
export const TASKS = TRAIN_TASKS + GATE_TASKS + SEALED_TASKS

/** Train, gate and sealed tasks share no prompt. */
export function splitOf(
  problems: readonly WorldTask[],
  fromEpisode = 0,
  gateTasks = GATE_TASKS,
): { readonly phase: Phase; readonly sealed: readonly WorldTask[] } {
  const task = (role: 'train' | 'gate', { prompt, answer, family, files }: WorldTask, index: number): Task => ({
    name: `${role}-${fromEpisode}-${index + 1}`,
    prompt,
    role,
    ...(family !== undefined && { family }),
    ...(files !== undefined && { files }),
    data: { answer },
  })
  const gateEnd = TRAIN_TASKS + gateTasks
  return {
    phase: {
      fromEpisode,
      train: problems.slice(0, TRAIN_TASKS).map((problem, index) => task('train', problem, index)),
      gate: problems.slice(TRAIN_TASKS, gateEnd).map((problem, index) => task('gate', problem, index)),
    },
    sealed: problems.slice(gateEnd),
  }
}

type Given = Pick<World, 'start' | 'good'> & Partial<World>

export function worldOf(seed: string, problems: readonly WorldTask[], given: Given, gateTasks = GATE_TASKS): World {
  const { phase, sealed } = splitOf(problems, 0, gateTasks)
  return { seed, phases: [phase], sealed, decoys: [], isTeachable: false, flakiness: { silent: 0, wrong: 0 }, ...given }
}

/** The expected answer, or ''. */
export const answerOf = ({ data }: { readonly data?: JsonObject }): string => (typeof data?.['answer'] === 'string' ? data['answer'] : '')

/** What the grader goes by where nothing disturbs it. */
export const scoreOfReply = ({ scoreOf }: World, reply: string, answer: string): number => {
  const line = reply.trimEnd().split('\n').at(-1)?.trim() ?? ''
  return scoreOf === undefined ? Number(line === answer) : scoreOf(line, answer)
}

export const rule = (id: string, text: string): Entry => ({ id, name: 'rules', config: { text } })
export const settings = (id: string, data: Entry['config']): Entry => ({ id, name: 'config', config: { data } })
export const skill = (id: string, description: string, text: string): Entry => ({
  id,
  name: 'skill',
  config: { name: id, text: `---\nname: ${id}\ndescription: ${description}\n---\n${text}\n` },
})

export const created = ({ id, ...options }: Entry): Mutation => ({ op: 'create', id, options })
export const changed = ({ id, config }: Entry): Mutation => ({ op: 'update', id, options: { config } })
export const removed = (id: string): Mutation => ({ op: 'remove', id })
