/** Two texts compared: one below the other or side by side, with the words that changed. */
import { useMemo, useState } from 'preact/hooks'
import {
  compare,
  counted,
  sideBySide,
  timeFor,
  withGaps,
  type DiffGap,
  type DiffLine,
  type DiffPair,
  type TextDiff,
} from '../../../src/presentation/index.ts'
import { Button, Toggle } from './button.tsx'
import { visible } from './visible.ts'
import './diff.css'

interface DiffProps {
  readonly before: string
  readonly after: string
  /** Of what, for those who do not see it. */
  readonly label: string
}

const ROWS_AT_ONCE = 400
const COMPARING_MILLISECONDS_MAX = 500

export function Diff({ before, after, label }: DiffProps) {
  const comparison = useMemo(() => compare(before, after, { timeLeft: timeFor(COMPARING_MILLISECONDS_MAX) }), [before, after])
  const [isBeside, setBeside] = useState(false)
  if (comparison === null) return <Uncompared after={after} label={label} />
  if (before === after) return <p class="muted small">The two are the same.</p>
  if (comparison.added + comparison.removed === 0) return <p class="muted small">Only the line endings differ.</p>
  return (
    <div class="diff">
      <div class="diff-head row">
        <span class="number">
          <span class="diff-count new">+{comparison.added}</span> <span class="diff-count gone">-{comparison.removed}</span>
        </span>
        <span class="spring" />
        <Toggle isOn={isBeside} set={setBeside}>
          Side by side
        </Toggle>
      </div>
      <Lines lines={comparison.lines} isBeside={isBeside} label={label} />
    </div>
  )
}

const UNCOMPARED_CHARACTERS_MAX = 20_000

function Uncompared({ after, label }: Omit<DiffProps, 'before'>) {
  return (
    <div class="diff">
      <p class="muted small">Too large and too different to be compared line by line. This is how the new one begins:</p>
      <pre class="diff-lines" tabIndex={0} role="region" aria-label={label}>
        {visible(after.slice(0, UNCOMPARED_CHARACTERS_MAX))}
      </pre>
    </div>
  )
}

function Lines({ lines, isBeside, label }: Pick<TextDiff, 'lines'> & { readonly isBeside: boolean; readonly label: string }) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const shown = withGaps(lines, opened)
  const open = (gap: DiffGap): void => setOpened(new Set([...opened, gap.from]))
  const items = isBeside ? sideBySide(shown) : shown
  return (
    <>
      <div class="diff-lines" tabIndex={0} role="region" aria-label={`${label}: changes`}>
        <table class={isBeside ? 'beside' : ''}>
          <tbody>
            {items.slice(0, most).map((item) => (
              <Line key={keyOf(item)} item={item} span={isBeside ? 4 : 3} open={open} />
            ))}
          </tbody>
        </table>
      </div>
      {items.length > most && (
        <Button onClick={() => setMost(most + ROWS_AT_ONCE)}>Show more of {counted(items.length - most, 'line')}</Button>
      )}
    </>
  )
}

function keyOf(item: DiffLine | DiffGap | DiffPair): string {
  if (item.kind === 'gap') return `gap ${item.from}`
  if (item.kind === 'pair') return `${item.left?.before ?? ''} ${item.right?.after ?? ''}`
  return `${item.kind} ${item.before ?? ''} ${item.after ?? ''}`
}

interface LineProps {
  readonly item: DiffLine | DiffGap | DiffPair
  readonly span: number
  readonly open: (gap: DiffGap) => void
}

function Line({ item, span, open }: LineProps) {
  if (item.kind === 'gap')
    return (
      <tr class="diff-fold">
        <td colSpan={span}>
          <button type="button" onClick={() => open(item)}>
            Show {counted(item.count, 'unchanged line')}
          </button>
        </td>
      </tr>
    )
  if (item.kind === 'pair')
    return (
      <tr>
        <Half row={item.left} number={item.left?.before} />
        <Half row={item.right} number={item.right?.after} />
      </tr>
    )
  return (
    <tr class={CLASSES[item.kind]}>
      <td class="diff-number">{item.before}</td>
      <td class="diff-number">{item.after}</td>
      <Words row={item} />
    </tr>
  )
}

function Half({ row, number }: { readonly row: DiffLine | null; readonly number: number | null | undefined }) {
  return (
    <>
      <td class={`diff-number ${row === null ? 'none' : CLASSES[row.kind]}`}>{number}</td>
      {row === null ? <td class="none" /> : <Words row={row} />}
    </>
  )
}

const CLASSES = { same: 'same', removed: 'gone', added: 'new' } as const
const SIGNS = { same: ' ', removed: '-', added: '+' } as const

function Words({ row: { kind, parts } }: { readonly row: DiffLine }) {
  return (
    <td class={`diff-text ${CLASSES[kind]}`} data-sign={SIGNS[kind]}>
      {kind !== 'same' && <span class="hidden-visually">{`${kind}: `}</span>}
      <bdi>
        {parts.map(({ text, isMarked }, place) =>
          isMarked ? <mark key={place}>{visible(text)}</mark> : <span key={place}>{visible(text)}</span>,
        )}
      </bdi>
    </td>
  )
}
