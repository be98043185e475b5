/** The answers of a scenario, token by token, as the engine and the trainer score them. */
import { z } from 'zod'
import { makeTrainerClient } from '../../../src/weights/jobs/tinker.ts'
import type { World } from '../../support/world.ts'
import { say, type TrainingWorld } from './training-world.ts'

/** One answer; `tokens` includes the prompt. */
export interface Spoken {
  readonly text: string
  readonly receipt: string
  readonly tokens: readonly number[]
  /** Of the answer's tokens only. */
  readonly logProbs: readonly number[]
  readonly loadId: string
  readonly release: string
}

const record = z.object({
  artifact_ref: z.string(),
  payload: z.object({
    response: z.object({
      training: z.object({ tokens: z.array(z.number()), rollout_log_probs: z.array(z.number()), runtime_load_id: z.string() }),
    }),
  }),
})

/** Answers to the same question, one for each seed. */
export async function spoken(at: World, scenario: string, prompt: string, seeds: readonly number[]): Promise<readonly Spoken[]> {
  const said = await Promise.all(seeds.map((seed) => say(at, scenario, prompt, { seed })))
  return Promise.all(
    said.map(async ({ text, receipt }) => {
      const { artifact_ref: release, payload } = record.parse((await at.get(`/svc/scenarios/${scenario}/records/${receipt}`)).json)
      const { tokens, rollout_log_probs: logProbs, runtime_load_id: loadId } = payload.response.training
      return { text, receipt, tokens, logProbs, loadId, release }
    }),
  )
}

/** Identifies a distribution: the answers to fixed seeds and their log-probabilities. */
export async function voiceOf(at: World, scenario: string, prompt: string): Promise<readonly Pick<Spoken, 'tokens' | 'logProbs'>[]> {
  return (await spoken(at, scenario, prompt, seedsFrom(0, 8))).map(({ tokens, logProbs }) => ({ tokens, logProbs }))
}

/** The share of this answer. */
export async function shareOf(at: World, scenario: string, prompt: string, answer: string): Promise<number> {
  const said = await Promise.all(seedsFrom(10_000, 48).map((seed) => say(at, scenario, prompt, { seed })))
  return said.filter(({ text }) => text === answer).length / said.length
}

export const seedsFrom = (first: number, count: number): readonly number[] => Array.from({ length: count }, (_, index) => first + index)

/** The mean difference of the answers' log-probabilities from the trainer's base model. */
export async function driftOf(training: TrainingWorld, said: readonly Spoken[]): Promise<number> {
  const base = await baseLogProbs(training, said)
  const drifts = said.flatMap(({ logProbs }, at) => logProbs.map((value, token) => value - (base[at]?.[token] ?? Number.NaN)))
  return drifts.reduce((sum, value) => sum + value, 0) / drifts.length
}

/** The log-probabilities of the answers' tokens by the trainer's base model. */
async function baseLogProbs({ trainer }: TrainingWorld, said: readonly Spoken[]): Promise<readonly (readonly number[])[]> {
  const client = makeTrainerClient({ url: trainer.url, apiKey: null, timeoutSeconds: 60 })
  const { signal } = new AbortController()
  const lora = { rank: 1, seed: 0, train_attn: true, train_mlp: true, train_unembed: false }
  const model = await client.createModel(await client.createSession({}, signal), 'tiny', lora, signal)
  const data = said.map(({ tokens }) => {
    const targets = tokens.slice(1)
    return { inputs: tokens.slice(0, -1), targets, numbers: { weights: targets.map(() => 1) } }
  })
  const { logProbs } = await client.forward({ model, sequence: 1 }, { data, loss: 'cross_entropy', lossConfig: {} }, signal)
  return said.map((answer, at) => logProbs[at]?.slice(-answer.logProbs.length) ?? [])
}
