/** The request that a step holds now: how far it is, and the latest that the step did. */
import type { RequestProgress } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { hrefOf } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import type { StepChain } from '../../data/chain.ts'
import { requestStatus } from '../../../../src/presentation/index.ts'
import { stepOf } from '../../data/requests.ts'

interface RunningProps {
  readonly scenario: string
  readonly chain: StepChain
}

const AGAIN_SECONDS = 2
/** How far back a request that is worked on may lie. */
const LOOKED_AT = 20

/** Nothing while no request is held: a step on traffic reports no progress. */
export function RunningCard({ scenario, chain }: RunningProps) {
  const session = useSession()
  const { value: progress } = usePolled(
    `running in ${scenario}`,
    async (): Promise<RequestProgress | null> => {
      const service = session.service(scenario)
      const { records } = await service.records({ request_type: 'train', order: 'newest', limit: LOOKED_AT })
      const oldest = records.findLast(({ agent_record_id: id }) => stepOf(chain, id) === undefined)
      return oldest === undefined ? null : service.progress(oldest.agent_record_id)
    },
    AGAIN_SECONDS,
  )
  if (progress === null || progress.settled || progress.state === 'queued') return null
  const { word, tone } = requestStatus(progress.state)
  const latest = progress.activity?.at(-1)
  return (
    <Card title="Running step" aside={<Badge tone={tone}>{word}</Badge>}>
      <p>{progress.meaning}</p>
      {latest !== undefined && (
        <p class="muted small">
          {latest.kind} <Text value={latest.text} />
        </p>
      )}
      <p class="small">
        <a href={hrefOf({ at: 'scenario', scenario, view: 'ask', id: progress.request_id })}>Follow the request</a>
        {typeof progress.started_at === 'number' && (
          <span class="muted">
            {' '}
            begun <Ago at={progress.started_at} />
          </span>
        )}
      </p>
    </Card>
  )
}
