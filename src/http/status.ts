/** How the service is: readiness, training, serving and storage state, and numbers for a monitor. */
import type { Json, JsonObject } from '../contract/index.ts'
import type { Scenario } from '../scenarios/index.ts'
import { json, liveJson, type Asked, type Reply } from './reply.ts'

export function health(): Reply {
  return json({ ok: true })
}

export async function status({ door: { registry, store, runtime } }: Asked): Promise<Reply> {
  const rows: [string, Json][] = []
  for (const name of registry.names()) {
    const scenario = registry.loaded(name)
    if (scenario !== undefined) rows.push([name, await scenarioStatus(scenario)])
  }
  return liveJson({
    error: null,
    preload_errors: registry.preloadErrors(),
    last_drain_at: null,
    scenarios: Object.fromEntries(rows),
    serving: await runtime.status(),
    training_job: null,
    storage: { ...(await store.usage()) },
  })
}

async function scenarioStatus(scenario: Scenario): Promise<JsonObject> {
  const [, processor] = scenario.processors[0] ?? []
  const lost = await scenario.store.losses()
  const losses = { record_data_incomplete: true, evicted_record_count: lost.records, evicted_body_bytes: lost.bytes }
  return {
    scenario_step: scenario.commits.at(-1)?.step ?? 0,
    last_committed_step: lastTrainingStep(scenario),
    current_runtime_load_id: null,
    checkpoint_storage: null,
    batch_ready: false,
    training_mode: scenario.trainingMode,
    processor: { ...processor?.status(), ...(lost.records > 0 && losses) },
    inference_admission: null,
  }
}

/** The latest step that trained; a promote or rollback after it is a step, but does not replace it. */
function lastTrainingStep({ commits }: Scenario): JsonObject | null {
  const last = commits.findLast(({ operation }) => operation === 'train')
  return last === undefined ? null : { step: last.step, recorded_at: last.recorded_at, metrics: last.metrics }
}

export async function metrics({ door }: Asked): Promise<Reply> {
  const names = door.registry.names()
  const loaded = names.filter((name) => door.registry.loaded(name) !== undefined).length
  const body = door.metrics.print(await door.store.usage(), { known: names.length, loaded })
  return { status: 200, headers: { 'content-type': 'text/plain; version=0.0.4; charset=utf-8' }, body }
}
