/** The weights of a scenario: load ids, the folder an engine reads a release from, and live releases, which exist only in an engine. */
import { existsSync } from 'node:fs'
import { readdir, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { ADAPTER_CONFIG_FILE, conflict, invalid, isLargeFile, isRefusal, TEXT_FILE_BYTES_MAX, unavailable } from '../contract/index.ts'
import type { Commit, Content, Files, Release, ServedWeights } from '../contract/index.ts'
import { isRestorable } from '../releases/index.ts'
import { contentOf, plansOf } from './composed.ts'
import { createdWith } from './files.ts'
import { LIVE_METRIC } from './history.ts'
import { reach, type Services } from './services.ts'
import type { Scenario } from './scenario.ts'

/** The load id of the head, or of the row that is landing. Its sequence counts changes of the weights. */
export function loadIdAt({ created, history }: Scenario, component: string, landing: Commit | null = null): string {
  return named(created, history.publications(component, landing))
}

/** The load id of the next published weights. */
export const nextLoadId = ({ created, history }: Scenario, component: string): string => named(created, history.publications(component) + 1)

const named = (created: Commit, sequence: number): string => `${createdWith(created, 'folder')}:${sequence}`

/** Live weights have no content id of their own: their load names them. */
export function liveRelease(loadId: string, step: number, parent: Release): Release {
  return { release_id: `live:${loadId}:${step}`, content_id: `weights:${loadId}`, parent_release_id: parent.release_id }
}

export const liveMetrics = (path: string): Readonly<Record<string, string>> => ({ [LIVE_METRIC]: path })

/** What an engine needs to serve a release: the head, or the release of the row that is landing. */
export async function weightsAt(services: Services, scenario: Scenario, release: Release, landing: Commit | null): Promise<ServedWeights> {
  const { component = '' } = scenario.surface.weights ?? {}
  const directory = await folderOf(services, scenario, release, landing)
  const isTrained = existsSync(join(directory, ADAPTER_CONFIG_FILE))
  return { runtime_load_id: loadIdAt(scenario, component, landing), directory: isTrained ? directory : null }
}

/** The text files of a release, or of one of its components. */
export async function filesOf(services: Services, scenario: Scenario, release: Release, component: string): Promise<Files> {
  if (isRestorable(release.release_id)) return reach(services.contents.read(contentOf(release, component) ?? release.content_id))
  const folder = await folderOf(services, scenario, release)
  const texts = await Promise.all((await readdir(folder)).map(async (name) => [name, await textIn(join(folder, name))] as const))
  return Object.fromEntries(texts.flatMap(([name, text]) => (text === null ? [] : [[name, text]])))
}

/** Null for a file that is not text. Weight files exceed the size limit and are not read. */
async function textIn(path: string): Promise<string | null> {
  const file = await stat(path)
  if (!file.isFile() || file.size > TEXT_FILE_BYTES_MAX) return null
  const bytes = await readFile(path)
  return isLargeFile(path, bytes) ? null : bytes.toString()
}

async function folderOf(services: Services, scenario: Scenario, release: Release, landing: Commit | null = null): Promise<string> {
  const { component = '' } = scenario.surface.weights ?? {}
  if (isRestorable(release.release_id)) return reach(services.contents.unpack(contentOf(release, component) ?? release.content_id))
  const path = await livePath(services, scenario, release, landing)
  if (path !== null) return join(services.files.folderOf(scenario.created), path)
  throw unavailable('live_weights_gone', 'the weights of this release existed only in an engine and in a folder that no longer exists')
}

/** The folder of live weights, relative to the scenario's directory; null for other releases and for lost weights. */
export async function livePath(
  services: Services,
  scenario: Scenario,
  release: Release,
  landing: Commit | null = null,
): Promise<string | null> {
  const maker = landing?.release?.release_id === release.release_id ? landing : (await scenario.releases.find(release.release_id))?.row
  const path = maker?.metrics[LIVE_METRIC]
  if (typeof path !== 'string') return null
  return existsSync(join(services.files.folderOf(scenario.created), path, ADAPTER_CONFIG_FILE)) ? path : null
}

/** Written first, then offered to the engine: content that the engine refuses is never published. */
export async function keepContent(services: Services, scenario: Scenario, content: Content): Promise<string> {
  const id = await reach(services.contents.write(content))
  if (content.kind === 'checkpoint') await scenario.surface.weights?.admit(await reach(services.contents.unpack(id)))
  return id
}

export async function admitLive(services: Services, scenario: Scenario, path: string): Promise<void> {
  const { weights, ...surface } = scenario.surface
  if (weights === undefined || weights.component !== undefined || surface.componentHooks !== undefined)
    throw invalid(
      'bad_content',
      'weights can be published to an engine alone only where the release has no other content; publish a checkpoint',
    )
  await weights.admit(join(services.files.folderOf(scenario.created), path))
}

/** Checks before serving a release again: the engine's limits may have changed. The refusal is a conflict, since the request is valid. */
export async function admitRelease(services: Services, scenario: Scenario, release: Release): Promise<void> {
  const { weights } = scenario.surface
  if (weights === undefined) return
  const directory = await folderOf(services, scenario, release)
  if (!existsSync(join(directory, ADAPTER_CONFIG_FILE))) return
  await weights.admit(directory).catch((error: unknown) => {
    throw isRefusal(error) && error.kind === 'invalid' ? conflict(error.code, error.message) : error
  })
}

/** Every scenario that trains weights needs an adapter slot of its own in the engine. */
export function checkRoomForWeights({ runtime }: Services, taken: number): void {
  const most = runtime.weights?.capacity ?? Infinity
  if (taken < most) return
  throw conflict(
    'too_many_weight_scenarios',
    `the engine of this service holds ${most === 1 ? 'one adapter' : `${most} adapters`}, and as many scenarios train weights; delete one, raise inference.engine.capacity together with the engine's own limit, or start another service`,
  )
}

export function trainsWeights({ recipes }: Services, name: string): boolean {
  const recipe = recipes.get(name)
  return recipe !== undefined && plansOf(recipe).some(([, plan]) => plan.lane === 'weights')
}
