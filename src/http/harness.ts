/** The harness routes. No recipe of this build serves harness files, so each answers what the interface says for a scenario without them. */
import { HEADER, invalid, unknown } from '../contract/index.ts'
import { json, type Asked, type Reply } from './reply.ts'
import { scenarioOf } from './scope.ts'

const BUILT_IN_WITHOUT_INSTALL = new Set(['native', 'terminus'])

export const manifest = (asked: Asked): Promise<Reply> => withoutFiles(asked)
export const catalog = (asked: Asked): Promise<Reply> => withoutFiles(asked)
export const stepRecords = (asked: Asked): Promise<Reply> => withoutFiles(asked)
export const progress = (asked: Asked): Promise<Reply> => withoutRequest(asked)
export const versionPage = (asked: Asked): Promise<Reply> => withoutFiles(asked, pageScenario(asked))
export const requestPage = (asked: Asked): Promise<Reply> => withoutRequest(asked, pageScenario(asked))

/** The two pages alone take the scenario from the query too: a page key names it there. */
function pageScenario({ visit, query }: Asked): string {
  const named = query.get('scenario')?.trim() ?? ''
  if (visit.request.headers[HEADER.scenario] === undefined && named !== '') return named
  return scenarioOf(visit.request)
}

async function withoutFiles({ door, visit }: Asked, name = scenarioOf(visit.request)): Promise<Reply> {
  return door.registry.use(name, ({ recipeName }) => {
    throw unknown('no_harness', `recipe ${recipeName} serves no harness files; a harness recipe would`)
  })
}

async function withoutRequest({ door, visit }: Asked, name = scenarioOf(visit.request)): Promise<Reply> {
  return door.registry.use(name, () => {
    throw unknown('unknown_request', `no train instruction ${JSON.stringify(visit.params['record_id'] ?? '')} is known in this scenario`)
  })
}

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
