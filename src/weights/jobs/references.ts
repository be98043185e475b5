/** What other models make of the same tokens: the frozen base, and a teacher. Kept for a step that is tried again, and for no longer. */
import { hash } from 'node:crypto'
import type { JsonObject, Rollout } from '../../contract/index.ts'
import { callsOf, generatedOf, questionOf } from './rows.ts'
import { keepingAlive, letGo } from './session.ts'
import type { LoraConfig, TrainerClient } from './tinker.ts'

export interface Reference {
  readonly model: string
  /** What it has learnt, by the trainer's name for it; null: the model as it is. */
  readonly state: string | null
}
/** For each rollout the log-probabilities of its generated tokens. */
export type AskReference = (
  reference: Reference,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
) => Promise<readonly (readonly number[])[]>

/** There are two of them at the most. */
const KEPT_MAX = 2

/** An adapter that nobody trained changes nothing, so a fresh one answers as the model does. */
export function makeReferences(client: TrainerClient, owner: JsonObject, lora: LoraConfig): AskReference {
  const kept = new Map<string, readonly (readonly number[])[]>()
  return async (reference, rollouts, signal) => {
    const key = hash('sha256', JSON.stringify([reference, rollouts.map(({ tokens, lossMask }) => [tokens, lossMask.length])]))
    const known = kept.get(key)
    if (known !== undefined) return known
    const answer = await ask(client, owner, lora, reference, rollouts, signal)
    kept.set(key, answer)
    for (const oldest of [...kept.keys()].slice(0, -KEPT_MAX)) kept.delete(oldest)
    return answer
  }
}

async function ask(
  client: TrainerClient,
  owner: JsonObject,
  lora: LoraConfig,
  { model: base, state }: Reference,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
): Promise<readonly (readonly number[])[]> {
  const session = await client.createSession(owner, signal)
  return keepingAlive(client, session, signal, async () => {
    const model = await client.createModel(session, base, lora, signal)
    const answers: (readonly number[])[] = []
    try {
      if (state !== null) await client.loadWeights({ model, sequence: 1 }, state, signal)
      for (const [at, call] of callsOf(rollouts).entries()) {
        const pass = { data: call.map(({ tokens }) => questionOf(tokens)), loss: 'cross_entropy', lossConfig: {} } as const
        const { logProbs } = await client.forward({ model, sequence: at + (state === null ? 1 : 2) }, pass, signal)
        answers.push(...logProbs)
      }
    } finally {
      await letGo(client, model, signal)
    }
    return rollouts.map((rollout, at) => generatedOf(answers[at] ?? [], rollout))
  })
}
