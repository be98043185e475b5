/** `svc forget`: removes a person's records by their tag from the store, its archives, copies of it, and says where it looked for what is left. */
import { join } from 'node:path'
import type { LoadedConfig } from '../config/index.ts'
import { isRefusal, type ForgetBody, type ForgetOrder, type Forgotten, type ForgottenPerson } from '../contract/index.ts'
import { countsOf, forgetPerson, orderOf, type ForgettingNeeds } from '../forgetting/index.ts'
import { newId } from '../kit/index.ts'
import { loadFor } from './config.ts'
import { printError } from './explain.ts'
import { placesOfExports } from './export/exported.ts'
import { fromService } from './remote/service.ts'
import { jsonText, oneLine } from './screen/text.ts'
import { EXIT, type ConfigOptions, type ServiceModule, type Surroundings } from './surroundings.ts'

export interface ForgetOptions extends ConfigOptions {
  readonly tag: string
  readonly backup: readonly string[]
  readonly export: readonly string[]
  readonly url?: string
  readonly yes?: boolean
  readonly dryRun?: boolean
}

export async function forget(options: ForgetOptions, surroundings: Surroundings): Promise<number> {
  const loaded = await loadFor(options, surroundings)
  const body = bodyOf(options)
  if (body === null) {
    surroundings.err('--tag must be a name and a value, such as user=u7')
    return EXIT.misconfigured
  }
  try {
    const service = await surroundings.service()
    await service.checkFolders(loaded)
    const forgotten = await inRecords(options, surroundings, service, loaded, body)
    const exported = body.dry_run ? [] : await placesOfExports(options.export, loaded, forgotten.receipts)
    return report(withPlaces(forgotten, exported), options, surroundings)
  } catch (error) {
    printError(error, loaded, surroundings)
    return EXIT.misconfigured
  }
}

function bodyOf({ tag, yes, dryRun }: ForgetOptions): ForgetBody | null {
  const [, name = '', value = ''] = /^([^=\s]+)=(.+)$/s.exec(tag) ?? []
  return name === '' ? null : { name, value, dry_run: yes !== true || dryRun === true }
}

/** By the running service where one has the store open, otherwise here. Copies are open nowhere, so they are looked at here. */
async function inRecords(
  options: ForgetOptions,
  surroundings: Surroundings,
  service: ServiceModule,
  loaded: LoadedConfig,
  body: ForgetBody,
): Promise<ForgottenPerson> {
  const backups = options.backup.map((folder) => backupOf(loaded, folder))
  if (options.url === undefined)
    try {
      return await forgetPerson(needsOf(service, loaded, [loaded, ...backups]), body)
    } catch (error) {
      if (!isRefusal(error) || error.code !== 'store_in_use') throw error
    }
  const order = orderOf(body)
  // A copy that is not there is told before anything is removed.
  await copiesIn(service, backups, { ...order, isTrial: true })
  const forgotten = await fromService(options, surroundings, (remote) => remote.in('', TIMEOUT_SECONDS).forget(body))
  const copies = (await copiesIn(service, backups, order)) ?? []
  return withPlaces(
    { ...forgotten, ...countsOf([forgotten, ...copies]) },
    copies.flatMap((copy) => copy.places),
  )
}

/** Reading every record of a large store takes long. */
const TIMEOUT_SECONDS = 4 * 3600

function needsOf(service: ServiceModule, loaded: LoadedConfig, stores: readonly LoadedConfig[]): ForgettingNeeds {
  const { storage, recipes } = loaded.config
  return {
    recordsFolder: storage.agent_record_dir,
    recipes,
    isEncrypted: storage.encrypt_bodies,
    backend: storage.record_backend,
    forgetRecords: (order) => forgetIn(service, stores, order),
    async useStore(work) {
      const store = await service.openStore(loaded)
      try {
        return await work(store, service.openScenarioFiles(loaded, store))
      } finally {
        await store.close()
      }
    },
    async useContents(work) {
      const contents = await service.openArtifacts(loaded)
      try {
        return await work(contents)
      } finally {
        await contents.close()
      }
    },
    actor: { id: newId(), by: null, role: null, from: null },
    clock: () => Date.now() / 1000,
  }
}

/** Null where the store cannot. */
async function forgetIn(service: ServiceModule, stores: readonly LoadedConfig[], order: ForgetOrder): Promise<readonly Forgotten[] | null> {
  const [own, ...copies] = stores
  if (own === undefined) return []
  const forgotten = await service.forgetRecords(own, order)
  const others = await copiesIn(service, copies, order)
  return forgotten === null || others === null ? null : [forgotten, ...others]
}

async function copiesIn(service: ServiceModule, copies: readonly LoadedConfig[], order: ForgetOrder): Promise<readonly Forgotten[] | null> {
  const found: Forgotten[] = []
  for (const copy of copies) {
    const forgotten = await service.forgetRecords(copy, order)
    if (forgotten === null) return null
    found.push(named(forgotten, copy.config.storage.agent_record_dir))
  }
  return found
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

function withPlaces(forgotten: ForgottenPerson, more: ForgottenPerson['places']): ForgottenPerson {
  const places = [...forgotten.places, ...more]
  return { ...forgotten, places, left: places.filter(({ found }) => found > 0).length }
}

const nothingLeft = (unsearched: number): string => (unsearched === 0 ? 'nothing is left' : 'nothing is left where it was looked for')

function report({ receipts: _receipts, ...forgotten }: ForgottenPerson, { json }: ForgetOptions, { out }: Surroundings): number {
  const { removed, records, reports, tasks, step_records, rewritten, scenarios, places, left, unsearched } = forgotten
  const exit = left === 0 ? EXIT.fine : EXIT.failed
  if (json === true) {
    out(jsonText(forgotten, 2))
    return exit
  }
  const made = tasks + step_records === 0 ? '' : `, ${tasks} tasks and the files of ${step_records} steps made of them`
  const counted = `${records} records and ${reports} reports about them, in ${scenarios.length} scenarios${made}`
  if (!removed) {
    out(`${counted}; add --yes to remove them`)
    return EXIT.fine
  }
  out(`removed ${counted}; ${rewritten} bodies of others were written anew`)
  for (const { place, searched, found } of places) out(`${found === 0 ? 'nothing' : `${found} left`}  ${oneLine(place)}: ${searched}`)
  for (const place of unsearched) out(`not looked at  ${place}`)
  out(left === 0 ? nothingLeft(unsearched.length) : `${left} places hold something that is for you to look at`)
  return exit
}
