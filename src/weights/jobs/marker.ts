/** What a scenario remembers of the job that is out: one small file, so that whoever is killed goes on where it was. */
import { readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import type { Examination } from '../../contract/index.ts'
import { hasCode, writeAtomicFile } from '../../kit/index.ts'
import { trainerMetrics, type TrainerMetrics } from './tinker.ts'

/**
 * RUNNING until there is an export, then CHECKPOINT; EXAMINED or REJECTED once it was judged. Nothing is written when the row lands: the
 * next job is another one, and that is how the latest is known to be over.
 */
export interface Marker {
  readonly job: string
  readonly status: 'RUNNING' | 'CHECKPOINT' | 'EXAMINED' | 'REJECTED'
  readonly session?: string
  readonly model_id?: string
  /** Since its optimizer step: what only the model in the trainer's memory could say again. */
  readonly trained?: Trained
  readonly examination?: Examination
}
export interface Trained {
  readonly metrics: TrainedMetrics
  readonly probe: { readonly tokens: readonly number[]; readonly log_probs: readonly number[] }
}

/** The last one is what the trainer says of itself. */
type TrainedMetrics = Readonly<Record<'loss' | 'optimizer_steps' | 'tokens_trained', number>> & { readonly trainer: TrainerMetrics }

export interface MarkerFile {
  /** Null: there is none, or none that can be read. Then the job is begun again, which is always safe. */
  read(): Promise<Marker | null>
  write(marker: Marker): Promise<void>
}

export function markerIn(directory: string): MarkerFile {
  const path = join(directory, 'weights', 'job.json')
  return {
    async read() {
      const text = await readFile(path, 'utf8').catch(unlessMissing)
      if (text === null) return null
      const marker = parsed(text)
      // Kept for whoever wants to know what happened, and out of the way.
      if (marker === null) await rename(path, `${path}.unreadable`)
      return marker
    },
    write: (marker) => writeAtomicFile(path, `${JSON.stringify(marker)}\n`),
  }
}

function unlessMissing(error: unknown): null {
  if (hasCode(error, 'ENOENT')) return null
  throw error
}

function parsed(text: string): Marker | null {
  try {
    return schema.parse(JSON.parse(text))
  } catch {
    return null
  }
}

const metrics = z.object({ loss: z.number(), optimizer_steps: z.number(), tokens_trained: z.number(), trainer: trainerMetrics })
const probe = z.object({ tokens: z.array(z.number()), log_probs: z.array(z.number()) })
const schema: z.ZodType<Marker> = z.object({
  job: z.string(),
  status: z.enum(['RUNNING', 'CHECKPOINT', 'EXAMINED', 'REJECTED']),
  session: z.string().exactOptional(),
  model_id: z.string().exactOptional(),
  trained: z.object({ metrics, probe }).exactOptional(),
  examination: z.object({ select: z.boolean(), metrics: z.record(z.string(), z.json()).exactOptional() }).exactOptional(),
})
