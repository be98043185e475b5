/** The state of the service: readiness, training, serving, storage, and metrics for a monitor. */
import {
  unknown,
  type Commit,
  type Configuration,
  type Health,
  type JsonObject,
  type Refusal,
  type ScenarioStatus,
  type SentAgain,
  type ServiceStatus,
  type Store,
} from '../../contract/index.ts'
import { retryWebhooksBodySchema } from '../../contract/wire/index.ts'
import { dataWithoutKnownSecrets } from '../../kit/index.ts'
import { checkShape } from '../../records/index.ts'
import type { Scenario } from '../../scenarios/index.ts'
import { noteChange } from './audit.ts'
import type { HttpContext } from '../context.ts'
import { refuseAgents, rowFor } from './held-out.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'

/** A service that cannot store records is not ready. The reason is shown to holders of a token alone. */
export async function health({ services: { store, listeners } }: HttpContext): Promise<HttpReply> {
  const trouble = await troubleOf(store)
  if (trouble !== null) return { ...liveJson({ ok: false }), status: 503 }
  const { live = 0, wanted = 0 } = listeners?.counts() ?? {}
  return liveJson({ ok: true, ...(live < wanted && { listeners: { live, wanted } }) } satisfies Health)
}

const troubleOf = async ({ writing }: Store): Promise<Refusal | null> => (await writing?.check()) ?? null

export async function status(context: HttpContext): Promise<HttpReply> {
  const { registry, store, runtime, retention, webhooks } = context.services
  const trouble = await troubleOf(store)
  const rows: [string, ServiceStatus['scenarios'][string]][] = []
  const errors: string[] = []
  for (const scenario of registry.allLoaded) {
    errors.push(...scenario.errors())
    rows.push([scenario.name, await readStatus(scenario, context)])
  }
  const state = {
    error: errors.length === 0 ? null : errors.join('\n'),
    preload_errors: registry.preloadErrors(),
    last_drain_at: registry.lastDrainAt,
    scenarios: Object.fromEntries(rows),
    serving: await runtime.status(),
    training_job: registry.trainingJob(),
    ...(webhooks !== undefined && { webhooks: (await webhooks.states()).map(webhookStatus) }),
    storage: {
      ...(await store.usage()),
      error: trouble === null ? null : { code: trouble.code, message: trouble.message },
      ...(retention.heldUntil !== null && { retention_held_until: retention.heldUntil }),
    },
  } satisfies ServiceStatus
  // Engines, trainers and stores say what they like.
  return liveJson(dataWithoutKnownSecrets(state))
}

const webhookStatus = ({ setAside, isDelivering, ...counts }: WebhookState): NonNullable<ServiceStatus['webhooks']>[number] => ({
  ...counts,
  delivering: isDelivering,
  set_aside: setAside,
})
type WebhookState = Awaited<ReturnType<NonNullable<HttpContext['services']['webhooks']>['states']>>[number]

/** Has what targets refused sent to them once more. */
export async function retryWebhooks(context: HttpContext): Promise<HttpReply> {
  const { webhooks } = context.services
  checkShape(retryWebhooksBodySchema, await context.readObject())
  if (webhooks === undefined) throw unknown('no_webhooks', 'this service has no webhooks; configure a target under webhooks')
  const set_aside = await webhooks.sendAgain()
  await noteChange(context, { scenario: null, target: null, before: null, after: { set_aside } })
  return json({ set_aside } satisfies SentAgain)
}

/** Serialized apart, so that one broken recipe does not hide the others. */
async function readStatus(scenario: Scenario, context: HttpContext): Promise<ServiceStatus['scenarios'][string]> {
  try {
    const printed: ScenarioStatus = JSON.parse(JSON.stringify(await scenarioStatus(scenario, context)))
    return printed
  } catch {
    return { error: `recipe ${scenario.recipeName} has a status that is not JSON; fix its processor's status()` }
  }
}

async function scenarioStatus(scenario: Scenario, context: HttpContext): Promise<ScenarioStatus> {
  const { workers, history, leading } = scenario
  const lost = await scenario.store.losses()
  const weights = scenario.surface.weights?.status()
  const losses = { record_data_incomplete: true, evicted_record_count: lost.records, evicted_body_bytes: lost.bytes }
  return {
    scenario_step: history.step,
    last_committed_step: committedStep(history.lastTrained, context),
    current_runtime_load_id: weights?.runtime_load_id ?? null,
    ...(weights !== undefined && { adapter_runtime_load_id: weights.adapter_runtime_load_id, trainer: weights.trainer }),
    checkpoint_storage: null,
    batch_ready: leading?.isReady ?? false,
    training_mode: scenario.trainingMode,
    processor: { ...processorStatus(scenario), ...(lost.records > 0 && losses) },
    inference_admission: weights?.admission ?? null,
    ...provisionalStatus(scenario),
    ...(workers.length > 1 && {
      components: Object.fromEntries(workers.map((worker) => [worker.component, componentStatus(scenario, worker, context)])),
    }),
  }
}

function provisionalStatus({ history, provisional: served, liveTest }: Scenario): Pick<ScenarioStatus, 'provisional'> {
  if (history.provisional === null) return {}
  const { row, gain } = history.provisional
  const live_scores = liveTest?.summary() ?? null
  return { provisional: { release_id: row.release.release_id, step: row.step, gain, canary_share: served?.share ?? null, live_scores } }
}

/** Instructions belong to the scenario, whichever trainer takes them. */
function processorStatus({ leading, processors, pendingInstructions }: Scenario): JsonObject {
  if (leading === undefined) return processors[0]?.[1].status() ?? {}
  return { ...leading.status(), buffered_requests: pendingInstructions, pending_instructions: pendingInstructions }
}

type TrainerStatus = NonNullable<ScenarioStatus['components']>[string]

function componentStatus({ trainingMode, history }: Scenario, worker: Scenario['workers'][number], context: HttpContext): TrainerStatus {
  return {
    batch_ready: worker.isReady,
    training_mode: trainingMode,
    processor: worker.status(),
    last_committed_step: committedStep(history.latest(worker.component) ?? null, context),
  }
}

/** The latest step that trained; a promote or rollback after it is a step, but does not replace it. */
function committedStep(last: Commit | null, context: HttpContext): ScenarioStatus['last_committed_step'] {
  return last === null ? null : rowFor(context, { step: last.step, recorded_at: last.recorded_at, metrics: last.metrics })
}

/** Tasks may stand in it. Parts of it are for plug-ins and hold what they like: secrets that are known are taken out once more. */
export function configuration(context: HttpContext): HttpReply {
  refuseAgents(context)
  const { configuration: read, registry } = context.services
  const { keys, upstream, recipes } = read
  const adapterOf = (name: string): Pick<Configuration['recipes'][number], 'adapter'> => {
    const adapter = registry.adapters.get(name)
    return adapter === undefined ? {} : { adapter: adapter.name }
  }
  const shown: Configuration = JSON.parse(
    JSON.stringify({ keys, recipes: recipes.map((name) => ({ name, ...adapterOf(name) })), upstream }),
  )
  return liveJson(dataWithoutKnownSecrets(shown))
}

export async function metrics({
  services: { registry, store, metrics: counted, traces, log, bodies, listeners, certificateExpiresAt, webhooks, retention, fleet },
}: HttpContext): Promise<HttpReply> {
  await listeners?.report()
  const { length: known } = await registry.names()
  const loaded = registry.allLoaded
  const workers = loaded.flatMap((scenario) => scenario.workers)
  const body = counted.print(
    await store.usage(),
    (await troubleOf(store)) === null,
    {
      known,
      loaded: loaded.length,
      training: workers.filter(({ live }) => live !== null).length,
      waiting: workers.filter(({ isWaiting }) => isWaiting).length,
    },
    {
      logLinesDropped: log.dropped ?? 0,
      bodyBytes: bodies.budget.bytes,
      certificateExpiresAt,
      isRetentionHeld: retention.heldUntil !== null,
    },
    traces && withThreads(traces.spans, listeners?.spans()),
    listeners?.counts(),
    webhooks?.counts(),
    await fleet.status().catch(() => undefined),
  )
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body }
}

type SpanNumbers = NonNullable<HttpContext['services']['traces']>['spans']

const withThreads = (own: SpanNumbers, others: SpanNumbers = { exported: 0, dropped: 0 }): SpanNumbers => ({
  exported: own.exported + others.exported,
  dropped: own.dropped + others.dropped,
})
