/** `svc releases`: lists training steps and releases, newest first, and marks what is served. */
import type { ReleaseRow } from '@svc-ai/client'
import {
  ago,
  counted,
  heldRows,
  powersOfStep,
  provisionalRow,
  publishedScores,
  scoreText,
  type StepView,
  stepName,
  stepTime,
  stepView,
} from '../../presentation/index.ts'
import { powerLines } from '../screen/powers.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { jsonText, oneLine, shellWord, sparkline } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { paretoJson, paretoText } from './pareto.ts'
import { numberOf, servedRow, shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export interface ReleasesOptions extends RemoteOptions {
  readonly pareto?: boolean
}

export function releases(options: ReleasesOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const scenario = await chooseScenario(service, options.scenario, (name) => `releases ${shellWord(name)}`)
    const rows = await service.in(scenario).releases()
    if (options.json === true)
      surroundings.out(jsonText(options.pareto === true ? { scenario, pareto: paretoJson(rows) } : { scenario, releases: rows }, 2))
    else if (options.pareto === true) surroundings.out(paretoText(scenario, rows, surroundings))
    else
      surroundings.out(
        [heading(scenario, rows), '', listing(rows, surroundings), ...advice(rows, scenario, service.command, surroundings)].join('\n'),
      )
    return EXIT.fine
  })
}

function heading(scenario: string, rows: readonly ReleaseRow[]): string {
  const served = servedRow(rows)
  const serves = served === undefined ? '' : `, serves ${numberOf(served)} ${shortId(served.release_id)}`
  return `${oneLine(scenario)}: ${counted(rows.length, 'step')}${serves}${scoreLine(rows)}`
}

export const SCORES_MAX = 40

/** Nothing before there are two scores to compare. */
function scoreLine(rows: readonly ReleaseRow[]): string {
  const scores = publishedScores(rows, SCORES_MAX)
  if (scores.length < 2) return ''
  return `, scores ${sparkline(scores)} ${scoreText(scores[0] ?? 0)} to ${scoreText(scores.at(-1) ?? 0)}`
}

const COLUMNS: readonly TableColumn[] = [
  { title: '' },
  { title: '', isNumber: true },
  { title: 'RELEASE OR TIME', least: 12 },
  { title: 'BY' },
  { title: 'RESULT' },
  { title: 'SCORE' },
  { title: 'WHEN', isNumber: true },
  { title: 'ABOUT', least: 12 },
]

function listing(rows: readonly ReleaseRow[], surroundings: Surroundings): string {
  return table(
    COLUMNS,
    rows.map((row) => cellsOf(row, rows)),
    surroundings,
  )
}

function cellsOf(row: ReleaseRow, rows: readonly ReleaseRow[]): readonly Cell[] {
  const view = stepView(row, { rows, nameOf: stepName })
  const { status, scores, madeRelease } = view
  return [
    row.current ? { text: '*', tone: 'good' } : '',
    madeRelease ? numberOf(row) : '',
    madeRelease ? shortId(row.release_id) : stepTime(row),
    oneLine(row.operation),
    { text: status.word.toLowerCase(), tone: TONES[status.tone] },
    scores?.text ?? '',
    ago(row.recorded_at),
    oneLine(aboutOf(row, view)),
  ]
}

const TONES = { good: 'good', warn: 'warning', bad: 'bad', plain: 'quiet' } as const

/** Why there was a step, or why it had no candidate; of a step that learned from traffic, why it was decided so; why a person rejected it. */
function aboutOf({ result, operation }: ReleaseRow, { reason, decision, rejection }: StepView): string {
  if (rejection !== null) return rejection.reason
  if (reason.line !== undefined) return reason.line
  if (result === 'failed' || result === 'skipped') return decision ?? ''
  if (operation === 'promote' || operation === 'rollback' || operation === 'withdraw' || reason.isQuoted) return reason.text
  return decision ?? ''
}

const HELD_SHOWN_MAX = 3

/** What waits for a person, newest first, and what each may do. */
function advice(
  rows: readonly ReleaseRow[],
  scenario: string,
  command: (words: string) => string,
  surroundings: Surroundings,
): readonly string[] {
  const held = heldRows(rows)
  const unproven = provisionalLines(rows, scenario, command)
  if (held[0] === undefined) return unproven.length === 0 ? [] : ['', ...unproven]
  const blocks = held.slice(0, HELD_SHOWN_MAX).flatMap((row) => {
    const powers = powersOfStep(row.metrics)
    const [first = '', ...others] = powers === null ? [] : powerLines(powers, surroundings)
    return first === '' ? [] : ['', `${numberOf(row)}: ${first}`, ...others]
  })
  return [
    ...blocks,
    '',
    `${counted(held.length, 'release waits', 'releases wait')} for review: ${promoteCommand(held[0], scenario, command)}`,
    `to reject it: ${rejectCommand(held[0], scenario, command)}`,
    ...unproven,
  ]
}

/** The provisional release, and how to end it. */
export function provisionalLines(rows: readonly ReleaseRow[], scenario: string, command: (words: string) => string): readonly string[] {
  const row = provisionalRow(rows)
  return row === undefined
    ? []
    : [`${numberOf(row)} is provisional, which is unproven; to end it: ${withdrawCommand(row, scenario, command)}`]
}

export const rejectCommand = (row: ReleaseRow, scenario: string, command: (words: string) => string): string =>
  command(`reject ${numberOf(row)} --scenario ${shellWord(scenario)} --reason "…"`)

export const withdrawCommand = (row: ReleaseRow, scenario: string, command: (words: string) => string): string =>
  command(`withdraw ${numberOf(row)} --scenario ${shellWord(scenario)}`)

export const promoteCommand = (row: ReleaseRow, scenario: string, command: (words: string) => string): string =>
  command(`promote ${numberOf(row)} --scenario ${shellWord(scenario)}`)
