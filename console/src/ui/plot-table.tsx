/** A plot as a table, for screen readers. */
import { valueText, type PlotColumn, type PlotSeries } from './plot-layout.ts'
import { visible } from './visible.ts'

const ROWS_MAX = 200

interface AsTableProps {
  readonly title: string
  readonly columns: readonly PlotColumn[]
  readonly series: readonly PlotSeries[]
  readonly unit: string | undefined
}

export function AsTable({ title, columns, series, unit }: AsTableProps) {
  const rows = columns.slice(-ROWS_MAX)
  const cut = columns.length > rows.length ? `, the latest ${rows.length} of ${columns.length}` : ''
  return (
    <div class="hidden-visually">
      <table>
        <caption>{`${title}${cut}`}</caption>
        <thead>
          <tr>
            <th scope="col">At</th>
            {series.map(({ name }) => (
              <th key={name} scope="col">
                {visible(name)}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ x, label, values }) => (
            <tr key={x}>
              <th scope="row">{visible(label)}</th>
              {series.map(({ name }) => (
                <td key={name}>{cellOf(values, name, unit)}</td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  )
}

function cellOf(values: PlotColumn['values'], name: string, unit: string | undefined): string {
  const value = values.find((each) => each.name === name)
  return value === undefined ? '' : valueText(value.y, unit)
}
