/** One request while it is worked on, and its outcome. */
import { useEffect, useState } from 'preact/hooks'
import type { RequestProgress, Svc } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { PageLink } from '../../ui/button.tsx'
import { Id } from '../../ui/id.tsx'
import { Notice } from '../../ui/notice.tsx'
import { Text } from '../../ui/text.tsx'
import { AskText } from './ask-list.tsx'
import { REQUEST_STAGES, requestStatus, stageOf } from '../../../../src/presentation/index.ts'
import { viewOf, type StepChain, type StepProps } from '../../data/chain.ts'
import { requestPagePath, stepOf } from '../../data/requests.ts'
import { ScoreLine } from '../releases/result-card.tsx'
import { Working } from '../running/working.tsx'

interface FollowProps {
  readonly scenario: string
  readonly id: string
  readonly chain: StepChain
  /** Called when its row is there. */
  readonly settled: () => void
}

const AGAIN_SECONDS = 2

export function AskFollow({ scenario, id, chain, settled }: FollowProps) {
  const [seconds, setSeconds] = useState<number | null>(AGAIN_SECONDS)
  const { value, said } = usePolled(`progress of ${scenario} ${id}`, (service) => progressIn(service(scenario), id), seconds)
  const progress = value?.progress ?? null
  const isSettled = progress?.settled === true
  useEffect(() => {
    if (!isSettled) return
    setSeconds(null)
    settled()
  }, [isSettled])
  const step = stepOf(chain, id)
  const page = progress === null ? null : requestPagePath(chain, id)
  return (
    <Card
      title="Request"
      aside={
        <span class="row">
          <PageLink path={page} words="Page to share" class="small" />
          <Id value={id} />
        </span>
      }
    >
      <Notice said={said} />
      {progress !== null && <AskText scenario={scenario} id={id} step={step} />}
      {progress !== null && <Stages progress={progress} />}
      {progress !== null && !isSettled && <Working scenario={scenario} progress={progress} step={value?.running ?? null} />}
      {step !== undefined && isSettled && <Outcome scenario={scenario} chain={chain} step={step} />}
    </Card>
  )
}

/** With the step that works on it, while one does. */
async function progressIn(service: Svc, id: string) {
  const progress = await service.progress(id)
  const steps = progress.settled || progress.state === 'queued' ? [] : await service.running()
  return { progress, running: steps.find(({ request_id: held }) => held === id) ?? null }
}

function Stages({ progress }: { readonly progress: RequestProgress }) {
  const at = stageOf(progress)
  const { word, tone } = requestStatus(progress.state)
  return (
    <ol class="stages" aria-label="How far it is">
      {REQUEST_STAGES.map((stage, place) => (
        <li key={stage} class={place < at ? 'over' : place === at ? 'now' : ''} aria-current={place === at ? 'step' : undefined}>
          <span>{stage}</span>
          {place === at && <Badge tone={tone}>{word}</Badge>}
        </li>
      ))}
    </ol>
  )
}

function Outcome({ scenario, chain, step }: StepProps) {
  const { status, headline, decision, scores } = viewOf(chain, step)
  const outcome = decision ?? headline
  return (
    <div class="stack tight">
      <p>
        {status.meaning} <a href={hrefOf(placeIn(scenario, 'releases', step.id))}>Open {step.name}</a>
      </p>
      {outcome !== null && (
        <p class="muted small">
          <Text value={outcome} />
        </p>
      )}
      {scores !== null && <ScoreLine scores={scores} />}
    </div>
  )
}
