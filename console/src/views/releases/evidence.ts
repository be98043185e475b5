/** What a decision rests on, read out of a step's metrics, and where each number lies in its picture. Pure; metrics may be of any shape. */
import { brief, counted, signed } from '../../ui/figures.ts'
import { numberAt } from '../../data/chain.ts'
import { dataAt, isData, listAt, textAt, type Data } from '../../data/json.ts'

export interface Evidence {
  readonly title: string
  /** What had to be shown. */
  readonly question: string
  readonly pictures: readonly Picture[]
  readonly numbers: readonly (readonly [label: string, text: string])[]
}

/** A bar along a line of 100, with marks on it. */
export interface Picture {
  readonly title: string
  /** Everything the picture shows, as a sentence. */
  readonly words: string
  readonly tone: 'good' | 'bad' | 'plain'
  readonly from: number
  readonly to: number
  readonly marks: readonly { readonly at: number; readonly kind: 'zero' | 'mean' | 'limit' }[]
  /** Under its left end, its middle and its right end. */
  readonly scale: readonly [string, string, string]
}

/** Nothing where a policy goes by no evidence, or never came to any. */
export function evidencesOf(metrics: Data): readonly Evidence[] {
  return [
    evidenceOf('Evidence', dataAt(metrics, 'evidence')),
    evidenceOf('Evidence that nothing got worse', dataAt(metrics, 'evidence_regression')),
  ].flatMap((evidence) => evidence ?? [])
}

function evidenceOf(title: string, data: Data): Evidence | null {
  const pictures = [intervalOf(data), ...weightsOf(data)].flatMap((picture) => picture ?? [])
  if (pictures.length === 0) return null
  return { title, question: QUESTIONS[textAt(data, 'test') ?? ''] ?? 'What the policy went by.', pictures, numbers: numbersOf(data) }
}

const QUESTIONS: Readonly<Record<string, string>> = {
  superiority: 'The candidate had to be shown to be better than what was served.',
  non_inferiority: 'The candidate had to be shown not to be worse than the margin allows.',
}

/** A little more than what it holds, and never so little that a hair looks like a bar. */
const REACH_LEAST = 0.1
const REACH_ROOM = 1.15

function intervalOf(data: Data): Picture | null {
  const mean = numberAt(data, 'mean_difference')
  const [low, high] = listAt(data, 'interval')
  if (mean === null || !isNumber(low) || !isNumber(high) || low > high) return null
  const margin = numberAt(data, 'margin')
  const reach = Math.max(REACH_LEAST, ...[low, high, mean, margin ?? 0].map(Math.abs)) * REACH_ROOM
  const at = (value: number): number => 50 + (50 * value) / reach
  const allowed = margin === null ? '' : `; at most ${brief(margin)} worse was allowed`
  return {
    title: 'Mean difference',
    words: `${signed(mean)}, and with confidence between ${signed(low)} and ${signed(high)}${allowed}`,
    tone: low > 0 ? 'good' : high < 0 ? 'bad' : 'plain',
    from: at(low),
    to: at(high),
    marks: [
      { at: 50, kind: 'zero' },
      { at: at(mean), kind: 'mean' },
      ...(margin === null ? [] : [{ at: at(-margin), kind: 'limit' } as const]),
    ],
    scale: [signed(-reach), '0', signed(reach)],
  }
}

const isNumber = (value: unknown): value is number => typeof value === 'number' && Number.isFinite(value)

/** The least and the most that is told apart. */
const WEIGHT_LEAST = 0.01
const WEIGHT_MOST = 1e12

/** Over pairs, and where the policy looks a second time over tasks: each has to cross the line. */
function weightsOf(data: Data): readonly Picture[] {
  const threshold = numberAt(data, 'threshold')
  if (threshold === null || threshold <= 1) return []
  const weights = (
    [
      ['e-value over pairs', 'e_value'],
      ['e-value over tasks', 'e_value_tasks'],
    ] as const
  ).flatMap(([title, key]) => {
    const value = numberAt(data, key)
    return value === null ? [] : [{ title, value }]
  })
  const values = weights.map(({ value }) => within(value))
  const [bottom, top] = [Math.log(Math.min(0.5, ...values)), Math.log(Math.max(threshold, ...values) * 2)]
  const at = (value: number): number => (100 * (Math.log(within(value)) - bottom)) / (top - bottom)
  return weights.map(({ title, value }) => ({
    title,
    words: `${brief(value)} of the ${brief(threshold)} needed; 1 says nothing either way`,
    tone: value >= threshold ? 'good' : value < 1 ? 'bad' : 'plain',
    from: Math.min(at(1), at(value)),
    to: Math.max(at(1), at(value)),
    marks: [
      { at: at(1), kind: 'zero' },
      { at: at(threshold), kind: 'limit' },
    ],
    scale: [brief(Math.exp(bottom)), '', brief(Math.exp(top))],
  }))
}

const within = (value: number): number => Math.min(WEIGHT_MOST, Math.max(WEIGHT_LEAST, value))

const NUMBERS: readonly (readonly [key: string, label: string])[] = [
  ['pairs', 'Pairs played'],
  ['tasks', 'Tasks'],
  ['episodes_cap', 'Episodes at most'],
  ['alpha_spent', 'Chance of a mistake allowed'],
  ['decided_before', 'Decided before'],
  ['selected_before', 'Of those selected'],
]

const STOPS: Readonly<Record<string, string>> = {
  success: 'it was shown',
  futility: 'it was no longer expected to be shown',
  budget: 'the episodes were used up',
  tasks: 'there are too few tasks',
  health: 'a health task failed',
  unfinished: 'it was not played out',
}

function numbersOf(data: Data): Evidence['numbers'] {
  const stopped = textAt(data, 'stopped')
  const numbers = NUMBERS.flatMap(([key, label]): (readonly [string, string])[] => {
    const value = numberAt(data, key)
    return value === null ? [] : [[label, brief(value)]]
  })
  return stopped === null ? numbers : [...numbers, ['Ended because', STOPS[stopped] ?? stopped]]
}

export interface EpisodeTold {
  readonly task: string
  readonly score: number | null
  readonly failure: string | null
}

/** The first episodes of the candidate, one by one. */
export function episodesOf(metrics: Data): readonly EpisodeTold[] {
  return listAt(metrics, 'candidate_episodes')
    .filter(isData)
    .map((episode) => {
      const repeat = numberAt(episode, 'repeat')
      const task = textAt(episode, 'task') ?? 'unnamed'
      return {
        task: repeat === null ? task : `${task}, repeat ${repeat}`,
        score: numberAt(episode, 'score'),
        failure: textAt(episode, 'failure'),
      }
    })
}

/** "160 episodes, 16 of them known from before, 496 saved" */
export function costOf(metrics: Data): string | null {
  const [used, cached, saved] = [
    numberAt(metrics, 'episodes_used'),
    numberAt(metrics, 'episodes_cached'),
    numberAt(metrics, 'episodes_saved'),
  ]
  if (used === null) return null
  const parts = [
    `${counted(used, 'episode')} played`,
    ...(cached === null ? [] : [`${cached} known from before`]),
    ...(saved === null ? [] : [`${saved} saved by ending early`]),
  ]
  return parts.join(', ')
}
