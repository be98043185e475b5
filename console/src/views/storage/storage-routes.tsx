/** What each route was asked and how quickly it answered, since the service was started. */
import { duration, whole } from '../../../../src/presentation/index.ts'
import { useState } from 'preact/hooks'
import { Card } from '../../ui/card.tsx'
import { Text } from '../../ui/text.tsx'
import { routeRows, type Reading, type RouteRow } from './gauges.ts'

const ROUTES_AT_ONCE = 8
const COLUMNS = ['Route', 'Requests', 'Now', 'p50', 'p95', 'Failed (5xx)'] as const

export function RoutesCard({ readings }: { readonly readings: readonly Reading[] }) {
  const [isWhole, setWhole] = useState(false)
  const rows = routeRows(readings)
  if (rows.length === 0) return null
  return (
    <Card title="Routes" aside={<span class="muted small">since the service was started</span>}>
      <table class="table wraps">
        <thead>
          <tr>
            {COLUMNS.map((name) => (
              <th key={name} scope="col">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.slice(0, isWhole ? Infinity : ROUTES_AT_ONCE).map((row) => (
            <Row key={row.route} row={row} />
          ))}
        </tbody>
      </table>
      {rows.length > ROUTES_AT_ONCE && (
        <div>
          <button type="button" class="button small" aria-pressed={isWhole} onClick={() => setWhole(!isWhole)}>
            All {rows.length} routes
          </button>
        </div>
      )}
    </Card>
  )
}

function Row({ row: { route, count, rate, median, slow, failed } }: { readonly row: RouteRow }) {
  return (
    <tr>
      <td data-label="Route" class="mono">
        <Text value={route} />
      </td>
      <td data-label="Requests" class="number">
        {whole(count)}
      </td>
      <td data-label="Now" class="number">
        {rate === 0 ? '' : `${Number(rate.toPrecision(2))} /s`}
      </td>
      <td data-label="p50" class="number">
        {median === null ? '' : duration(median)}
      </td>
      <td data-label="p95" class="number">
        {slow === null ? '' : duration(slow)}
      </td>
      <td data-label="Failed (5xx)" class={`number ${failed > 0 ? 'failing' : ''}`}>
        {whole(failed)}
      </td>
    </tr>
  )
}
