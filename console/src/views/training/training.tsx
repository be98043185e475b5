/** The training of a scenario: its mode and queue, its history, its failures and their cures. */
import type { StepProgress } from '@svc-ai/client'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Badge } from '../../ui/badge.tsx'
import { Card } from '../../ui/card.tsx'
import { Empty, Notice } from '../../ui/notice.tsx'
import { Facts, type Fact } from '../../ui/facts.tsx'
import { LinePlot } from '../../ui/plot.tsx'
import { Text } from '../../ui/text.tsx'
import { Ago } from '../../ui/time.tsx'
import { requestStatus, statusOf, whole } from '../../../../src/presentation/index.ts'
import type { StepChain } from '../../data/chain.ts'
import { MODES } from '../../data/training-modes.ts'
import { readMetrics, valueOf } from '../../data/metrics.ts'
import { outcomeSeries, trainingStateOf, troublesOf, type TrainingState } from './training-state.ts'
import { useChain } from '../../data/use-chain.ts'
import { Working } from '../running/working.tsx'

const AGAIN_SECONDS = 2

export function Training({ scenario }: { readonly scenario: string }) {
  const { value, said } = usePolled(
    'status and numbers',
    async (service) => {
      const [status, numbers] = await Promise.all([service().status(), service().text('/metrics')])
      return { status, samples: readMetrics(numbers) }
    },
    AGAIN_SECONDS,
  )
  const { value: chain, said: chainSaid } = useChain(scenario)
  if (value === null) return said === null ? <p class="muted">Reading the status …</p> : <Notice said={said} />
  const state = trainingStateOf(value.status, scenario)
  return (
    <div class="stack training">
      <div class="row">
        <h1>Training</h1>
        {state !== null && <Now state={state} />}
      </div>
      <Notice said={said ?? chainSaid} />
      {troublesOf(value.status, scenario).map(({ line, cure }) => (
        <div key={line} class="notice bad">
          <b>
            <Text value={line} />
          </b>
          <span>{cure}</span>
        </div>
      ))}
      {state === null && chainSaid === null && <Empty title="Not in memory" hint="The next request to the scenario loads it." />}
      {state?.trainers.some(({ isReady }) => isReady) === true && <RunningCards scenario={scenario} />}
      {state !== null && (
        <div class="cards">
          <ModeCard scenario={scenario} state={state} chain={chain} />
          {state.learns && state.trainers.map((trainer) => <QueueCard key={trainer.name} scenario={scenario} trainer={trainer} />)}
          {state.learns && (
            <ServiceCard
              running={valueOf(value.samples, 'svc_training_steps_running')}
              waiting={valueOf(value.samples, 'svc_training_steps_waiting')}
            />
          )}
        </div>
      )}
      {chain !== null && <History chain={chain} />}
    </div>
  )
}

function Now({ state: { learns, trainers } }: { readonly state: TrainingState }) {
  if (!learns) return <Badge tone="plain">Keeps records, learns nothing</Badge>
  if (trainers.some(({ isReady }) => isReady)) return <Badge tone="warn">A step runs or is next</Badge>
  return trainers.some(({ stopped }) => stopped !== null) ? (
    <Badge tone="warn">Budget used up</Badge>
  ) : (
    <Badge tone="good">Waiting for more</Badge>
  )
}

function ModeCard({ scenario, state, chain }: { scenario: string; state: TrainingState; chain: StepChain | null }) {
  const { lastStep, mode, learns } = state
  const last = chain?.steps.find(({ row }) => row.step === lastStep?.step)
  const shown = lastStep !== null && (
    <>
      {last === undefined ? 'a step' : <a href={hrefOf(placeIn(scenario, 'releases', last.id))}>{last.name}</a>}
      {last !== undefined && chain !== null && <> {statusOf(chain.rows, last.row).word.toLowerCase()}</>}, <Ago at={lastStep.at} />
    </>
  )
  return (
    <Card title="Mode" aside={<Badge tone="plain">{mode}</Badge>}>
      <p>{learns ? MODES.find(([name]) => name === mode)?.[1] : 'The recipe keeps what comes in and learns nothing from it.'}</p>
      <Facts facts={[['Last step', shown === false ? 'none yet' : shown]]} />
      {learns && (
        <p class="small">
          <a href={hrefOf(placeIn(scenario, 'settings'))}>Switch it</a>
        </p>
      )}
    </Card>
  )
}

function QueueCard({ scenario, trainer }: { readonly scenario: string; readonly trainer: TrainingState['trainers'][number] }) {
  const { name, isReady, pendingInstructions, setAside, stopped, facts } = trainer
  const pending = pendingInstructions ?? 0
  return (
    <Card title={name === '' ? 'Queue' : `Queue of ${name}`} aside={isReady && <Badge tone="warn">a batch is ready</Badge>}>
      <Facts
        facts={[
          ['Requests waiting', pending === 0 ? 'none' : <a href={hrefOf(placeIn(scenario, 'ask'))}>{whole(pending)}</a>],
          ...facts.map(([label, text]): Fact => [label, <Text value={text} />]),
          ...setAside.map(([reason, count]): Fact => ['Set aside', <Text value={`${whole(count)}: ${reason}`} />]),
        ]}
      />
      {stopped !== null && (
        <p class="notice warn">
          <Text value={stopped} />: raise it in the configuration and restart, or ask for a change, which runs past it.
        </p>
      )}
    </Card>
  )
}

/** The threads belong to all scenarios: a step may have to wait for those of others. */
function ServiceCard({ running, waiting }: { readonly running: number | null; readonly waiting: number | null }) {
  return (
    <Card title="Service" aside={<span class="muted small">all scenarios</span>}>
      <Facts
        facts={[
          ['Steps running', whole(running ?? 0)],
          ['Steps waiting for a turn', whole(waiting ?? 0)],
        ]}
      />
    </Card>
  )
}

function History({ chain }: { readonly chain: StepChain }) {
  const series = outcomeSeries(chain)
  if (series.length === 0) return null
  return (
    <section class="card" aria-label="History">
      <LinePlot title="Steps by outcome" kind="bars" series={series} xIsTime />
    </section>
  )
}

function RunningCards({ scenario }: { readonly scenario: string }) {
  const { value } = usePolled(`running in ${scenario}`, (service) => service(scenario).running(), AGAIN_SECONDS)
  return (
    <>
      {(value ?? []).map((step) => (
        <RunningCard key={step.component} scenario={scenario} step={step} />
      ))}
    </>
  )
}

function RunningCard({ scenario, step }: { readonly scenario: string; readonly step: StepProgress }) {
  const { component, request_id: request, state } = step
  const { word, tone } = requestStatus(state)
  return (
    <Card title={component === '' ? 'Running step' : `Running step of ${component}`} aside={<Badge tone={tone}>{word}</Badge>}>
      <Working scenario={scenario} progress={step} step={step} />
      {request !== null && (
        <p class="small">
          <a href={hrefOf(placeIn(scenario, 'ask', request))}>Follow the request</a>
        </p>
      )}
    </Card>
  )
}
