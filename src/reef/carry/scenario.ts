/** Imports one scenario: its rows first, so that consumed records are known, then its settings and records. */
import { basename } from 'node:path'
import { isObject, isRefusal, type Commit, type Entry } from '../../contract/index.ts'
import { parseModelSettings } from '../../scenarios/index.ts'
import { SourceDatabase } from '../source/database.ts'
import { nameDigest, readSettings, type ScenarioFolder } from '../source/folder.ts'
import { readLog, type SourceCommit } from '../source/log.ts'
import { stepOf, type SourceManifest } from '../source/repository.ts'
import { entriesThere } from './entries.ts'
import { ImportedHistory, IMPORTED, OtherHistory, wordsOf, type Carrier } from './history.ts'
import { carryRecords } from './records.ts'
import type { ImportCounts, ScenarioTally } from './tally.ts'

export interface FoundScenario extends ScenarioFolder {
  readonly scenario: string
  readonly name: string
  /** Its newest release, where the repository has one. */
  readonly head: string | null
}

/** Null when nothing could be imported. */
export async function carryScenario(found: FoundScenario, carrier: Carrier): Promise<ScenarioTally | null> {
  const database = await openDatabase(found, carrier)
  try {
    const source = new SourceCounts()
    const history = await ImportedHistory.open({ ...carrier, ...found })
    await carryHistory(found, carrier, history, database, source)
    await carrySettings(found, carrier, history)
    noteLeftOut(found, carrier, source)
    if (database !== null) {
      noteEvicted(found, carrier, database)
      source.types = await carryRecords(database, { ...found, ...carrier, releases: history.releases })
    }
    const served = await history.served()
    if (served.finding !== null) carrier.remarks.add('note', found.scenario, 'review', reviewNote(served.finding))
    return {
      scenario: found.scenario,
      imported_as: found.name,
      source: source.counts(),
      destination: await destinationCounts(found, carrier, history),
      served,
    }
  } catch (error) {
    if (!(error instanceof OtherHistory)) throw error
    carrier.remarks.add('problem', found.scenario, 'exists', error.message)
    return null
  } finally {
    await database?.close()
  }
}

const reviewNote = (finding: string): string =>
  `its harness is served as it was there until a person decides, and ${finding}; from the first start the seed of the recipe is held for review beside it: promote it to serve the seed, or reject it to keep what was imported`

async function openDatabase({ scenario, database, isInPostgres }: FoundScenario, { remarks }: Carrier): Promise<SourceDatabase | null> {
  if (database === undefined) {
    const place = isInPostgres === true ? 'lie in PostgreSQL' : `are not in the folder: it has no ${nameDigest(scenario)}.sqlite3`
    remarks.add('problem', scenario, 'database', `its records ${place}; they are not imported, its steps and releases are`)
    return null
  }
  let opened: SourceDatabase | null = null
  try {
    opened = await SourceDatabase.open(database)
    opened.scenario()
    return opened
  } catch (error) {
    await opened?.close()
    remarks.add('problem', scenario, 'database', `its records cannot be read: ${wordsOf(error)}`)
    return null
  }
}

class SourceCounts {
  types: ReadonlyMap<string, number> = new Map()
  steps = 0
  readonly releases = new Set<string>()
  readonly consumed = new Set<string>()
  /** The state that each component's trainer kept last, beside the entries. */
  readonly kept = new Map<string, readonly string[]>()
  readonly stepRecords: string[] = []

  add({ release, isCheckpoint, isPending, consumed, component, kept, stepRecord }: SourceCommit): void {
    this.steps += 1
    this.kept.set(component ?? '', kept)
    if (stepRecord !== null) this.stepRecords.push(stepRecord)
    if (isCheckpoint || isPending) this.releases.add(release.releaseId)
    for (const id of consumed) this.consumed.add(id)
  }

  counts(): ImportCounts {
    const of = (type: string): number => this.types.get(type) ?? 0
    return {
      inference: of('inference'),
      report: of('report'),
      train: of('train'),
      steps: this.steps,
      releases: this.releases.size,
      consumed: this.consumed.size,
    }
  }
}

async function carryHistory(
  found: FoundScenario,
  carrier: Carrier,
  history: ImportedHistory,
  database: SourceDatabase | null,
  source: SourceCounts,
): Promise<void> {
  const manifest = await beginningOf(found, carrier)
  if (manifest !== null) source.releases.add(manifest.release.releaseId)
  await history.begin(manifest, await beginningEntries(manifest, carrier), await begunAt(found, manifest))
  for await (const line of linesOf(found)) {
    if ('problem' in line) {
      const problem = line.isTorn ? 'is torn: the step it began never happened' : `${line.problem}: it is left out`
      carrier.remarks.add(line.isTorn ? 'note' : 'problem', found.scenario, 'log', `line ${line.line} of its commit log ${problem}`)
      continue
    }
    if (line.commit.scenario !== found.scenario) {
      const problem = `line ${line.line} of its commit log belongs to another scenario: it is left out`
      carrier.remarks.add('problem', found.scenario, 'log', problem)
      continue
    }
    source.add(line.commit)
    if (!(await history.add(line.commit))) break
  }
  const newest = await newestStep(found, carrier)
  if (newest !== null && newest.step > history.step) {
    source.add(newest)
    await history.add(newest)
  }
  if (database !== null) await carryReceipts(found, carrier, history, database, source)
  await history.finish()
}

const linesOf = ({ log }: FoundScenario): ReturnType<typeof readLog> => (log === undefined ? nothing() : readLog(log))

async function* nothing(): ReturnType<typeof readLog> {}

/** From its newest release, or without one from the first release of its log. */
async function beginningOf(found: FoundScenario, { repository, remarks }: Carrier): Promise<SourceManifest | null> {
  if (repository === null) return null
  const first = await firstCommit(found)
  const starts = [found.head, first?.release.releaseId, first?.release.parentId].filter((id) => typeof id === 'string')
  for (const start of starts) {
    const manifest = await repository.beginning(start).catch(() => null)
    if (manifest !== null) return manifest
  }
  const problem = 'the release it began with is not in the repository: it begins with the seed of the recipe'
  if (starts.length > 0) remarks.add('problem', found.scenario, 'release', problem)
  return null
}

async function firstCommit(found: FoundScenario): Promise<SourceCommit | null> {
  for await (const line of linesOf(found)) if ('commit' in line) return line.commit
  return null
}

/** From the step that made its content, else from the first steps of this or another scenario that began with it. */
async function beginningEntries(manifest: SourceManifest | null, { repository, shape, seeds }: Carrier): Promise<readonly Entry[] | null> {
  if (manifest === null || repository === null) return null
  const made = entriesThere(await repository.entries(manifest, shape.harness).catch(() => undefined))
  return made ?? seeds.get(manifest.release.contentId) ?? null
}

/** The entries of first steps by content id: a step without a release names the release that it ran on, and that release's entries. Later ones may name those of a held release. */
export async function firstEntries(scenarios: readonly FoundScenario[]): Promise<ReadonlyMap<string, readonly Entry[]>> {
  const known = new Map<string, readonly Entry[]>()
  for (const found of scenarios) {
    for await (const line of linesOf(found)) {
      if ('problem' in line) continue
      const { release, isCheckpoint, isPending } = line.commit
      const entries = isCheckpoint || isPending || release.kind !== 'artifact' ? null : entriesThere(line.commit.entries)
      if (entries !== null) known.set(release.contentId, entries)
      if (entries !== null || isCheckpoint || isPending) break
    }
  }
  return known
}

async function begunAt(found: FoundScenario, manifest: SourceManifest | null): Promise<number> {
  return manifest?.committedAt ?? (await firstCommit(found))?.recordedAt ?? 0
}

/** A crash may have come between a release and the log line of its step. */
async function newestStep({ scenario, head }: FoundScenario, { repository }: Carrier): Promise<SourceCommit | null> {
  if (repository === null || head === null) return null
  const manifest = await repository.manifest(head).catch(() => null)
  return manifest === null ? null : stepOf(manifest, scenario)
}

async function carryReceipts(
  found: FoundScenario,
  { shape, remarks }: Carrier,
  history: ImportedHistory,
  database: SourceDatabase,
  source: SourceCounts,
): Promise<void> {
  try {
    const receipts = [...database.receipts(found.scenario)]
    if (receipts.length === 0) return
    const at = receipts.reduce((latest, { recordedAt }) => Math.max(latest, recordedAt), 0)
    for (const { consumed } of receipts) for (const id of consumed) source.consumed.add(id)
    for (const component of shape.components.length === 0 ? [null] : shape.components) {
      const own = receipts.filter(({ metadata }) => component === null || (metadata['component'] ?? component) === component)
      const ids = own.flatMap(({ consumed }) => consumed)
      if (own.length > 0) await history.addReceipts(ids, own.length, component, at)
    }
  } catch (error) {
    if (isRefusal(error)) throw error
    remarks.add('problem', found.scenario, 'receipts', `its consumption receipts cannot be read: ${wordsOf(error)}`)
  }
}

/** Settings that exist here are kept. The key is left to the owner, who sets it again. */
async function carrySettings({ scenario, model }: FoundScenario, { target, remarks }: Carrier, history: ImportedHistory): Promise<void> {
  const [created] = history.rows
  if (model === undefined || created === undefined) return
  try {
    const read = await readSettings(model)
    if (read === null) return
    const settings = parseModelSettings(read.settings)
    await target.settings(created, settings)
    const taken = `its model settings (${Object.keys(settings).join(', ')}) are those of ${basename(model)}`
    remarks.add('note', scenario, 'settings', read.hadKey ? `${taken}, without the key: send it again with the update route` : taken)
  } catch (error) {
    remarks.add('problem', scenario, 'settings', `its model settings in ${basename(model)} are not taken here: ${wordsOf(error)}`)
  }
}

/** Things that no import has a place for. */
function noteLeftOut({ scenario }: FoundScenario, { remarks }: Carrier, { kept, stepRecords }: SourceCounts): void {
  const names = [...new Set([...kept.values()].flat())].toSorted()
  const state = `what its trainer knew beside the entries is not imported, and is learned anew: ${names.join(', ')}`
  if (names.length > 0) remarks.add('left_out', scenario, 'state', state)
  const records = `the files of ${stepRecords.length} steps are not imported: keep them where they are, such as ${JSON.stringify(stepRecords.at(-1))}`
  if (stepRecords.length > 0) remarks.add('left_out', scenario, 'step records', records)
}

function noteEvicted({ scenario }: FoundScenario, { remarks }: Carrier, database: SourceDatabase): void {
  try {
    const { records, bytes, fingerprints } = database.evicted(scenario)
    const lost = `the original lost ${records} records of ${bytes} bytes to its capacity: that count starts again here`
    if (records > 0) remarks.add('left_out', scenario, 'evicted', lost)
    const digests = `${fingerprints} digests of lost records are not imported, since they are computed differently here`
    if (fingerprints > 0) remarks.add('left_out', scenario, 'fingerprints', `${digests}: such a record counts as new when it is sent again`)
  } catch (error) {
    remarks.add('problem', scenario, 'evicted', `its totals of lost records cannot be read: ${wordsOf(error)}`)
  }
}

async function destinationCounts({ name }: FoundScenario, { target }: Carrier, history: ImportedHistory): Promise<ImportCounts> {
  const rows = history.rows
  return {
    inference: await target.count(name, 'inference'),
    report: await target.count(name, 'report'),
    train: await target.count(name, 'train'),
    steps: rows.filter(isStepThere).length,
    releases: rows.filter(({ release }) => release !== null).length,
    consumed: new Set(rows.flatMap(({ consumed_ids }) => consumed_ids)).size,
  }
}

function isStepThere({ step, metrics }: Commit): boolean {
  const imported = metrics[IMPORTED]
  return step > 0 && isObject(imported) && typeof imported['release_id'] === 'string'
}
