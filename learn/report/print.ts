/** Tables for a terminal, and for a page. */
import type { Table } from './tables.ts'

const BEGIN = '<!-- learn: begin, written by npm run learn -->'
const END = '<!-- learn: end -->'

/** Aligns columns, numbers to the right. */
export function forTerminal({ title, head, rows }: Table): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column > 0 && /^[\d.-]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
  return [title, line(head), ...rows.map(line)].map((text) => text.trimEnd()).join('\n')
}

function forPage({ title, head, rows }: Table): string {
  return [`### ${title}`, '', pageLine(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(pageLine)].join('\n')
}

const pageLine = (row: readonly string[]): string => `| ${row.join(' | ')} |`

/** Puts the tables into the page, between its marks. */
export function withTables(page: string, tables: readonly Table[]): string {
  const [from, to] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (from === -1 || to < from) throw new Error(`the page has no place for the tables: it must hold "${BEGIN}" and "${END}"`)
  return [page.slice(0, from) + BEGIN, ...tables.map(forPage), page.slice(to)].join('\n\n')
}
