/** An edit before it was tried, and how one is tried. */
import type { Episode, Task } from '../../../src/contract/index.ts'
import { editId, type Archive, type Candidate, type TaskScore } from './archive.ts'
import { WON } from './coreset.ts'
import type { Trials } from './trials.ts'

export type Draft = Pick<Candidate, 'mutations' | 'design' | 'reflection' | 'requires' | 'parents'>

/** A task as it went, without an edit or with one. */
export interface Run {
  readonly task: Task
  /** The scores of its episodes, at least one; the last is that of the episode shown. */
  readonly rolls: readonly number[]
  readonly failure: string | null
  readonly episode: Episode | null
  /** The candidate that was played; null for the tree as it is. */
  readonly edit: string | null
}
export const meanOf = ({ rolls }: Run): number => rolls.reduce((sum, score) => sum + score, 0) / rolls.length

interface Tried {
  readonly candidate: Candidate
  readonly runs: readonly Run[]
}

/** How far a step has come. */
export interface Search {
  readonly archive: Archive
  /** The tree as it is, one run per task. */
  readonly current: readonly Run[]
  /** What this step tried, in order. */
  readonly tried: readonly Tried[]
}

/**
 * Plays the edit on the tasks that the current tree played, those it lost first. One that is there to improve and mended none of them is not
 * played on the others. What can be scored without the edit and not with it counts as nothing.
 */
export async function tryDraft(draft: Draft, { current, archive }: Search, trials: Trials, aim: 'improve' | 'keep'): Promise<Tried> {
  const id = editId(draft.mutations)
  const runs: Run[] = []
  const scores: TaskScore[] = []
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
