/** `svc store copy`: records and rows from one store to another, and releases where both sides are deployments. */
import { invalid, type ContentStore, type Store } from '../../contract/index.ts'
import { showHiddenLine } from '../../kit/index.ts'
import { counted, whole } from '../../presentation/index.ts'
import { startBar } from '../bar.ts'
import { printError } from '../explain.ts'
import { jsonText } from '../screen/text.ts'
import { stoppable } from '../stopping.ts'
import { EXIT, type ServiceModule, type Surroundings } from '../surroundings.ts'
import { copyDeployment, type CopiedDeployment } from './deployment.ts'
import { copyDocuments, sideOf, type DocumentSide } from './documents.ts'
import { markCopy, refuseUnfinished } from './mark.ts'
import { readPlace, type Place } from './places.ts'
import { copyScenario, endOf, type CopiedScenario, type CopyEnd } from './records.ts'
import { copyReleases, type CopiedReleases } from './releases.ts'

export interface CopyOptions {
  readonly from: string
  readonly to: string
  readonly scenario?: string
  readonly as?: string
  readonly json?: boolean
}

interface ScenarioReport extends CopiedScenario {
  readonly scenario: string
  readonly copied_as: string
  /** How many documents beside the records were copied now. */
  readonly documents: number
  /** Null where only records were copied. */
  readonly releases: CopiedReleases | null
}

interface Opened {
  readonly from: Store
  readonly to: Store
  readonly contents: { readonly from: ContentStore; readonly to: ContentStore } | null
  /** Null for a copy within one store, which has one set of them. */
  readonly documents: { readonly from: DocumentSide; readonly to: DocumentSide } | null
}

export async function copyStore(options: CopyOptions, surroundings: Surroundings): Promise<number> {
  const stopping = stoppable(surroundings, new Error('stopped; run the same command again to go on'))
  // Records and releases hold private text: only their owner may read them.
  process.umask(0o077)
  const bar = startBar(surroundings)
  const closing: (() => Promise<void>)[] = []
  let reports: readonly ScenarioReport[]
  let deployment: CopiedDeployment | null = null
  let isFine: boolean
  try {
    const places = await placesOf(options, surroundings)
    const opened = await openBoth(await surroundings.service(), places, closing)
    const now = Date.now() / 1000
    await refuseUnfinished(opened.from)
    const unmark = await markCopy(opened.to, now)
    reports = await copyAll(opened, options, stopping.signal, bar.at)
    // They are for all scenarios, and of no use to a copy of one.
    if (options.scenario === undefined) deployment = await copyDeployment(opened.from.deployment, opened.to.deployment, now)
    isFine = reports.every(isWhole) && (deployment?.tokens_differ ?? []).length === 0
    if (isFine) await unmark()
  } catch (error) {
    printError(error, null, surroundings)
    return stopping.exitCode() ?? EXIT.misconfigured
  } finally {
    bar.end()
    for (const close of closing.toReversed()) await close()
  }
  const copied = { scenarios: reports, ...(deployment !== null && { deployment }) }
  surroundings.out(options.json === true ? jsonText(copied, 2) : [printed(reports), ...deploymentLines(deployment)].join('\n'))
  return isFine ? EXIT.fine : EXIT.failed
}

async function placesOf({ from, to, scenario, as }: CopyOptions, surroundings: Surroundings): Promise<readonly [from: Place, to: Place]> {
  if (as !== undefined && scenario === undefined)
    throw invalid('no_scenario', '--as names the copy of one scenario; name that with --scenario')
  const places = [await readPlace('--from', from, surroundings), await readPlace('--to', to, surroundings)] as const
  if (places[0].identity === places[1].identity && as === undefined)
    throw invalid('same_store', '--from and --to are the same store; name another')
  return places
}

async function openBoth(service: ServiceModule, [from, to]: readonly [Place, Place], closing: (() => Promise<void>)[]): Promise<Opened> {
  const keep = <T extends { close(): Promise<void> }>(opened: T): T => {
    closing.push(() => opened.close())
    return opened
  }
  const source = keep(await service.openStore(from.loaded))
  // One SQLite folder is opened once.
  const target = from.identity === to.identity ? source : keep(await service.openStore(to.loaded))
  const isWithReleases =
    from.isDeployment && to.isDeployment && from.loaded.config.storage.artifact_repository !== to.loaded.config.storage.artifact_repository
  const documents = source === target ? null : { from: sideOf(service, from, source), to: sideOf(service, to, target) }
  if (!isWithReleases) return { from: source, to: target, contents: null, documents }
  const contents = { from: keep(await service.openArtifacts(from.loaded)), to: keep(await service.openArtifacts(to.loaded)) }
  return { from: source, to: target, contents, documents }
}

async function copyAll(
  { from, to, contents, documents }: Opened,
  options: CopyOptions,
  signal: AbortSignal,
  tell: (done: number, total: number) => void,
): Promise<readonly ScenarioReport[]> {
  const ends = await endsOf(from, options.scenario)
  // Each record is copied once and compared once.
  const total = 2 * ends.reduce((sum, { end }) => sum + end.sequence, 0)
  let done = 0
  const progress = (rows: number): void => tell((done += rows), total)
  const reports: ScenarioReport[] = []
  for (const { name, end } of ends) {
    const copyName = options.as ?? name
    // Releases come first: a row names nothing that is not there.
    const releases = contents === null ? null : await copyReleases({ ...contents, store: from, signal }, name, copyName)
    const copied = await copyScenario({ from: from.scenario(name), to: to.scenario(copyName), signal, progress }, end)
    const [created] = await from.scenario(name).commits({ after: -1, limit: 1 })
    const beside = documents === null || created === undefined ? 0 : await copyDocuments(documents.from, documents.to, created)
    reports.push({ scenario: name, copied_as: copyName, ...copied, documents: beside, releases })
  }
  return reports
}

async function endsOf(from: Store, only: string | undefined): Promise<readonly { readonly name: string; readonly end: CopyEnd }[]> {
  const names = await from.scenarios()
  if (only !== undefined && !names.includes(only))
    throw invalid('no_scenario', '--scenario: the source has no such scenario; list them with: svc status')
  const ends = await Promise.all(
    names.filter((name) => only === undefined || name === only).map(async (name) => ({ name, end: await endOf(from.scenario(name)) })),
  )
  return ends.flatMap(({ name, end }) => (end === null ? [] : [{ name, end }]))
}

const isWhole = ({ source, target, evicted, differences, releases }: ScenarioReport): boolean =>
  differences.length === 0 &&
  target.steps === source.steps &&
  target.records >= source.records - evicted &&
  (releases?.missing.length ?? 0) === 0

function printed(reports: readonly ScenarioReport[]): string {
  const lines = reports.flatMap(linesOf)
  const broken = reports.filter((report) => !isWhole(report)).length
  const outcome = broken === 0 ? 'both sides are the same' : `${counted(broken, 'scenario')} above differ`
  return [...lines, `${counted(reports.length, 'scenario')} copied and compared: ${outcome}`].join('\n')
}

function deploymentLines(deployment: CopiedDeployment | null): readonly string[] {
  if (deployment === null) return []
  const { tokens, tokens_differ: differing, audit } = deployment
  return [
    `${counted(tokens, 'token')} and ${counted(audit, 'entry', 'entries')} of the audit are there too`,
    ...differing.map(
      (name) => `  DIFFERENT  token ${showHiddenLine(name)}: the target has another one of that name; revoke one of them, then copy again`,
    ),
  ]
}

const row = (what: string, there: number, here: number, more: number): string =>
  `  ${what.padEnd(8)}  from ${whole(there).padStart(9)}  to ${whole(here).padStart(9)}  of them now ${whole(more).padStart(9)}`

function linesOf({
  scenario,
  copied_as,
  source,
  target,
  added,
  evicted,
  differences,
  documents,
  releases,
}: ScenarioReport): readonly string[] {
  const title = `${showHiddenLine(JSON.stringify(scenario))}${copied_as === scenario ? '' : ` as ${showHiddenLine(JSON.stringify(copied_as))}`}`
  const left =
    evicted === 0
      ? []
      : [`  note: ${counted(evicted, 'record')} of the source have no body any more (capacity took it), and were left behind`]
  const lost = releases === null ? [] : releases.missing.map((id) => `  NOT COPIED  release ${id}`)
  return [
    title,
    row('records', source.records, target.records, added.records),
    row('steps', source.steps, target.steps, added.steps),
    ...(releases === null ? [] : [row('releases', releases.releases, releases.releases - releases.missing.length, releases.added)]),
    ...(documents === 0
      ? []
      : [`  ${counted(documents, 'document')} beside them copied (model settings, proposals, step records, scores)`]),
    ...left,
    ...differences.map((difference) => `  DIFFERENT  ${showHiddenLine(difference)}`),
    ...lost,
    '',
  ]
}
