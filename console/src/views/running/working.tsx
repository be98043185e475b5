/** What a step does now, on a request or on traffic: its activity, its episodes with their transcripts, money and time. */
import { useState } from 'preact/hooks'
import type { RequestProgress, StepProgress } from '@svc-ai/client'
import { prettyText, runningView, type RunningView } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { Notice } from '../../ui/notice.tsx'
import { Table } from '../../ui/table.tsx'
import { LongText, Text } from '../../ui/text.tsx'
import { Ago, Clock } from '../../ui/time.tsx'
import { textIn } from '../releases/step-files.tsx'
import './running.css'

interface WorkingProps {
  readonly scenario: string
  readonly progress: Pick<RequestProgress, 'meaning' | 'started_at' | 'activity'>
  /** Null before a step has taken it. */
  readonly step: StepProgress | null
}

export function Working({ scenario, progress, step }: WorkingProps) {
  const { meaning, started_at: startedAt, activity } = progress
  const view = step === null ? null : runningView(step)
  return (
    <>
      <p role="status">{meaning}</p>
      {typeof startedAt === 'number' && (
        <p class="muted small">
          Begun <Ago at={startedAt} />
          {[view?.progress, view?.left, view?.spent].map((words) => typeof words === 'string' && `, ${words}`)}
        </p>
      )}
      {view !== null && view.episodes.length > 0 && (
        <Episodes scenario={scenario} record={step?.step_record ?? null} episodes={view.episodes} />
      )}
      {activity.length > 0 && (
        <div class="activity small" role="log" aria-label="What the step does, newest first" tabIndex={0}>
          {activity.toReversed().map(({ at, kind, text, failed }, place) => (
            <p key={activity.length - place} class={failed === true ? 'failed' : ''}>
              <Clock at={at} /> <span class="muted">{kind}</span> <Text value={failed === true ? `failed: ${text}` : text} />
            </p>
          ))}
        </div>
      )}
    </>
  )
}

interface EpisodesProps {
  readonly scenario: string
  /** The step's record; null where none is kept. */
  readonly record: string | null
  readonly episodes: RunningView['episodes']
}

function Episodes({ scenario, record, episodes }: EpisodesProps) {
  const [open, setOpen] = useState<string | null>(null)
  return (
    <>
      <div class="running-episodes" role="region" aria-label="Episodes, newest first" tabIndex={0}>
        <Table columns={['Task', 'Played', 'Score', "Evaluator's words", 'Took', 'Transcript']}>
          {episodes.map(({ at, task, side, score, isBad, words, took, transcript }) => (
            <tr key={transcript ?? `${task} ${side} ${at}`}>
              <td data-label="Task">
                <Text value={task} />
              </td>
              <td data-label="Played">{side}</td>
              <td data-label="Score" class={isBad ? 'failing' : ''}>
                {score}
              </td>
              <td data-label="Evaluator's words">
                <Text value={words ?? ''} />
              </td>
              <td data-label="Took">{took}</td>
              <td data-label="Transcript">
                {record !== null && transcript !== null && (
                  <button type="button" class="button quiet" aria-pressed={open === transcript} onClick={() => setOpen(transcript)}>
                    Read
                  </button>
                )}
              </td>
            </tr>
          ))}
        </Table>
      </div>
      {record !== null && open !== null && <Transcript key={open} scenario={scenario} record={record} folder={open} />}
    </>
  )
}

/** Read once: an episode that ended does not change. */
function Transcript({ scenario, record, folder }: { readonly scenario: string; readonly record: string; readonly folder: string }) {
  const query = { step_record: record, path: `${folder}/trajectory.jsonl` }
  const { value, said } = usePolled(
    `transcript ${scenario} ${record} ${folder}`,
    async (service) => textIn(await service(scenario).text('/svc/harness/progress/records', query)),
    null,
  )
  if (said !== null) return <Notice said={said} />
  if (value === null) return <p class="muted">Reading …</p>
  return (
    <section class="stack tight" aria-label="Transcript">
      {value === '' ? <p class="muted">The agent left no transcript.</p> : <LongText value={prettyText(value)} mono />}
    </section>
  )
}
