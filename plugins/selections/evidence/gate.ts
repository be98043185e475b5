/** The gate's tasks: a candidate from traffic must be better on them. */
import type { JsonObject, Pair, Question } from '../../../src/contract/index.ts'
import { counted } from '../../../src/kit/index.ts'
import { familiesOf, sharesOf } from './families.ts'
import { intervalOf } from './wealth.ts'
import { levelOf } from './levels.ts'
import {
  countsOf,
  differencesOf,
  drawsOf,
  pairsMaxOf,
  rounded,
  seenOf,
  tasksOf,
  evidenceOf,
  outlook,
  standing,
  units,
  weighed,
} from './stage.ts'
import type { EvidenceSettings, SeenPair, TestStage } from './stage.ts'
import { familiesMissing, Superiority, WEIGHT_MAX, type Terms } from './superiority.ts'

/** `pairsKept` of the budget are reserved for the regression stage. */
export function openGate(
  pairs: readonly Pair[],
  question: Question,
  { alpha, alike, margin }: EvidenceSettings,
  pairsKept: number,
): TestStage {
  const tasks = tasksOf(question, 'gate')
  const seen = seenOf(pairs, tasks, 'gain')
  const pairsMax = pairsMaxOf(tasks.length, seen.length, question, pairsKept)
  const terms = {
    families: familiesOf(tasks),
    shares: sharesOf(tasks, alike),
    seed: question.seed,
    level: levelOf(alpha, question.history),
    pairsMax,
    // What costs less must not do worse.
    ...(pairs.some(({ gain }) => gain !== undefined) && { guard: { margin, level: alpha } }),
  }
  const exam = examOf(seen, terms)
  return {
    draws: drawsOf(exam.next(), tasks),
    passed: exam.stopped === 'success',
    reason: reasonOf(exam, terms),
    isOpen: exam.stopped === 'budget' || (exam.stopped === 'futility' && isShort(seen, terms, question)),
    episodesMax: 2 * pairsMax,
    metrics: () => ({ evidence: evidenceOfGate(exam, seen, terms, question, alpha), ...countsOf(seen) }),
  }
}

/** Whether only the budget makes it hopeless. */
function isShort(seen: readonly SeenPair[], terms: Terms, question: Question): boolean {
  const pairsMax = pairsMaxOf(terms.families.length, seen.length, { ...question, episodesLeft: null }, 0)
  return examOf(seen, { ...terms, pairsMax }).stopped === null
}

function examOf(seen: readonly SeenPair[], terms: Terms): Superiority {
  const exam = new Superiority(terms)
  for (const { task, difference, scoreDifference, weight, isGraded } of seen)
    exam.add(task, difference, Math.min(WEIGHT_MAX, weight), isGraded, scoreDifference)
  return exam
}

function reasonOf(exam: Superiority, { families, shares = [], pairsMax, level, guard }: Terms): string {
  const { log } = exam
  const harm =
    guard === undefined ? '' : `; at most ${guard.margin} worse in score alone: ${weighed(exam.logGuard, -Math.log(guard.level))}`
  const judged = guard === undefined ? '' : 'by score against what it takes '
  const said = `${judged}${standing(exam.tallies, families.length)}: ${weighed(log, exam.threshold)}${harm}`
  const episodes = 2 * exam.pairs
  switch (exam.stopped) {
    case 'success':
      return said
    case 'families':
      return tooFew(families.length, shares, familiesMissing(level, shares))
    case 'futility':
      return `${said} after ${counted(episodes, 'episode')}, and the ${2 * pairsMax - episodes} left are not expected to reach it`
    case 'budget':
      return `${said} when the budget ended after ${counted(episodes, 'episode')}; ${outlook(log, exam.threshold, episodes)}`
    default:
      return `${said}, and it was not played out`
  }
}

function tooFew(tasks: number, shares: readonly number[], missing: number): string {
  const why = 'at least to tell a gain from luck'
  const families = shares.length
  if (shares.some((share) => share < 1))
    return `the gate has ${counted(tasks, 'task')}, which are too few to tell a gain from luck where so many may be alike (evolution.tasks_alike); give tasks that are alike a family, and add ${counted(missing, 'task')} of other families`
  if (families === tasks)
    return `the gate has ${counted(tasks, 'task')}, and this decision needs ${families + missing} ${why}; add ${missing} that are not alike`
  return `the gate has ${counted(tasks, 'task')} in ${units(families, tasks)}, and this decision needs ${families + missing} families ${why}; add tasks of ${missing} more`
}

function evidenceOfGate(exam: Superiority, seen: readonly SeenPair[], terms: Terms, { history }: Question, alpha: number): JsonObject {
  return {
    test: 'superiority',
    e_value: evidenceOf(exam.logDraws),
    e_value_tasks: evidenceOf(exam.logFamilies),
    threshold: evidenceOf(exam.threshold),
    threshold_tasks: evidenceOf(exam.thresholdFamilies),
    alpha_spent: terms.level,
    decided_before: history.decided,
    selected_before: history.selected,
    mean_difference: rounded(exam.mean),
    interval: intervalOf(exam.bets, alpha).map(rounded),
    differences: differencesOf(seen),
    pairs: exam.pairs,
    tasks: terms.families.length,
    ...(exam.families < terms.families.length && { families: exam.families }),
    ...(terms.guard !== undefined && { e_value_score: evidenceOf(exam.logGuard), margin: terms.guard.margin }),
    episodes_cap: 2 * terms.pairsMax,
    stopped: exam.stopped ?? 'unfinished',
  }
}
