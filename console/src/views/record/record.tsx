/** One record, readable: what it is, what it quotes, and its exchange, report or instruction. */
import { duration, pretty, whole } from '../../../../src/presentation/index.ts'
import { useLayoutEffect, useMemo, useRef, useState } from 'preact/hooks'
import type { RecordRow, FullRecord } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Button, Toggle } from '../../ui/button.tsx'
import { Bounded } from '../../ui/bounded.tsx'
import { Facts } from '../../ui/facts.tsx'
import { Id } from '../../ui/id.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Ago, Clock } from '../../ui/time.tsx'
import { Conversation } from './conversation.tsx'
import { exchangeOf } from './exchange.ts'
import { ReportBody, TrainBody } from './record-bodies.tsx'
import './record.css'

/** While it could not be read yet; what was read never changes. */
const RETRY_SECONDS = 5
const REFERENCES_STEP = 20

interface RecordPanelProps {
  readonly scenario: string
  readonly id: string
  /** The row of the list, where the list has it: all there is of a record whose body was evicted. */
  readonly row: RecordRow | null
  readonly onClose: () => void
}

export function RecordPanel({ scenario, id, row, onClose }: RecordPanelProps) {
  const { value: record, said } = useRecord(scenario, id)
  const [isRaw, setRaw] = useState(false)
  const heading = useRef<HTMLHeadingElement>(null)
  useLayoutEffect(() => heading.current?.focus(), [id])
  const known = record ?? row
  return (
    <section class="record" aria-label="Record">
      <header class="record-head row">
        <h2 ref={heading} tabIndex={-1}>
          {known === null ? 'Record' : TITLES[known.request_type]}
        </h2>
        <span class="spring" />
        <Toggle isOn={isRaw} set={setRaw}>
          Raw JSON
        </Toggle>
        <Button onClick={onClose}>Close</Button>
      </header>
      <div key={id} class="record-body stack" tabIndex={0} role="group" aria-label="What was stored">
        <Notice said={said} />
        {known !== null && <Meta scenario={scenario} row={known} />}
        {record === null && said === null && <p class="muted">Reading…</p>}
        {record !== null && (isRaw ? <Raw record={record} /> : <Body record={record} />)}
      </div>
    </section>
  )
}

const TITLES: Readonly<{ [Type in RecordRow['request_type']]: string }> = { inference: 'Exchange', report: 'Report', train: 'Instruction' }

function useRecord(scenario: string, id: string) {
  const read = useRef<{ readonly key: string; readonly record: FullRecord } | null>(null)
  const key = `${scenario}/${id}`
  return usePolled(
    `record ${key}`,
    async (service) => {
      if (read.current?.key !== key) read.current = { key, record: await service(scenario).record(id) }
      return read.current.record
    },
    RETRY_SECONDS,
  )
}

function Meta({ scenario, row }: { readonly scenario: string; readonly row: RecordRow }) {
  const { summary, artifact_ref: release, references, score } = row
  const [model, input, output] = [summary?.model, summary?.input_tokens, summary?.output_tokens]
  return (
    <Facts
      facts={[
        ['Receipt', <Id value={row.agent_record_id} full />],
        ['Stored', <Moment at={row.created_at} />],
        ['Number', whole(row.sequence)],
        score === null ? null : ['Score', score],
        model === undefined ? null : ['Model', <Text value={model} />],
        summary === undefined ? null : ['Latency', duration(summary.latency_ms / 1000)],
        input === undefined ? null : ['Tokens in', whole(input)],
        output === undefined ? null : ['Tokens out', whole(output)],
        release === null ? null : ['Release', <Id value={release} href={hrefOf(placeIn(scenario, 'releases'))} />],
        references.length === 0 ? null : ['Quotes', <Quotes scenario={scenario} references={references} />],
      ]}
    />
  )
}

function Moment({ at }: { readonly at: number }) {
  return (
    <>
      <Clock at={at} />{' '}
      <span class="muted">
        <Ago at={at} />
      </span>
    </>
  )
}

function Quotes({ scenario, references }: { readonly scenario: string; readonly references: readonly string[] }) {
  return (
    <span class="row">
      <Bounded items={references} step={REFERENCES_STEP} noun="receipts">
        {(id) => <Id key={id} value={id} href={hrefOf(placeIn(scenario, 'traffic', id))} />}
      </Bounded>
    </span>
  )
}

function Raw({ record }: { readonly record: FullRecord }) {
  const text = useMemo(() => pretty(record.payload), [record])
  return <LongText value={text} mono />
}

function Body({ record }: { readonly record: FullRecord }) {
  const exchange = useMemo(() => (record.request_type === 'inference' ? exchangeOf(record.payload) : null), [record])
  if (record.request_type === 'report') return <ReportBody payload={record.payload} />
  if (record.request_type === 'train') return <TrainBody payload={record.payload} />
  return (
    exchange && (
      <>
        <div class="row">
          {exchange.format !== null && <Badge tone="plain">{exchange.format}</Badge>}
          {exchange.isStreamed && <Badge tone="plain">streamed</Badge>}
        </div>
        <Conversation exchange={exchange} />
      </>
    )
  )
}
