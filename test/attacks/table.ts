/** Counts, known limits and holes as tables: for the terminal, and for docs/security.md between its marks. */
import type { AttackCount } from './count.ts'
import type { AttackClass, KnownLimit, NamedHole } from './types.ts'

type Rows = readonly (readonly string[])[]

const COUNT_HEAD = ['class', 'tried', 'held', 'known limits', 'not run here']

const countRows = ({ classes, tried, held }: AttackCount): Rows => [
  ...classes.map((each) => [each.name, ...[each.tried, each.held, each.limits, each.notRun.length].map(String)]),
  ['all, each once', ...[tried, held, sum(classes, 'limits'), sum(classes, 'notRun')].map(String)],
]

const sum = (classes: AttackCount['classes'], field: 'limits' | 'notRun'): number =>
  classes.reduce((total, each) => total + (field === 'limits' ? each.limits : each.notRun.length), 0)

const notRunOf = ({ classes }: AttackCount): readonly string[] => classes.flatMap(({ notRun }) => notRun)

/** Aligned, with what did not run and why below it. */
export function countForTerminal(count: AttackCount): string {
  const rows = [COUNT_HEAD, ...countRows(count)]
  const widths = COUNT_HEAD.map((_, column) => Math.max(...rows.map((row) => (row[column] ?? '').length)))
  const lines = rows.map((row) =>
    row.map((cell, column) => (column === 0 ? cell.padEnd(widths[0] ?? 0) : cell.padStart(widths[column] ?? 0))).join('  '),
  )
  const left = notRunOf(count)
  return [...lines, ...(left.length === 0 ? [] : ['', 'not run here, and not counted as held:', ...left.map((each) => `  ${each}`)])].join(
    '\n',
  )
}

export function countForPage(count: AttackCount, classes: readonly AttackClass[]): string {
  const triesOf = (name: string): string => classes.find((each) => each.name === name)?.tries ?? ''
  const rows = countRows(count).map(([name = '', ...numbers]) => [name, triesOf(name), ...numbers])
  const left = notRunOf(count)
  const [first, ...others] = COUNT_HEAD
  return [
    pageTable([first ?? '', 'what is tried', ...others], rows),
    ...(left.length === 0 ? [] : ['', 'Not run on the machine of this table:', '', ...left.map((each) => `- ${each}`)]),
  ].join('\n')
}

export const limitsForPage = (limits: readonly KnownLimit[]): string =>
  pageTable(
    ['class', 'what works', 'why', 'what helps', 'shown by'],
    limits.map(({ of, what, why, defence, shownBy }) => [of, what, why, defence, shownBy === undefined ? '' : `\`${shownBy.file}\``]),
  )

export const holesForPage = (holes: readonly NamedHole[]): string =>
  pageTable(
    ['worked', 'now', 'tests'],
    holes.map(({ hole, now, tests }) => [hole, now, tests.map(({ file }) => `\`${file}\``).join(', ')]),
  )

const pageTable = (head: readonly string[], rows: Rows): string =>
  [head, head.map(() => '---'), ...rows]
    .map((row) => `| ${row.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`)
    .join('\n')

/** Puts a text between the marks of its name. */
export function withPart(page: string, name: string, text: string): string {
  const [begin, end] = [`<!-- begin ${name} -->`, `<!-- end ${name} -->`]
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`the page has no place for its ${name}: it must hold "${begin}" and "${end}"`)
  return `${page.slice(0, from)}${begin}\n\n${text}\n\n${page.slice(to)}`
}
