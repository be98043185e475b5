/** A plot: lines, points or bars, read with the mouse, with the arrow keys, or as the table that it is. */
import { useLayoutEffect, useRef, useState } from 'preact/hooks'
import {
  layoutOf,
  valueText,
  toneAt,
  type PlotColumn,
  type PlotData,
  type PlotLayout,
  type PlotKind,
  type PlotSeries,
} from './plot-layout.ts'
import { nearest } from './scale.ts'
import { visible } from './visible.ts'
import './plot.css'

interface PlotProps extends Pick<PlotData, 'series' | 'unit'>, Partial<Pick<PlotData, 'kind' | 'xIsTime' | 'xNames'>> {
  readonly title: string
  readonly height?: number
}

const HEIGHT = 160
const WIDTH_BEFORE_MEASURED = 320

export function LinePlot({ title, unit, kind = 'line', series, xIsTime = false, xNames, height = HEIGHT }: PlotProps) {
  const [area, width] = useWidth()
  const [pointed, setPointed] = useState<number | null>(null)
  const layout = layoutOf({ series, kind, unit, xIsTime, xNames }, width, height)
  const { columns } = layout
  const column = pointed === null ? undefined : columns[Math.min(pointed, columns.length - 1)]
  const point = (event: MouseEvent): void => {
    const left = area.current?.getBoundingClientRect().left ?? 0
    const places = columns.map(({ at }) => at)
    setPointed(columns.length === 0 ? null : nearest(places, event.clientX - left))
  }
  const walk = (event: KeyboardEvent): void => {
    const next = walked(event.key, pointed, columns.length)
    if (next === undefined) return
    event.preventDefault()
    event.stopPropagation()
    setPointed(next)
  }
  return (
    <figure class="plot">
      <figcaption>
        <span class="plot-title">{title}</span>
        {series.length > 1 && <Legend series={series} kind={kind} />}
      </figcaption>
      <div
        class="plot-area"
        ref={area}
        role="group"
        tabIndex={0}
        aria-label={`${title}. The arrow keys walk its values.`}
        onMouseMove={point}
        onMouseLeave={() => setPointed(null)}
        onBlur={() => setPointed(null)}
        onKeyDown={walk}
      >
        {columns.length === 0 && <p class="plot-empty muted">Nothing yet</p>}
        <Drawing layout={layout} width={width} height={height} kind={kind} column={column} />
        {column !== undefined && <Readout column={column} width={width} unit={unit} />}
        <p class="hidden-visually" aria-live="polite">
          {column !== undefined && spoken(column, unit)}
        </p>
      </div>
      <AsTable title={title} columns={columns} series={series} unit={unit} />
    </figure>
  )
}

/** Undefined: not a key of the plot. */
function walked(key: string, pointed: number | null, count: number): number | null | undefined {
  if (count === 0) return undefined
  switch (key) {
    case 'ArrowRight':
      return Math.min(count - 1, (pointed ?? -1) + 1)
    case 'ArrowLeft':
      return Math.max(0, (pointed ?? count) - 1)
    case 'Home':
      return 0
    case 'End':
      return count - 1
    case 'Escape':
      return pointed === null ? undefined : null
    default:
      return undefined
  }
}

function useWidth() {
  const area = useRef<HTMLDivElement>(null)
  const [width, setWidth] = useState(WIDTH_BEFORE_MEASURED)
  useLayoutEffect(() => {
    const element = area.current
    if (element === null) return undefined
    const measure = (): void => setWidth(Math.max(120, Math.floor(element.clientWidth)))
    measure()
    const observer = new ResizeObserver(measure)
    observer.observe(element)
    return () => observer.disconnect()
  }, [])
  return [area, width] as const
}

function Legend({ series, kind }: { readonly series: readonly PlotSeries[]; readonly kind: PlotKind }) {
  return (
    <ul class="plot-legend">
      {series.map(({ name, tone }, place) => (
        <li key={name} class={`tone-${tone ?? toneAt(place)}`}>
          <svg viewBox={kind === 'line' ? '0 0 16 8' : '4 0 8 8'} width={kind === 'line' ? 16 : 8} height="8" aria-hidden="true">
            {kind === 'line' ? (
              <path class={`plot-line dash-${place % DASHES}`} d="M0 4H16" />
            ) : (
              <circle class="plot-bar" cx="8" cy="4" r="4" />
            )}
          </svg>
          {visible(name)}
        </li>
      ))}
    </ul>
  )
}

/** Lines differ in their dashes too: colours alone are not accessible. */
const DASHES = 4
const DOTS_MAX = 60

interface DrawingProps {
  readonly layout: PlotLayout
  readonly width: number
  readonly height: number
  readonly kind: PlotKind
  readonly column: PlotColumn | undefined
}

function Drawing({ layout, width, height, kind, column }: DrawingProps) {
  const { left, right, top, bottom, columns, xMarks, yMarks, lines, bars } = layout
  const hasDots = kind === 'points' || (kind === 'line' && columns.length <= DOTS_MAX)
  return (
    <svg width={width} height={height} viewBox={`0 0 ${width} ${height}`} aria-hidden="true">
      {yMarks.map(({ at, text }) => (
        <g key={text}>
          <line class="plot-grid" x1={left} x2={right} y1={at} y2={at} />
          <text x={left - 6} y={at} dy="0.32em" text-anchor="end">
            {text}
          </text>
        </g>
      ))}
      {xMarks.map(({ at, text }) => (
        <text key={at} x={Math.min(right - 12, Math.max(left, at))} y={bottom + 16} text-anchor="middle">
          {text}
        </text>
      ))}
      {column !== undefined && <line class="plot-cursor" x1={column.at} x2={column.at} y1={top} y2={bottom} />}
      {bars.map((bar, place) => (
        <rect key={place} class={`plot-bar tone-${bar.tone}`} x={bar.x} y={bar.y} width={bar.width} height={bar.height} rx="1" />
      ))}
      {kind === 'line' &&
        lines.map(({ name, tone, path }, place) => <path key={name} class={`plot-line tone-${tone} dash-${place % DASHES}`} d={path} />)}
      {columns.map((each) => (
        <Whiskers key={each.x} column={each} />
      ))}
      {hasDots && columns.map((each) => <Dots key={each.x} column={each} />)}
      {column !== undefined && !hasDots && kind === 'line' && <Dots column={column} />}
    </svg>
  )
}

const WHISKER_END = 4

function Whiskers({ column: { at, values } }: { readonly column: PlotColumn }) {
  return (
    <>
      {values.map(
        ({ name, tone, whisker }) =>
          whisker !== null && (
            <path
              key={name}
              class={`plot-whisker tone-${tone}`}
              d={`M${at - WHISKER_END} ${whisker.from}H${at + WHISKER_END}M${at} ${whisker.from}V${whisker.to}M${at - WHISKER_END} ${whisker.to}H${at + WHISKER_END}`}
            />
          ),
      )}
    </>
  )
}

function Dots({ column: { at, values } }: { readonly column: PlotColumn }) {
  return (
    <>
      {values.map(({ name, tone, at: y }) => (
        <circle key={name} class={`plot-dot tone-${tone}`} cx={at} cy={y} r="3" />
      ))}
    </>
  )
}

/** Beside the place that is pointed at, on the side where there is more room. */
function Readout({ column, width, unit }: { readonly column: PlotColumn; readonly width: number; readonly unit: string | undefined }) {
  const { at, label, values } = column
  const style = at > width / 2 ? { right: `${width - at + 8}px` } : { left: `${at + 8}px` }
  return (
    <div class="plot-readout" style={style} aria-hidden="true">
      <b>{visible(label)}</b>
      {values.map((value) => (
        <span key={value.name} class={`tone-${value.tone}`}>
          <i /> {visible(value.name)} <span class="number">{pointText(value, unit)}</span>
        </span>
      ))}
    </div>
  )
}

const spoken = ({ label, values }: PlotColumn, unit: string | undefined): string =>
  visible(`${label}: ${values.map((value) => `${value.name} ${pointText(value, unit)}`).join(', ')}`)

/** "0.75 (0.5 to 0.9)" */
const pointText = ({ y, whisker }: PlotColumn['values'][number], unit: string | undefined): string =>
  whisker === null
    ? valueText(y, unit)
    : `${valueText(y, unit)} (${valueText(whisker.interval[0], unit)} to ${valueText(whisker.interval[1], unit)})`

const ROWS_MAX = 200

/** For screen readers. */
function AsTable({ title, columns, series, unit }: Pick<PlotProps, 'title' | 'series' | 'unit'> & Pick<PlotLayout, 'columns'>) {
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
  return value === undefined ? '' : pointText(value, unit)
}
