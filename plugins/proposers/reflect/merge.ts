/** Two candidates that help with different tasks, as one: what both are good for is found without asking anybody. */
import type { Mutation } from '../../../src/contract/index.ts'
import { editId, scoreOn, type Archive, type Candidate } from './archive.ts'
import type { Draft } from './draft.ts'

/** The pair that promises most, which nobody tried yet and the tree can take; null when there is none. */
export function mergeIn(archive: Archive, isOpen: (mutations: readonly Mutation[]) => boolean): Draft | null {
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

/** Each does better than the tree without it where the other does not, and they touch different entries. */
function isComplementary(one: Candidate, other: Candidate): boolean {
  const ids = new Set(one.mutations.map(({ id }) => id))
  return other.mutations.every(({ id }) => !ids.has(id)) && isBetterSomewhere(one, other) && isBetterSomewhere(other, one)
}

const isBetterSomewhere = (one: Candidate, other: Candidate): boolean =>
  one.scores.some(({ task, score, current }) => score > current && score > (scoreOn(other, task) ?? current))

/** The gain over the current tree, should each task go as well as with the better of the two. */
function promiseOf(one: Candidate, other: Candidate): number {
  const best = new Map<string, number>()
  for (const { task, score, current } of [...one.scores, ...other.scores])
    best.set(task, Math.max(best.get(task) ?? -Infinity, score - current))
  return [...best.values()].reduce((sum, gain) => sum + gain, 0)
}

const merged = (one: Candidate, other: Candidate): Draft => ({
  mutations: [...one.mutations, ...other.mutations],
  design: [one.design, other.design].filter((design) => design !== '').join('\n\n'),
  reflection: 'Two earlier edits, each of which did better on different tasks.',
  requires: [...one.requires, ...other.requires],
  parents: [one.id, other.id],
})
