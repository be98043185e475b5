/** The harness routes: the tree that clients pull, its catalog, how far an instruction is. Pages, step files and proposals are not built yet. */
import { HEADER, ROUTE_PREFIX, unknown, unsupported } from '../contract/index.ts'
import { describeAdapter, pulledFiles } from '../harness/index.ts'
import { listedCatalog, pulledRelease } from '../releases/index.ts'
import { pageQuery } from './pass.ts'
import { json, liveJson, type Asked, type Reply } from './reply.ts'
import { scenarioOf } from './scope.ts'

/** The files of the head, or of a release of the catalog, with everything a client should know of them. Waits for no step. */
export async function manifest({ door, visit, query }: Asked): Promise<Reply> {
  return door.registry.use(scenarioOf(visit.request), async ({ surface, commits, recipeName }) => {
    if (surface.files === undefined) throw noFiles(recipeName)
    const { release, release_id, parent_release_id, evaluation, requires } = pulledRelease(
      commits,
      surface.files.component,
      query.get('release_id'),
    )
    const files = pulledFiles(await surface.files.read(release))
    const { content_id, components } = release
    const reply = liveJson({ release_id, content_id, parent_release_id, files, evaluation, requires, ...(components && { components }) })
    return { ...reply, headers: { ...reply.headers, [HEADER.release]: release_id } }
  })
}

export const noFiles = (recipeName: string): Error =>
  unknown('no_harness', `recipe ${recipeName} serves no harness files; a harness recipe would`)

export const stepRecords = (asked: Asked): Promise<Reply> => notBuilt(asked, scenarioOf(asked.visit.request))
export const versionPage = (asked: Asked): Promise<Reply> => notBuilt(asked, pageScenario(asked))
export const requestPage = (asked: Asked): Promise<Reply> => withoutPage(asked, pageScenario(asked))

/** The two pages alone take the scenario from the query too: a page key names it there. */
function pageScenario({ visit, query }: Asked): string {
  const named = query.get('scenario')?.trim() ?? ''
  if (visit.request.headers[HEADER.scenario] === undefined && named !== '') return named
  return scenarioOf(visit.request)
}

async function notBuilt({ door }: Asked, name: string): Promise<Reply> {
  return door.registry.use(name, ({ surface, recipeName }) => {
    if (surface.files === undefined) throw noFiles(recipeName)
    throw unsupported(
      'not_built',
      'this version of the service has no pages and no step files; GET /svc/harness/releases tells what each step did',
    )
  })
}

/** Every release of the tree that clients pull, oldest first, each with the page that tells about it. */
export async function catalog({ door, visit }: Asked): Promise<Reply> {
  const name = scenarioOf(visit.request)
  const query = pageQuery(visit.visitor, name)
  return door.registry.use(name, async ({ surface, commits, recipeName }) => {
    if (surface.files === undefined) throw noFiles(recipeName)
    const rows = listedCatalog(commits, surface.files.component)
    const releases = rows.map((row, at) => ({ ...row, page_path: `${ROUTE_PREFIX}/harness/releases/${at}/page?${query}` }))
    return liveJson({ scenario: name, releases })
  })
}

/** How far an instruction is, from its acceptance to the row that consumed it. */
export async function progress({ door, visit }: Asked): Promise<Reply> {
  const name = scenarioOf(visit.request)
  const id = visit.params['record_id'] ?? ''
  return door.registry.use(name, async (scenario) => {
    if ((await scenario.types([id])).get(id) !== 'train') throw unknownRequest(id)
    return liveJson(scenario.progress(id))
  })
}

async function withoutPage({ door, visit }: Asked, name: string): Promise<Reply> {
  return door.registry.use(name, () => {
    throw unknownRequest(visit.params['record_id'] ?? '')
  })
}

const unknownRequest = (id: string): Error =>
  unknown('unknown_request', `no train instruction ${JSON.stringify(id)} is known in this scenario`)

export async function proposals(asked: Asked): Promise<Reply> {
  const name = scenarioOf(asked.visit.request)
  await asked.object()
  return asked.door.registry.use(name, ({ recipeName }) => {
    throw unknown('no_proposals', `recipe ${recipeName} is not a harness evolution recipe and takes no proposals`)
  })
}

/** Every agent that can be named: those that come with the service, and those of the configured recipes. */
export async function adapters({ door }: Asked): Promise<Reply> {
  return json({ adapters: [...(await door.adapters()).values()].map(describeAdapter) })
}
