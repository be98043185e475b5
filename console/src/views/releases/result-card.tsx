/** The result of a step: its scores, its evidence with a figure and a sentence each, and the first episodes of the candidate. */
import {
  taskScoresSummary,
  type BarFigure,
  type StepEvidence,
  type StepScores,
  type StepView,
  type TaskResult,
  type TaskScores,
} from '../../../../src/presentation/index.ts'
import { LongText, Text } from '../../ui/text.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import './evidence.css'

/** Nothing of a step that decided nothing. */
export function ResultCard({ view: { scores, decision, cost, evidence, tasks, taskScores } }: { readonly view: StepView }) {
  if (scores === null && decision === null && evidence.length === 0) return null
  return (
    <Card title="Result" aside={scores !== null && <ScoreLine scores={scores} />}>
      {decision !== null && <LongText value={decision} />}
      {cost !== null && <p class="muted small">{cost}</p>}
      {taskScores.length > 0 && <TaskTable rows={taskScores} />}
      {evidence.length > 0 && (
        <details>
          <summary class="small">The evidence</summary>
          {evidence.map((section) => (
            <Evidence key={section.title} section={section} />
          ))}
        </details>
      )}
      {tasks.length > 0 && <Tasks tasks={tasks} />}
    </Card>
  )
}

function TaskTable({ rows }: { readonly rows: readonly TaskScores[] }) {
  return (
    <details open>
      <summary class="small">Task by task: {taskScoresSummary(rows)}</summary>
      <table class="task-scores">
        <thead>
          <tr>
            <th scope="col">Task</th>
            <th scope="col">Before</th>
            <th scope="col">After</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ task, before, after, word }) => (
            <tr key={task}>
              <th scope="row">
                <Text value={task} />
              </th>
              <td class="number">{before ?? 'not played'}</td>
              <td class="number">
                {after ?? 'not played'} <span class="muted">{word}</span>
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </details>
  )
}

/** The scores of both sides in one line. */
export function ScoreLine({ scores: { text, tone, pairs } }: { readonly scores: StepScores }) {
  return (
    <span class="scores small number">
      <b class={tone}>{text}</b>
      {pairs !== null && <span class="muted"> · {pairs}</span>}
    </span>
  )
}

function Evidence({ section: { title, question, pairs, bars, facts } }: { readonly section: StepEvidence }) {
  return (
    <div class="stack tight evidence">
      <h3>{title}</h3>
      <p class="muted small">{question}</p>
      {pairs !== null && <p class="small">{pairs.words}</p>}
      <div class="evidence-pictures">
        {bars.map((bar) => (
          <Bar key={bar.title} bar={bar} />
        ))}
      </div>
      <Facts facts={facts.map(([label, text]): Fact => [label, <Text value={text} />])} />
    </div>
  )
}

const MARK_WIDTHS = { zero: 0.25, mean: 0.7, limit: 0.5 } as const

/** Stretched to the width there is: the words stand beside it. */
function Bar({ bar: { title, words, tone, from, to, marks, scale } }: { readonly bar: BarFigure }) {
  return (
    <figure>
      <figcaption>
        <b>{title}</b> {words}
      </figcaption>
      <svg viewBox="0 0 100 20" preserveAspectRatio="none" aria-hidden="true">
        <rect class="evidence-axis" x="0" y="9.6" width="100" height="0.8" />
        <rect class={`evidence-band ${tone}`} x={from} y="5" width={Math.max(0.4, to - from)} height="10" />
        {marks.map(({ at, kind }) => (
          <rect
            key={kind}
            class={`evidence-${kind}`}
            x={at - MARK_WIDTHS[kind] / 2}
            y={kind === 'mean' ? 2 : 0}
            width={MARK_WIDTHS[kind]}
            height={kind === 'mean' ? 16 : 20}
          />
        ))}
      </svg>
      <p class="evidence-scale" aria-hidden="true">
        {scale.map((text, place) => (
          <span key={place}>{text}</span>
        ))}
      </p>
    </figure>
  )
}

const NOTE_CHARACTERS_MAX = 400

function Tasks({ tasks }: { readonly tasks: readonly TaskResult[] }) {
  return (
    <details>
      <summary class="small">The candidate's first episodes</summary>
      <ul class="episodes">
        {tasks.map(({ task, again, score, scoreText, notes }, place) => (
          <li key={place}>
            <span class={`number ${score === null || score < 1 ? 'low' : 'full'}`}>{scoreText}</span> <Text value={task} /> {again}
            {notes.map((note) => (
              <span key={note} class="muted">
                : <Text value={note.slice(0, NOTE_CHARACTERS_MAX)} />
              </span>
            ))}
          </li>
        ))}
      </ul>
    </details>
  )
}
