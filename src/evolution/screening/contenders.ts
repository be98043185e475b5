/** The changes of a step that are screened, which of them exclude each other, and which may be proved as one. */
import type { Entry, Power, Task } from '../../contract/index.ts'
import { powersBeyond, powersIn, powersOf, renderTree } from '../../harness/index.ts'
import { cacheKey } from '../cache.ts'
import { playableTree, treeOf, type ProposedChange } from '../candidate.ts'
import type { TaskChoice } from '../choose-tasks.ts'
import { learnedByHeart } from '../heldout/by-heart.ts'
import type { StepRun } from '../run.ts'

export interface Contender extends ProposedChange {
  /** Those of one company are proved as one; null: it is proved alone. */
  readonly company: 'free' | 'held' | null
}

/** What can be played, each tree once. */
export function contendersOf(run: StepRun, { gate, train }: TaskChoice, found: readonly ProposedChange[]): readonly Contender[] {
  const byTree = new Map<string, Contender>()
  for (const change of found) {
    const tree = playableTree(run, gate, change)
    if (typeof tree === 'string' || learnedByHeart(run.entries, tree, train.map(heldOut)) !== null) continue
    const key = cacheKey([renderTree(run.context.adapter, tree)])
    if (!byTree.has(key)) byTree.set(key, { ...change, company: companyOf(run, change, tree) })
  }
  return [...byTree.values()]
}

/** A change that learned the train tasks would win every race on them. */
const heldOut = (task: Task): Task => ({ ...task, role: 'gate' })

/** What could do more than talk must not ride along with a gain of others. */
const ALONE: ReadonlySet<Power> = new Set<Power>(['hidden', 'reads', 'runs', 'reaches', 'removes'])

/** What a person has to review must not hold up what needs no review. */
function companyOf({ entries, context }: StepRun, { requires }: ProposedChange, tree: readonly Entry[]): Contender['company'] {
  const reasons = powersOf(entries, tree, context.adapter)
  if (requires.length > 0 || powersIn(reasons).some((power) => ALONE.has(power))) return null
  return powersBeyond(reasons, context.settings.publish_powers).length === 0 ? 'free' : 'held'
}

/** Groups of which a tree can hold one: they touch the same entry, or cannot be admitted together. */
export function alternativesIn(run: StepRun, contenders: readonly Contender[]): readonly (readonly Contender[])[] {
  const groups: Contender[][] = []
  for (const one of contenders) {
    const group = groups.find((others) => others.some((other) => excludes(run, one, other)))
    if (group === undefined) groups.push([one])
    else group.push(one)
  }
  return groups
}

function excludes(run: StepRun, one: Contender, other: Contender): boolean {
  const ids = new Set(one.mutations.map(({ id }) => id))
  return other.mutations.some(({ id }) => ids.has(id)) || typeof treeOf(run, [...other.mutations, ...one.mutations]) === 'string'
}

/** All of them as one change. */
export function sumOf(parts: readonly ProposedChange[]): ProposedChange {
  const [only] = parts
  if (only !== undefined && parts.length === 1) return only
  const designs = parts.flatMap(({ notes: { design } }) => (typeof design === 'string' && design !== '' ? [design] : []))
  return {
    mutations: parts.flatMap(({ mutations }) => mutations),
    requires: parts.flatMap(({ requires }) => requires),
    proposalId: null,
    notes: designs.length === 0 ? {} : { design: designs.join('\n\n') },
  }
}
