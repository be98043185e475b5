/** The list of records, a row each, with what is new above it. */
import type { ComponentChildren } from 'preact'
import type { RecordRow } from '@svc-ai/client'
import { counted, duration, scoreText, whole, type StepTone } from '../../../../src/presentation/index.ts'
import { go, hrefOf, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { brief } from '../../ui/figures.ts'
import { shortId } from '../../ui/id.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { Clock } from '../../ui/time.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import type { LiveTraffic } from './use-traffic.ts'

interface TrafficListProps {
  readonly scenario: string
  /** The record that is open. */
  readonly id: string | null
  readonly traffic: LiveTraffic
  /** A sequence, so that it stays with its row while others come in above. */
  readonly selected: number | null
  readonly onSelect: (sequence: number | null) => void
  /** A row to be brought onto the screen. */
  readonly show: { readonly index: number } | null
  readonly onNew: () => void
}

export function TrafficList({ scenario, id, traffic, selected, onSelect, show, onNew }: TrafficListProps) {
  const { book, scores, onWindow, onTop } = traffic
  const cells = (index: number) => {
    const row = book.at(index)
    return cellsOf(scenario, row, row === null ? null : scores.of(row))
  }
  const open = (index: number): void => {
    onSelect(book.sequenceAt(index))
    const row = book.at(index)
    if (row !== null) go(placeIn(scenario, 'traffic', row.agent_record_id))
  }
  return (
    <div class="traffic-list">
      {book.unseen > 0 && (
        <Button class="primary small traffic-new" onClick={onNew}>
          {`${whole(book.unseen)} new`}
        </Button>
      )}
      <VirtualList
        label="Records"
        count={book.count}
        columns={COLUMNS}
        rowHeight={rowHeight}
        cells={cells}
        rowClass={(index) => (id !== null && book.at(index)?.agent_record_id === id ? 'is-open' : '')}
        selected={selected === null ? null : book.indexOf(selected)}
        onSelect={(index) => onSelect(book.sequenceAt(index))}
        onOpen={open}
        onWindow={onWindow}
        onTop={onTop}
        show={show}
      />
    </div>
  )
}

/** A narrow list needs two lines for a row. */
const rowHeight = (width: number): number => (width < 600 ? 56 : 34)

const COLUMNS = ['Time', 'Type', 'Receipt', 'Model', 'Latency', 'Tokens', 'Score', 'Release']

/** One cell for each column. A row that is still on its way has its place already. */
function cellsOf(scenario: string, row: RecordRow | null, score: number | null): readonly ComponentChildren[] {
  if (row === null) return COLUMNS.map((_, at) => (at === 2 ? <span class="muted">…</span> : null))
  const { summary, artifact_ref: release } = row
  return [
    <Clock at={row.created_at} />,
    typeOf(row),
    <a href={hrefOf(placeIn(scenario, 'traffic', row.agent_record_id))} class="mono" tabIndex={-1} title={visible(row.agent_record_id)}>
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
