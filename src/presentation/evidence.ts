/** The evidence of a decision, read from a step's metrics: each figure with its place on a scale of 0 to 100, and the same in words. */
import { brief, counted, formatted, signed } from './numbers.ts'
import { isNumber, isRecord, listAt, numberAt, objectAt, objectsAt, textAt, type UnknownRecord } from './read.ts'
import { scoreText } from './scores.ts'

export interface StepEvidence {
  readonly title: string
  /** What had to be shown. */
  readonly question: string
  /** One difference for each pair that is drawn. */
  readonly pairs: PairsFigure | null
  readonly bars: readonly BarFigure[]
  readonly facts: readonly StepFact[]
}

/** A label, the text beside it, and what it means where the label does not say it. */
export type StepFact = readonly [label: string, text: string, meaning?: string]

interface Figure {
  readonly title: string
  /** A sentence that says everything that the figure shows. */
  readonly words: string
}
export interface PairsFigure extends Figure {
  readonly differences: readonly number[]
}
/** A bar on a line from 0 to 100, with marks on it. */
export interface BarFigure extends Figure {
  readonly tone: 'good' | 'bad' | 'plain'
  readonly from: number
  readonly to: number
  readonly marks: readonly { readonly at: number; readonly kind: 'zero' | 'mean' | 'limit' }[]
  /** Under the left end, the middle and the right end. */
  readonly scale: readonly [string, string, string]
}

/** Empty where the policy uses no evidence, or never had any. */
export function evidenceOf(metrics: UnknownRecord): readonly StepEvidence[] {
  return [
    sectionOf('Evidence', metrics['evidence'], metrics),
    // The counts of the row are those of the first stage.
    sectionOf('Evidence that nothing got worse', metrics['evidence_regression'], {}),
    sectionOf('Evidence that it did no harm together with the changes before it', metrics['evidence_sum'], {}, BASELINE),
  ].filter((section) => section !== null)
}

function sectionOf(title: string, evidence: unknown, counts: UnknownRecord, against = 'the served release'): StepEvidence | null {
  if (!isRecord(evidence)) return null
  const pairs = pairsOf(evidence, counts)
  const bars = [...intervalOf(evidence), ...strengthsOf(evidence)]
  if (pairs === null && bars.length === 0) return null
  return {
    title,
    question: questionOf(evidence, against),
    pairs,
    bars,
    facts: factsOf(evidence),
  }
}

const BASELINE = 'what was served before those changes'

function questionOf(evidence: UnknownRecord, against: string): string {
  switch (textAt(evidence, 'test')) {
    case 'superiority':
      return `The candidate had to be shown to be better than ${against}.`
    case 'non_inferiority':
      return `The candidate had to be shown to be ${allowedWords(evidence)} than ${against}${protectedWords(evidence)}.`
    default:
      return 'The policy decided by this.'
  }
}

/** "at most 0.1 worse" */
function allowedWords(evidence: UnknownRecord): string {
  const margin = numberAt(evidence, 'margin')
  return margin === null ? 'not much worse' : `at most ${brief(margin)} worse`
}

/** ", in the mean score of the 4 protected tasks" and which they are. */
function protectedWords(evidence: UnknownRecord): string {
  const tasks = numberAt(evidence, 'tasks')
  if (tasks === null) return ''
  const which = { regression: ', those of role regression', gate: ', those of the gate, since none has the role regression' }
  const role = textAt(evidence, 'role')
  return `, in the mean score of the ${counted(tasks, 'protected task')}${role === 'regression' || role === 'gate' ? which[role] : ''}`
}

/**
 * The result in one sentence: "10 of 14 improved, none worse; the evidence is strong enough (1 in 1,200 by luck)". Null where no pairs were
 * counted.
 */
export function headlineOf(metrics: UnknownRecord): string | null {
  const [wins, losses] = [numberAt(metrics, 'wins'), numberAt(metrics, 'losses')]
  if (wins === null || losses === null) return null
  const pairs = wins + losses + (numberAt(metrics, 'ties') ?? 0)
  const counts = `${wins === 0 ? 'None' : formatted(wins)} of ${formatted(pairs)} improved, ${losses === 0 ? 'none' : formatted(losses)} worse`
  const evidence = metrics['evidence']
  if (!isRecord(evidence)) return counts
  // Each e-value has to reach its threshold, so the one that is furthest from it decides.
  const [weakest] = strengthsIn(evidence).toSorted((a, b) => a.value / a.threshold - b.value / b.threshold)
  if (weakest === undefined) return counts
  const shown = textAt(evidence, 'test') === 'non_inferiority' ? ` that it is ${allowedWords(evidence)}` : ''
  return `${counts}; the evidence${shown} is ${strengthWords(weakest.value, weakest.threshold)}`
}

/** An e-value of N is reached by luck at most once in N. */
function strengthWords(value: number, threshold: number): string {
  if (value >= threshold) return `strong enough (${luck(value)})`
  return `not strong enough (${value > 1 ? `${luck(value)}, ` : ''}1 in ${brief(threshold)} needed)`
}

const luck = (value: number): string =>
  value > STRENGTH_MAX ? `less than 1 in ${brief(STRENGTH_MAX)} by luck` : `1 in ${brief(value)} by luck`

/** So many pairs are drawn at most. */
const PAIRS_DRAWN_MAX = 240

function pairsOf(evidence: UnknownRecord, counts: UnknownRecord): PairsFigure | null {
  const listed = listAt(evidence, 'differences').filter(isNumber)
  const differences = (listed.length > 0 ? listed : countedPairs(counts)).slice(0, PAIRS_DRAWN_MAX)
  if (differences.length === 0) return null
  const wins = numberAt(counts, 'wins') ?? listed.filter((value) => value > 0).length
  const losses = numberAt(counts, 'losses') ?? listed.filter((value) => value < 0).length
  const pairs = Math.max(numberAt(evidence, 'pairs') ?? 0, differences.length)
  const drawn = pairs > differences.length ? `; the first ${differences.length} are drawn` : ''
  const ties = formatted(Math.max(0, pairs - wins - losses))
  const words = `${formatted(wins)} won, ${formatted(losses)} lost and ${ties} tied of ${counted(pairs, 'pair')}${drawn}.`
  return { title: 'Pairs', words, differences }
}

/** A row that does not list its pairs counts them by kind. */
function countedPairs(counts: UnknownRecord): readonly number[] {
  const times = (name: string): number => Math.min(PAIRS_DRAWN_MAX, Math.max(0, Math.floor(numberAt(counts, name) ?? 0)))
  const kinds = [[1, times('wins')] as const, [0, times('ties')] as const, [-1, times('losses')] as const]
  return kinds.flatMap(([difference, length]) => Array.from({ length }, () => difference))
}

const REACH_MIN = 0.1
const REACH_MARGIN = 1.15

/** Between which differences of scores the change lies with confidence; null where nothing was shown, or where money or time counted too. */
export const gainInterval = (metrics: UnknownRecord) => (isRecord(metrics['objective']) ? null : spanIn(objectAt(metrics, 'evidence')))

function spanIn(evidence: UnknownRecord): readonly [low: number, high: number] | null {
  const [low = NaN, high = NaN] = listAt(evidence, 'interval').filter(isNumber)
  return low <= high ? [low, high] : null
}

function intervalOf(evidence: UnknownRecord): readonly BarFigure[] {
  const mean = numberAt(evidence, 'mean_difference')
  const [low, high] = spanIn(evidence) ?? []
  if (mean === null || low === undefined || high === undefined) return []
  const margin = numberAt(evidence, 'margin')
  const reach = REACH_MARGIN * Math.max(REACH_MIN, ...[low, high, mean, margin ?? 0].map(Math.abs))
  const at = (value: number): number => 50 + (50 * value) / reach
  const allowed = margin === null ? '' : `; up to ${brief(margin)} worse is allowed`
  return [
    {
      title: 'Mean difference',
      words: `${signed(mean)}, with confidence between ${signed(low)} and ${signed(high)}${allowed}.`,
      tone: low > 0 ? 'good' : high < 0 ? 'bad' : 'plain',
      from: at(low),
      to: at(high),
      marks: [
        { at: 50, kind: 'zero' },
        { at: at(mean), kind: 'mean' },
        ...(margin === null ? [] : [{ at: at(-margin), kind: 'limit' } as const]),
      ],
      scale: [signed(-reach), '0', signed(reach)],
    },
  ]
}

const STRENGTHS = [
  ['e-value over pairs', 'e_value', 'threshold'],
  ['e-value over tasks', 'e_value_tasks', 'threshold_tasks'],
] as const

/** Of earlier versions both have the same threshold. */
const strengthsIn = (evidence: UnknownRecord) =>
  STRENGTHS.flatMap(([title, name, limit]) => {
    const [value, threshold] = [numberAt(evidence, name), numberAt(evidence, limit) ?? numberAt(evidence, 'threshold')]
    return value === null || value < 0 || threshold === null || threshold <= 1 ? [] : [{ title, value, threshold }]
  })

/** A value outside is drawn at the end. */
const STRENGTH_MIN = 0.01
const STRENGTH_MAX = 1e12

/** Over pairs, and where the policy checks a second time over tasks: each has to reach its threshold. On a scale of magnitudes. */
function strengthsOf(evidence: UnknownRecord): readonly BarFigure[] {
  const strengths = strengthsIn(evidence)
  const logs = strengths.flatMap(({ value, threshold }) => [logOf(value), logOf(threshold)])
  const [bottom, top] = [Math.min(logOf(0.5), ...logs), Math.max(...logs) + 0.5]
  const at = (value: number): number => (100 * (logOf(value) - bottom)) / (top - bottom)
  return strengths.map(({ title, value, threshold }) => ({
    title,
    words: `${brief(value)}: ${strengthWords(value, threshold)}.`,
    tone: value >= threshold ? 'good' : value < 1 ? 'bad' : 'plain',
    from: at(Math.min(1, value)),
    to: at(Math.max(1, value)),
    marks: [
      { at: at(1), kind: 'zero' },
      { at: at(threshold), kind: 'limit' },
    ],
    scale: [brief(Math.exp(bottom)), '', brief(Math.exp(top))],
  }))
}

const logOf = (value: number): number => Math.log(Math.min(STRENGTH_MAX, Math.max(STRENGTH_MIN, value)))

const NUMBERS: readonly (readonly [name: string, label: string, meaning?: string])[] = [
  [
    'alpha_spent',
    'Chance of a mistake allowed',
    'How often, at most, a change without any effect may pass this test; what this decision used of all that may be used.',
  ],
  ['decided_before', 'Candidates decided before', 'The more candidates were tried, the stronger the evidence for the next has to be.'],
  ['selected_before', 'Of those selected', 'Each one selected gives back some of the chance of a mistake.'],
  ['pairs', 'Pairs played', 'A pair is one task played with the change and as served.'],
  ['tasks', 'Tasks', 'How many different tasks the pairs are of.'],
  ['families', 'Families of tasks', 'Tasks that are alike count as one family: they succeed and fail together.'],
  ['episodes_cap', 'Episodes at most', 'The most that the step may play.'],
]

const STOPS: Readonly<Record<string, string>> = {
  success: 'enough evidence',
  futility: 'no hope of enough evidence',
  budget: 'no episodes left',
  families: 'too few tasks that are not alike',
  health: 'a failed health task',
  uncompared: 'no score of the served release to compare with',
  unfinished: 'not played to the end',
}

function factsOf(evidence: UnknownRecord): readonly StepFact[] {
  const stopped = textAt(evidence, 'stopped')
  return [
    ...namedNumbers(evidence, NUMBERS),
    ...uncomparedFact(evidence),
    ...(stopped === null ? [] : [['Ended by', STOPS[stopped] ?? stopped] as const]),
  ]
}

function uncomparedFact(evidence: UnknownRecord): readonly StepFact[] {
  const [uncompared, pairs] = [numberAt(evidence, 'uncompared'), numberAt(evidence, 'pairs')]
  if (uncompared === null) return []
  const of = pairs === null ? '' : ` of ${formatted(pairs)}`
  return [['Pairs not compared', `${formatted(uncompared)}${of}: the other side had no score, so they do not count`]]
}

export const namedNumbers = (from: UnknownRecord, names: typeof NUMBERS): readonly StepFact[] =>
  names.flatMap(([name, label, meaning]): readonly StepFact[] => {
    const value = numberAt(from, name)
    if (value === null) return []
    return [meaning === undefined ? [label, formatted(value)] : [label, formatted(value), meaning]]
  })

/** One line of the task table: an episode of the candidate. */
export interface TaskResult {
  readonly task: string
  /** "played again (2)"; empty of the first time. */
  readonly again: string
  readonly score: number | null
  readonly scoreText: string
  /** Why there is no score, and what the evaluator said. */
  readonly notes: readonly string[]
}

/** The first episodes of the candidate; the step record has all. */
export const tasksOf = (metrics: UnknownRecord): readonly TaskResult[] =>
  objectsAt(metrics, 'candidate_episodes').map((episode) => {
    const [score, repeat] = [numberAt(episode, 'score'), numberAt(episode, 'repeat') ?? 0]
    return {
      task: textAt(episode, 'task') ?? 'unnamed',
      again: repeat > 0 ? `played again (${formatted(repeat + 1)})` : '',
      score,
      scoreText: score === null ? 'no score' : scoreText(score),
      notes: [textAt(episode, 'failure'), textAt(episode, 'evaluation')].filter((text) => text !== null),
    }
  })
