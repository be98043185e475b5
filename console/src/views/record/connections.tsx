/** What a record is connected to: the reports on it, its neighbours in the session, and a person's own score of it. */
import { useState } from 'preact/hooks'
import { ServiceFailure, type ListedRecord, type Svc } from '@svc-ai/client'
import { counted, scoreText } from '../../../../src/presentation/index.ts'
import { saidOf, type FailureNotice } from '../../failure.ts'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn, plainHref } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

const LOOK_SECONDS = 5
const REPORTS_MAX = 20
const SESSION_MAX = 100

interface ConnectionsProps {
  readonly scenario: string
  readonly id: string
  readonly sequence: number
  readonly session: string | null
}

export function Connections({ scenario, id, sequence, session }: ConnectionsProps) {
  const { value, refresh } = usePolled(
    `connections ${scenario}/${id}`,
    (service) => connectionsOf(service(scenario), id, session),
    LOOK_SECONDS,
  )
  const reports = value?.reports ?? []
  return (
    <section class="stack tight" aria-label="Connections">
      <Thumbs
        scenario={scenario}
        id={id}
        score={reports.find((report) => report.score !== null)?.score ?? null}
        onScored={() => void refresh()}
      />
      {reports.length > 0 && (
        <ul class="stack tight" aria-label="Reports on this exchange">
          {reports.map((report) => (
            <li key={report.agent_record_id} class="row">
              <a href={hrefOf(placeIn(scenario, 'traffic', report.agent_record_id))}>
                {report.score === null ? 'Report' : `Score ${scoreText(report.score)}`}
              </a>
              <Text value={report.excerpt?.input ?? ''} />
              <span class="muted">
                <Ago at={report.created_at} />
              </span>
            </li>
          ))}
        </ul>
      )}
      {session !== null && value !== null && <Neighbours {...{ scenario, session, sequence }} rows={value.session} />}
    </section>
  )
}

/** A service that cannot search shows none. */
async function connectionsOf(svc: Svc, id: string, session: string | null) {
  const nothing: readonly ListedRecord[] = []
  try {
    const reports = await svc.search({ quotes: id, limit: REPORTS_MAX })
    const exchanges =
      session === null ? null : await svc.search({ tag: [`session:${session}`], request_type: 'inference', limit: SESSION_MAX })
    return { reports: reports.records, session: exchanges?.records ?? nothing }
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 501) return { reports: nothing, session: nothing }
    throw error
  }
}

interface NeighboursProps extends Pick<ConnectionsProps, 'scenario' | 'sequence'> {
  readonly session: string
  /** Newest first. */
  readonly rows: readonly ListedRecord[]
}

function Neighbours({ scenario, session, sequence, rows }: NeighboursProps) {
  const [before, after] = [rows.find((row) => row.sequence < sequence), rows.findLast((row) => row.sequence > sequence)]
  const all = `${plainHref(placeIn(scenario, 'traffic'))}?${new URLSearchParams({ tag: `session:${session}` }).toString()}`
  return (
    <p class="row">
      <span>
        Session <Text value={session} class="mono" />
      </span>
      {before !== undefined && <a href={hrefOf(placeIn(scenario, 'traffic', before.agent_record_id))}>Earlier</a>}
      {after !== undefined && <a href={hrefOf(placeIn(scenario, 'traffic', after.agent_record_id))}>Later</a>}
      {rows.length > 1 && <a href={all}>{`All ${counted(rows.length, 'exchange')}`}</a>}
    </p>
  )
}

interface ThumbsProps {
  readonly scenario: string
  readonly id: string
  readonly score: number | null
  readonly onScored: () => void
}

const THUMBS = [
  [1, 'Good'],
  [0, 'Bad'],
] as const

/** A thumb is a report like any other: it teaches, and the newest counts. */
function Thumbs({ scenario, id, score, onScored }: ThumbsProps) {
  const { service } = useSession()
  const [isSending, setSending] = useState(false)
  const [given, setGiven] = useState<number | null>(null)
  const [said, setSaid] = useState<FailureNotice | null>(null)
  const send = async (thumb: number): Promise<void> => {
    setSending(true)
    try {
      await service(scenario).report({ score: thumb, references: [id], metadata: { source: 'console' } })
      setGiven(thumb)
      setSaid(null)
      onScored()
    } catch (error) {
      setSaid(saidOf(error))
    }
    setSending(false)
  }
  const shown = given ?? score
  return (
    <div class="row" role="group" aria-label="Score this exchange">
      {THUMBS.map(([thumb, word]) => (
        <button
          key={word}
          type="button"
          class="button small"
          disabled={isSending}
          aria-pressed={shown === thumb}
          onClick={() => void send(thumb)}
        >
          {word}
        </button>
      ))}
      <Notice said={said} />
    </div>
  )
}
