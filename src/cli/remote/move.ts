/** `svc promote`, `svc rollback`, `svc withdraw` and `svc reject`: what a person does with a release, and the line that takes it back. */
import { ServiceFailure, type Head, type ReleaseRow, type Svc } from '@svc-ai/client'
import { conflict, invalid, unknown } from '../../contract/index.ts'
import {
  ago,
  behindLine,
  compare,
  counted,
  type FileChange,
  headlineOf,
  heldRows,
  powersOfStep,
  promotionOf,
  provisionalRow,
  rejectionReason,
  timeFor,
} from '../../presentation/index.ts'
import { powerLines } from '../screen/powers.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { releasesOf, SCENARIOS_LOOKED_AT_MAX, chooseScenario, onlyOne } from './scenario.ts'
import type { RemoteOptions } from './address.ts'
import { changesBetween } from './diff.ts'
import { findRelease, numberOf, servedRow, shortId } from './release.ts'
import { promoteCommand, rejectCommand, withdrawCommand } from './releases.ts'
import { withService, type RemoteService } from './service.ts'

export interface MoveOptions extends RemoteOptions {
  /** `step 3` comes as two words; none means the only release that waits for review. */
  readonly release: readonly string[]
  readonly comment?: string
}
export interface RollbackOptions extends MoveOptions {
  readonly yes?: boolean
}
export interface RejectOptions extends MoveOptions {
  readonly reason?: string
}

interface Move {
  readonly service: RemoteService
  readonly svc: Svc
  readonly scenario: string
  readonly rows: readonly ReleaseRow[]
  readonly served: ReleaseRow
  readonly target: ReleaseRow
}

export function promote(options: MoveOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const scenario = await scenarioWithHeld(service, options, 'promote')
    const move = await moveTo(service, scenario, options)
    const head = await move.svc.promote(move.target.release_id, options.comment).catch(async (error: unknown) => {
      throw codeOf(error) === 'not_held' ? await notHeld(move) : error
    })
    return report(move, head, options, surroundings, powersOf(move, surroundings))
  })
}

export function rollback(options: RollbackOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const [words = ''] = releaseWords(options)
    const scenario = await chooseScenario(service, options.scenario, (name) => `rollback ${words} --scenario ${shellWord(name)}`)
    const move = await moveTo(service, scenario, options)
    // Refused before the question, not after it; the service decides in any case.
    if (!isServed(move) && !move.target.restorable) throw notRestorable(move)
    if (options.yes !== true && !isServed(move)) {
      const answer = await surroundings.ask(await question(move))
      if (!/^\s*y(?:es)?\s*$/i.test(answer ?? '')) {
        surroundings.err(`nothing was changed; to do it without being asked: ${service.command(`${rollbackWords(move)} --yes`)}`)
        return answer === null ? EXIT.misconfigured : EXIT.failed
      }
      await requireSameServed(move)
    }
    const head = await move.svc.rollback(move.target.release_id, options.comment).catch((error: unknown) => {
      throw codeOf(error) === 'not_restorable' ? notRestorable(move) : error
    })
    return report(move, head, options, surroundings)
  })
}

export function withdraw(options: MoveOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const [words = ''] = releaseWords(options)
    const scenario = await chooseScenario(service, options.scenario, (name) => `withdraw ${words} --scenario ${shellWord(name)}`)
    const move = await moveTo(service, scenario, options)
    const { svc, target } = move
    const head = await svc.withdraw(target.release_id, options.comment).catch((error: unknown) => {
      throw codeOf(error) === 'not_provisional' ? notProvisional(move) : error
    })
    if (options.json === true) surroundings.out(jsonText({ ...head, withdrawn_release_id: target.release_id }, 2))
    else surroundings.out(`${numberOf(target)} is withdrawn; ${oneLine(scenario)} serves ${shortId(head.release_id)} to everyone`)
    warnBehind(head, surroundings)
    return EXIT.fine
  })
}

/** Without a reason a person is asked for one: the next proposer learns from it. */
export function reject(options: RejectOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const scenario = await scenarioWithHeld(service, options, 'reject')
    const move = await moveTo(service, scenario, options, 'reject')
    const { target, served, svc } = move
    const reason = options.reason ?? (await surroundings.ask(`Why is ${numberOf(target)} rejected? `))
    if (reason === null || reason.trim() === '')
      throw invalid('no_reason', `nothing was changed; say why: ${rejectCommand(target, scenario, service.command)}`)
    const head = await svc.reject(target.release_id, reason).catch(async (error: unknown) => {
      throw codeOf(error) === 'not_held' && target.provisional === undefined ? await notHeld(move) : error
    })
    if (options.json === true) surroundings.out(jsonText({ ...head, rejected_release_id: target.release_id }, 2))
    else
      surroundings.out(
        `${numberOf(target)} is rejected; ${oneLine(scenario)} goes on serving ${numberOf(served)} ${shortId(head.release_id)}`,
      )
    return EXIT.fine
  })
}

/** What is served from now on; nothing of a change that is only words. */
function powersOf({ target }: Move, surroundings: Surroundings): readonly string[] {
  const powers = powersOfStep(target.metrics)
  return powers === null || powers.powers.length === 0 ? [] : powerLines(powers, surroundings)
}

/** Without a name: the only scenario, or else the only one in which something waits for review. */
async function scenarioWithHeld(service: RemoteService, options: MoveOptions, verb: ReviewVerb): Promise<string> {
  const command = (name: string): string => [verb, ...releaseWords(options), '--scenario', shellWord(name)].join(' ')
  if (options.scenario !== undefined) return chooseScenario(service, options.scenario, command)
  const scenarios = await service.svc.scenarios()
  if (scenarios.length < 2 || scenarios.length > SCENARIOS_LOOKED_AT_MAX) return onlyOne(service, scenarios, command)
  const releases = await releasesOf(
    service,
    scenarios.map(({ scenario }) => scenario),
  )
  // One that could not be looked at may hold something too.
  const holding = scenarios.filter(({ scenario }) => {
    const rows = releases.get(scenario)
    return rows === undefined || heldRows(rows).length > 0
  })
  return onlyOne(service, holding.length === 0 ? scenarios : holding, command)
}

/** As one word of a shell; none where no release is named. */
const releaseWords = ({ release }: MoveOptions): readonly string[] => (release.length === 0 ? [] : [shellWord(release.join(' '))])

type ReviewVerb = 'promote' | 'reject'

async function moveTo(service: RemoteService, scenario: string, { release }: MoveOptions, verb: ReviewVerb = 'promote'): Promise<Move> {
  const svc = service.in(scenario)
  const rows = await svc.releases()
  const served = servedRow(rows)
  if (served === undefined) throw unknown('nothing_served', `${oneLine(scenario)} serves nothing that could be replaced`)
  const list = listCommand(service, scenario)
  const target = release.length === 0 ? onlyHeld(rows, scenario, service.command, verb) : findRelease(rows, release.join(' '), list)
  return { service, svc, scenario, rows, served, target }
}

/** The release that waits for review, where it is one alone. */
function onlyHeld(rows: readonly ReleaseRow[], scenario: string, command: RemoteService['command'], verb: ReviewVerb): ReleaseRow {
  const [first, ...others] = heldRows(rows)
  if (first === undefined) throw unknown('nothing_held', `nothing of ${oneLine(scenario)} waits for review`)
  if (others.length === 0) return first
  const named = [first, ...others].slice(0, HELD_NAMED_MAX).map((row) => `${numberOf(row)} (${heldWords(row)})`)
  const more = others.length + 1 - named.length
  const all = more > 0 ? [...named, `and ${more} more`] : named
  const example = (verb === 'promote' ? promoteCommand : rejectCommand)(first, scenario, command)
  throw invalid('which_release', `which release? These wait for review: ${all.join(', ')}; name one: ${example}`)
}
const HELD_NAMED_MAX = 8

/** "3 min ago, 10 of 14 improved, none worse" */
function heldWords({ recorded_at, metrics }: ReleaseRow): string {
  const headline = headlineOf(metrics)
  return headline === null ? ago(recorded_at) : `${ago(recorded_at)}, ${oneLine(headline)}`
}

const listCommand = (service: RemoteService, scenario: string): string => service.command(`releases ${shellWord(scenario)}`)

/** Also when what is served is that very release, published again. */
const isServed = ({ served, target }: Move): boolean =>
  served.release_id === target.release_id || served.rollback_target_release_id === target.release_id

const codeOf = (error: unknown): string | null => (error instanceof ServiceFailure ? error.code : null)

/** Another person may have decided meanwhile, so the rows are read again. */
async function notHeld({ service, svc, scenario, target }: Move): Promise<Error> {
  const rows = await svc.releases()
  const promotion = promotionOf(rows, target)
  const back = promotion ?? (target.restorable ? target : undefined)
  const rejection = rejectionReason(rows, target)
  const problem = rejection !== null ? `was rejected (${oneLine(rejection.reason)})` : heldProblem(promotion)
  const held = heldRows(rows)[0]
  const nothing =
    held === undefined ? '; nothing else waits for review' : `; ${numberOf(held)} is: ${promoteCommand(held, scenario, service.command)}`
  const again = back === undefined ? '' : `; to serve it again: ${service.command(rollbackWords({ scenario, target: back }))}`
  return conflict('not_held', `${numberOf(target)} ${problem}${nothing}${again}`)
}

const heldProblem = (promotion: ReleaseRow | undefined): string =>
  promotion === undefined ? 'is not held for review' : `was promoted as ${numberOf(promotion)}`

function notRestorable({ service, scenario, rows, target }: Move): Error {
  const rejection = rejectionReason(rows, target)
  const unserved =
    rejection === null
      ? `it is held for review and was never served; to serve it: ${promoteCommand(target, scenario, service.command)}`
      : `it was rejected and was never served; choose another: ${listCommand(service, scenario)}`
  const cure = target.pending ? unserved : `it lived only in an engine; choose another: ${listCommand(service, scenario)}`
  return conflict('not_restorable', `${numberOf(target)} cannot be rolled back to: ${cure}`)
}

function notProvisional({ service, scenario, rows, target }: Move): Error {
  const row = provisionalRow(rows)
  const which =
    row === undefined
      ? `there is none now: ${listCommand(service, scenario)}`
      : `${numberOf(row)} is: ${withdrawCommand(row, scenario, service.command)}`
  return conflict('not_provisional', `${numberOf(target)} is not the provisional release; ${which}`)
}

const rollbackWords = ({ scenario, target }: Pick<Move, 'scenario' | 'target'>): string =>
  `rollback ${numberOf(target)} --scenario ${shellWord(scenario)}`

async function question({ svc, scenario, served, target }: Move): Promise<string> {
  const sameOrNot =
    served.content_id === target.content_id
      ? 'the content is the same'
      : `content ${shortId(served.content_id)} becomes ${shortId(target.content_id)}`
  const changes = (await changedFiles(svc, served.release_id, target.release_id)) ?? [sameOrNot]
  const undo = served.restorable ? 'stays and can be served again' : 'cannot be served again afterwards'
  return [
    `${oneLine(scenario)}: ${described(served)} → ${described(target)}`,
    ...changes.map((line) => `  ${line}`),
    `${numberOf(served)} ${undo}.`,
    'Roll back? [y/N] ',
  ].join('\n')
}

/** The answer was about what was shown; another person may have moved it meanwhile. */
async function requireSameServed({ service, svc, scenario, served }: Move): Promise<void> {
  if (servedRow(await svc.releases())?.release_id === served.release_id) return
  throw conflict(
    'moved_meanwhile',
    `something else is served by now, and nothing was changed; look again: ${listCommand(service, scenario)}`,
  )
}

const described = (row: ReleaseRow): string => `${numberOf(row)} ${shortId(row.release_id)} (${ago(row.recorded_at)})`

function report(
  { service, scenario, served, target }: Move,
  head: Head,
  { json }: RemoteOptions,
  surroundings: Surroundings,
  powers: readonly string[] = [],
): number {
  const isMoved = head.release_id !== served.release_id
  warnBehind(head, surroundings)
  if (json === true) {
    surroundings.out(jsonText({ ...head, previous_release_id: served.release_id, moved: isMoved }, 2))
    return EXIT.fine
  }
  const now = `${oneLine(scenario)} serves ${numberOf(head)} ${shortId(head.release_id)}`
  if (!isMoved) surroundings.out(`${now} already`)
  else {
    surroundings.out(`${now}, the content of ${numberOf(target)}`)
    for (const line of powers) surroundings.out(line)
    if (served.restorable) surroundings.out(`undo: ${service.command(rollbackWords({ scenario, target: served }))}`)
  }
  return EXIT.fine
}

/** Beside what was asked for, so that it is seen with `--json` too. */
function warnBehind({ gateways_behind: behind = [] }: Head, { err }: Surroundings): void {
  const line = behindLine(behind)
  if (line !== null) err(line)
}

const FILES_SHOWN_MAX = 12
/** Counting the lines of one file takes no longer. */
const COUNT_MILLISECONDS_MAX = 200

/** Null for a scenario that serves no files, or a release whose files cannot be pulled. */
async function changedFiles(svc: Svc, from: string, to: string): Promise<readonly string[] | null> {
  const lines = (await changesBetween(svc, from, to))?.map(lineOf) ?? null
  if (lines === null) return null
  if (lines.length === 0) return ['no file changes']
  const more = lines.length - FILES_SHOWN_MAX
  return more > 0 ? [...lines.slice(0, FILES_SHOWN_MAX), `and ${counted(more, 'file')} more`] : lines
}

function lineOf({ path, kind, before, after }: FileChange): string {
  const diff = kind === 'changed' ? compare(before, after, { timeLeft: timeFor(COUNT_MILLISECONDS_MAX) }) : null
  return `${kind.padEnd(7)}  ${oneLine(path)}${diff === null ? '' : ` (+${diff.added} -${diff.removed})`}`
}
