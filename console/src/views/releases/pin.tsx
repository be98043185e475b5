/** Which sessions are at a release, and how a client or a session is pinned to it. A pin is the client's own: the service never moves one that holds a release. */
import { ServiceFailure, type ListedRecord, type Svc } from '@svc-ai/client'
import { counted } from '../../../../src/presentation/index.ts'
import { madeBy, type StepProps } from '../../data/chain.ts'
import { pinHeaders, pullCommand, sessionsIn, updateCommand } from '../../data/pins.ts'
import { usePolled } from '../../poll.ts'
import { placeIn, plainHref } from '../../route.ts'
import type { ConsoleSession } from '../../session.ts'
import { Card } from '../../ui/card.tsx'
import { Command } from '../../ui/command.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'

const LOOK_SECONDS = 10
const EXCHANGES_MAX = 100
const SESSIONS_SHOWN = 5

export function PinCard({ scenario, chain, step }: StepProps) {
  const { release_id: release } = step.row
  const { value: exchanges, said } = usePolled(
    `at ${scenario}/${release}`,
    (service) => exchangesAt(service(scenario), release),
    LOOK_SECONDS,
  )
  const isServed = madeBy(chain, chain.head?.row.release_id) === step
  return (
    <Card title="Clients at this release">
      <Notice said={said} />
      {exchanges !== null && <Sessions scenario={scenario} release={release} exchanges={exchanges} />}
      <p class="muted">
        {isServed
          ? 'It is served: clients that update take it. A client that is pinned to it stays when another one is served.'
          : 'A client that holds it stays at it until it updates, whatever is served to others.'}
      </p>
      <Pinning scenario={scenario} release={release} />
    </Card>
  )
}

/** A service that cannot search shows none. */
async function exchangesAt(svc: Svc, release: string): Promise<readonly ListedRecord[] | null> {
  try {
    return (await svc.search({ release_id: release, request_type: 'inference', limit: EXCHANGES_MAX })).records
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 501) return null
    throw error
  }
}

interface SessionsProps {
  readonly scenario: string
  readonly release: string
  /** Newest first. */
  readonly exchanges: readonly ListedRecord[]
}

function Sessions({ scenario, release, exchanges }: SessionsProps) {
  if (exchanges.length === 0) return <p class="muted">No exchange was recorded at it.</p>
  const sessions = sessionsIn(exchanges)
  const traffic = (filters: Readonly<Record<string, string>>): string =>
    `${plainHref(placeIn(scenario, 'traffic'))}?${new URLSearchParams({ release, ...filters }).toString()}`
  return (
    <>
      <ul class="points" aria-label="Sessions at this release">
        {sessions.slice(0, SESSIONS_SHOWN).map(({ session, count, at }) => (
          <li key={session}>
            {session === null ? (
              'No session named'
            ) : (
              <a href={traffic({ tag: `session:${session}` })}>
                <Text value={session} />
              </a>
            )}{' '}
            <span class="muted">
              {counted(count, 'exchange')}, the last <Ago at={at} />
            </span>
          </li>
        ))}
      </ul>
      <p>
        <a href={traffic({ group: 'session' })}>All traffic at this release, by session</a>
      </p>
    </>
  )
}

function Pinning({ scenario, release }: { readonly scenario: string; readonly release: string }) {
  const { value: adapter } = usePolled(`adapter ${scenario}`, (service) => adapterOf(service, scenario), null)
  const update = updateCommand(adapter ?? null, release)
  return (
    <details>
      <summary>Pin a client or a session to it</summary>
      <div class="stack tight">
        {update !== null && (
          <>
            <p>An installed agent, on its machine. Without --release it goes back to what is served.</p>
            <Command line={update} />
          </>
        )}
        <p>A folder that a program of yours reads:</p>
        <Command line={pullCommand(location.origin, scenario, release)} />
        <p>One session of any client: it sends these headers with every call. It is never moved to a release that is not proved.</p>
        <Command line={pinHeaders(release)} />
      </div>
    </details>
  )
}

/** Null where the scenario is not known, or its agent has no command of its own. */
async function adapterOf(service: ConsoleSession['service'], scenario: string): Promise<string | null> {
  const row = (await service().scenarios()).find((each) => each.scenario === scenario)
  if (row?.adapter === undefined) return null
  if (row.adapter === 'native') return row.adapter
  const line = await service(scenario).text('/svc/harness/install/line')
  return line === '' ? null : row.adapter
}
