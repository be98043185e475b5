/** The harness routes. The catalog and the progress of an instruction answer; the others say what the interface has for a scenario without harness files. */
import { HEADER, invalid, ROUTE_PREFIX, unknown } from '../contract/index.ts'
import { listedCatalog } from '../releases/index.ts'
import { pageQuery } from './pass.ts'
import { json, liveJson, type Asked, type Reply } from './reply.ts'
import { scenarioOf } from './scope.ts'

const BUILT_IN_WITHOUT_INSTALL = new Set(['native', 'terminus'])

export const manifest = (asked: Asked): Promise<Reply> => withoutFiles(asked)
export const stepRecords = (asked: Asked): Promise<Reply> => withoutFiles(asked)
export const versionPage = (asked: Asked): Promise<Reply> => withoutFiles(asked, pageScenario(asked))
export const requestPage = (asked: Asked): Promise<Reply> => withoutPage(asked, pageScenario(asked))

/** The two pages alone take the scenario from the query too: a page key names it there. */
function pageScenario({ visit, query }: Asked): string {
  const named = query.get('scenario')?.trim() ?? ''
  if (visit.request.headers[HEADER.scenario] === undefined && named !== '') return named
  return scenarioOf(visit.request)
}

async function withoutFiles({ door, visit }: Asked, name = scenarioOf(visit.request)): Promise<Reply> {
  return door.registry.use(name, ({ recipeName }) => {
    throw noFiles(recipeName)
  })
}

const noFiles = (recipeName: string): Error => unknown('no_harness', `recipe ${recipeName} serves no harness files; a harness recipe would`)

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

export function install({ query }: Asked): Reply {
  const adapter = query.get('adapter') ?? ''
  if (adapter === '') throw invalid('adapter_missing', 'adapter: name the adapter to install, as listed by GET /svc/harness/adapters')
  if (BUILT_IN_WITHOUT_INSTALL.has(adapter))
    throw invalid('adapter_without_install', `adapter: ${adapter} pins no binary to install; use GET /svc/harness and POST /svc/train`)
  throw unknown('no_harness_recipe', 'no configured recipe serves harness files, so there is nothing to install')
}

/** Resolvable adapters: those that a configured harness recipe could render for. */
export function adapters(): Reply {
  return json({ adapters: [] })
}
