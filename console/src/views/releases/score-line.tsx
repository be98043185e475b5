/** The scores of both sides in one line. */
import { scoreText } from '@svc-ai/client/scores'
import type { Scores } from '../../data/chain.ts'

export function ScoreLine({ scores: { candidate, current, wins, losses, ties } }: { readonly scores: Scores }) {
  const tone = candidate === null || current === null || candidate === current ? '' : candidate > current ? 'good' : 'bad'
  return (
    <span class="scores small number">
      {current !== null && <span class="muted">{told(current)} → </span>}
      <b class={tone}>{told(candidate)}</b>
      {wins !== null && (
        <span class="muted">
          {' '}
          · {wins} won, {losses ?? 0} lost, {ties ?? 0} tied
        </span>
      )}
    </span>
  )
}

const told = (score: number | null): string => (score === null ? 'not played' : scoreText(score))
