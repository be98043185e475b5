/** A drafted edit, and how it is tried. */
import type { Episode, Task, Brief, Mutation, Trial } from '../../../src/contract/index.ts'
import { editId, type ReflectArchive, type EditCandidate } from './archive.ts'
import { WON } from './coreset.ts'

export type EditDraft = Pick<EditCandidate, 'mutations' | 'design' | 'reflection' | 'requires' | 'parents'>

/** The runs of one task, with or without an edit. */
export interface TaskRun {
  readonly task: Task
  /** The scores of its episodes, at least one; the last belongs to `episode`. */
  readonly rolls: readonly number[]
  readonly failure: string | null
  readonly episode: Episode | null
  /** The candidate's id; null for the current tree. */
  readonly edit: string | null
}
export const meanOf = ({ rolls }: TaskRun): number => rolls.reduce((sum, score) => sum + score, 0) / rolls.length

interface Tried {
  readonly candidate: EditCandidate
  readonly runs: readonly TaskRun[]
}

/** The state of a step's search. */
export interface Search {
  readonly archive: ReflectArchive
  /** The current tree, one run per task. */
  readonly current: readonly TaskRun[]
  /** What this step tried, in order. */
  readonly tried: readonly Tried[]
}

/**
 * Plays the edit on the current tree's tasks, the worst first. An edit that should improve and fixes none of the failing ones is not played on
 * the others. A task that has no score with the edit counts as 0.
 */
export async function tryDraft(draft: EditDraft, { current, archive }: Search, trials: Trials, aim: 'improve' | 'keep'): Promise<Tried> {
  const id = editId(draft.mutations)
  const runs: TaskRun[] = []
  const scores: EditCandidate['scores'][number][] = []
  for (const before of current.toSorted((a, b) => meanOf(a) - meanOf(b))) {
    const isStuck = scores.length > 0 && scores.every(({ score, current: without }) => without < WON && score <= without)
    if (aim === 'improve' && isStuck && meanOf(before) >= WON) break
    const trial = await trials.play(draft.mutations, before.task)
    if (trial === null) break
    const score = trial.score ?? Math.min(0, meanOf(before))
    scores.push({ task: before.task.name, score, current: meanOf(before) })
    runs.push({ task: before.task, rolls: [score], failure: trial.failure, episode: trial.episode, edit: id })
  }
  const { mutations, design, reflection, requires, parents } = draft
  const { round, base } = archive
  const known = archive.candidates.find((candidate) => candidate.id === id && candidate.base === base)
  const earlier = known?.scores.filter(({ task }) => scores.every((score) => score.task !== task)) ?? []
  return {
    candidate: { id, mutations, design, reflection, requires, parents, round, base, outcome: 'shelved', scores: [...earlier, ...scores] },
    runs,
  }
}

export class Trials {
  readonly #brief: Brief
  #left: number

  constructor(brief: Brief, max: number) {
    this.#brief = brief
    this.#left = max
  }

  get left(): number {
    return this.#left
  }

  /** Null when no episode is left, here or in the step's budget. */
  async play(mutations: readonly Mutation[], task: Task): Promise<Trial | null> {
    if (this.#left <= 0) return null
    this.#left -= 1
    try {
      return await this.#brief.trial(mutations, task)
    } catch {
      this.#brief.signal.throwIfAborted()
      this.#brief.report.line('trial', 'no further episode could be played; going on with what is known', true)
      this.#left = 0
      return null
    }
  }
}
