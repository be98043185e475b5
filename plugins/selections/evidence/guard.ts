/** The protected tasks: a candidate must not be worse on them than the margin allows. */
import type { JsonObject, Pair, Question, Task } from '../../../src/contract/index.ts'
import { counted } from '../../../src/kit/index.ts'
import { intervalOf } from './wealth.ts'
import { NonInferiority, type GuardTerms } from './noninferiority.ts'
import { countsOf, differencesOf, drawsOf, pairsMaxOf, rounded, seenOf, evidenceOf, outlook, weighed } from './stage.ts'
import type { EvidenceSettings, SeenPair, TestStage } from './stage.ts'

export function openGuard(
  pairs: readonly Pair[],
  tasks: readonly Task[],
  question: Question,
  { alpha, margin }: EvidenceSettings,
): TestStage {
  const seen = seenOf(pairs, tasks)
  const pairsMax = pairsMaxOf(tasks.length, seen.length, question, 0, PAIRS_OF_FEW_TASKS_MAX)
  const terms = { tasks: tasks.length, margin, level: alpha, pairsMax }
  const exam = examOf(seen, terms)
  // More of such pairs would show nothing either.
  const isBlind = seen.length >= tasks.length && seen.every(({ isCompared }) => !isCompared)
  return {
    draws: isBlind ? [] : drawsOf(exam.next(), tasks),
    passed: exam.stopped === 'success',
    reason: reasonOf(exam, margin, tasks.length) + uncomparedWords(seen),
    isOpen: exam.stopped === 'budget' || (exam.stopped === 'futility' && isShort(seen, terms, question)),
    episodesMax: 2 * pairsMax,
    metrics: () => ({
      evidence: {
        ...evidenceOfGuard(exam, seen, { alpha, margin }, tasks, pairsMax),
        ...(isBlind && { stopped: 'uncompared' }),
      },
      ...countsOf(seen),
    }),
  }
}

/** Whether only the budget makes it hopeless. */
function isShort(seen: readonly SeenPair[], terms: GuardTerms, question: Question): boolean {
  const pairsMax = pairsMaxOf(terms.tasks, seen.length, { ...question, episodesLeft: null }, 0, PAIRS_OF_FEW_TASKS_MAX)
  return examOf(seen, { ...terms, pairsMax }).stopped === null
}

function examOf(seen: readonly SeenPair[], terms: GuardTerms): NonInferiority {
  const exam = new NonInferiority(terms)
  // A pair without a current score is no evidence: a candidate is not harmless because nothing could be compared.
  for (const { task, difference, isCompared } of seen) exam.add(task, isCompared ? difference : -terms.margin)
  return exam
}

/** So many show nineteen times of twenty that a change is harmless, also together with others, where four tasks protect and plays differ. */
const PAIRS_OF_FEW_TASKS_MAX = 1000

function reasonOf(exam: NonInferiority, margin: number, tasks: number): string {
  const { log, threshold } = exam
  const episodes = 2 * exam.pairs
  const said = `at most ${margin} worse in the mean score of the ${counted(tasks, 'protected task')}: ${weighed(log, threshold)}`
  switch (exam.stopped) {
    case 'success':
      return said
    case 'budget':
      return `${said} when the budget ended after ${counted(episodes, 'episode')}; ${outlook(log, threshold, episodes)}`
    case 'futility':
      return `${said} after ${counted(episodes, 'episode')}, and those left are not expected to reach it`
    default:
      return `${said}, and it was not played out`
  }
}

function uncomparedWords(seen: readonly SeenPair[]): string {
  const blind = uncomparedOf(seen)
  return blind === 0 ? '' : `; in ${blind} of ${counted(seen.length, 'pair')} the served side had no score, so they do not count`
}

const uncomparedOf = (seen: readonly SeenPair[]): number => seen.filter(({ isCompared }) => !isCompared).length

function evidenceOfGuard(
  exam: NonInferiority,
  seen: readonly SeenPair[],
  { alpha, margin }: Pick<EvidenceSettings, 'alpha' | 'margin'>,
  tasks: readonly Task[],
  pairsMax: number,
): JsonObject {
  const { differences } = exam
  const mean = differences.reduce((sum, difference) => sum + difference, 0) / Math.max(1, differences.length)
  const gains = differences.map((value) => ({ value, weightMax: 1 }))
  return {
    test: 'non_inferiority',
    e_value: evidenceOf(exam.log),
    threshold: evidenceOf(exam.threshold),
    alpha_spent: alpha,
    margin,
    mean_difference: rounded(mean),
    interval: intervalOf(gains, alpha).map(rounded),
    differences: differencesOf(seen),
    pairs: exam.pairs,
    ...(uncomparedOf(seen) > 0 && { uncompared: uncomparedOf(seen) }),
    tasks: tasks.length,
    ...(tasks[0] !== undefined && { role: tasks[0].role }),
    episodes_cap: 2 * pairsMax,
    stopped: exam.stopped ?? 'unfinished',
  }
}
