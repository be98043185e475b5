/** The card of a step's result: the outcome and its meaning, what people said of it, the numbers and the evidence of its evaluation, failures, and the task table. */
import {
  EXPLAINED,
  MEANINGS,
  taskScoresSummary,
  type BarFigure,
  type PlayedEpisode,
  type PairsFigure,
  type StepEvidence,
  type StepFact,
  type StepScores,
  type StepView,
  type TaskResult,
  type TaskScores,
} from '../presentation/index.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { commentsPart, rejectionPart } from './notes.ts'
import { code, inline, listed, prose, term } from './prose.ts'
import type { PlayedSides, VersionView } from './view.ts'

export function resultCard(view: VersionView, step: StepView, isServed: boolean): Html {
  const { numbers, scores, facts, taskScores, evidence } = step
  return card(
    'Result',
    summaryOf(step, isServed),
    rejectionPart(view, step.rejection),
    commentsPart(step.comments),
    factList([...(scores === null ? [] : [scoreFact(scores)]), ...facts.filter(([label]) => FACTS_FIRST.has(label))]),
    failureBoxes(step),
    scoreTable(taskScores),
    bothAnswers(taskScores, view.played ?? new Map()),
    evidence.length > 0 && folded('The evidence', evidenceSections(evidence)),
    (numbers.length > 0 || facts.length > 0) && folded('All numbers', allNumbers(step)),
    taskTable(step.tasks),
    (scores !== null || evidence.length > 0) && MEANING_LIST,
  )
}

/** What a reader needs to decide; the rest is behind a fold. */
const FACTS_FIRST: ReadonlySet<string> = new Set([
  'Skipped',
  'Took',
  'Since the last release',
  'Decided because',
  'Held because',
  'No points on either side',
])

const scoreFact = ({ text, pairs }: StepScores): StepFact => ['Score', pairs === null ? text : `${text} (pairs: ${pairs})`, EXPLAINED.score]

const factList = (facts: readonly StepFact[]): Piece => facts.length > 0 && markup`<dl class="facts">${facts.map(factOf)}</dl>`

const allNumbers = ({ numbers, scores, facts }: StepView): Piece => [
  numbers.length > 0 && markup`<dl class="numbers">${numbers.map(factOf)}</dl>`,
  scores !== null && markup`<p class="cut">A score is the mean per episode; an episode without a score counts as 0.</p>`,
  factList(facts.filter(([label]) => !FACTS_FIRST.has(label))),
]

const folded = (title: string, content: Piece): Html =>
  markup`<details>
    <summary>${title}</summary>
    ${content}
  </details>`

const MEANING_LIST = folded('What the numbers mean', markup`<dl class="facts">${MEANINGS.map(([label, words]) => term(label, words))}</dl>`)

/** Task by task what the agent said as served and with the change, with the evaluator's words. */
const bothAnswers = (rows: readonly TaskScores[], played: ReadonlyMap<string, PlayedSides>): Piece =>
  rows.map(({ task }) => {
    const sides = played.get(task)
    if (sides === undefined) return null
    const prompt = sides.after?.prompt ?? sides.before?.prompt ?? ''
    return markup`<details>
      <summary>Both answers to ${code(task)}</summary>
      ${prompt !== '' && markup`<blockquote>${prose(prompt)}</blockquote>`}
      <div class="both">${sideOf('As served', sides.before)}${sideOf('With the change', sides.after)}</div>
    </details>`
  })

const sideOf = (title: string, episode: PlayedEpisode | null): Html =>
  markup`<section>
    <h3>${title}</h3>
    ${
      episode === null
        ? markup`<p class="cut">Its record was not kept.</p>`
        : markup`<p class="cut" title="${EXPLAINED.episode}">Score ${episode.score}${episode.words !== null && [': ', inline(episode.words)]}</p>
            ${episode.answer === '' ? markup`<p class="cut">The agent said nothing.</p>` : prose(episode.answer)}`
    }
  </section>`

const TASKS_SHOWN_MAX = 100

function scoreTable(rows: readonly TaskScores[]): Piece {
  if (rows.length === 0) return null
  return markup`<h3>Task by task</h3>
    <p class="cut">${taskScoresSummary(rows)}. Before is the served release, after the candidate; each is the mean of its pairs.</p>
    <table class="scores">
      <thead>
        <tr>
          <th scope="col">Task</th>
          <th scope="col" title="${EXPLAINED.before}">Before</th>
          <th scope="col" title="${EXPLAINED.after}">After</th>
          <th scope="col"><span class="quiet">Which is</span></th>
        </tr>
      </thead>
      <tbody>
        ${rows.slice(0, TASKS_SHOWN_MAX).map(scoreRow)}
      </tbody>
    </table>`
}

const scoreRow = ({ task, before, after, word, tone }: TaskScores): Html =>
  markup`<tr class="${tone}">
    <th scope="row">${code(task)}</th>
    <td title="${EXPLAINED.before}">${before ?? 'not played'}</td>
    <td title="${EXPLAINED.after}">${after ?? 'not played'}</td>
    <td>${word ?? ''}</td>
  </tr>`

/** The outcome in the word that the console and the terminal use, and what it means. */
export const summaryOf = ({ status: { word, tone, meaning } }: StepView, isServed: boolean): Html =>
  markup`<p class="summary ${tone}"><b>${word}.</b> ${meaning}${isServed && ' It is what clients pull now.'}</p>`

const factOf = ([label, text, meaning]: StepFact): Html => term(label, inline(text), meaning)

/** Also on the page of the request that the step was for. */
export const failureBoxes = ({ failures }: StepView): Piece =>
  failures.map(
    ({ title, text }) =>
      markup`<div class="box bad">
        <h3>${title}</h3>
        ${prose(text)}
      </div>`,
  )

function taskTable(tasks: readonly TaskResult[]): Piece {
  if (tasks.length === 0) return null
  return markup`<details>
    <summary>The candidate's first episodes</summary>
    <ul class="episodes">
      ${listed(tasks, taskOf)}
    </ul>
  </details>`
}

const taskOf = ({ task, again, scoreText, notes }: TaskResult): Html =>
  markup`<li>
    <span>${code(task)}${again !== '' && ` ${again}`}</span>
    <b title="${EXPLAINED.episode}">${scoreText}</b>${notes.map((words) => markup`<p class="cut">${inline(words)}</p>`)}
  </li>`

/** Every pair, the mean difference, the strength. The caption of each figure says the same in words. */
export const evidenceSections = (sections: readonly StepEvidence[]): Piece =>
  sections.map(
    ({ title, question, pairs, bars, facts }) =>
      markup`<div class="evidence">
        <h3>${title}</h3>
        <p>${question}</p>
        ${pairs !== null && figure(pairs, pairsDrawing(pairs))} ${bars.map((bar) => figure(bar, barDrawing(bar), bar.scale))}
        <dl class="facts">${facts.map(factOf)}</dl>
      </div>`,
  )

const figure = ({ title, words }: PairsFigure | BarFigure, drawing: Html, scale: readonly string[] = []): Html =>
  markup`<figure title="${words}">
    <figcaption><b>${title}</b> ${words}</figcaption>
    ${drawing}
    ${scale.length > 0 && markup`<p class="scale" aria-hidden="true">${scale.map((text) => markup`<span>${text}</span>`)}</p>`}
  </figure>`

const HEIGHT = 20
const MIDDLE = 10
/** Few marks are no wider than many. */
const MARKS_MIN = 36

/** One mark for each difference: up for a win, down for a loss; a tie stays on the line. */
function pairsDrawing({ words, differences }: PairsFigure): Html {
  const width = Math.max(MARKS_MIN, differences.length)
  const drawn = differences.map((difference, place) => {
    const height = difference === 0 ? 2 : Math.max(2, 9 * Math.min(1, Math.abs(difference)))
    const top = difference === 0 ? MIDDLE - 1 : difference > 0 ? MIDDLE - height : MIDDLE
    return rect(difference === 0 ? 'tie' : difference > 0 ? 'win' : 'loss', place + 0.15, top, 0.7, height)
  })
  return svg('pairs', words, width, [rect('axis', 0, MIDDLE - 0.2, width, 0.4), drawn])
}

const FILLS = { good: 'win', bad: 'loss', plain: 'tie' } as const

function barDrawing({ words, tone, from, to, marks }: BarFigure): Html {
  const band = rect(`band ${FILLS[tone]}`, from, 5, Math.max(0.4, to - from), 10)
  const drawn = marks.map(({ kind, at }) => rect(kind, at - 0.2, kind === 'mean' ? 3 : 0, 0.4, kind === 'mean' ? 14 : HEIGHT))
  return svg('bar', words, 100, [rect('axis', 0, MIDDLE - 0.3, 100, 0.6), band, drawn])
}

const svg = (name: string, words: string, width: number, drawn: Piece): Html =>
  markup`<svg class="${name}" role="img" aria-label="${words}" viewBox="0 0 ${width} ${HEIGHT}" preserveAspectRatio="none">${drawn}</svg>`

const rect = (name: string, x: number, y: number, width: number, height: number): Html =>
  markup`<rect class="${name}" x="${short(x)}" y="${short(y)}" width="${short(width)}" height="${short(height)}"/>`

/** A smaller difference is not visible. */
const short = (value: number): number => Number(value.toFixed(2))
