/** What a trainer holds for somebody is held as long as they say that they are there. */
import type { Marker } from './marker.ts'
import type { TrainerClient } from './tinker.ts'

const HEARTBEAT_SECONDS = 10
const FAREWELL_SECONDS = 5

export async function keepingAlive<T>(client: TrainerClient, session: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
  // One that is lost is nothing: should the trainer be gone, the calls beside it say so.
  const beat = (): void => void client.heartbeat(session, signal).catch(() => undefined)
  const timer = setInterval(beat, HEARTBEAT_SECONDS * 1000)
  try {
    return await work()
  } finally {
    clearInterval(timer)
  }
}

/** A courtesy: a trainer that does not hear it lets the model go with its session. */
export async function letGo(client: TrainerClient, model: string, signal: AbortSignal): Promise<void> {
  const soon = AbortSignal.any([signal, AbortSignal.timeout(FAREWELL_SECONDS * 1000)])
  await client.unload(model, soon).catch(() => undefined)
}

/**
 * A job that is over is not fetched again, so its adapter may go; its state too when nothing was published of it. The state of what was is
 * kept for good: whoever rolls back to it goes on from there.
 */
export async function clearAway({ job, status, model_id: model }: Marker, client: TrainerClient, signal: AbortSignal): Promise<void> {
  if (model === undefined) return
  const soon = AbortSignal.any([signal, AbortSignal.timeout(FAREWELL_SECONDS * 1000)])
  if (status === 'RUNNING') await letGo(client, model, soon)
  const kinds = status === 'RUNNING' || status === 'REJECTED' ? (['sampler_weights', 'weights'] as const) : (['sampler_weights'] as const)
  for (const kind of kinds) await client.discard(model, kind, job, soon).catch(() => undefined)
}
