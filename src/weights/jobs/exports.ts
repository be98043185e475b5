/** The adapters of a scenario's jobs on this machine: where they lie, how they come here, and when nobody needs them any more. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { isRefusal, upstream, type ModelShape } from '../../contract/index.ts'
import { ADAPTER_GGUF } from '../formats/adapter-gguf.ts'
import { buildExport } from '../formats/export.ts'
import { ADAPTER_WEIGHTS, type PeftAdapter } from '../formats/peft.ts'
import { checkAdapter, type Provenance } from '../formats/provenance.ts'
import type { WeightJob } from './job-id.ts'
import type { Trained } from './marker.ts'
import type { Parent } from './parent.ts'
import { statePath, type TrainerClient } from './tinker.ts'

const EXPORTS = join('weights', 'exports')

/** Where a job's adapter comes from and goes to. */
export interface ExportPlace {
  readonly client: TrainerClient
  readonly scenario: string
  /** The scenario's own. */
  readonly directory: string
  /** Of the base; null where the engine reads no GGUF. */
  readonly shape: ModelShape | null
  readonly objective: string
  readonly parent: Parent
  readonly signal: AbortSignal
}

export interface Checked {
  readonly adapter: PeftAdapter
  readonly provenance: Provenance
}

/** From the scenario's directory on. */
export const exportPath = (job: string): string => join(EXPORTS, job)

/** Null when it is not there, or not whole. */
export async function findExport({ id, base }: Pick<WeightJob, 'id' | 'base'>, { directory, shape }: ExportPlace): Promise<Checked | null> {
  try {
    const { adapter, provenance } = await checkAdapter(join(directory, exportPath(id)), base)
    const isIt = provenance?.job === id && (shape === null || provenance.files[ADAPTER_GGUF] !== undefined)
    return isIt ? { adapter, provenance } : null
  } catch (error) {
    if (isRefusal(error)) return null
    throw error
  }
}

export async function fetchExport(job: WeightJob, model: string, { metrics, probe }: Trained, place: ExportPlace): Promise<Checked> {
  const { client, scenario, shape, objective, parent, signal } = place
  const archive = Readable.from(await client.archive(model, job.id, signal))
  const provenance = {
    scenario,
    job: job.id,
    base_model: job.base.name,
    base_digest: job.base.digest,
    parent: { release_id: parent.release_id, job: parent.job },
    trainer_state: statePath(model, job.id),
    objective,
    optimizer_steps: parent.optimizerSteps + 1,
    metrics: { ...metrics },
    probe: { tokens: [...probe.tokens], log_probs: [...probe.log_probs] },
  }
  await buildExport({ archive, directory: join(place.directory, exportPath(job.id)), shape, provenance })
  const found = await findExport(job, place)
  if (found === null) throw upstream('bad_export', 'the adapter that the trainer saved is not one of the base model it was told to train')
  return found
}

/** A candidate that is what is served already would be published as if something had been learnt. */
export function assertChanged({ adapter, provenance }: Checked, { trainerState, weightsDigest }: Parent): void {
  // An adapter whose second halves are all zero adds nothing to the base.
  const isBase = adapter.pairs.every(({ b }) => b.every((value) => value === 0))
  const isSame = trainerState === null ? isBase : provenance.files[ADAPTER_WEIGHTS] === weightsDigest
  if (isSame)
    throw upstream('nothing_changed', 'the optimizer step changed no weight: look at the learning rate, and at what the trainer trains')
}

/** Whatever else lies there is nobody's: earlier ones are kept as checkpoints or cannot be restored, and some were left half made. */
export async function pruneExports(directory: string, keep: readonly string[]): Promise<void> {
  const folder = join(directory, EXPORTS)
  const rest = (await readdir(folder)).filter((name) => !keep.includes(name))
  await Promise.all(rest.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
