/** `svc forget`: removes a person's records by their tag from the store, its archives and copies of it, and says where it looked for what is left. */
import { existsSync, globSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import type { Commit, ForgetOrder, Forgotten, SearchedPlace, Store } from '../contract/index.ts'
import { newId } from '../kit/index.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { forgetDerived, type Derived } from './forget-derived.ts'
import { jsonText, oneLine } from './screen/text.ts'
import { EXIT, type ConfigOptions, type ServiceModule, type Surroundings } from './surroundings.ts'

export interface ForgetOptions extends ConfigOptions {
  readonly tag: string
  readonly backup: readonly string[]
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export async function forget(options: ForgetOptions, surroundings: Surroundings): Promise<number> {
  const loaded = await loadFor(options, surroundings)
  const order = orderOf(options)
  if (order === null) {
    surroundings.err('--tag must be a name and a value, such as user=u7')
    return EXIT.misconfigured
  }
  try {
    const service = await surroundings.service()
    await service.checkFolders(loaded)
    const backups = options.backup.map((folder) => backupOf(loaded, folder))
    // A backup that is not there or in use is told before anything is removed, and what was made of the records is found by them.
    const stores = [loaded, ...backups]
    const counted = await forgetIn(service, stores, { ...order, isTrial: true })
    if (counted === null) {
      surroundings.err(`the store ${loaded.config.storage.record_backend} cannot remove records by their tag; sqlite and postgres can`)
      return EXIT.misconfigured
    }
    const derived = await forgetDerived(service, loaded, counted[0]?.ids ?? [], order.isTrial)
    const found = order.isTrial ? counted : ((await forgetIn(service, stores, order)) ?? [])
    const beside = order.isTrial ? [] : [...placesOfFiles(loaded, order), ...(await settle(service, loaded, order, found))]
    return report({ found, derived, beside }, order, options, surroundings)
  } catch (error) {
    printError(error, loaded, surroundings)
    return EXIT.misconfigured
  }
}

/** Null where the store cannot. */
async function forgetIn(service: ServiceModule, stores: readonly LoadedConfig[], order: ForgetOrder): Promise<readonly Forgotten[] | null> {
  const found: Forgotten[] = []
  for (const [index, store] of stores.entries()) {
    const forgotten = await service.forgetRecords(store, order)
    if (forgotten === null) return null
    found.push(index === 0 ? forgotten : named(forgotten, store.config.storage.agent_record_dir))
  }
  return found
}

function orderOf({ tag, yes, dryRun }: ForgetOptions): ForgetOrder | null {
  const [, name = '', value = ''] = /^([^=\s]+)=(.+)$/s.exec(tag) ?? []
  if (name === '') return null
  const spelled = [value, JSON.stringify(value).slice(1, -1)].map((text) => text.replaceAll(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`))
  const word = new RegExp(`(?<![\\p{L}\\p{N}])(?:${spelled.join('|')})(?![\\p{L}\\p{N}])`, 'u')
  return { tag: [name.toLowerCase(), value], isTrial: yes !== true || dryRun === true, mentions: (text) => word.test(text) }
}

const backupOf = (loaded: LoadedConfig, folder: string): LoadedConfig => ({
  ...loaded,
  moved: [],
  // A copy in a folder is one of SQLite's, whatever the records are in now.
  config: { ...loaded.config, storage: { ...loaded.config.storage, record_backend: 'sqlite', agent_record_dir: folder } },
})

const named = (forgotten: Forgotten, folder: string): Forgotten => ({
  ...forgotten,
  places: forgotten.places.map((place) => ({ ...place, place: join(folder, place.place) })),
})

/** Larger ones are no texts of the service. */
const FILE_BYTES_MAX = 64 * 1024 * 1024

/** What steps and agents left in folders: they are a person's to read, and to remove. */
function placesOfFiles({ config }: LoadedConfig, { mentions }: ForgetOrder): readonly SearchedPlace[] {
  const recipes = Object.values(config.recipes).flatMap(({ evolution }) => [evolution.proposals_dir, evolution.step_record_dir ?? ''])
  const folders = [...new Set([join(config.storage.agent_record_dir, 'scenarios'), ...recipes])].filter((folder) => existsSync(folder))
  return folders.flatMap((folder) => {
    const files = globSync('**/*', { cwd: folder })
      .map((file) => join(folder, file))
      .filter(isSearched)
    const left = files.filter((file) => mentions(readFileSync(file, 'utf8')))
    const searched = 'the value of the tag in files'
    return left.length === 0 ? [{ place: folder, searched, found: 0 }] : left.map((place) => ({ place, searched, found: 1 }))
  })
}

/** A link may lead nowhere. */
function isSearched(file: string): boolean {
  const found = statSync(file, { throwIfNoEntry: false })
  return found?.isFile() === true && found.size <= FILE_BYTES_MAX
}

const ROWS_PER_READ = 100

/** Looks through the releases, and writes to the audit that somebody was forgotten, though not who. */
async function settle(
  service: ServiceModule,
  loaded: LoadedConfig,
  order: ForgetOrder,
  found: readonly Forgotten[],
): Promise<readonly SearchedPlace[]> {
  const store = await service.openStore(loaded)
  try {
    const { records, reports } = total(found)
    const who = { by: null, role: null, from: null, scenario: null, before: null }
    await store.deployment.addAudit({
      ...who,
      id: newId(),
      at: Date.now() / 1000,
      action: 'forget',
      target: order.tag[0],
      after: { records, reports },
    })
    return await placesOfReleases(service, loaded, store, order)
  } finally {
    await store.close()
  }
}

async function placesOfReleases(
  service: ServiceModule,
  loaded: LoadedConfig,
  store: Store,
  { mentions }: ForgetOrder,
): Promise<readonly SearchedPlace[]> {
  const contents = await service.openArtifacts(loaded)
  try {
    const left: SearchedPlace[] = []
    let read = 0
    for (const scenario of await store.scenarios()) {
      for (let after = -1; ;) {
        const rows = await store.scenario(scenario).chain({ after, limit: ROWS_PER_READ })
        for (const row of rows) {
          read += 1
          const texts = await Promise.all(contentIds(row).map(async (id) => Object.values(await contents.read(id))))
          if (texts.flat().some(mentions))
            left.push({ place: `release of step ${row.step} in ${scenario}`, searched: IN_RELEASES, found: 1 })
        }
        after = rows.at(-1)?.step ?? after
        if (rows.length === 0) break
      }
    }
    return left.length === 0 ? [{ place: `${read} releases`, searched: IN_RELEASES, found: 0 }] : left
  } finally {
    await contents.close()
  }
}

const nothingLeft = (unsearched: number): string => (unsearched === 0 ? 'nothing is left' : 'nothing is left where it was looked for')

const IN_RELEASES = 'the value of the tag in files of releases'

const contentIds = ({ release }: Commit): readonly string[] =>
  release === null ? [] : Object.values(release.components ?? { '': release.content_id })

function total(found: readonly Forgotten[]): Pick<Forgotten, 'records' | 'reports' | 'rewritten'> {
  const sum = (count: (forgotten: Forgotten) => number): number => found.reduce((before, each) => before + count(each), 0)
  return { records: sum((each) => each.records), reports: sum((each) => each.reports), rewritten: sum((each) => each.rewritten) }
}

interface Outcome {
  readonly found: readonly Forgotten[]
  readonly derived: Derived
  readonly beside: readonly SearchedPlace[]
}

function report(
  { found, derived, beside }: Outcome,
  { tag: [name, value], isTrial }: ForgetOrder,
  { json }: ForgetOptions,
  { out }: Surroundings,
): number {
  const { records, reports, rewritten } = total(found)
  const scenarios = [...new Set(found.flatMap((each) => each.scenarios))]
  const places = [...found.flatMap((each) => each.places), ...beside]
  const unsearched = [...new Set(found.flatMap((each) => each.unsearched ?? []))]
  const left = places.filter((place) => place.found > 0)
  if (json === true) {
    out(
      jsonText(
        {
          tag: { [name]: value },
          removed: !isTrial,
          records,
          reports,
          ...derived,
          rewritten,
          scenarios,
          places,
          left: left.length,
          unsearched,
        },
        2,
      ),
    )
    return left.length === 0 ? EXIT.fine : EXIT.failed
  }
  const made =
    derived.tasks + derived.step_records === 0 ? '' : `, ${derived.tasks} tasks and the files of ${derived.step_records} steps made of them`
  const counted = `${records} records and ${reports} reports about them, in ${scenarios.length} scenarios${made}`
  if (isTrial) {
    out(`${counted}; add --yes to remove them`)
    return EXIT.fine
  }
  out(`removed ${counted}; ${rewritten} bodies of others were written anew`)
  for (const { place, searched, found: count } of places)
    out(`${count === 0 ? 'nothing' : `${count} left`}  ${oneLine(place)}: ${searched}`)
  for (const place of unsearched) out(`not looked at  ${place}`)
  out(left.length === 0 ? nothingLeft(unsearched.length) : `${left.length} places hold something that is for you to look at`)
  return left.length === 0 ? EXIT.fine : EXIT.failed
}
