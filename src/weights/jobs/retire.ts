/** A scenario that is deleted leaves nothing behind at the trainer: the model of a job that was still out is let go of. */
import type { MarkerFile } from './marker.ts'
import { letGo } from './session.ts'
import type { TrainerClient } from './tinker.ts'

export async function retireJob(client: TrainerClient, marker: MarkerFile, signal: AbortSignal): Promise<void> {
  const known = await marker.read()
  if (known?.status === 'RUNNING' && known.model_id !== undefined) await letGo(client, known.model_id, signal)
}
