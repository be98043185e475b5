/** Two texts held against each other: one below the other or side by side, with the words that changed. */
import { useMemo, useState } from 'preact/hooks'
import { compare, folded, sideBySide, type Comparison, type DiffRow, type Fold, type Pair } from './diff-rows.ts'
import { counted } from './figures.ts'
import { visible } from './visible.ts'
import './diff.css'

interface DiffProps {
  readonly before: string
  readonly after: string
  /** Of what, for those who do not see it. */
  readonly label: string
}

const ROWS_AT_ONCE = 400

export function Diff({ before, after, label }: DiffProps) {
  const comparison = useMemo(() => compare(before, after), [before, after])
  const [isBeside, setBeside] = useState(false)
  if (comparison === null) return <Uncompared after={after} label={label} />
  if (before === after) return <p class="muted small">The two are the same.</p>
  if (comparison.added + comparison.removed === 0) return <p class="muted small">Only the ends of lines differ.</p>
  return (
    <div class="diff">
      <div class="diff-head row">
        <span class="number">
          <span class="diff-count new">+{comparison.added}</span> <span class="diff-count gone">-{comparison.removed}</span>
        </span>
        <span class="spring" />
        <button type="button" class="button small" aria-pressed={isBeside} onClick={() => setBeside(!isBeside)}>
          Side by side
        </button>
      </div>
      <Lines comparison={comparison} isBeside={isBeside} label={label} />
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

interface LinesProps {
  readonly comparison: Comparison
  readonly isBeside: boolean
  readonly label: string
}

function Lines({ comparison: { rows }, isBeside, label }: LinesProps) {
  const [opened, setOpened] = useState<ReadonlySet<number>>(new Set())
  const [most, setMost] = useState(ROWS_AT_ONCE)
  const shown = folded(rows, opened)
  const open = (fold: Fold): void => setOpened(new Set([...opened, fold.from]))
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
        <button type="button" class="button small" onClick={() => setMost(most + ROWS_AT_ONCE)}>
          Show more of {counted(items.length - most, 'line')}
        </button>
      )}
    </>
  )
}

function keyOf(item: DiffRow | Fold | Pair): string {
  if (item.kind === 'fold') return `fold ${item.from}`
  if (item.kind === 'pair') return `${item.left?.before ?? ''} ${item.right?.after ?? ''}`
  return `${item.kind} ${item.before ?? ''} ${item.after ?? ''}`
}

interface LineProps {
  readonly item: DiffRow | Fold | Pair
  readonly span: number
  readonly open: (fold: Fold) => void
}

function Line({ item, span, open }: LineProps) {
  if (item.kind === 'fold')
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
    <tr class={item.kind}>
      <td class="diff-number">{item.before}</td>
      <td class="diff-number">{item.after}</td>
      <Words row={item} />
    </tr>
  )
}

function Half({ row, number }: { readonly row: DiffRow | null; readonly number: number | null | undefined }) {
  return (
    <>
      <td class={`diff-number ${row?.kind ?? 'none'}`}>{number}</td>
      {row === null ? <td class="none" /> : <Words row={row} />}
    </>
  )
}

const SIGNS = { same: ' ', gone: '-', new: '+' } as const
const SPOKEN = { same: '', gone: 'removed: ', new: 'added: ' } as const

/** The texts were made visible when they were compared. */
function Words({ row: { kind, words } }: { readonly row: DiffRow }) {
  return (
    <td class={`diff-text ${kind}`} data-sign={SIGNS[kind]}>
      {kind !== 'same' && <span class="hidden-visually">{SPOKEN[kind]}</span>}
      <bdi>
        {words.map(({ text, isChanged }, place) => (isChanged ? <mark key={place}>{text}</mark> : <span key={place}>{text}</span>))}
      </bdi>
    </td>
  )
}
