/** A world: what a harness lacks, tasks that show it, and the changes known to fix it. */
import type { Entry, Mutation, Task } from '../../src/contract/index.ts'

export interface WorldTask {
  readonly prompt: string
  readonly answer: string
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
  /** Plausible changes that do not help: they overfit. */
  readonly decoys: readonly (readonly Mutation[])[]
  /** Whether the mock model proposes the good change when it sees failures. */
  readonly isTeachable: boolean
  /** How often the grader is silent, and how often it is wrong. */
  readonly flakiness: { readonly silent: number; readonly wrong: number }
}

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
export function splitOf(problems: readonly WorldTask[], fromEpisode = 0): { readonly phase: Phase; readonly sealed: readonly WorldTask[] } {
  const task = (role: 'train' | 'gate', { prompt, answer }: WorldTask, index: number): Task => ({
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

/** The expected answer, or ''. */
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
