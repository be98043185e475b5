/** Tables for people: aligned, cut to the width of the terminal, without columns that say nothing. */
import { paint, cut, widthOf, type Tone } from './text.ts'

export interface TableColumn {
  readonly title: string
  readonly isNumber?: true
  /** How narrow it may get before columns to its right go. A column that says none keeps its width. */
  readonly least?: number
}

export type Cell = string | { readonly text: string; readonly tone: Tone }

export interface TerminalScreen {
  readonly width: number
  readonly colours: boolean
}

const GAP = '  '

export function table(columns: readonly TableColumn[], rows: readonly (readonly Cell[])[], screen: TerminalScreen): string {
  const placed = fit(columns.map((column, at) => place(column, at, rows)).filter(isTelling), screen.width)
  const titles = placed.map(({ title }) => ({ text: title, tone: 'quiet' }) as const)
  return [titles, ...rows.map((row) => placed.map(({ at }) => row[at] ?? ''))].map((cells) => line(cells, placed, screen)).join('\n')
}

interface Placed extends TableColumn {
  readonly at: number
  readonly width: number
  readonly isEmpty: boolean
}

function place(column: TableColumn, at: number, rows: readonly (readonly Cell[])[]): Placed {
  // Not spread into Math.max: rows may be more than a call takes arguments.
  const widest = rows.reduce((most, row) => Math.max(most, widthOf(textOf(row[at] ?? ''))), 0)
  return { ...column, at, width: Math.max(widest, column.title.length), isEmpty: widest === 0 }
}

const isTelling = ({ isEmpty }: Placed): boolean => !isEmpty

/** What can be narrower gives way first, the widest before the others. Where that is not enough, the last column goes, and the rest try again. */
function fit(columns: readonly Placed[], width: number): readonly Placed[] {
  let fitting = columns
  for (let over = widthOfLine(fitting) - width; over > 0; over = widthOfLine(fitting) - width) {
    const widest = fitting.filter(canShrink).toSorted((a, b) => b.width - a.width)[0]
    if (widest === undefined) return columns.length === 1 ? fitting : fit(columns.slice(0, -1), width)
    fitting = fitting.map((column) => (column === widest ? narrower(column, over) : column))
  }
  return fitting
}

/** A column that is much too wide gives way at once, else place by place, so that those of the same kind share. */
function narrower(column: Placed, over: number): Placed {
  const least = column.least ?? column.width
  return { ...column, width: Math.max(least, column.width - Math.max(1, Math.floor(over / 2))) }
}

const widthOfLine = (columns: readonly Placed[]): number => columns.reduce((sum, column) => sum + column.width + GAP.length, -GAP.length)

const canShrink = ({ width, least }: Placed): boolean => least !== undefined && width > least

function line(cells: readonly Cell[], columns: readonly Placed[], screen: TerminalScreen): string {
  const last = columns.length - 1
  return columns
    .map(({ width, isNumber }, at) => {
      const cell = cells[at] ?? ''
      const text = cut(textOf(cell), width)
      const blanks = ' '.repeat(Math.max(0, width - widthOf(text)))
      const painted = paint(text, typeof cell === 'string' ? undefined : cell.tone, screen)
      if (isNumber === true) return blanks + painted
      return at === last ? painted : painted + blanks
    })
    .join(GAP)
    .trimEnd()
}

const textOf = (cell: Cell): string => (typeof cell === 'string' ? cell : cell.text)
