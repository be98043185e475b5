/** Storage and load of the service: bodies and their limit, evictions, memory, requests. */
import { useEffect, useState } from 'preact/hooks'
import type { StatusReport } from '@svc-ai/client'
import { bytes, numberAt, objectAt, whole } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { hrefOf } from '../../route.ts'
import { useSession } from '../../session.ts'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { percent } from '../../ui/figures.ts'
import { Notice } from '../../ui/notice.tsx'
import { LinePlot } from '../../ui/plot.tsx'
import { Text } from '../../ui/text.tsx'
import { linesOf, readingOf, withReading, type Reading } from './gauges.ts'
import { readMetrics } from '../../data/metrics.ts'
import { RoutesCard } from './storage-routes.tsx'
import './storage.css'

const AGAIN_SECONDS = 2
const STATUS_SECONDS = 5

export function Storage() {
  const session = useSession()
  const { value: status, said } = usePolled('status', () => session.service().status(), STATUS_SECONDS)
  const [readings, numbersSaid] = useReadings()
  return (
    <div class="stack storage">
      <h1>Storage and service</h1>
      <Notice said={said ?? numbersSaid} />
      {status !== null && (
        <div class="cards">
          <BodiesCard status={status} />
          <LossCard status={status} />
        </div>
      )}
      <Gauges readings={readings} />
      {status !== null && <ScenariosCard status={status} />}
      <RoutesCard readings={readings} />
    </div>
  )
}

/** Kept as long as the view is open. */
function useReadings() {
  const session = useSession()
  const [readings, setReadings] = useState<readonly Reading[]>([])
  const { value, said } = usePolled(
    'numbers',
    async () => readingOf(Date.now() / 1000, readMetrics(await session.service().text('/metrics'))),
    AGAIN_SECONDS,
  )
  useEffect(() => {
    if (value !== null) setReadings((known) => withReading(known, value))
  }, [value])
  return [readings, said] as const
}

function BodiesCard({ status: { storage } }: { readonly status: StatusReport }) {
  const [used, capacity, records] = [
    numberAt(storage, 'body_bytes') ?? 0,
    numberAt(storage, 'capacity_bytes') ?? 0,
    numberAt(storage, 'records') ?? 0,
  ]
  const share = percent(capacity === 0 ? 0 : used / capacity)
  return (
    <Card title="Bodies of records" aside={<span class="number">{share}</span>}>
      <meter min={0} max={Math.max(1, capacity)} high={capacity * 0.9} value={used} aria-label="Bodies kept, of the limit">
        {share}
      </meter>
      <Facts
        facts={[
          ['Kept', `${bytes(used)} of ${bytes(capacity)}`],
          ['Records', whole(records)],
          ['Mean size', records === 0 ? 'none yet' : bytes(used / records)],
        ]}
      />
      <p class="muted small">Above the limit the oldest bodies are evicted first. storage.record_capacity_bytes sets it.</p>
    </Card>
  )
}

function LossCard({ status: { storage } }: { readonly status: StatusReport }) {
  const [records, lost] = [numberAt(storage, 'lost_records') ?? 0, numberAt(storage, 'lost_bytes') ?? 0]
  return (
    <Card title="Evicted">
      <Facts
        facts={[
          ['Bodies', whole(records)],
          ['Bytes', bytes(lost)],
        ]}
      />
      <p class="muted small">
        {records === 0 ? 'No body was ever evicted.' : 'Rows, ids and digests stay; the bodies are gone. Raise the limit to keep more.'}
      </p>
    </Card>
  )
}

function Gauges({ readings }: { readonly readings: readonly Reading[] }) {
  const lines = linesOf(readings)
  return (
    <div class="cards">
      <section class="card" aria-label="Requests">
        <LinePlot title="Requests" unit="/s" xIsTime height={120} series={[{ name: 'all routes', points: lines.rate }]} />
      </section>
      <section class="card" aria-label="Latency">
        <LinePlot
          title="Latency"
          unit="s"
          xIsTime
          height={120}
          series={[
            { name: 'p50', points: lines.median },
            { name: 'p95', points: lines.slow },
          ]}
        />
      </section>
      <section class="card" aria-label="Memory">
        <LinePlot title="Memory of the process" unit="bytes" xIsTime height={120} series={[{ name: 'resident', points: lines.memory }]} />
      </section>
      <section class="card" aria-label="Processor">
        <LinePlot title="Processor, of one core" unit="%" xIsTime height={120} series={[{ name: 'all threads', points: lines.cpu }]} />
      </section>
    </div>
  )
}

const SCENARIOS_MAX = 50
const COUNT_SECONDS = 15

/** Sequences have no gaps, so the newest record has their number. Only scenarios in memory are asked: asking loads the others. */
function ScenariosCard({ status }: { readonly status: StatusReport }) {
  const session = useSession()
  const names = Object.keys(status.scenarios).slice(0, SCENARIOS_MAX)
  const { value: counts } = usePolled(`counts of ${names.join('\n')}`, () => Promise.all(names.map((name) => countOf(name))), COUNT_SECONDS)
  const countOf = async (name: string): Promise<number> => {
    const { records } = await session.service(name).records({ order: 'newest', limit: 1 })
    return records[0]?.sequence ?? 0
  }
  if (names.length === 0) return null
  return (
    <Card title="Scenarios in memory">
      <table class="table wraps">
        <thead>
          <tr>
            <th scope="col">Scenario</th>
            <th scope="col">Records</th>
            <th scope="col">Bodies evicted</th>
            <th scope="col">Bytes evicted</th>
          </tr>
        </thead>
        <tbody>
          {names.map((name, place) => (
            <ScenarioRow
              key={name}
              name={name}
              count={counts?.[place] ?? null}
              processor={objectAt(status.scenarios[name] ?? {}, 'processor')}
            />
          ))}
        </tbody>
      </table>
    </Card>
  )
}

interface ScenarioRowProps {
  readonly name: string
  readonly count: number | null
  readonly processor: Readonly<Record<string, unknown>>
}

function ScenarioRow({ name, count, processor }: ScenarioRowProps) {
  return (
    <tr>
      <td data-label="Scenario">
        <a href={hrefOf({ at: 'scenario', scenario: name, view: 'traffic', id: null })}>
          <Text value={name} />
        </a>
      </td>
      <td data-label="Records" class="number">
        {count === null ? '…' : whole(count)}
      </td>
      <td data-label="Bodies evicted" class="number">
        {whole(numberAt(processor, 'evicted_record_count') ?? 0)}
      </td>
      <td data-label="Bytes evicted" class="number">
        {bytes(numberAt(processor, 'evicted_body_bytes') ?? 0)}
      </td>
    </tr>
  )
}
