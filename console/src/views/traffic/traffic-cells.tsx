/** A record in one row. */
import type { ComponentChildren } from 'preact'
import type { RecordRow } from '@svc-ai/client'
import { counted, duration, scoreText, type StepTone } from '../../../../src/presentation/index.ts'
import { hrefOf } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { brief } from '../../ui/figures.ts'
import { shortId } from '../../ui/short-id.ts'
import { Text } from '../../ui/text.tsx'
import { Clock } from '../../ui/time.tsx'
import { visible } from '../../ui/visible.ts'

export const COLUMNS = ['Time', 'Type', 'Receipt', 'Model', 'Latency', 'Tokens', 'Score', 'Release']

/** One cell for each column. A row that is still on its way has its place already. */
export function cellsOf(scenario: string, row: RecordRow | null, score: number | null): readonly ComponentChildren[] {
  if (row === null) return COLUMNS.map((_, at) => (at === 2 ? <span class="muted">…</span> : null))
  const { summary, artifact_ref: release } = row
  return [
    <Clock at={row.created_at} />,
    typeOf(row),
    <a
      href={hrefOf({ at: 'scenario', scenario, view: 'traffic', id: row.agent_record_id })}
      class="mono"
      tabIndex={-1}
      title={visible(row.agent_record_id)}
    >
      <Text value={shortId(row.agent_record_id)} />
    </a>,
    summary?.model === undefined ? aboutOf(row) : <Text value={summary.model} />,
    summary === undefined ? null : duration(summary.latency_ms / 1000),
    tokensOf(summary),
    score === null ? null : <b title="Score">{scoreText(score)}</b>,
    release === null ? null : (
      <span class="mono" title={visible(release)}>
        {visible(shortId(release))}
      </span>
    ),
  ]
}

const WORDS: Readonly<{ [Type in RecordRow['request_type']]: readonly [word: string, tone: StepTone] }> = {
  inference: ['exchange', 'plain'],
  report: ['report', 'good'],
  train: ['instruction', 'warn'],
}

function typeOf({ request_type: type, summary }: RecordRow) {
  const [word, tone] = WORDS[type]
  return summary?.complete === false ? (
    <Badge tone="bad" title="The answer is not whole">
      broken off
    </Badge>
  ) : (
    <Badge tone={tone}>{word}</Badge>
  )
}

const aboutOf = ({ request_type: type, references }: RecordRow) =>
  type === 'report' ? (
    <span class="muted">{references.length === 0 ? 'quotes nothing' : `quotes ${counted(references.length, 'receipt')}`}</span>
  ) : null

function tokensOf(summary: RecordRow['summary']) {
  const { input_tokens: input, output_tokens: output } = summary ?? {}
  if (input === undefined && output === undefined) return null
  return (
    <span title="Tokens in and out">{`${input === undefined ? '?' : brief(input)} → ${output === undefined ? '?' : brief(output)}`}</span>
  )
}
