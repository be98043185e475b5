/** What a report and an instruction say. */
import type { ComponentChildren } from 'preact'
import { Badge } from '../../ui/badge.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { objectAt, isRecord, listAt, pretty, textAt, type UnknownRecord } from '../../../../src/presentation/index.ts'

export function ReportBody({ payload }: { readonly payload: UnknownRecord }) {
  const { score, feedback } = payload
  const { task, ...metadata } = objectAt(payload, 'metadata')
  return (
    <>
      {typeof score === 'number' && (
        <Part title="Score">
          <p class="record-score number">{score}</p>
        </Part>
      )}
      <Part title="Feedback">{feedback === undefined ? <p class="muted">None.</p> : <Value value={feedback} />}</Part>
      {task !== undefined && (
        <Part title="Task">
          <Value value={task} />
        </Part>
      )}
      {Object.keys(metadata).length > 0 && (
        <Part title="Metadata">
          <Value value={metadata} />
        </Part>
      )}
    </>
  )
}

export function TrainBody({ payload }: { readonly payload: UnknownRecord }) {
  const { client } = payload
  const requires = listAt(payload, 'requires').filter(isRecord)
  return (
    <>
      <Part title="Asked for">
        <LongText value={textAt(payload, 'text') ?? ''} />
      </Part>
      <Part title="Came from">
        <p>
          session <Text value={textAt(payload, 'session') ?? 'unknown'} class="mono" />, release{' '}
          <Text value={textAt(payload, 'release_id') ?? 'unknown'} class="mono" />
        </p>
      </Part>
      {requires.length > 0 && (
        <Part title="Needs">
          <ul class="stack tight">
            {requires.map((item, at) => (
              <li key={at} class="row">
                <Badge tone="plain">
                  <Text value={textAt(item, 'kind') ?? 'unknown'} />
                </Badge>
                <Text value={textAt(item, 'name') ?? ''} class="mono" />
                <Text value={textAt(item, 'prompt') ?? ''} />
              </li>
            ))}
          </ul>
        </Part>
      )}
      {isRecord(client) && (
        <Part title="Asking machine">
          <Value value={client} />
        </Part>
      )}
    </>
  )
}

function Part({ title, children }: { readonly title: string; readonly children: ComponentChildren }) {
  return (
    <section class="stack tight">
      <h3>{title}</h3>
      {children}
    </section>
  )
}

const Value = ({ value }: { readonly value: unknown }) =>
  typeof value === 'string' ? <LongText value={value} /> : <LongText value={pretty(value)} mono />
