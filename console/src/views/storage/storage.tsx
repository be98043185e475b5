/** Storage and load of the service: bodies and their limit, evictions, memory, requests. */
import { useEffect, useState } from 'preact/hooks'
import type { StatusReport } from '@svc-ai/client'
import { bytes, duration, numberAt, objectAt, whole } from '../../../../src/presentation/index.ts'
import { usePolled } from '../../poll.ts'
import { hrefOf, placeIn } from '../../route.ts'
import { Toggle } from '../../ui/button.tsx'
import { Card } from '../../ui/card.tsx'
import { Facts } from '../../ui/facts.tsx'
import { percent } from '../../ui/figures.ts'
import { Notice } from '../../ui/notice.tsx'
import { LinePlot } from '../../ui/plot.tsx'
import { NumberCell, Table } from '../../ui/table.tsx'
import { Text } from '../../ui/text.tsx'
import { FleetCard } from './fleet.tsx'
import { linesOf, readingOf, routeRows, withReading, type Reading } from './gauges.ts'
import { readMetrics } from '../../data/metrics.ts'
import './storage.css'

const AGAIN_SECONDS = 2
const STATUS_SECONDS = 5

export function Storage() {
  const { value: status, said } = usePolled('status', (service) => service().status(), STATUS_SECONDS)
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
      <FleetCard />
      <Gauges readings={readings} />
      {status !== null && <ScenariosCard status={status} />}
      <RoutesCard readings={readings} />
    </div>
  )
}

/** Kept as long as the view is open. */
function useReadings() {
  const [readings, setReadings] = useState<readonly Reading[]>([])
  const { value, said } = usePolled(
    'numbers',
    async (service) => readingOf(Date.now() / 1000, readMetrics(await service().text('/metrics'))),
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
  const { rate, median, slow, memory, cpu } = linesOf(readings)
  const plots = [
    { label: 'Requests', title: 'Requests', unit: '/s', series: [{ name: 'all routes', points: rate }] },
    {
      label: 'Latency',
      title: 'Latency',
      unit: 's',
      series: [
        { name: 'p50', points: median },
        { name: 'p95', points: slow },
      ],
    },
    { label: 'Memory', title: 'Memory of the process', unit: 'bytes', series: [{ name: 'resident', points: memory }] },
    { label: 'Processor', title: 'Processor, of one core', unit: '%', series: [{ name: 'all threads', points: cpu }] },
  ]
  return (
    <div class="cards">
      {plots.map(({ label, ...plot }) => (
        <section key={label} class="card" aria-label={label}>
          <LinePlot {...plot} xIsTime height={120} />
        </section>
      ))}
    </div>
  )
}

const SCENARIOS_MAX = 50
const COUNT_SECONDS = 15

/** Sequences have no gaps, so the newest record has their number. Only scenarios in memory are asked: asking loads the others. */
function ScenariosCard({ status }: { readonly status: StatusReport }) {
  const names = Object.keys(status.scenarios).slice(0, SCENARIOS_MAX)
  const { value: counts } = usePolled(
    `counts of ${names.join('\n')}`,
    (service) =>
      Promise.all(names.map(async (name) => (await service(name).records({ order: 'newest', limit: 1 })).records[0]?.sequence ?? 0)),
    COUNT_SECONDS,
  )
  if (names.length === 0) return null
  return (
    <Card title="Scenarios in memory">
      <Table columns={['Scenario', 'Records', 'Bodies evicted', 'Bytes evicted']}>
        {names.map((name, place) => {
          const [count, processor] = [counts?.[place], objectAt(status.scenarios[name] ?? {}, 'processor')]
          return (
            <tr key={name}>
              <td data-label="Scenario">
                <a href={hrefOf(placeIn(name, 'traffic'))}>
                  <Text value={name} />
                </a>
              </td>
              <NumberCell of="Records">{count === undefined ? '…' : whole(count)}</NumberCell>
              <NumberCell of="Bodies evicted">{whole(numberAt(processor, 'evicted_record_count') ?? 0)}</NumberCell>
              <NumberCell of="Bytes evicted">{bytes(numberAt(processor, 'evicted_body_bytes') ?? 0)}</NumberCell>
            </tr>
          )
        })}
      </Table>
    </Card>
  )
}

const ROUTES_AT_ONCE = 8
const COLUMNS = ['Route', 'Requests', 'Now', 'p50', 'p95', 'Failed (5xx)'] as const

/** What each route was asked and how quickly it answered. */
function RoutesCard({ readings }: { readonly readings: readonly Reading[] }) {
  const [isWhole, setWhole] = useState(false)
  const rows = routeRows(readings)
  if (rows.length === 0) return null
  return (
    <Card title="Routes" aside={<span class="muted small">since the service was started</span>}>
      <Table columns={COLUMNS}>
        {rows.slice(0, isWhole ? Infinity : ROUTES_AT_ONCE).map(({ route, count, rate, median, slow, failed }) => (
          <tr key={route}>
            <td data-label="Route" class="mono">
              <Text value={route} />
            </td>
            <NumberCell of="Requests">{whole(count)}</NumberCell>
            <NumberCell of="Now">{rate === 0 ? '' : `${Number(rate.toPrecision(2))} /s`}</NumberCell>
            <NumberCell of="p50">{median === null ? '' : duration(median)}</NumberCell>
            <NumberCell of="p95">{slow === null ? '' : duration(slow)}</NumberCell>
            <NumberCell of="Failed (5xx)" isBad={failed > 0}>
              {whole(failed)}
            </NumberCell>
          </tr>
        ))}
      </Table>
      {rows.length > ROUTES_AT_ONCE && (
        <div>
          <Toggle isOn={isWhole} set={setWhole}>
            All {rows.length} routes
          </Toggle>
        </div>
      )}
    </Card>
  )
}
