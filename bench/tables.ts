/** Results as tables and lines of text, for the terminal and for the page. */

/** The first title says what the table is about. */
export interface Table {
  readonly titles: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

/** A table, or lines of text. */
export type Block = Table | string

const BEGIN = '<!-- bench: begin, written by npm run bench -- --page -->'
const END = '<!-- bench: end -->'

export function forTerminal(blocks: readonly Block[]): string {
  return blocks
    .map((block) => (typeof block === 'string' ? block : aligned(block)))
    .filter((text) => text !== '')
    .join('\n\n')
}

/** The page with these blocks between its marks. */
export function withBlocks(page: string, blocks: readonly Block[]): string {
  const [before, rest] = [page.indexOf(BEGIN), page.indexOf(END)]
  if (before === -1 || rest < before) throw new Error(`the page has no ${BEGIN} and ${END}`)
  const texts = blocks.map((block) => (typeof block === 'string' ? block.replaceAll('\n', '\n\n') : asMarkdown(block)))
  return [page.slice(0, before), BEGIN, '\n\n', texts.filter((text) => text !== '').join('\n\n'), '\n\n', page.slice(rest)].join('')
}

function aligned({ titles, rows }: Table): string {
  if (rows.length === 0) return ''
  const all = [titles, ...rows]
  const widths = titles.map((_, column) => Math.max(...all.map((row) => (row[column] ?? '').length)))
  const line = (row: readonly string[]): string => row.map((cell, column) => cell.padEnd(widths[column] ?? 0)).join('  ')
  return [line(titles), widths.map((width) => '-'.repeat(width)).join('  '), ...rows.map(line)].join('\n')
}

function asMarkdown({ titles, rows }: Table): string {
  if (rows.length === 0) return ''
  const rule = titles.map((_, column) => (column === 0 ? '---' : '--:'))
  return [titles, rule, ...rows].map((row) => `| ${row.join(' | ')} |`).join('\n')
}
