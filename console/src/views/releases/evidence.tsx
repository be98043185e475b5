/** What a decision rests on, drawn, with the same in words beside it. */
import { scoreText } from '@svc-ai/client/scores'
import { LongText } from '../../ui/long-text.tsx'
import { Text } from '../../ui/text.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { outcomeOf, scoresOf, type Step } from '../../data/chain.ts'
import { costOf, episodesOf, evidencesOf, type EpisodeTold, type Evidence, type Picture } from './evidence.ts'
import { ScoreLine } from './score-line.tsx'
import './evidence.css'

/** Nothing of a step that decided nothing. */
export function DecisionCard({ step }: { readonly step: Step }) {
  const { metrics } = step.row
  const [scores, outcome, cost] = [scoresOf(step), outcomeOf(step), costOf(metrics)]
  const evidences = evidencesOf(metrics)
  const episodes = episodesOf(metrics)
  if (scores === null && outcome === null && evidences.length === 0) return null
  return (
    <Card title="Result" aside={scores !== null && <ScoreLine scores={scores} />}>
      {outcome !== null && <LongText value={outcome} />}
      {cost !== null && <p class="muted small">{cost}</p>}
      {evidences.map((evidence) => (
        <Figures key={evidence.title} evidence={evidence} />
      ))}
      {episodes.length > 0 && <Episodes episodes={episodes} />}
    </Card>
  )
}

function Figures({ evidence: { title, question, pictures, numbers } }: { readonly evidence: Evidence }) {
  return (
    <div class="stack tight evidence">
      <h3>{title}</h3>
      <p class="muted small">{question}</p>
      <div class="evidence-pictures">
        {pictures.map((picture) => (
          <Drawn key={picture.title} picture={picture} />
        ))}
      </div>
      <details>
        <summary class="small">The numbers behind it</summary>
        <Facts facts={numbers.map(([label, text]): Fact => [label, <Text value={text} />])} />
      </details>
    </div>
  )
}

const MARK_WIDTHS = { zero: 0.25, mean: 0.7, limit: 0.5 } as const

/** Stretched to the width there is: only words would be bent by that, and they stand beside it. */
function Drawn({ picture: { title, words, tone, from, to, marks, scale } }: { readonly picture: Picture }) {
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

function Episodes({ episodes }: { readonly episodes: readonly EpisodeTold[] }) {
  return (
    <details>
      <summary class="small">The candidate's first episodes</summary>
      <ul class="episodes">
        {episodes.map(({ task, score, failure }, place) => (
          <li key={place}>
            <span class={`number ${score === null || score < 1 ? 'low' : 'full'}`}>{score === null ? 'no score' : scoreText(score)}</span>{' '}
            <Text value={task} />
            {failure !== null && (
              <span class="muted">
                : <Text value={failure.slice(0, FAILURE_CHARACTERS_MAX)} />
              </span>
            )}
          </li>
        ))}
      </ul>
    </details>
  )
}

const FAILURE_CHARACTERS_MAX = 400
