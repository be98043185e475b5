/** Tables for a terminal, and for a page. */
import type { Table } from './tables.ts'

/** Aligns columns, numbers to the right. */
export function forTerminal({ title, head, rows }: Table): string {
  const widths = head.map((_, column) => Math.max(...[head, ...rows].map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string =>
    row
      .map((cell, column) => (column > 0 && /^[\d.-]+$/.test(cell) ? cell.padStart(widths[column] ?? 0) : cell.padEnd(widths[column] ?? 0)))
      .join('  ')
  return [title, line(head), ...rows.map(line)].map((text) => text.trimEnd()).join('\n')
}

export function forPage({ title, head, rows }: Table): string {
  return [`### ${title}`, '', pageLine(head), `|---|${'--:|'.repeat(head.length - 1)}`, ...rows.map(pageLine)].join('\n')
}

const pageLine = (row: readonly string[]): string => `| ${row.join(' | ')} |`
