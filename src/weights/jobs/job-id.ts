/** A training job, named by the hash of its content, so that the same rows are the same job after any restart. */
import { hash } from 'node:crypto'
import { canonicalJson, type Loss } from '../../contract/index.ts'
import type { AdamParams, LoraConfig } from './tinker.ts'

export interface WeightJob extends JobContent {
  readonly id: string
}
/** Without batch, step or owner, which change after a restart. */
export interface JobContent {
  readonly base: { readonly name: string; readonly digest: string | null }
  /** The trainer's name for the adapter and optimizer state it branches from; null: the untrained base. */
  readonly parentState: string | null
  readonly lora: LoraConfig
  readonly loss: Loss
  readonly lossConfig: Readonly<Record<string, number>>
  readonly adam: AdamParams
  readonly rows: readonly Row[]
}
/** Everything but `tokens` and the ids is per generated token. */
export interface Row {
  readonly record_ids: readonly string[]
  readonly tokens: readonly number[]
  readonly lossMask: readonly (0 | 1)[]
  /** Empty where the loss has no ratio. */
  readonly logProbs: readonly number[]
  readonly advantages: readonly number[]
}

export function jobOf(content: JobContent): WeightJob {
  const { base, parentState, lora, loss, lossConfig, adam, rows } = content
  const made = {
    base_model: base.name,
    base_digest: base.digest,
    parent: { trainer_state: parentState },
    lora_config: { ...lora },
    loss: { name: loss, config: lossConfig },
    adam_params: { ...adam },
    rows: rows.map(({ record_ids, tokens, lossMask, logProbs, advantages }) => ({
      record_ids,
      tokens,
      loss_mask: lossMask,
      log_probs: logProbs,
      advantages,
    })),
  }
  return { ...content, id: hash('sha256', canonicalJson(made)) }
}
