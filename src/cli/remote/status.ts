/** `svc status`: how the service is, and of each scenario what it serves and what waits. */
import type { Fleet, ReleaseRow, ScenarioRow, ScenarioStatus, StatusReport } from '@svc-ai/client'
import {
  ago,
  bytes,
  counted,
  fleetLine,
  heldRows,
  powersOfStep,
  publishedScores,
  spentText,
  capText,
  unsolvedWords,
} from '../../presentation/index.ts'
import { powersInBrief } from '../screen/powers.ts'
import { paint, cut, jsonText, oneLine, shellWord, sparkline } from '../screen/text.ts'
import { table, type Cell, type TableColumn } from '../screen/table.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { releasesOf, SCENARIOS_LOOKED_AT_MAX, chooseScenario } from './scenario.ts'
import type { RemoteOptions } from './address.ts'
import { numberOf, servedRow, shortId } from './release.ts'
import { promoteCommand, provisionalLines, SCORES_MAX } from './releases.ts'
import { withService, type RemoteService } from './service.ts'

export function status(options: RemoteOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const seen = await look(service, options.scenario)
    if (options.json === true) surroundings.out(jsonText(wireOf(seen, service), 2))
    else surroundings.out(report(seen, service, surroundings).join('\n'))
    return EXIT.fine
  })
}

type Seen = Awaited<ReturnType<typeof look>>

interface SeenScenario {
  readonly row: ScenarioRow
  readonly status: (Partial<ScenarioStatus> & { readonly error?: string }) | null
  /** Null of a scenario that was not looked at. */
  readonly releases: readonly ReleaseRow[] | null
}

/** A scenario that is not loaded is not loaded for this, unless it was named. */
async function look(service: RemoteService, named: string | undefined) {
  if (named !== undefined) await chooseScenario(service, named, (name) => `status --scenario ${shellWord(name)}`)
  const rows = (await service.svc.scenarios()).filter(({ scenario }) => named === undefined || scenario === named)
  const close = rows.filter(({ scenario, loaded }) => loaded || scenario === named).map(({ scenario }) => scenario)
  const releases = await releasesOf(service, close.length > SCENARIOS_LOOKED_AT_MAX ? [] : close)
  const current = await service.svc.status()
  // A token for single scenarios does not see it, and an older service has none.
  const fleet = await service.svc.fleet().catch(() => null)
  const scenarios = rows.map((row): SeenScenario => ({
    row,
    status: current.scenarios[row.scenario] ?? null,
    releases: releases.get(row.scenario) ?? null,
  }))
  return { status: current, scenarios, fleet }
}

function wireOf({ status: current, scenarios, fleet }: Seen, { url }: RemoteService): object {
  const listed = scenarios.map(({ row, status: own, releases }) => ({
    ...row,
    status: own,
    held: releases === null ? null : heldRows(releases).map(({ step, release_id, content_id }) => ({ step, release_id, content_id })),
  }))
  return { url, ...current, fleet, scenarios: listed }
}

function report({ status: current, scenarios, fleet }: Seen, service: RemoteService, surroundings: Surroundings): readonly string[] {
  const rows = scenarios.map(cellsOf)
  return [
    paint(service.url, 'strong', surroundings),
    ...[servingWords(current.serving), storageWords(current.storage)].map((line) => cut(`  ${line}`, surroundings.width)),
    ...fleetLines(fleet).map((line) => cut(`  ${line}`, surroundings.width)),
    ...storageTrouble(current.storage).map((line) => paint(`  ${line}`, 'bad', surroundings)),
    ...(rows.length === 0 ? ['', 'there is no scenario yet: the first request creates one'] : ['', table(COLUMNS, rows, surroundings)]),
    ...troubles(current, surroundings),
    ...refusedWords(current.webhooks, service).map((line) => paint(line, 'bad', surroundings)),
    ...advice(scenarios, service),
  ]
}

/** Nothing where no episode is played on another machine. */
const fleetLines = (fleet: Fleet | null): readonly string[] =>
  fleet === null || (fleet.workers.length === 0 && fleet.waiting === 0) ? [] : [oneLine(fleetLine(fleet))]

function servingWords(serving: unknown): string {
  const { runtime, practice, upstreams }: Readonly<Record<string, unknown>> = Object(serving)
  if (practice === true) return 'a built-in mock model answers'
  return typeof runtime === 'string' ? `${oneLine(runtime)} answers${upstreamWords(upstreams)}` : 'a model answers'
}

function upstreamWords(upstreams: unknown): string {
  const known = Array.isArray(upstreams) ? upstreams.map((upstream) => placeWords(Object(upstream))).filter((words) => words !== '') : []
  return known.length === 0 ? '' : ` from ${known.map(oneLine).join(', ')}`
}

/** An upstream without a name is known by its address; one that is not asked now says so. */
function placeWords({ name, url, breaker }: Readonly<Record<string, unknown>>): string {
  const place = [name, url].find((word) => typeof word === 'string') ?? ''
  return typeof breaker === 'string' && breaker !== 'closed' ? `${place} (rests)` : place
}

function storageWords({ records, body_bytes: used, capacity_bytes: capacity }: StatusReport['storage']): string {
  if (typeof records !== 'number') return 'no record counts'
  const space = typeof used === 'number' && typeof capacity === 'number' ? ` (${bytes(used)} of ${bytes(capacity)})` : ''
  return counted(records, 'record') + space
}

/** Of each target that refused events again and again. */
function refusedWords(webhooks: unknown, { command }: RemoteService): readonly string[] {
  const targets: readonly unknown[] = Array.isArray(webhooks) ? webhooks : []
  return targets.flatMap((target) => {
    const { name, set_aside: count }: Readonly<Record<string, unknown>> = Object(target)
    if (typeof name !== 'string' || typeof count !== 'number' || count === 0) return []
    return [`webhook ${oneLine(name)} refused ${counted(count, 'event')}; mend the target, then: ${command('webhooks retry')}`]
  })
}

/** In full: it ends in what to do. */
function storageTrouble({ error }: StatusReport['storage']): readonly string[] {
  const message: unknown = Object(error).message
  return typeof message === 'string' ? [`writes are refused: ${oneLine(message)}`] : []
}

const COLUMNS: readonly TableColumn[] = [
  { title: 'SCENARIO', least: 12 },
  { title: 'SERVES' },
  { title: 'TRAINING' },
  { title: 'REVIEW' },
  { title: 'WAITING' },
  { title: 'LAST STEP', isNumber: true },
  { title: 'SCORES' },
  { title: 'RECIPE', least: 8 },
]

function cellsOf({ row, status: own, releases }: SeenScenario): readonly Cell[] {
  const held = releases === null ? 0 : heldRows(releases).length
  const scores = releases === null ? [] : publishedScores(releases, SCORES_MAX)
  const last = own?.last_committed_step?.recorded_at
  return [
    oneLine(row.scenario),
    servesWords(row, releases),
    own?.error === undefined ? oneLine(own?.training_mode ?? '') : { text: 'broken', tone: 'bad' },
    held === 0 ? '' : { text: `${held} held`, tone: 'warning' },
    waitingWords(own),
    last === undefined ? '' : ago(last),
    scores.length < 2 ? '' : sparkline(scores),
    oneLine(row.recipe ?? ''),
  ]
}

function servesWords(row: ScenarioRow, releases: readonly ReleaseRow[] | null): Cell {
  const served = releases === null ? undefined : servedRow(releases)
  if (served !== undefined) return `${numberOf(served)} ${shortId(served.release_id)}`
  return row.loaded ? shortId(row.release_id ?? '') : { text: 'not loaded', tone: 'quiet' }
}

function waitingWords(own: SeenScenario['status']): string {
  const instructions = own?.processor?.['pending_instructions']
  if (typeof instructions === 'number' && instructions > 0) return counted(instructions, 'request')
  return own?.batch_ready === true ? 'a step' : ''
}

function troubles({ error, preload_errors }: StatusReport, surroundings: Surroundings): readonly string[] {
  const notLoaded = Object.entries(preload_errors).map(([name, reason]) => `${name} could not be loaded: ${reason}`)
  const all = [...(error === null ? [] : error.split('\n')), ...notLoaded]
  if (all.length === 0) return []
  return ['', ...all.map((line) => paint(cut(oneLine(line), surroundings.width), 'bad', surroundings))]
}

function advice(scenarios: readonly SeenScenario[], { command }: RemoteService): readonly string[] {
  const held = scenarios.flatMap(({ row, releases }) =>
    heldRows(releases ?? [])
      .slice(0, 1)
      .map((waiting) => `waits for review: ${promoteCommand(waiting, row.scenario, command)}${powerWords(waiting)}`),
  )
  const unproven = scenarios.flatMap(({ row, releases }) =>
    provisionalLines(releases ?? [], row.scenario, command).map((line) => `${oneLine(row.scenario)}: ${line}`),
  )
  const lines = [...held, ...unproven, ...scenarios.flatMap(unsolvedLines), ...scenarios.flatMap(spentLines)]
  return lines.length === 0 ? [] : ['', ...lines]
}

function powerWords({ metrics }: ReleaseRow): string {
  const powers = powersOfStep(metrics)
  const words = powers === null ? null : powersInBrief(powers)
  return words === null ? '' : ` (it ${words})`
}

/** Tasks of the last step on which neither side has a point. */
function unsolvedLines({ row, status: own }: SeenScenario): readonly string[] {
  const words = unsolvedWords(own?.last_committed_step?.metrics ?? {})
  return words === '' ? [] : [`${oneLine(row.scenario)}: no points on either side in ${oneLine(words)}`]
}

function spentLines({ row, status: own }: SeenScenario): readonly string[] {
  const metrics = own?.last_committed_step?.metrics ?? {}
  const [words, cap] = [spentText(metrics), capText(metrics)]
  return [
    ...(words === null ? [] : [`${oneLine(row.scenario)}: the last step took ${words}`]),
    ...(cap === null ? [] : [`${oneLine(row.scenario)}: a cap ended the last step: ${oneLine(cap)}`]),
  ]
}
