/** The list of records, a row each, with what is new above it. */
import type { ComponentChildren } from 'preact'
import type { ListedRecord, RecordRow } from '@svc-ai/client'
import { counted, duration, moneyText, scoreText, whole, type StepTone } from '../../../../src/presentation/index.ts'
import { sessionOf } from '../../data/pins.ts'
import { changedFilters, go, hrefOf, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button } from '../../ui/button.tsx'
import { brief } from '../../ui/figures.ts'
import { shortId } from '../../ui/id.tsx'
import { Text } from '../../ui/text.tsx'
import { visible } from '../../ui/visible.ts'
import { Clock } from '../../ui/time.tsx'
import { VirtualList } from '../../ui/virtual-list.tsx'
import { SessionBook } from './sessions.ts'
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
    if (row === null) return WAITING
    const size = book instanceof SessionBook ? book.sizeOf(row) : 1
    return cellsOf(scenario, row, row.excerpt?.score ?? scores.of(row), size)
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

/** Two lines: what was asked, and what was answered. A narrow list has the numbers in a third. */
const rowHeight = (width: number): number => (width < 600 ? 84 : 54)

const COLUMNS = ['Time', 'Type', 'Content', 'Model', 'Latency', 'Tokens', 'Score', 'Release']

/** A row that is still on its way has its place already. */
const WAITING: readonly ComponentChildren[] = COLUMNS.map((column) => (column === 'Content' ? <span class="muted">…</span> : null))

/** One cell for each column. */
function cellsOf(scenario: string, row: ListedRecord, score: number | null, size: number): readonly ComponentChildren[] {
  const { summary, artifact_ref: release } = row
  return [
    <Clock at={row.created_at} />,
    typeOf(row),
    <Content scenario={scenario} row={row} size={size} />,
    summary?.model === undefined ? aboutOf(row) : <Text value={summary.model} />,
    summary === undefined ? null : duration(summary.latency_ms / 1000),
    <Spent row={row} />,
    score === null ? null : <b title="Score">{scoreText(score)}</b>,
    release === null ? null : (
      <span class="mono" title={visible(release)}>
        {visible(shortId(release))}
      </span>
    ),
  ]
}

interface ContentProps {
  readonly scenario: string
  readonly row: ListedRecord
  readonly size: number
}

/** The first words of both sides; the receipt where nothing was read of it. */
function Content({ scenario, row, size }: ContentProps) {
  const { input = '', output = '', tags = {} } = row.excerpt ?? {}
  const session = sessionOf(row)
  return (
    <>
      <span class="content-line">
        <a href={hrefOf(placeIn(scenario, 'traffic', row.agent_record_id))} tabIndex={-1} title={visible(row.agent_record_id)}>
          {input === '' ? <Text value={shortId(row.agent_record_id)} class="mono" /> : <Text value={input} />}
        </a>
      </span>
      <span class="content-line muted">
        {size > 1 && session !== null && (
          <a class="badge plain" href={changedFilters(location.hash, { group: '', tag: `session:${session}` })} tabIndex={-1}>
            {counted(size, 'exchange')}
          </a>
        )}
        {output !== '' && <Text value={output} />}
        {Object.entries(tags)
          .slice(0, TAGS_SHOWN_MAX)
          .map(([name, value]) => (
            <Text key={name} class="tag" value={`${name}:${value.slice(0, TAG_CHARACTERS_MAX)}`} />
          ))}
      </span>
    </>
  )
}

const TAGS_SHOWN_MAX = 3
const TAG_CHARACTERS_MAX = 24

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

function Spent({ row: { summary, excerpt } }: { readonly row: ListedRecord }) {
  const { input_tokens: input, output_tokens: output } = summary ?? {}
  const isCounted = input !== undefined || output !== undefined
  return (
    <>
      {isCounted && (
        <span title="Tokens in and out">{`${input === undefined ? '?' : brief(input)} → ${output === undefined ? '?' : brief(output)}`}</span>
      )}
      {excerpt?.cost !== undefined && (
        <span class="muted" title="Cost, as the provider counted it">
          {' '}
          {moneyText(excerpt.cost)}
        </span>
      )}
    </>
  )
}
