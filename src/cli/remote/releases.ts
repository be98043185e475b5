/** `svc releases`: what each step of a scenario came to, newest first, and what is served. */
import type { ReleaseRow } from '@svc-ai/client'
import { meanScores, scoreText } from '@svc-ai/client/scores'
import type { Tone } from '../screen/paint.ts'
import { table, type Cell, type Column } from '../screen/table.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { ago, several, sparkline } from '../screen/words.ts'
import { EXIT } from '../surroundings.ts'
import type { Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './place.ts'
import { heldRows, isMade, numberOf, promotionOf, scoresOf, servedRow, shortId } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService } from './service.ts'

export function releases(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const scenario = await chooseScenario(service, options.scenario, (name) => `releases ${shellWord(name)}`)
    const rows = await service.in(scenario).releases()
    if (options.json === true) surroundings.out(jsonText({ scenario, releases: rows }, 2))
    else surroundings.out([heading(scenario, rows), '', listing(rows, surroundings), ...advice(rows, scenario, service.command)].join('\n'))
    return EXIT.fine
  })
}

function heading(scenario: string, rows: readonly ReleaseRow[]): string {
  const served = servedRow(rows)
  const serves = served === undefined ? '' : `, serves ${numberOf(served)} ${shortId(served.release_id)}`
  return `${oneLine(scenario)}: ${several(rows.length, 'step')}${serves}${scoreLine(rows)}`
}

/** Nothing before there are two scores to compare. */
function scoreLine(rows: readonly ReleaseRow[]): string {
  const scores = scoresOf(rows)
  if (scores.length < 2) return ''
  return `, scores ${sparkline(scores)} ${scoreText(scores[0] ?? 0)} to ${scoreText(scores.at(-1) ?? 0)}`
}

const COLUMNS: readonly Column[] = [
  { title: '' },
  { title: 'STEP', isNumber: true },
  { title: 'RELEASE', least: 12 },
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
  return [
    row.current ? { text: '*', tone: 'good' } : '',
    numberOf(row),
    isMade(row) ? shortId(row.release_id) : '',
    oneLine(row.operation),
    resultOf(row, rows),
    scoreOf(row),
    ago(row.recorded_at),
    oneLine(aboutOf(row, rows)),
  ]
}

const TONE: Readonly<Record<ReleaseRow['result'], Tone>> = {
  published: 'good',
  pending: 'warning',
  rejected: 'quiet',
  skipped: 'quiet',
  failed: 'bad',
}

function resultOf(row: ReleaseRow, rows: readonly ReleaseRow[]): Cell {
  if (!row.pending) return { text: oneLine(row.result), tone: TONE[row.result] }
  const promotion = promotionOf(rows, row)
  return promotion === undefined ? { text: 'held for review', tone: 'warning' } : `promoted as ${numberOf(promotion)}`
}

/** What was served against what was proposed. */
function scoreOf({ metrics }: ReleaseRow): string {
  const { current = null, candidate = null } = meanScores(metrics) ?? {}
  if (candidate === null) return ''
  return current === null ? scoreText(candidate) : `${scoreText(current)} → ${scoreText(candidate)}`
}

/** Why there was a step, or why nothing came of it; of one that learnt from traffic, why it was decided so. */
function aboutOf(row: ReleaseRow, rows: readonly ReleaseRow[]): string {
  const target = rows.filter(isMade).find(({ release_id }) => release_id === row.rollback_target_release_id)
  if (target !== undefined) return `the content of ${numberOf(target)}`
  const wanted = textIn(row.training_request, 'text') ?? textIn(row.proposal, 'reason')
  return row.error ?? row.skipped ?? wanted ?? textIn(membersOf(row.metrics['selection']), 'reason') ?? ''
}

const membersOf = (value: unknown): Readonly<Record<string, unknown>> => Object(value)

function textIn(data: Readonly<Record<string, unknown>> | undefined, name: string): string | null {
  const text = data?.[name]
  return typeof text === 'string' && text !== '' ? text : null
}

function advice(rows: readonly ReleaseRow[], scenario: string, command: (words: string) => string): readonly string[] {
  const held = heldRows(rows)
  if (held[0] === undefined) return []
  return ['', `${several(held.length, 'release waits', 'releases wait')} for review: ${promoteCommand(held[0], scenario, command)}`]
}

export const promoteCommand = (row: ReleaseRow, scenario: string, command: (words: string) => string): string =>
  command(`promote ${numberOf(row)} --scenario ${shellWord(scenario)}`)
