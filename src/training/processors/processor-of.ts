/** Makes the processor that a recipe's configuration describes. */
import { z } from 'zod'
import { invalid, type JsonObject, type Processor, type TrainingMode } from '../../contract/index.ts'
import { checkShape } from '../../records/index.ts'
import { recordsProcessor } from './records.ts'
import type { GroupOf } from './groups.ts'
import { reportedProcessor } from './reported.ts'

const SIZE_RULE = 'must be a whole number of at least 1'
const sections = z.object({
  data: z.object({ batch_policy: z.enum(['reports', 'records'], { error: "must be 'reports' or 'records'" }).optional() }).optional(),
  pipeline: z
    .object({
      task2batch: z
        .object({ config: z.object({ batch_size: z.int({ error: SIZE_RULE }).min(1, { error: SIZE_RULE }).optional() }).optional() })
        .optional(),
    })
    .optional(),
})

export interface ProcessorOptions {
  readonly name: string
  readonly modes?: readonly TrainingMode[]
  readonly group?: GroupOf
}

export function processorOf(config: JsonObject, { group, ...options }: ProcessorOptions): Processor {
  const { data, pipeline } = checkShape(sections, config)
  const batchSize = pipeline?.task2batch?.config?.batch_size ?? 1
  const policy = data?.batch_policy ?? 'reports'
  if (policy === 'reports') return reportedProcessor({ ...options, batchSize, ...(group && { group }) })
  if (group) throw invalid('invalid_field', "data.batch_policy: must be 'reports', because this recipe collects reports in groups")
  return recordsProcessor({ ...options, batchSize })
}

/** Trains nothing: the processor of scenarios that only keep records. */
export function keepOnly(name: string): Processor {
  return {
    name,
    modes: ['auto'],
    requestTypes: [],
    reads: [],
    ingest: () => null,
    next: () => ({ samples: [], ready: false }),
    settle: () => [],
    status: () => ({}),
  }
}
