/** Merges two candidates that help with different tasks, without a model call. */
import type { Mutation } from '../../../src/contract/index.ts'
import { editId, scoreOn, type ReflectArchive, type EditCandidate } from './archive.ts'
import type { EditDraft } from './draft.ts'

/** The most promising untried pair that the tree admits, or null. */
export function mergeIn(archive: ReflectArchive, isOpen: (mutations: readonly Mutation[]) => boolean): EditDraft | null {
  const parents = archive.candidates.filter(
    ({ base, outcome }) => base === archive.base && (outcome === 'shelved' || outcome === 'rejected'),
  )
  const known = new Set(archive.candidates.map(({ id }) => id))
  const best = parents
    .flatMap((one, index) => parents.slice(index + 1).map((other) => ({ one, other })))
    .filter(({ one, other }) => isComplementary(one, other))
    .toSorted((a, b) => promiseOf(b.one, b.other) - promiseOf(a.one, a.other))
    .map(({ one, other }) => merged(one, other))
    .find(({ mutations }) => !known.has(editId(mutations)) && isOpen(mutations))
  return best ?? null
}

/** Each improves a task that the other does not, and they touch different entries. */
function isComplementary(one: EditCandidate, other: EditCandidate): boolean {
  const ids = new Set(one.mutations.map(({ id }) => id))
  return other.mutations.every(({ id }) => !ids.has(id)) && isBetterSomewhere(one, other) && isBetterSomewhere(other, one)
}

const isBetterSomewhere = (one: EditCandidate, other: EditCandidate): boolean =>
  one.scores.some(({ task, score, current }) => score > current && score > (scoreOn(other, task) ?? current))

/** The gain if each task goes as well as with the better of the two. */
function promiseOf(one: EditCandidate, other: EditCandidate): number {
  const best = new Map<string, number>()
  for (const { task, score, current } of [...one.scores, ...other.scores])
    best.set(task, Math.max(best.get(task) ?? -Infinity, score - current))
  return [...best.values()].reduce((sum, gain) => sum + gain, 0)
}

const merged = (one: EditCandidate, other: EditCandidate): EditDraft => ({
  mutations: [...one.mutations, ...other.mutations],
  design: [one.design, other.design].filter((design) => design !== '').join('\n\n'),
  reflection: 'Two earlier edits, each of which did better on different tasks.',
  requires: [...one.requires, ...other.requires],
  parents: [one.id, other.id],
})
