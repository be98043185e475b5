/** What a candidate branches from: the served release, as its provenance tells it. */
import { ADAPTER_CONFIG_FILE, conflict, type Files, type Release } from '../../contract/index.ts'
import { ADAPTER_WEIGHTS } from '../formats/peft.ts'
import { PROVENANCE, readProvenance } from '../formats/provenance.ts'

export interface Parent {
  readonly release_id: string
  readonly job: string | null
  /** The trainer's name for its adapter and optimizer state; null: the base, with nothing trained. */
  readonly trainerState: string | null
  readonly optimizerSteps: number
  /** Of the adapter's weights. */
  readonly weightsDigest: string | null
}

export function parentOf({ release_id }: Release, files: Files): Parent {
  const text = files[PROVENANCE]
  if (text === undefined) {
    // Going on from the base instead would silently throw away what that adapter knows.
    if (files[ADAPTER_CONFIG_FILE] !== undefined) throw foreign(release_id)
    return { release_id, job: null, trainerState: null, optimizerSteps: 0, weightsDigest: null }
  }
  const { job, trainer_state, optimizer_steps, files: digests } = readProvenance(text)
  return { release_id, job, trainerState: trainer_state, optimizerSteps: optimizer_steps, weightsDigest: digests[ADAPTER_WEIGHTS] ?? null }
}

function foreign(release: string): Error {
  const cure = 'roll back to a release that was trained here, or to the base'
  return conflict(
    'no_trainer_state',
    `release ${release} is an adapter that no trainer has the state of, so it cannot be trained on; ${cure}`,
  )
}
