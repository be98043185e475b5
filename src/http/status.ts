/** How the service is: readiness, training, serving and storage state, and numbers for a monitor. */
import type { Commit, Json, JsonObject, Refusal, Store } from '../contract/index.ts'
import type { Scenario } from '../scenarios/index.ts'
import type { HttpContext } from './context.ts'
import { liveJson, type HttpReply } from './reply.ts'

/** Ready is who takes requests: a service that cannot keep what it answers is not. Why is for those who have a token. */
export async function health({ services: { store } }: HttpContext): Promise<HttpReply> {
  const trouble = await troubleOf(store)
  return trouble === null ? liveJson({ ok: true }) : { ...liveJson({ ok: false }), status: 503 }
}

const troubleOf = async ({ writing }: Store): Promise<Refusal | null> => (await writing?.check()) ?? null

export async function status({ services: { registry, store, runtime } }: HttpContext): Promise<HttpReply> {
  const trouble = await troubleOf(store)
  const rows: [string, Json][] = []
  const errors: string[] = []
  for (const name of registry.names()) {
    const scenario = registry.loaded(name)
    if (scenario === undefined) continue
    errors.push(...scenario.errors())
    rows.push([name, await readStatus(scenario)])
  }
  return liveJson({
    error: errors.length === 0 ? null : errors.join('\n'),
    preload_errors: registry.preloadErrors(),
    last_drain_at: registry.lastDrainAt,
    scenarios: Object.fromEntries(rows),
    serving: await runtime.status(),
    training_job: registry.trainingJob(),
    storage: { ...(await store.usage()), error: trouble === null ? null : { code: trouble.code, message: trouble.message } },
  })
}

/** Printed on its own: one recipe's trouble hides nobody else's status. */
async function readStatus(scenario: Scenario): Promise<JsonObject> {
  try {
    const printed: JsonObject = JSON.parse(JSON.stringify(await scenarioStatus(scenario)))
    return printed
  } catch {
    return { error: `recipe ${scenario.recipeName} says nothing that can be shown; mend its processor's status` }
  }
}

async function scenarioStatus(scenario: Scenario): Promise<JsonObject> {
  const { workers, history, leading } = scenario
  const lost = await scenario.store.losses()
  const weights = scenario.surface.weights?.status()
  const losses = { record_data_incomplete: true, evicted_record_count: lost.records, evicted_body_bytes: lost.bytes }
  return {
    scenario_step: history.step,
    last_committed_step: committedStep(history.lastTrained),
    current_runtime_load_id: weights?.runtime_load_id ?? null,
    ...(weights !== undefined && { adapter_runtime_load_id: weights.adapter_runtime_load_id }),
    checkpoint_storage: null,
    batch_ready: leading?.isReady ?? false,
    training_mode: scenario.trainingMode,
    processor: { ...processorStatus(scenario), ...(lost.records > 0 && losses) },
    inference_admission: weights?.admission ?? null,
    ...(workers.length > 1 && {
      components: Object.fromEntries(workers.map((worker) => [worker.component, componentStatus(scenario, worker)])),
    }),
  }
}

/** Instructions are the scenario's, whichever of its trainers takes them. */
function processorStatus({ leading, processors, pendingInstructions }: Scenario): JsonObject {
  if (leading === undefined) return processors[0]?.[1].status() ?? {}
  return { ...leading.status(), buffered_requests: pendingInstructions, pending_instructions: pendingInstructions }
}

function componentStatus({ trainingMode, history }: Scenario, worker: Scenario['workers'][number]): JsonObject {
  return {
    batch_ready: worker.isReady,
    training_mode: trainingMode,
    processor: worker.status(),
    last_committed_step: committedStep(history.latest(worker.component) ?? null),
  }
}

/** The latest step that trained; a promote or rollback after it is a step, but does not replace it. */
function committedStep(last: Commit | null): JsonObject | null {
  return last === null ? null : { step: last.step, recorded_at: last.recorded_at, metrics: last.metrics }
}

export async function metrics({ services: { registry, store, metrics: counted, traces, log, bodies } }: HttpContext): Promise<HttpReply> {
  const names = registry.names()
  const loaded = names.flatMap((name) => registry.loaded(name) ?? [])
  const workers = loaded.flatMap((scenario) => scenario.workers)
  const body = counted.print(
    await store.usage(),
    (await troubleOf(store)) === null,
    {
      known: names.length,
      loaded: loaded.length,
      training: workers.filter(({ live }) => live !== null).length,
      waiting: workers.filter(({ isWaiting }) => isWaiting).length,
    },
    { logLinesDropped: log.dropped ?? 0, bodyBytes: bodies.budget.bytes },
    traces?.spans,
  )
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body }
}
