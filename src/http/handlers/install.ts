/** The install script: sent at once, or begun with a preamble when making it takes longer. */
import { setTimeout as sleep } from 'node:timers/promises'
import { HEADER, INSTALL_PREAMBLE_AFTER_SECONDS, invalid, unknown, type Adapter } from '../../contract/index.ts'
import {
  deliveryDigest,
  failureScript,
  installationOf,
  installScript,
  preambleScript,
  renderTree,
  startOf,
  withoutInstall,
} from '../../harness/index.ts'
import { notPulled, pulledRelease, releaseWithoutRequires } from '../../releases/index.ts'
import type { Scenario } from '../../scenarios/index.ts'
import { answerError } from '../errors.ts'
import { noFiles } from './harness.ts'
import { seesHeldReleases } from './held-out.ts'
import { logError } from '../log/log-fields.ts'
import { messageIn, prefersJson, SCRIPT_HEADERS } from '../refusal.ts'
import type { HttpContext } from '../context.ts'
import type { HttpReply } from '../reply.ts'
import { headerText, scenarioOf } from '../request-fields.ts'
import type { HttpServices } from '../services.ts'

/**
 * An early failure has its own status. A late one is a script that says so and fails, since the status was sent already. A client that
 * prefers JSON runs no script while it is sent: nothing is begun for it before the status is known.
 */
export async function install(context: HttpContext): Promise<HttpReply> {
  const making = makeScript(context)
  making.catch(() => undefined)
  const beginning = sleep(INSTALL_PREAMBLE_AFTER_SECONDS * 1000, null, { ref: false })
  const inTime = await (prefersJson(context.request) ? making : Promise.race([making, beginning]))
  const body = inTime === null ? begun(making, context) : await context.services.signer.script(inTime.text, inTime.about)
  return { status: 200, headers: SCRIPT_HEADERS, body }
}

/** A script, and what is signed about it. */
interface MadeScript {
  readonly text: string
  readonly about: Parameters<HttpServices['signer']['script']>[1]
}

/** The signature is over the preamble too: a shell runs it as well. */
async function* begun(making: Promise<MadeScript>, context: HttpContext): AsyncGenerator<string> {
  const preamble = preambleScript()
  yield preamble
  try {
    const { text, about } = await making
    yield (await context.services.signer.script(preamble + text, about)).slice(preamble.length)
  } catch (error) {
    await logError(context, error)
    const { status, body } = answerError(error, context.path)
    yield failureScript(status, messageIn(body))
  }
}

async function makeScript(context: HttpContext): Promise<MadeScript> {
  const { services, query } = context
  const adapter = await wantedAdapter(services, query.get('adapter') ?? '')
  const url = addressOf(context)
  if (headerText(context.request, HEADER.scenario) === null) return scriptWithoutScenario(context, adapter, url)
  const name = scenarioOf(context.request)
  context.logFields.scenario = name
  return services.registry.use(name, (scenario) =>
    scriptFor(scenario, services, {
      adapterName: adapter.name,
      url,
      wanted: query.get('release_id'),
      seesHeld: seesHeldReleases(context),
    }),
  )
}

async function wantedAdapter(services: HttpServices, name: string): Promise<Adapter> {
  if (name === '') throw invalid('adapter_missing', 'adapter: name the adapter to install, as listed by GET /svc/harness/adapters')
  const adapters = await services.adapters()
  const adapter = adapters.get(name)
  if (adapter === undefined && services.registry.adapters.size === 0) throw noHarnessRecipe()
  if (adapter === undefined) throw unknown('unknown_adapter', `adapter: there is none of that name; there are ${installable(adapters)}`)
  if (adapter.install === undefined || adapter.client === undefined) throw withoutInstall()
  return adapter
}

const installable = (adapters: ReadonlyMap<string, Adapter>): string =>
  [...adapters].flatMap(([name, each]) => (each.install === undefined || each.client === undefined ? [] : [name])).join(', ')

const noHarnessRecipe = (): Error =>
  unknown('no_harness_recipe', 'no configured recipe serves harness files, so there is nothing to install')

const HOST = /^(?:[A-Za-z0-9](?:[A-Za-z0-9.-]*[A-Za-z0-9])?|\[[0-9A-Fa-f:.]+\])(?::\d{1,5})?$/

/** The address that the request reached. It ends up in files, so only a plain host is accepted. */
function addressOf({ request: { headers }, services: { scheme } }: HttpContext): string {
  const host = first(headers['x-forwarded-host']) ?? headers.host ?? ''
  const proto = first(headers['x-forwarded-proto']) ?? scheme
  if (!HOST.test(host) || !URL.canParse(`http://${host}`))
    throw invalid('bad_address', 'host: must be a plain host name or address, with a port where it has one')
  if (proto !== 'http' && proto !== 'https') throw invalid('bad_address', 'x-forwarded-proto: must be http or https')
  return `${proto}://${host}`
}

/** Proxies append to the list; the first entry is the original one. */
const first = (header: string | readonly string[] | undefined): string | undefined =>
  header === undefined ? undefined : String(header).split(',', 1)[0]?.trim()

/** Creates nothing: the script creates the scenario when it runs in a folder without one of this service. */
function scriptWithoutScenario({ services: { registry, newId, model }, query }: HttpContext, adapter: Adapter, url: string): MadeScript {
  if (registry.adapters.size === 0) throw noHarnessRecipe()
  const [recipe, another] = [...registry.adapters].flatMap(([name, serving]) => (serving.name === adapter.name ? [name] : []))
  if (recipe === undefined) throw unknown('unknown_adapter', 'adapter: no configured recipe serves files for that one; name another')
  if (another !== undefined)
    throw invalid('recipe_unclear', `several recipes serve files for this adapter; name a scenario of one of them with ${HEADER.scenario}`)
  if (!registry.createsImplicitly)
    throw unknown('unknown_scenario', `${HEADER.scenario}: name the scenario to install; without it this service makes none`)
  if (query.get('release_id') !== null)
    throw unknown('unknown_release', `release_id: name the scenario that has this release with ${HEADER.scenario}`)
  // An agent without a model binding is refused before a scenario is made for it.
  renderTree(adapter, [], model)
  const text = installScript(startOf(adapter, { url, recipe, scenario: `harness-${newId()}` }))
  return { text, about: { scenario: null, adapter: adapter.name, release_id: null, step: null } }
}

/** What a person pastes to install this scenario's agent; empty where it has none that can be installed. */
export async function installLine(context: HttpContext): Promise<HttpReply> {
  const { request, services } = context
  const { registry, signer, auth } = services
  const scenario = scenarioOf(request)
  return registry.use(scenario, async ({ surface, recipe: { adapter } }) => {
    const isInstalled = surface.files !== undefined && adapter?.install !== undefined && adapter.client !== undefined
    const order = { url: addressOf(context), scenario, hasToken: auth.isRequired }
    const body = isInstalled ? `${await signer.installLine({ ...order, adapter: adapter.name })}\n` : ''
    return { status: 200, headers: { 'content-type': 'text/plain; charset=utf-8', 'cache-control': 'no-store' }, body }
  })
}

interface ScriptOrder {
  readonly adapterName: string
  readonly url: string
  readonly wanted: string | null
  readonly seesHeld: boolean
}

async function scriptFor(scenario: Scenario, { signer }: HttpServices, order: ScriptOrder): Promise<MadeScript> {
  const { surface, releases, recipe, recipeName, model, name } = scenario
  const { adapterName, url, wanted } = order
  const { adapter } = recipe
  if (surface.files === undefined) throw noFiles(recipeName)
  if (adapter?.name !== adapterName)
    throw unknown('unknown_adapter', `adapter: this scenario's files are for ${adapter?.name ?? 'no agent'}; name that one`)
  const { release, requires, evaluatedAt: _, ...about } = await pulledRelease(releases, wanted)
  if (about.held && !order.seesHeld) throw notPulled()
  const { release_id, step } = about
  const { content_id } = release
  const content = await surface.files.read(release)
  const fallback_release_id = await releaseWithoutRequires(releases, release.release_id, surface.files.component)
  const delivery = { adapter, url, scenario: name, release_id, content_id, content, model, requires, fallback_release_id }
  const installation = installationOf(delivery)
  const { files } = installation
  const digest = deliveryDigest(installation)
  const signed = await signer.release({ ...about, scenario: name, adapter, content_id, files, requires, delivery: digest })
  return { text: installScript({ ...installation, signed }), about: { scenario: name, adapter: adapter.name, release_id, step } }
}
