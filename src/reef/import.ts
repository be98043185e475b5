/** The whole import: finds the scenarios in both folders, imports one after the other, and reports the result. */
import { lstat } from 'node:fs/promises'
import { basename } from 'node:path'
import { isRefusal, type Recipe } from '../contract/index.ts'
import { scenarioName } from '../scenarios/index.ts'
import type { Carrier } from './carry/history.ts'
import { carryScenario, firstEntries, type FoundScenario } from './carry/scenario.ts'
import { Remarks, type Remark, type ScenarioTally } from './carry/tally.ts'
import { realTarget, trialTarget, type TargetFolders } from './carry/target.ts'
import { SourceDatabase } from './source/database.ts'
import { listFolder, nameDigest, waitingProposals, type ScenarioFolder } from './source/folder.ts'
import { readLog } from './source/log.ts'
import { SourceRepository } from './source/repository.ts'

export interface ImportSource {
  readonly records: string
  /** Null skips the releases. */
  readonly artifacts: string | null
  /** New names of scenarios, by their names in the source. */
  readonly renames: ReadonlyMap<string, string>
}

interface ImportRecipe {
  readonly name: string
  readonly recipe: Recipe
  /** The recipe's component folders. */
  readonly components: readonly string[]
}

export interface ImportParts {
  readonly source: ImportSource
  readonly recipe: ImportRecipe
  /** Null for a trial run, which keeps nothing. */
  readonly places: TargetFolders | null
  readonly keepRaw: boolean
  readonly newId: () => string
  /** Called when the source has been checked, before the first write. */
  readonly begun: () => Promise<void>
  readonly progress: (done: number, total: number) => void
}

export interface ImportReport {
  readonly dry_run: boolean
  readonly scenarios: readonly ScenarioTally[]
  readonly remarks: readonly Remark[]
}

export async function importReef({ source, recipe, places, keepRaw, newId, begun, progress }: ImportParts): Promise<ImportReport> {
  const remarks = new Remarks()
  const repository = source.artifacts === null ? null : new SourceRepository(source.artifacts)
  const found = await findScenarios(source, repository, remarks)
  const total = (await Promise.all(found.map(sizeOf))).reduce((sum, bytes) => sum + bytes, 0)
  await begun()
  let done = 0
  const carrier: Carrier = {
    target: places === null ? trialTarget() : realTarget(places),
    remarks,
    repository,
    shape: shapeOf(recipe),
    seeds: await firstEntries(found),
    keepRaw,
    newId,
    done: (bytes) => progress(Math.min((done += bytes), total), total),
  }
  const scenarios: ScenarioTally[] = []
  for (const each of found) {
    const tally = await carryScenario(each, carrier)
    const waiting = await waitingProposals(source.records, each.scenario)
    if (waiting > 0)
      remarks.add('left_out', each.scenario, 'proposals', `${waiting} proposals that wait for a step are not imported: propose them again`)
    if (tally !== null) scenarios.push(tally)
  }
  return { dry_run: places === null, scenarios, remarks: remarks.all }
}

function shapeOf({ name, recipe, components }: ImportRecipe): Carrier['shape'] {
  const seed = recipe.seed ?? {}
  const harness = components.find((component) => Object.keys(seed).some((path) => path.startsWith(`${component}/`))) ?? null
  return { recipe: name, adapter: recipe.adapter, components, harness, seed, judge: (content) => recipe.judgeImported?.(content) }
}

async function sizeOf({ database }: FoundScenario): Promise<number> {
  return database === undefined ? 0 : (await lstat(database)).size
}

/** By name: those in the repository, and those that have only files. */
async function findScenarios(
  source: ImportSource,
  repository: SourceRepository | null,
  remarks: Remarks,
): Promise<readonly FoundScenario[]> {
  const folder = await listFolder(source.records)
  for (const odd of folder.odd) remarks.add('problem', null, 'file', odd)
  const { heads, odd } = repository === null ? { heads: new Map<string, string>(), odd: [] } : await repository.scenarios()
  for (const ref of odd) remarks.add('problem', null, 'ref', `the ref ${ref} names no scenario: it is left out`)
  const archived = Math.max(folder.archived, (await repository?.archived()) ?? 0)
  const note = `${archived} archived scenarios are not imported, since archives are not served; keep that folder`
  if (archived > 0) remarks.add('left_out', null, 'archived', note)
  const byDigest = new Map([...heads.keys()].map((name): [string, string] => [nameDigest(name), name]))
  const all = new Map([...heads].map(([name, head]): [string, Omit<FoundScenario, 'name'>] => [name, { scenario: name, head }]))
  for (const [digest, files] of folder.scenarios) {
    const named = byDigest.get(digest) ?? (await nameIn(files))
    if (named === null) remarks.add('problem', null, 'file', `${digest}: neither its records nor its log say which scenario they belong to`)
    else if (nameDigest(named) !== digest)
      remarks.add('problem', named, 'file', `its files are named ${digest}, which is the name of another scenario's: they are left out`)
    else all.set(named, { ...files, scenario: named, head: heads.get(named) ?? null })
  }
  for (const log of folder.postgresLogs) {
    const named = await nameIn({ log })
    const known = all.get(named ?? '')
    if (named === null) remarks.add('problem', null, 'file', `${basename(log)}: it does not say which scenario it belongs to`)
    else if (known?.log !== undefined)
      remarks.add('problem', named, 'file', `${basename(log)} is a second log of its steps: it is left out`)
    else all.set(named, { ...known, log, isInPostgres: true, scenario: named, head: heads.get(named) ?? null })
  }
  const taken = new Set<string>()
  return [...all.values()]
    .toSorted((a, b) => (a.scenario < b.scenario ? -1 : 1))
    .flatMap((each) => withName(each, source.renames, taken, remarks))
}

async function nameIn({ database, log }: ScenarioFolder): Promise<string | null> {
  if (log !== undefined) for await (const line of readLog(log)) if ('commit' in line) return line.commit.scenario
  if (database === undefined) return null
  const opened = await SourceDatabase.open(database).catch(() => null)
  try {
    return opened?.scenario() ?? null
  } catch {
    return null
  } finally {
    await opened?.close()
  }
}

function withName(
  found: Omit<FoundScenario, 'name'>,
  renames: ReadonlyMap<string, string>,
  taken: Set<string>,
  remarks: Remarks,
): readonly FoundScenario[] {
  const refuse = (why: string): readonly FoundScenario[] => {
    remarks.add('problem', found.scenario, 'name', `${why}: it is left out; give it another name with --rename OLD=NEW`)
    return []
  }
  try {
    const name = scenarioName(renames.get(found.scenario) ?? found.scenario, 'the name')
    if (taken.has(name)) return refuse('two scenarios would have one name here')
    taken.add(name)
    return [{ ...found, name }]
  } catch (error) {
    return refuse(isRefusal(error) ? error.message : 'its name is not taken here')
  }
}
