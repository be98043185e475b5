/** What a decision rests on, drawn: every pair, where the mean difference lies, how far the evidence got. Each picture is told in words beside it. */
import { isObject, type Json, type JsonObject } from '../contract/index.ts'
import { bar, marks, type Span } from './drawing.ts'
import { markup, type Html, type Piece } from './html.ts'
import { code, counted, formatted, term } from './prose.ts'
import { listAt, numberAt, textAt } from './read.ts'

/** Nothing where a policy goes by no evidence, or never came to any. */
export function evidenceOf(metrics: JsonObject): Piece {
  return [
    sectionOf('Evidence', metrics['evidence'], metrics),
    // The counts of the row are those of the first stage.
    sectionOf('Evidence that nothing got worse', metrics['evidence_regression'], {}),
  ]
}

function sectionOf(title: string, evidence: Json | undefined, counts: JsonObject): Piece {
  if (!isObject(evidence)) return null
  const figures = [...pairsFigure(evidence, counts), ...intervalFigure(evidence), ...weightFigures(evidence)]
  if (figures.length === 0) return null
  return markup`<div class="evidence">
    <h3>${title}</h3>
    <p>${QUESTIONS[textAt(evidence, 'test') ?? ''] ?? 'What the policy went by.'}</p>
    ${figures} ${numbersOf(evidence)}
  </div>`
}

const QUESTIONS: Readonly<Record<string, string>> = {
  superiority: 'The candidate had to be shown to be better than what was served.',
  non_inferiority: 'The candidate had to be shown to be no worse than the margin allows.',
}

/** `words` say everything that the picture shows. */
function figure(title: string, words: string, drawing: (words: string) => Html, scale: readonly string[] = []): Html {
  return markup`<figure>
    <figcaption><b>${title}</b> ${words}</figcaption>
    ${drawing(words)}
    ${scale.length > 0 && markup`<p class="scale" aria-hidden="true">${scale.map((text) => markup`<span>${text}</span>`)}</p>`}
  </figure>`
}

const PAIRS_DRAWN_MAX = 240

function pairsFigure(evidence: JsonObject, counts: JsonObject): readonly Html[] {
  const told = listAt(evidence, 'differences').filter(isNumber)
  const differences = (told.length > 0 ? told : countedPairs(counts)).slice(0, PAIRS_DRAWN_MAX)
  if (differences.length === 0) return []
  const wins = numberAt(counts, 'wins') ?? told.filter((value) => value > 0).length
  const losses = numberAt(counts, 'losses') ?? told.filter((value) => value < 0).length
  const pairs = Math.max(numberAt(evidence, 'pairs') ?? 0, differences.length)
  const drawn = pairs > differences.length ? `; the first ${differences.length} are drawn` : ''
  const ties = formatted(Math.max(0, pairs - wins - losses))
  const words = `${formatted(wins)} won, ${formatted(losses)} lost and ${ties} tied of ${counted(pairs, 'pair')}${drawn}.`
  return [figure('Pairs', words, marks(differences))]
}

const isNumber = (value: Json): value is number => typeof value === 'number' && Number.isFinite(value)

/** A row that does not tell its pairs one by one tells how many there were of each kind. */
function countedPairs(counts: JsonObject): readonly number[] {
  const times = (name: string): number => Math.min(PAIRS_DRAWN_MAX, Math.max(0, Math.floor(numberAt(counts, name) ?? 0)))
  const kinds = [
    { difference: 1, count: times('wins') },
    { difference: 0, count: times('ties') },
    { difference: -1, count: times('losses') },
  ]
  return kinds.flatMap(({ difference, count }) => Array.from({ length: count }, () => difference))
}

const REACH_MIN = 0.1

function intervalFigure(evidence: JsonObject): readonly Html[] {
  const mean = numberAt(evidence, 'mean_difference')
  const [low = NaN, high = NaN] = listAt(evidence, 'interval').filter(isNumber)
  if (mean === null || !(low <= high)) return []
  const margin = numberAt(evidence, 'margin')
  const reach = 1.15 * Math.max(REACH_MIN, Math.abs(low), Math.abs(high), Math.abs(mean), Math.abs(margin ?? 0))
  const at = (value: number): number => 50 + (50 * value) / reach
  const band: Span = { from: at(low), to: at(high), tone: low > 0 ? 'win' : high < 0 ? 'loss' : 'tie' }
  const lines = { zero: at(0), mean: at(mean), ...(margin !== null && { limit: at(-margin) }) }
  const allowed = margin === null ? '' : `; up to ${formatted(margin)} worse is allowed`
  const words = `${signed(mean)}; the true one is held to be between ${signed(low)} and ${signed(high)}${allowed}.`
  return [figure('Mean difference', words, bar(band, lines), [signed(-reach), '0', signed(reach)])]
}

const brief = (value: number): string => formatted(Number(value.toPrecision(3)))
const signed = (value: number): string => `${value > 0 ? '+' : ''}${brief(value)}`

/** What lies outside is drawn at the end. */
const WEIGHT_MIN = 0.01
const WEIGHT_MAX = 1e12

/** Over pairs, and where the policy takes a second look, over tasks: each has to cross the line. By orders of magnitude. */
function weightFigures(evidence: JsonObject): readonly Html[] {
  const threshold = numberAt(evidence, 'threshold')
  if (threshold === null || threshold <= 1) return []
  const weights = WEIGHTS.flatMap(([title, name]) => ({ title, value: numberAt(evidence, name) ?? NaN })).filter(({ value }) => value >= 0)
  const logs = weights.map(({ value }) => logOf(value))
  const [bottom, top] = [Math.min(logOf(0.5), ...logs), Math.max(logOf(threshold), ...logs) + 0.5]
  const at = (value: number): number => (100 * (logOf(value) - bottom)) / (top - bottom)
  return weights.map(({ title, value }) => {
    const tone = value >= threshold ? 'win' : value < 1 ? 'loss' : 'tie'
    const band: Span = { from: at(Math.min(1, value)), to: at(Math.max(1, value)), tone }
    const words = `${brief(value)} of the ${brief(threshold)} needed; 1 says nothing either way.`
    return figure(title, words, bar(band, { zero: at(1), limit: at(threshold) }))
  })
}

const logOf = (value: number): number => Math.log(Math.min(WEIGHT_MAX, Math.max(WEIGHT_MIN, value)))

const WEIGHTS = [
  ['e-value', 'e_value'],
  ['e-value over tasks', 'e_value_tasks'],
] as const

const NUMBERS: readonly (readonly [name: string, label: string])[] = [
  ['alpha_spent', 'Chance of a mistake allowed'],
  ['decided_before', 'Candidates decided before'],
  ['selected_before', 'Of those selected'],
  ['pairs', 'Pairs played'],
  ['tasks', 'Tasks'],
  ['episodes_cap', 'Episodes at most'],
]

function numbersOf(evidence: JsonObject): Html {
  const stopped = textAt(evidence, 'stopped')
  return markup`<details>
    <summary>The numbers behind it</summary>
    <dl class="facts">${NUMBERS.map(([name, label]) => {
      const value = numberAt(evidence, name)
      return value !== null && term(label, formatted(value))
    })}${stopped !== null && term('Ended by', [STOPS[stopped] ?? '', ' ', code(stopped)])}</dl>
  </details>`
}

const STOPS: Readonly<Record<string, string>> = {
  success: 'enough evidence',
  futility: 'no hope of enough evidence',
  budget: 'the end of the episodes',
  tasks: 'too few tasks',
  health: 'a health task that failed',
  unfinished: 'nothing, it was not played out',
}
