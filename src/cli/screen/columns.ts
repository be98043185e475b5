/** Two texts beside each other, or one after the other where the screen is narrow or there is none. */
import type { TerminalScreen } from './table.ts'
import { cut, paint, widthOf } from './text.ts'

export interface TitledColumn {
  readonly title: string
  /** Safe for a terminal already; its lines may be of any length. */
  readonly text: string
}

const GAP = ' │ '
/** Narrower columns are hard to read. */
const COLUMN_LEAST = 38

export function sideBySide(left: TitledColumn, right: TitledColumn, screen: TerminalScreen): string {
  const width = Math.floor((screen.width - GAP.length) / 2)
  if (!Number.isFinite(width) || width < COLUMN_LEAST)
    return [left, right]
      .flatMap(({ title, text }) => [paint(title, 'strong', screen), text, ''])
      .join('\n')
      .trimEnd()
  const linesOf = ({ text }: TitledColumn): readonly string[] => text.split('\n').flatMap((line) => wrapped(line, width))
  const [lefts, rights] = [linesOf(left), linesOf(right)] as const
  const padded = (text: string): string => text + ' '.repeat(Math.max(0, width - widthOf(text)))
  const titles = `${paint(padded(cut(left.title, width)), 'strong', screen)}${GAP}${paint(cut(right.title, width), 'strong', screen)}`
  const rows = Array.from({ length: Math.max(lefts.length, rights.length) }, (_, at) =>
    `${padded(lefts[at] ?? '')}${GAP}${rights[at] ?? ''}`.trimEnd(),
  )
  return [titles, ...rows].join('\n')
}

/** At blanks where there are any, else anywhere between characters. */
export function wrapped(line: string, width: number): readonly string[] {
  const lines: string[] = []
  let rest = line
  while (widthOf(rest) > width) {
    // Cut leaves room for its ellipsis, which is not shown here.
    const fitting = cut(rest, width + 1).slice(0, -1)
    const blank = rest[fitting.length] === ' ' ? fitting.length : fitting.lastIndexOf(' ')
    const end = blank > 0 ? blank : Math.max(1, fitting.length)
    lines.push(rest.slice(0, end))
    rest = rest.slice(end).replace(/^ /, '')
  }
  return [...lines, rest]
}
