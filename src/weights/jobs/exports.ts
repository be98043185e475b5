/** The adapters of a scenario's jobs on this machine: their parent, where they lie, how they are fetched and removed. */
import { readdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { ADAPTER_CONFIG_FILE, conflict, upstream, type Files, type ModelShape, type Release } from '../../contract/index.ts'
import { buildExport, findExport as findExportIn } from '../formats/export.ts'
import { ADAPTER_WEIGHTS } from '../formats/peft.ts'
import { PROVENANCE, readProvenance } from '../formats/provenance.ts'
import type { WeightJob } from './job-id.ts'
import type { Trained } from './marker.ts'
import { statePath, type TrainerClient } from './tinker.ts'

const EXPORTS = join('weights', 'exports')

export interface Parent {
  readonly release_id: string
  readonly job: string | null
  /** The trainer's name for its adapter and optimizer state; null: the untrained base. */
  readonly trainerState: string | null
  readonly optimizerSteps: number
  readonly weightsDigest: string | null
}

/** The served release, by its provenance. */
export function parentOf({ release_id }: Release, files: Files): Parent {
  const text = files[PROVENANCE]
  if (text !== undefined) {
    const { job, trainer_state: trainerState, optimizer_steps: optimizerSteps, files: digests } = readProvenance(text)
    return { release_id, job, trainerState, optimizerSteps, weightsDigest: digests[ADAPTER_WEIGHTS] ?? null }
  }
  // Training from the base instead would silently discard what that adapter learnt.
  if (files[ADAPTER_CONFIG_FILE] !== undefined)
    throw conflict(
      'no_trainer_state',
      `release ${release_id} is an adapter that no trainer has the state of, so it cannot be trained on; roll back to a release that was trained here, or to the base`,
    )
  return { release_id, job: null, trainerState: null, optimizerSteps: 0, weightsDigest: null }
}

export interface ExportPlace {
  readonly client: TrainerClient
  readonly scenario: string
  readonly directory: string
  /** Of the base; null where the engine reads no GGUF. */
  readonly shape: ModelShape | null
  readonly objective: string
  readonly parent: Parent
  readonly signal: AbortSignal
}

type Checked = NonNullable<Awaited<ReturnType<typeof findExportIn>>>

/** From the scenario's directory on. */
export const exportPath = (job: string): string => join(EXPORTS, job)

/** Null when it is not there, or not whole. */
export const findExport = ({ id, base }: Pick<WeightJob, 'id' | 'base'>, { directory, shape }: ExportPlace): Promise<Checked | null> =>
  findExportIn({
    directory: join(directory, exportPath(id)),
    shape,
    provenance: { job: id, base_model: base.name, base_digest: base.digest },
  })

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
    probe: {
      tokens: [...probe.tokens],
      log_probs: [...probe.log_probs],
      ...(probe.base_log_probs !== undefined && { base_log_probs: [...probe.base_log_probs] }),
    },
  }
  await buildExport({ archive, directory: join(place.directory, exportPath(job.id)), shape, provenance })
  const found = await findExport(job, place)
  if (found === null) throw upstream('bad_export', 'the adapter that the trainer saved is not an adapter of the base model of its job')
  return found
}

/** A trainer may ignore settings that it does not know. */
export function assertOrdered({ adapter }: Checked, { lora: { rank, alpha } }: WeightJob): void {
  if (adapter.rank !== rank)
    throw upstream('bad_export', `the adapter that the trainer saved has rank ${adapter.rank}, and ${rank} was asked for`)
  if (alpha !== undefined && adapter.scale !== alpha / rank)
    throw upstream('bad_export', 'the adapter that the trainer saved has another alpha than was asked for: leave training.lora_alpha out')
}

/** A candidate equal to what is served would be published as if it had learnt something. */
export function assertChanged({ adapter, provenance }: Checked, { trainerState, weightsDigest }: Parent): void {
  // An adapter whose second halves are all zero adds nothing to the base.
  const isBase = adapter.pairs.every(({ b }) => b.every((value) => value === 0))
  const isSame = trainerState === null ? isBase : provenance.files[ADAPTER_WEIGHTS] === weightsDigest
  if (isSame)
    throw upstream('nothing_changed', 'the optimizer step changed no weight: look at the learning rate, and at what the trainer trains')
}

/** Earlier exports are kept as checkpoints or cannot be restored; some were left unfinished. */
export async function pruneExports(directory: string, keep: readonly (string | null)[]): Promise<void> {
  const folder = join(directory, EXPORTS)
  const rest = (await readdir(folder)).filter((name) => !keep.includes(name))
  await Promise.all(rest.map((name) => rm(join(folder, name), { recursive: true, force: true })))
}
