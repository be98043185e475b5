/** `svc open`: the console, or a page of it, in the person's browser. */
import { ServiceFailure, type Svc } from '@svc-ai/client'
import { invalid } from '../../contract/index.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import type { RemoteOptions } from './address.ts'
import { findRelease, isNumbered } from './release.ts'
import { chooseScenario } from './scenario.ts'
import { withService, type RemoteService } from './service.ts'

export interface OpenOptions extends RemoteOptions {
  readonly what?: string
}

/** The views of a scenario in the console. */
const VIEWS: ReadonlySet<string> = new Set(['traffic', 'releases', 'ask', 'training', 'tasks'])

export function open(options: OpenOptions, surroundings: Surroundings): Promise<number> {
  return withService(options, surroundings, async (service) => {
    const url = service.url + (await pathOf(service, options))
    if (options.json === true) surroundings.out(jsonText({ url }, 2))
    else {
      surroundings.out(url)
      if (!(await surroundings.browse(url)) && surroundings.isTerminal)
        surroundings.err('no browser was found here; open the address elsewhere')
    }
    return EXIT.fine
  })
}

async function pathOf(service: RemoteService, { what, scenario: named }: OpenOptions): Promise<string> {
  if (what === undefined && named === undefined) return '/console'
  if (what === 'storage') return '/console#/storage'
  if (what === undefined)
    return consolePath(await chooseScenario(service, named, (name) => `open --scenario ${shellWord(name)}`), 'traffic')
  const scenarios = await service.svc.scenarios()
  if (named === undefined && scenarios.some(({ scenario }) => scenario === what)) return consolePath(what, 'traffic')
  const scenario = await chooseScenario(service, named, (name) => `open ${shellWord(what)} --scenario ${shellWord(name)}`)
  if (VIEWS.has(what)) return consolePath(scenario, what)
  const svc = service.in(scenario)
  if (!isNumbered(what) && (await hasRecord(svc, what))) return consolePath(scenario, 'traffic', what)
  return releasePath(svc, scenario, what, service.command(`releases ${shellWord(scenario)}`))
}

/** As the console reads it. */
const consolePath = (scenario: string, view: string, id?: string): string =>
  `/console#/s/${[scenario, view, ...(id === undefined ? [] : [id])].map(encodeURIComponent).join('/')}`

async function hasRecord(svc: Svc, id: string): Promise<boolean> {
  try {
    await svc.record(id)
    return true
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return error.code === 'record_expired'
    throw error
  }
}

/** The page to share where versions have one, else the step in the console. */
async function releasePath(svc: Svc, scenario: string, what: string, list: string): Promise<string> {
  const { step } = findRelease(await svc.releases(), what, list)
  const page = (await catalogOf(svc)).find((row) => row.step === step)?.page_path
  if (page === undefined) return consolePath(scenario, 'releases', String(step))
  // A link may only lead to this service.
  if (!/^\/(?!\/)/.test(page)) throw invalid('foreign_page', `the service names a page elsewhere: ${oneLine(page)}`)
  return page
}

async function catalogOf(svc: Svc): ReturnType<Svc['catalog']> {
  try {
    return await svc.catalog()
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return []
    throw error
  }
}
