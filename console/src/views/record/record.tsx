/** One record, readable: what it is, what it quotes, and its exchange, report or instruction. */
import { duration, isRecord, objectAt, pretty, textAt, whole, type UnknownRecord } from '../../../../src/presentation/index.ts'
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
import { Connections } from './connections.tsx'
import { Conversation } from './conversation.tsx'
import { exchangeOf, lastAsked } from './exchange.ts'
import { MakeTask } from './make-task.tsx'
import { QuotedExchanges } from './quoted.tsx'
import { Replay } from './replay.tsx'
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
        {record !== null && <Button onClick={() => exportRecord(record)}>Export</Button>}
        <Toggle isOn={isRaw} set={setRaw}>
          Raw JSON
        </Toggle>
        <Button onClick={onClose}>Close</Button>
      </header>
      <div key={id} class="record-body stack" tabIndex={0} role="group" aria-label="What was stored">
        <Notice said={said} />
        {known !== null && <Meta scenario={scenario} row={known} tags={record === null ? {} : tagsOf(record)} />}
        {record?.request_type === 'inference' && (
          <Connections key={id} scenario={scenario} id={id} sequence={record.sequence} session={textAt(tagsOf(record), 'session')} />
        )}
        {record === null && said === null && <p class="muted">Reading…</p>}
        {record !== null && (isRaw ? <Raw record={record} /> : <Body scenario={scenario} record={record} />)}
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

/** Tags stand beside `metadata` where that is no object. */
const tagsOf = ({ payload }: FullRecord): UnknownRecord =>
  isRecord(payload['metadata_tags']) ? payload['metadata_tags'] : objectAt(objectAt(payload, 'metadata'), 'tags')

const EXPORT_MS = 10_000

/** The record as the service has it, as a file. */
function exportRecord(record: FullRecord): void {
  const address = URL.createObjectURL(new Blob([`${JSON.stringify(record, null, 2)}\n`], { type: 'application/json' }))
  const link = document.createElement('a')
  link.href = address
  link.download = `${record.agent_record_id.replaceAll(/[^\w-]+/g, '_').slice(0, 100)}.json`
  link.click()
  // Once the browser has begun to write it.
  setTimeout(() => URL.revokeObjectURL(address), EXPORT_MS)
}

function Meta({ scenario, row, tags }: { readonly scenario: string; readonly row: RecordRow; readonly tags: UnknownRecord }) {
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
        release === null ? null : ['Release', <AtRelease scenario={scenario} release={release} isHeld={tags['release'] === release} />],
        references.length === 0 ? null : ['Quotes', <Quotes scenario={scenario} references={references} />],
        Object.keys(tags).length === 0 ? null : ['Tags', <Tags tags={tags} />],
      ]}
    />
  )
}

interface AtReleaseProps {
  readonly scenario: string
  readonly release: string
  /** The client named it with its call. */
  readonly isHeld: boolean
}

function AtRelease({ scenario, release, isHeld }: AtReleaseProps) {
  return (
    <>
      <Id value={release} href={hrefOf(placeIn(scenario, 'releases', release))} /> {isHeld && <span class="muted">held by the client</span>}
    </>
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

const TAGS_STEP = 8

function Tags({ tags }: { readonly tags: UnknownRecord }) {
  const texts = Object.entries(tags).filter((tag): tag is [string, string] => typeof tag[1] === 'string')
  return (
    <span class="row">
      <Bounded items={texts} step={TAGS_STEP} noun="tags">
        {([name, value]) => <Text key={name} class="tag" value={`${name}:${value}`} />}
      </Bounded>
    </span>
  )
}

function Raw({ record }: { readonly record: FullRecord }) {
  const text = useMemo(() => pretty(record.payload), [record])
  return <LongText value={text} mono />
}

function Body({ scenario, record }: { readonly scenario: string; readonly record: FullRecord }) {
  const exchange = useMemo(() => (record.request_type === 'inference' ? exchangeOf(record.payload) : null), [record])
  if (record.request_type === 'report')
    return (
      <>
        <ReportBody payload={record.payload} />
        <QuotedExchanges scenario={scenario} references={record.references} />
      </>
    )
  if (record.request_type === 'train') return <TrainBody payload={record.payload} />
  return (
    exchange && (
      <>
        <div class="row">
          {exchange.format !== null && <Badge tone="plain">{exchange.format}</Badge>}
          {exchange.isStreamed && <Badge tone="plain">streamed</Badge>}
        </div>
        <MakeTask scenario={scenario} id={record.agent_record_id} asked={lastAsked(exchange)} />
        <Replay scenario={scenario} record={record} exchange={exchange} />
        <Conversation exchange={exchange} />
      </>
    )
  )
}
