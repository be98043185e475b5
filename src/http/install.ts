/** The install script: made at once for whoever waits, or begun with a preamble when it takes longer. */
import type { IncomingMessage } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER, INSTALL_PREAMBLE_AFTER_SECONDS, invalid, unauthorized, unknown, type Adapter } from '../contract/index.ts'
import { failureScript, installationOf, installScript, preambleScript, renderTree, withoutInstall } from '../harness/index.ts'
import { pulledRelease, releaseWithoutRequires } from '../releases/index.ts'
import type { Scenario } from '../scenarios/index.ts'
import { isOwnPage } from './cors.ts'
import type { Door } from './door.ts'
import { answerError } from './errors.ts'
import { noFiles } from './harness.ts'
import { noteError } from './note.ts'
import type { Asked, Reply } from './reply.ts'
import { headerText, scenarioOf } from './scope.ts'

const HEADERS = { 'content-type': 'text/x-shellscript; charset=utf-8', 'cache-control': 'no-store' }

/** A failure in time has its own status; a late one is a script that says so and fails, since the status is out by then. */
export async function install(asked: Asked): Promise<Reply> {
  const making = makeScript(asked)
  making.catch(() => undefined)
  const inTime = await Promise.race([making, sleep(INSTALL_PREAMBLE_AFTER_SECONDS * 1000, null, { ref: false })])
  return { status: 200, headers: HEADERS, body: inTime ?? begun(making, asked) }
}

async function* begun(making: Promise<string>, { door, visit }: Asked): AsyncGenerator<string> {
  yield preambleScript()
  try {
    yield await making
  } catch (error) {
    noteError(door, visit, error)
    const { status, body } = answerError(error, visit.path)
    yield failureScript(status, messageIn(body))
  }
}

function messageIn(body: object): string {
  const { error }: { readonly error?: unknown } = body
  return typeof error === 'object' && error !== null && 'message' in error ? String(error.message) : 'the script could not be made'
}

async function makeScript(asked: Asked): Promise<string> {
  const { door, visit, query } = asked
  const adapter = await wantedAdapter(door, query.get('adapter') ?? '')
  const url = addressOf(visit.request)
  const name = await scenarioFor(asked, adapter)
  visit.note.scenario = name
  return door.registry.use(name, (scenario) => scriptFor(scenario, adapter.name, url, query.get('release_id')))
}

/** Messages of this route quote nothing that was sent: who leaves out curl's -f pipes them into a shell. */
async function wantedAdapter(door: Door, name: string): Promise<Adapter> {
  if (name === '') throw invalid('adapter_missing', 'adapter: name the adapter to install, as listed by GET /svc/harness/adapters')
  const adapter = (await door.adapters()).get(name)
  if (adapter === undefined && door.registry.adapters.size === 0) throw noHarnessRecipe()
  if (adapter === undefined) throw unknown('unknown_adapter', 'adapter: there is none of that name; GET /svc/harness/adapters lists them')
  if (adapter.install === undefined || adapter.client === undefined) throw withoutInstall()
  return adapter
}

const noHarnessRecipe = (): Error =>
  unknown('no_harness_recipe', 'no configured recipe serves harness files, so there is nothing to install')

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** Where the request reached the service, or the gateway in front of it. Whatever is no plain host is refused: it ends up in files. */
function addressOf({ headers }: IncomingMessage): string {
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? ''
  const proto = first(headers['x-forwarded-proto']) ?? 'http'
  if (!HOST.test(host) || !URL.canParse(`http://${host}`))
    throw invalid('bad_address', 'host: must be a plain host name or address, with a port where it has one')
  if (proto !== 'http' && proto !== 'https') throw invalid('bad_address', 'x-forwarded-proto: must be http or https')
  return `${proto}://${host}`
}

/** Gateways append to the list; the first one is what the person typed. */
const first = (header: string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header).split(',', 1)[0]?.trim()

/** The scenario that was named; without one a new one, of the recipe that serves files for this agent. For a HEAD none is made: nobody would get to use it. */
async function scenarioFor(
  { door: { registry, newId, model, servedOrigin }, visit: { request } }: Asked,
  adapter: Adapter,
): Promise<string> {
  if (headerText(request, HEADER.scenario) !== null || request.method === 'HEAD') return scenarioOf(request)
  if (!isOwnPage(servedOrigin, request.headers))
    throw unauthorized('a web page of another site may not create a scenario; run the install line in a shell')
  if (registry.adapters.size === 0) throw noHarnessRecipe()
  const [recipe, another] = [...registry.adapters].flatMap(([name, serving]) => (serving.name === adapter.name ? [name] : []))
  if (recipe === undefined) throw unknown('unknown_adapter', 'adapter: no configured recipe serves files for that one; name another')
  if (another !== undefined)
    throw invalid('recipe_unclear', `several recipes serve files for this adapter; name a scenario of one of them with ${HEADER.scenario}`)
  // An agent that cannot be told its model is refused before a scenario is made for it.
  renderTree(adapter, [], model)
  const name = `harness-${newId()}`
  await registry.createImplicitly(name, { release: null, recipe })
  return name
}

async function scriptFor(
  { surface, commits, recipe, recipeName, model, name }: Scenario,
  adapterName: string,
  url: string,
  wanted: string | null,
): Promise<string> {
  const { adapter } = recipe
  if (surface.files === undefined) throw noFiles(recipeName)
  if (adapter?.name !== adapterName)
    throw unknown('unknown_adapter', `adapter: this scenario's files are for ${adapter?.name ?? 'no agent'}; name that one`)
  const { release, release_id, requires } = pulledRelease(commits, surface.files.component, wanted)
  const { content_id } = release
  const content = await surface.files.read(release)
  const fallback_release_id = releaseWithoutRequires(commits, release.release_id, surface.files.component)
  return installScript(
    installationOf({ adapter, url, scenario: name, release_id, content_id, content, model, requires, fallback_release_id }),
  )
}
