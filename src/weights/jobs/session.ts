/** Sessions at the trainer: kept alive by heartbeats, and cleaned up when a job is over. */
import type { Marker } from './marker.ts'
import type { TrainerClient } from './tinker.ts'

const HEARTBEAT_SECONDS = 10
const FAREWELL_SECONDS = 5

export async function keepingAlive<T>(client: TrainerClient, session: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // A lost heartbeat does not matter: if the trainer is gone, the calls fail.
  const beat = (): void => void client.heartbeat(session, signal).catch(() => undefined)
  const timer = setInterval(beat, HEARTBEAT_SECONDS * 1000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** Best effort: otherwise the trainer unloads the model with its session. */
export async function letGo(client: TrainerClient, model: string, signal: AbortSignal): Promise<void> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(FAREWELL_SECONDS * 1000)])
  await client.unload(model, soon).catch(() => undefined)
}

/** Deletes the adapter of a finished job; its state too unless it was published, since a rollback continues from that. */
export async function clearAway({ job, status, model_id: model }: Marker, client: TrainerClient, signal: AbortSignal): Promise<void> {
  if (model === undefined) return
  const soon = AbortSignal.any([signal, AbortSignal.timeout(FAREWELL_SECONDS * 1000)])
  if (status === 'RUNNING') await letGo(client, model, soon)
  const kinds = status === 'RUNNING' || status === 'REJECTED' ? (['sampler_weights', 'weights'] as const) : (['sampler_weights'] as const)
  for (const kind of kinds) await client.discard(model, kind, job, soon).catch(() => undefined)
}
