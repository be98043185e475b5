/** The card of a step's result: the outcome and its meaning, the numbers and the evidence of its evaluation, failures, and the task table. */
import type { StepFact, StepView, TaskResult } from '../presentation/index.ts'
import { evidenceSections } from './evidence.ts'
import { card } from './frame.ts'
import { markup, type Html, type Piece } from './html.ts'
import { code, inline, listed, prose, term } from './prose.ts'

export function resultCard(step: StepView, isServed: boolean): Html {
  const { headline, numbers, scores, facts } = step
  return card(
    'Result',
    summaryOf(step, isServed),
    headline !== null && markup`<p>${headline}.</p>`,
    numbers.length > 0 && markup`<dl class="numbers">${numbers.map(factOf)}</dl>`,
    scores !== null && markup`<p class="cut">A score is the mean per episode; an episode without a score counts as 0.</p>`,
    facts.length > 0 && markup`<dl class="facts">${facts.map(factOf)}</dl>`,
    failureBoxes(step),
    evidenceSections(step.evidence),
    taskTable(step.tasks),
  )
}

/** The outcome in the word that the console and the terminal use, and what it means. */
export const summaryOf = ({ status: { word, tone, meaning } }: StepView, isServed: boolean): Html =>
  markup`<p class="summary ${tone}"><b>${word}.</b> ${meaning}${isServed && ' It is what clients pull now.'}</p>`

const factOf = ([label, text]: StepFact): Html => term(label, inline(text))

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
    <b>${scoreText}</b>${notes.map((words) => markup`<p class="cut">${inline(words)}</p>`)}
  </li>`
