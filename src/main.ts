/** Composes the service and closes it again, in the reverse order. */
import { builtins } from '../plugins/index.ts'
import {
  allotLimits,
  clock,
  configuredTraffic,
  forgetIn,
  makeForget,
  keepSpent,
  loaderOf,
  loadRecipes,
  logStep,
  modelOf,
  openConfiguredWebhooks,
  openContents,
  openDocuments,
  openEvaluation,
  openGateway,
  openPrices,
  openRecorder,
  openRuntime,
  openScenarioFiles,
  openTokens,
  openTracing,
  makeReload,
  makeStore,
  checkDeploymentKey as checkKey,
  openDeploymentKey,
  readKey as readDeploymentKey,
  rotateKey as rotateDeploymentKey,
  readTls,
  shownFacts,
  signInProblem,
  joinMembers,
  refuseUnfinishedCopy,
  reconfigureThread,
  reopenWebhooks,
  spendersIn,
  watchStore,
  type Load,
} from './compose/index.ts'
import { ConfigProblem, loadRecipe, type Builtins, type LoadedConfig } from './config/index.ts'
import { invalid, type Adapter, type ContentStore, type Kind, type Recipe, type ExecutorFact, type Store } from './contract/index.ts'
import { Bodies, makeListener, makeLog, Metrics, openLog, type HttpServices, type LineStyle, type Log } from './http/index.ts'
import { newId, wordsOf } from './kit/index.ts'
import { listenAlone, listenersOf, listenersWanted, openInner } from './listeners/index.ts'
import {
  importInto,
  refuseOriginal,
  refuseUnfinished,
  type ImportServices,
  type ImportProgress,
  type ImportReport,
  type ImportRequest,
} from './reef/index.ts'
import { checkTotals, componentsOf, Registry, type Services } from './scenarios/index.ts'
import { documentsOf, makeProcessHost, makeThreadHost, makeWeightLane } from './training/index.ts'

export interface RunningService {
  readonly address: string
  /** The fingerprint of the key that signs, as it was at the start. */
  readonly key: string
  /** Reads the configuration again, and takes over what a running service can. Never throws: the log says what was done. */
  reload(read: () => Promise<LoadedConfig>): Promise<void>
  close(): Promise<void>
}

export interface ServiceOptions {
  readonly log?: Log | LineStyle
  /** How long answers in flight may take when the service is closed. */
  readonly graceSeconds?: number
  /** False where nobody is served but the agents of its own steps: those have the machine then. */
  readonly trainersGiveWay?: boolean
  /** Replaces the built-in plug-ins, for tests. */
  readonly plugins?: Builtins
  /** Replaces the file that listener threads run, for tests. */
  readonly listenerThread?: URL
}

export async function startService(loaded: LoadedConfig, options: ServiceOptions = {}): Promise<RunningService> {
  const { graceSeconds, plugins = builtins } = options
  const { config } = loaded
  const log = openLog(clock, options.log)
  const load = loaderOf(loaded, plugins)
  const closing: Closing = []
  const close = (): Promise<void> => closeAll(closing, log)
  try {
    const prices = openPrices(loaded)
    const traces = await openTracing(loaded, prices, log)
    // Opened first and closed last, so that it records how everything else ended.
    if (traces !== undefined) closing.push(() => traces.close())
    const tls = await readTls(loaded)
    await checkFolders(loaded)
    const { store, signer, contents } = await openFolders(loaded, load, closing)
    await refuseUnfinishedCopy(store)
    const retention = await watchStore(loaded, store, log)
    closing.push(() => retention.close())
    const [group, metrics] = [newId(), new Metrics()]
    const runtime = await openRuntime(loaded, load, group, store)
    closing.push(() => runtime.close())
    const hosts = openHosts(loaded, closing, options, store)
    const threads = listenersWanted(loaded) + 1
    const limits = allotLimits(loaded, threads)
    const hasOwnPlugins = plugins !== builtins
    const entry = options.listenerThread ?? entryOf('listener-thread')
    const listeners = listenersOf(loaded, { entry, hasOwnPlugins, store, log, metrics, limits, group })
    const warn: Services['warn'] = (message, error) => log.write('warn', 'background_error', { message, error: wordsOf(error) })
    const evaluation = openEvaluation(store, prices)
    const configured = configuredTraffic(loaded, evaluation, limits, store.shares)
    const spent = await keepSpent(loaded, { limits: configured.limits, store, warn })
    closing.push(async () => spent?.close())
    const recorder = await openRecorder(loaded, load)
    closing.push(() => recorder.close())
    // Known once the socket listens; scenarios are bound after that.
    let innerUrl = ''
    const services: Services = {
      store,
      contents,
      runtime,
      files: openScenarioFiles(loaded, store),
      recipes: await loadRecipes(loaded, plugins, log),
      defaultRecipe: config.recipe,
      gateway: await openGateway(loaded, load),
      model: modelOf(loaded),
      recorder,
      clock,
      newId,
      evaluation: (name) => evaluation.address(services.model, innerUrl, name),
      hosts,
      traceStep: traces?.step,
      stepped(scenario, commit) {
        metrics.step(commit)
        logStep(log, scenario, commit)
      },
      warn,
      ...(listeners !== null && { views: listeners }),
    }
    const scenarioLimits = registryLimits(loaded)
    const registry = await Registry.open(services, scenarioLimits)
    closing.push(() => registry.close())
    await joinMembers(loaded, store)
    let webhooks = await openConfiguredWebhooks(loaded, services, log)
    closing.push(async () => webhooks?.close())
    const adapters = adaptersOf(plugins, load, registry)
    const bodies = new Bodies(listeners?.bodies)
    closing.push(() => bodies.close())
    const { tokens, desk } = await openTokens({ loaded, store, auth: configured.auth, listeners, warn })
    closing.push(() => tokens.close())
    const opened = { store, recorder, runtime, registry, tokens, desk, signer, log, metrics, bodies, adapters, traces, webhooks, retention }
    const http: HttpServices = {
      ...configured,
      ...opened,
      ...shownFacts(loaded, tls),
      model: services.model,
      fleet: evaluation.fleet,
      forget: makeForget(loaded, services, registry),
      addAudit: (noted) => store.deployment.addAudit(noted),
      ...(listeners !== null && { listeners }),
    }
    webhooks?.watch(() => spendersIn(http))
    const listener = makeListener(http)
    const server = await (listeners === null
      ? listenAlone(listener, { host: config.svc.host, port: config.svc.port }, { graceSeconds, tls })
      : listeners.open({
          loaded,
          tls,
          graceSeconds,
          relayed: listener,
          view: (name) => registry.view(name),
          ended: (slot) => http.limits.forget(slot),
        }))
    closing.push(() => server.close())
    const inner = await openInner(loaded, server.port, listener)
    closing.push(async () => inner.close())
    innerUrl = inner.address
    const stopping = new AbortController()
    const preloading = registry.preload(stopping.signal)
    closing.push(() => {
      stopping.abort()
      return preloading
    })
    closing.push(() => registry.stopTraining())
    closing.push(async () => runtime.stop?.())
    // Before the steps end: what workers play stays for the gateway that goes on with them.
    closing.push(() => evaluation.fleet.close())
    const reload = makeReload({
      loaded,
      tls,
      log,
      async apply(changed, pair, before) {
        await reconfigureThread({ services: http, runtime, recorder, prices, group }, changed, limits, store.shares)
        services.model = modelOf(changed)
        Object.assign(http, shownFacts(changed, pair), { model: services.model })
        Object.assign(scenarioLimits, registryLimits(changed))
        await server.reconfigure(changed, pair, limits)
        webhooks = await reopenWebhooks(webhooks, before, changed, services, log)
        webhooks?.watch(() => spendersIn(http))
        Object.assign(http, { webhooks })
      },
    })
    return { address: server.address, key: await signer.fingerprint(), reload, close }
  } catch (error) {
    // The operator needs the reason for the failed start, not a failure while closing.
    await close().catch(() => undefined)
    throw error
  }
}

const registryLimits = ({ config: { svc } }: LoadedConfig) => ({
  implicitCreation: svc.allow_implicit_scenario_creation,
  scenariosMax: svc.max_scenarios,
  loadedMax: svc.max_loaded_scenarios,
})

/** What was opened, in order; closed in reverse order. */
type Closing = (() => Promise<void>)[]

/** Closes everything even if something fails, then throws the first failure. */
async function closeAll(closing: Closing, log: Log): Promise<void> {
  const ends = []
  for (const step of closing.toReversed()) ends.push(...(await Promise.allSettled([step()])))
  log.flush()
  const failed = ends.find((end) => end.status === 'rejected')
  if (failed !== undefined) throw failed.reason
}

/** What is on the disk, opened at the same time. When one cannot be opened, the others are closed with the service. */
async function openFolders(
  loaded: LoadedConfig,
  load: Load,
  closing: Closing,
): Promise<Pick<HttpServices, 'store' | 'signer'> & Pick<Services, 'contents'>> {
  // Its thread starts while the rest is loaded.
  const storing = makeStore(loaded, load)
  const opening = [storing, openContents(loaded, load)] as const
  const signing = storing.then((store) => openDeploymentKey(loaded, store))
  // What is opened next. A failure is told when it is opened.
  const recipes = Object.values(loaded.config.recipes).map(({ use }) => load('recipe', use))
  void Promise.allSettled([load('runtime', loaded.upstream.runtime), ...recipes])
  const [stored, kept] = await Promise.allSettled([...opening, signing])
  for (const end of [stored, kept]) if (end.status === 'fulfilled') closing.push(() => end.value.close())
  const [store, contents, signer] = await Promise.all([...opening, signing])
  return { store, contents, signer }
}

/** Opens the configured store alone. Folders of other programs are left untouched. */
export async function openStore(loaded: LoadedConfig, load: Load = loaderOf(loaded, builtins)): Promise<Store> {
  await checkFolders(loaded)
  return makeStore(loaded, load)
}

/** Opens the configured releases alone. */
export const openArtifacts = (loaded: LoadedConfig, load: Load = loaderOf(loaded, builtins)): Promise<ContentStore> =>
  openContents(loaded, load)

export { checkKey, checkTotals, openScenarioFiles, readTls, signInProblem, type ImportRequest }

/** Throws for folders with foreign data or an unfinished import, and for data left in another folder. */
export async function checkFolders(loaded: LoadedConfig): Promise<void> {
  refuseMoved(loaded)
  const { storage } = loaded.config
  await refuseOriginal(storage)
  refuseUnfinished(storage)
}

function refuseMoved({ moved }: LoadedConfig): void {
  if (moved.length > 0) throw new ConfigProblem(moved)
}

export const forgetRecords = (to: LoadedConfig, order: Parameters<typeof forgetIn>[2]) => forgetIn(to, loaderOf(to, builtins), order)

/** The deployment's key, as people see it. */
export const readKey = (loaded: LoadedConfig) => readDeploymentKey(loaded, () => openStore(loaded))

export const rotateKey = (loaded: LoadedConfig) => rotateDeploymentKey(loaded, () => openStore(loaded))

export interface ConfiguredPart {
  readonly name: string
  /** Loads it as a start does; null when it is not a recipe. */
  readonly load: (warn: (message: string) => void) => Promise<Recipe | null>
}

/** For checking a configuration without starting a service. */
export function configuredParts(loaded: LoadedConfig): readonly ConfiguredPart[] {
  const { config, upstream, baseDirectory } = loaded
  const load = loaderOf(loaded, builtins)
  const alone = (kind: Kind, name: string): ConfiguredPart => ({ name: `${kind} ${name}`, load: () => load(kind, name).then(() => null) })
  const recipes = Object.entries(config.recipes).map(([name, { use, ...sections }]) => ({
    name: `recipe ${name}`,
    load: (warn: (message: string) => void) => loadRecipe({ name: use, baseDirectory, label: name }, sections, builtins, warn),
  }))
  return [alone('runtime', upstream.runtime), alone('store', config.storage.record_backend), ...recipes]
}

/** Imports the folders of the original system into the configured ones, while no service runs on them. */
export async function importFolders(loaded: LoadedConfig, request: ImportRequest, progress: ImportProgress): Promise<ImportReport> {
  refuseMoved(loaded)
  const { storage } = loaded.config
  const load = loaderOf(loaded, builtins)
  return importInto(
    {
      storage,
      recipe: await importRecipe(loaded, request.recipe),
      openStore: () => makeStore(loaded, load),
      openContents: () => openContents(loaded, load),
      filesOf: (store) => openScenarioFiles(loaded, store),
      newId,
    },
    request,
    progress,
  )
}

async function importRecipe(loaded: LoadedConfig, wanted: string | null): Promise<ImportServices['recipe']> {
  const name = wanted ?? loaded.config.recipe
  const recipes = await loadRecipes(loaded, builtins, makeLog(clock))
  const configured = recipes.get(name)
  if (configured === undefined)
    throw invalid(
      'unknown_recipe',
      `${JSON.stringify(name)} is no recipe of this configuration; there are: ${[...recipes.keys()].join(', ')}`,
    )
  return { name, recipe: configured.recipe, components: componentsOf(configured) }
}

/** Why episodes cannot be isolated on this machine, or null. */
export async function sandboxProblem(loaded: LoadedConfig): Promise<string | null> {
  return (await (await loaderOf(loaded, builtins)('executor', 'sandbox')).check?.()) ?? null
}

/** What isolates episodes on this machine, line by line. */
export async function sandboxFacts(loaded: LoadedConfig): Promise<readonly ExecutorFact[]> {
  return (await (await loaderOf(loaded, builtins)('executor', 'sandbox')).facts?.()) ?? []
}

function openHosts(
  loaded: LoadedConfig,
  closing: Closing,
  { trainersGiveWay: givesWay = true }: ServiceOptions,
  store: Store,
): Services['hosts'] {
  const open = openDocuments(loaded, store)
  const settings = { threads: loaded.config.svc.training_threads, documents: open && documentsOf(open) }
  const threads = givesWay
    ? makeProcessHost({ ...settings, entry: entryOf('trainers-process') })
    : makeThreadHost({ ...settings, entry: entryOf('trainer-thread') })
  const weights = makeWeightLane(store)
  closing.push(...[threads, weights].map((host) => () => host.close()))
  return { threads, weights }
}

const entryOf = (name: string): URL => new URL(import.meta.url.endsWith('.ts') ? `./${name}.ts` : `./${name}.js`, import.meta.url)

/** Loaded on first use: a service that only records needs none. */
function adaptersOf(plugins: Builtins, load: Load, registry: Registry): HttpServices['adapters'] {
  let all: Promise<ReadonlyMap<string, Adapter>> | null = null
  const loadAll = async (): Promise<ReadonlyMap<string, Adapter>> => {
    const shipped = await Promise.all(Object.keys(plugins.adapter ?? {}).map((name) => load('adapter', name)))
    return new Map([...shipped, ...registry.adapters.values()].map((adapter) => [adapter.name, adapter]))
  }
  return () => (all ??= loadAll())
}
