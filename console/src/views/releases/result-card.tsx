/** The result of a step: its scores, both sides task by task, its evidence with a figure and a sentence each, and the first episodes. */
import {
  EXPLAINED,
  MEANINGS,
  type BarFigure,
  type StepEvidence,
  type StepFact,
  type StepScores,
  type StepView,
  type TaskResult,
} from '../../../../src/presentation/index.ts'
import { LongText, Text } from '../../ui/text.tsx'
import { Card } from '../../ui/card.tsx'
import { Explained } from '../../ui/explained.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import type { StepProps } from '../../data/chain.ts'
import { TaskTable } from './task-table.tsx'
import './evidence.css'

interface ResultProps extends Pick<StepProps, 'scenario' | 'chain'> {
  readonly view: StepView
}

/** Nothing of a step that decided nothing. */
export function ResultCard({ scenario, chain, view }: ResultProps) {
  const { scores, decision, cost, spent, improvementSpent, evidence, tasks, taskScores } = view
  if (scores === null && decision === null && evidence.length === 0) return null
  return (
    <Card title="Result" aside={scores !== null && <ScoreLine scores={scores} />}>
      {decision !== null && <LongText value={decision} />}
      <Facts
        facts={[
          cost === null ? null : ['Played', <Explained words={EXPLAINED.episodes}>{cost}</Explained>],
          spent === null ? null : ['Took', <Explained words={EXPLAINED.spent}>{spent}</Explained>],
          improvementSpent === null
            ? null
            : ['Since the last release', <Explained words={EXPLAINED.improvement}>{improvementSpent}</Explained>],
        ]}
      />
      {taskScores.length > 0 && <TaskTable scenario={scenario} chain={chain} rows={taskScores} />}
      {evidence.length > 0 && (
        <details>
          <summary class="small">The evidence</summary>
          {evidence.map((section) => (
            <Evidence key={section.title} section={section} />
          ))}
        </details>
      )}
      {tasks.length > 0 && <Tasks tasks={tasks} />}
      <Meanings />
    </Card>
  )
}

/** The same words as behind the numbers, for those who cannot hover. */
function Meanings() {
  return (
    <details class="meanings">
      <summary class="small">What the numbers mean</summary>
      <Facts facts={MEANINGS.map(([label, words]): Fact => [label, words])} />
    </details>
  )
}

/** The scores of both sides in one line. */
export function ScoreLine({ scores: { text, tone, pairs } }: { readonly scores: StepScores }) {
  return (
    <span class="scores small number">
      <Explained words={EXPLAINED.score}>
        <b class={tone}>{text}</b>
      </Explained>
      {pairs !== null && (
        <span class="muted">
          {' '}
          · <Explained words={EXPLAINED.pairs}>{pairs}</Explained>
        </span>
      )}
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
      <Facts facts={facts.map(factOf)} />
    </div>
  )
}

const factOf = ([label, text, meaning]: StepFact): Fact => [
  label,
  meaning === undefined ? (
    <Text value={text} />
  ) : (
    <Explained words={meaning}>
      <Text value={text} />
    </Explained>
  ),
]

const MARK_WIDTHS = { zero: 0.25, mean: 0.7, limit: 0.5 } as const

/** Stretched to the width there is: the words stand beside it. */
function Bar({ bar: { title, words, tone, from, to, marks, scale } }: { readonly bar: BarFigure }) {
  return (
    <figure title={words}>
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
            <span class={`number ${score === null || score < 1 ? 'low' : 'full'}`}>
              <Explained words={EXPLAINED.episode}>{scoreText}</Explained>
            </span>{' '}
            <Text value={task} /> {again}
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
