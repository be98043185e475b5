/** The results as tables of text, for the terminal and the page. */
import {
  goalsOf,
  distinct,
  gainedShareOf,
  GAPS_NAME,
  isReached,
  meanOf,
  shareOf,
  type Gaps,
  type LifeOf,
  type NoOpWorld,
  type Results,
} from '../results.ts'

export interface Table {
  readonly title: string
  readonly head: readonly string[]
  readonly rows: readonly (readonly string[])[]
}

export const tablesOf = (results: Results): readonly Table[] => [
  goalTable(results),
  ...(['wide', 'modest'] as const).flatMap((gaps) => {
    const lives = results.lives.filter((life) => life.gaps === gaps)
    return lives.length === 0 ? [] : [gateTable(gaps, lives, results.seeds), familyTable(gaps, lives)]
  }),
  noOpTable(results),
  ...(results.noOpWorlds.length === 0 ? [] : [noOpWorldTable(results.noOpWorlds)]),
  chainTable(results),
]

const goalTable = (results: Results): Table => ({
  title: 'Goals',
  head: ['goal', 'wanted', 'reached', ''],
  rows: goalsOf(results).map(({ name, wanted, reached, isMet }) => [name, wanted, reached, verdictOf(isMet)]),
})

function verdictOf(isMet: boolean | null): string {
  if (isMet === null) return 'too few to judge'
  return isMet ? 'met' : 'MISSED'
}

function gateTable(gaps: Gaps, lives: readonly LifeOf[], seeds: number): Table {
  const families = distinct(lives.map(({ family }) => family)).length
  return {
    title: `${families} worlds with ${GAPS_NAME[gaps]} x ${seeds} seeds, at most 150 episodes each`,
    head: [
      'gate',
      'sealed score',
      'share of the optimum',
      'share of the gain',
      '0.9 of it reached',
      'steps',
      'helpful published',
      'no-ops',
      'harmful',
      'cheats',
      'episodes',
    ],
    rows: distinct(lives.map(({ gate }) => gate)).map((gate) => gateRow(gate, lives)),
  }
}

function gateRow(gate: string, lives: readonly LifeOf[]): readonly string[] {
  const own = lives.filter((life) => life.gate === gate)
  const sum = (value: (life: LifeOf) => number): number => own.reduce((total, life) => total + value(life), 0)
  return [
    gate,
    meanOf(own.map(({ sealed }) => sealed)).toFixed(3),
    meanOf(own.map(shareOf)).toFixed(3),
    meanOf(own.map(gainedShareOf)).toFixed(3),
    `${own.filter(isReached).length} of ${own.length}`,
    String(sum(({ steps }) => steps)),
    String(sum(({ published }) => published.helpful)),
    String(sum(({ published }) => published['no-op'])),
    String(sum(({ published }) => published.harmful)),
    String(sum(({ published }) => published.cheat)),
    meanOf(own.map(({ episodes }) => episodes)).toFixed(0),
  ]
}

function familyTable(gaps: Gaps, lives: readonly LifeOf[]): Table {
  const gates = distinct(lives.map(({ gate }) => gate))
  return {
    title: `Worlds with ${GAPS_NAME[gaps]}: sealed score, mean over the seeds`,
    head: ['world', 'at the start', 'optimum', ...gates],
    rows: distinct(lives.map(({ family }) => family)).map((family) => {
      const own = lives.filter((life) => life.family === family)
      const start = meanOf(own.map((life) => life.start)).toFixed(2)
      const optimum = meanOf(own.map((life) => life.optimum)).toFixed(2)
      return [
        family,
        start,
        optimum,
        ...gates.map((gate) => meanOf(own.filter((life) => life.gate === gate).map(({ sealed }) => sealed)).toFixed(2)),
      ]
    }),
  }
}

const noOpTable = ({ noOps }: Results): Table => ({
  title: 'Scenarios offered 50 no-op changes (simulated outcomes)',
  head: ['gate', 'scenarios', 'published at least one'],
  rows: noOps.map(({ gate, scenarios, publishing }) => [gate, String(scenarios), String(publishing)]),
})

export const noOpWorldTable = (worlds: readonly NoOpWorld[]): Table => ({
  title: 'Scenarios offered no-op changes alone, played by the trainer under the gate that ships',
  head: ['world', 'offers', 'scenarios', 'published at least one'],
  rows: worlds.map(({ family, offers, scenarios, publishing }) => [family, String(offers), String(scenarios), String(publishing)]),
})

const chainTable = ({ chains }: Results): Table => ({
  title: 'Fifty changes in a row, half of them harmful (simulated outcomes, in points)',
  head: ['gate', 'gain, mean', 'gain, worst of 20', 'drawdown, worst of 20', 'drawdown, worst', 'episodes'],
  rows: chains.map(({ gate, ...points }) => [
    gate,
    ...[points.gainMean, points.gainLow, points.drawdownHigh, points.drawdownWorst].map(inPoints),
    points.episodesMean.toFixed(0),
  ]),
})

const inPoints = (share: number): string => (share * 100).toFixed(1)

/** Where the tables stand on the page. */
interface Marks {
  readonly begin: string
  readonly end: string
}
const LEARN_MARKS: Marks = { begin: '<!-- learn: begin, written by npm run learn -->', end: '<!-- learn: end -->' }
export const GATE_MARKS: Marks = { begin: '<!-- gate: begin, written by npm run learn:gate -->', end: '<!-- gate: end -->' }
export const NO_OP_MARKS: Marks = { begin: '<!-- no-ops: begin, written by npm run learn:no-ops -->', end: '<!-- no-ops: end -->' }

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
export function withTables(page: string, tables: readonly Table[], { begin, end }: Marks = LEARN_MARKS): string {
  const [from, to] = [page.indexOf(begin), page.indexOf(end)]
  if (from === -1 || to < from) throw new Error(`the page has no place for the tables: it must hold "${begin}" and "${end}"`)
  return [page.slice(0, from) + begin, ...tables.map(forPage), page.slice(to)].join('\n\n')
}
