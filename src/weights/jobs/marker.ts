/** The marker of a scenario's current job: one small file, so that a killed process continues where it was. */
import { z } from 'zod'
import type { Documents, Examination } from '../../contract/index.ts'
import { parsed } from '../../dialects/index.ts'
import { trainerMetrics } from './tinker.ts'

const numbers = z.array(z.number()).readonly()
const trainedSchema = z.object({
  metrics: z.object({ loss: z.number(), optimizer_steps: z.number(), tokens_trained: z.number(), trainer: trainerMetrics }),
  probe: z.object({ tokens: numbers, log_probs: numbers, base_log_probs: numbers.exactOptional() }),
})
const examination: z.ZodType<Examination> = z.object({ select: z.boolean(), metrics: z.record(z.string(), z.json()).exactOptional() })
const schema = z.object({
  job: z.string(),
  /**
   * RUNNING until there is an export, then CHECKPOINT; EXAMINED or REJECTED after the examination. Nothing is written when the row lands:
   * another job shows that this one is over.
   */
  status: z.enum(['RUNNING', 'CHECKPOINT', 'EXAMINED', 'REJECTED']),
  session: z.string().exactOptional(),
  model_id: z.string().exactOptional(),
  /** Whether the trainer recognises repeated calls by their numbers. */
  numbered: z.boolean().exactOptional(),
  /** Since the optimizer step: numbers that only the model in the trainer's memory could repeat. */
  trained: trainedSchema.exactOptional(),
  examination: examination.exactOptional(),
})

export type Marker = Readonly<z.infer<typeof schema>>
export type Trained = z.infer<typeof trainedSchema>

export interface MarkerFile {
  /** Null when there is none, or none that can be read. Then the job starts again, which is always safe. */
  read(): Promise<Marker | null>
  write(marker: Marker): Promise<void>
}

const PATH = 'weights/job.json'

export const markerIn = (documents: Documents): MarkerFile => ({
  async read() {
    const bytes = await documents.read(PATH)
    if (bytes === null) return null
    const { data = null } = schema.safeParse(parsed(Buffer.from(bytes).toString()))
    if (data === null) await documents.move(PATH, `${PATH}.unreadable`)
    return data
  },
  async write(marker) {
    await documents.write(PATH, `${JSON.stringify(marker)}\n`)
  },
})
