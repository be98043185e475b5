/**
 * Changes together: each may lose a little that its own test cannot see, so that many of them could lose much. A request that follows others is
 * also compared with the baseline, the tree that was served before the first of them. Where tasks of role regression are protected, a gain may
 * lose on them too, so it counts as a request does; else it is proved on the tasks that are protected. A tree that came by other means (such a
 * gain, a promote, a release of before that a person put back, a new shipped entry) is the next baseline.
 */
import type { Decision, Entry, Question, Task } from '../contract/index.ts'
import { touchedEntries } from '../harness/index.ts'
import { counted } from '../kit/index.ts'
import { treeOf } from './cases.ts'
import { evaluate, uncapped, type EvaluationEnd } from './evaluate.ts'
import type { Baseline, StepRun } from './run.ts'

/** The baseline's own tree is always kept. */
const TREES_MAX = 256

/** Of the served tree: the known one where changes that are added up alone led here from it, else the served tree itself. */
function baselineOf(run: StepRun): { readonly baseline: Baseline; readonly before: readonly Entry[] } {
  const { state, entries } = run
  const served = treeOf(run, entries)
  const { baseline } = state
  if (baseline?.trees.includes(served) === true) {
    const before = entriesBefore(baseline, entries)
    if (treeOf(run, before) === baseline.trees[0]) return { baseline, before }
  }
  return { baseline: { trees: [served], ids: entries.map(({ id }) => id), changed: [], failed: 0 }, before: entries }
}

function entriesBefore({ ids, changed }: Baseline, entries: readonly Entry[]): readonly Entry[] {
  const byId = new Map([...entries, ...changed].map((entry) => [entry.id, entry]))
  return ids.flatMap((id) => byId.get(id) ?? [])
}

/** The baseline after a change was published that is added up. */
export function baselineAfter(run: StepRun, candidate: readonly Entry[]): Baseline {
  const { baseline } = baselineOf(run)
  const known = new Set(baseline.changed.map(({ id }) => id))
  const changed = touchedEntries(run.entries, candidate).before.filter(({ id }) => baseline.ids.includes(id) && !known.has(id))
  const [first, ...others] = [...baseline.trees, treeOf(run, candidate)]
  return { ...baseline, trees: [first, ...others.slice(1 - TREES_MAX)], changed: [...baseline.changed, ...changed] }
}

export interface JudgedSum extends Pick<EvaluationEnd, 'flushed' | 'rechecked'> {
  readonly decision: Decision
  /** Why a person must review it, or null. */
  readonly held: string | null
}

/** Whether what the step's change loses is added up with what those before it lost. */
export const isAdded = ({ order }: StepRun, gate: readonly Task[]): boolean =>
  order.batch.request !== null || gate.some(({ role }) => role === 'regression')

/** What a change is judged against together with those before it; null where it is the first, or the selection does not ask for it. */
export function sumBefore(run: StepRun, gate: readonly Task[]): ReturnType<typeof baselineOf> | null {
  const { context, entries } = run
  if (!isAdded(run, gate) || context.method.selection.boundsSum !== true) return null
  const found = baselineOf(run)
  return treeOf(run, entries) === found.baseline.trees[0] ? null : found
}

/** Null where there is nothing to add up. */
export async function judgeSum(
  run: StepRun,
  candidate: readonly Entry[],
  question: Omit<Question, 'pairs' | 'episodesLeft'>,
): Promise<JudgedSum | null> {
  const { context, episodes, report, order } = run
  const found = sumBefore(run, question.tasks)
  if (found === null) return null
  const { baseline, before } = found
  const earlier = changesIn(baseline)
  report.line('check', `compares with what was served before the ${earlier} since`)
  const { decision: selections, ...end } = await evaluate({
    selection: context.method.selection,
    episodes,
    candidate,
    current: before,
    against: 'baseline',
    // A gain has shown that it helps: here it must do no harm, as a request must.
    question: { ...question, kind: 'request', sum: { failed: baseline.failed } },
    objective: context.settings.objective,
    before: [],
    workers: context.settings.episode_workers,
    report,
  })
  const decision = uncapped(episodes, selections)
  report.line('check', decision.reason, !decision.selected)
  if (decision.selected) return { ...end, decision, held: null }
  run.state = { ...run.state, baseline: { ...baseline, failed: baseline.failed + 1 } }
  const alone = order.batch.request === null ? 'it was shown to help' : 'it was not shown to do harm by itself'
  const held = `${alone}, but together with the ${earlier} before it it was not shown to be ${decision.reason}`
  return { ...end, decision, held }
}

/** "1 change", "3 changes": those that were published since. */
const changesIn = ({ trees }: Baseline): string => counted(trees.length - 1, 'change')
