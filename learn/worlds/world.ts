/** A world: something a harness lacks, tasks that show it, and the changes that are known to mend it. */
import type { Entry, Mutation, Task } from '../../src/contract/index.ts'

export interface Problem {
  readonly prompt: string
  readonly answer: string
}

export interface World {
  readonly seed: string
  /** The tree that the scenario starts with. */
  readonly start: readonly Entry[]
  /** What is asked, the first from the beginning on. */
  readonly phases: readonly Phase[]
  /** Nobody plays these but the suite, to say what a tree is worth. */
  readonly sealed: readonly Problem[]
  /** Known to be good, each by itself. */
  readonly good: readonly (readonly Mutation[])[]
  /** Plausible, and good for nothing or bad: they fit what was seen and not what comes. */
  readonly decoys: readonly (readonly Mutation[])[]
  /** Whether the practice model thinks of the good change by itself when it is shown failures. */
  readonly isTeachable: boolean
  /** How often the grader has nothing to say, and how often it says the opposite. */
  readonly flakiness: { readonly silent: number; readonly wrong: number }
}

export interface Phase {
  /** The tasks are these once so many episodes were played. */
  readonly fromEpisode: number
  readonly train: readonly Task[]
  readonly gate: readonly Task[]
}

export const TRAIN_TASKS = 12
const GATE_TASKS = 20
const SEALED_TASKS = 40
/** What a family has to make of a kind of task for all three. */
export const TASKS = TRAIN_TASKS + GATE_TASKS + SEALED_TASKS

/** Train, gate and sealed tasks have no prompt in common. */
export function splitOf(problems: readonly Problem[], fromEpisode = 0): { readonly phase: Phase; readonly sealed: readonly Problem[] } {
  const task = (role: 'train' | 'gate', { prompt, answer }: Problem, index: number): Task => ({
    name: `${role}-${fromEpisode}-${index + 1}`,
    prompt,
    role,
    data: { answer },
  })
  const [train, gate, sealed] = [[], [], []].map((_, part) => problems.slice(BOUNDS[part], BOUNDS[part + 1]))
  return {
    phase: {
      fromEpisode,
      train: (train ?? []).map((problem, index) => task('train', problem, index)),
      gate: (gate ?? []).map((problem, index) => task('gate', problem, index)),
    },
    sealed: sealed ?? [],
  }
}
const BOUNDS = [0, TRAIN_TASKS, TRAIN_TASKS + GATE_TASKS, TASKS]

/** What the grader wants to see; '' for a task of another shape. */
export const answerOf = ({ data }: Task): string => (typeof data?.['answer'] === 'string' ? data['answer'] : '')

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
