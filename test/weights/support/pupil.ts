/** One training world for the tests of a file, and a weight scenario from the client's side: its answers, token by token. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { z } from 'zod'
import type { JsonObject } from '../../../src/contract/index.ts'
import { makeTrainerClient } from '../../../src/weights/jobs/tinker.ts'
import { memberOf, trainee } from '../../spec/support/trainee.ts'
import { lazily, shared, type World } from '../../support/world.ts'
import { chat, playGroup, say, seedsFrom, type TrainingWorld } from './training-world.ts'

const STARTING_MS_MAX = 300_000

/** Opened before the first test, closed after the last. */
export function sharedTraining<T extends TrainingWorld>(open: () => Promise<T>, startingMsMax = STARTING_MS_MAX) {
  const training = shared(open, startingMsMax)
  return { training, world: lazily(() => training.world) }
}

const record = z.object({
  artifact_ref: z.string(),
  payload: z.object({
    response: z.object({
      training: z.object({ tokens: z.array(z.number()), rollout_log_probs: z.array(z.number()), runtime_load_id: z.string() }),
    }),
  }),
})

export type Pupil = ReturnType<typeof pupil>
/** One answer: `tokens` includes the prompt, `logProbs` are of the answer's tokens only. */
export type Spoken = Awaited<ReturnType<Pupil['spoken']>>[number]

export function pupil(world: World, name: string) {
  const scenario = trainee(world, name)
  const said = (seeds: readonly number[]) => Promise.all(seeds.map((seed) => say(world, name, { seed })))
  /** Answers to the same question, one for each seed. */
  const spoken = async (seeds: readonly number[]) =>
    Promise.all(
      (await said(seeds)).map(async ({ text, receipt }) => {
        const { artifact_ref: release, payload } = record.parse((await world.get(`/svc/scenarios/${name}/records/${receipt}`)).json)
        const { tokens, rollout_log_probs: logProbs, runtime_load_id: loadId } = payload.response.training
        return { text, receipt, tokens, logProbs, loadId, release }
      }),
    )
  return {
    ...scenario,
    chat: (more?: JsonObject) => chat(world, name, more),
    say: (more?: JsonObject) => say(world, name, more),
    spoken,
    /** Identifies a distribution: the answers to fixed seeds and their log-probabilities. */
    voice: async () => (await spoken(seedsFrom(0, 8))).map(({ tokens, logProbs }) => ({ tokens, logProbs })),
    /** The share of each of these answers. */
    async shares(...answers: readonly string[]): Promise<readonly number[]> {
      const all = await said(seedsFrom(10_000, 48))
      return answers.map((answer) => all.filter(({ text }) => text === answer).length / all.length)
    },
    /** One group of reports with different scores, which reward that answer: a batch of one step. */
    teach: (group: number, size: number, wanted = 'blue') =>
      playGroup(world, name, String(group), {
        seeds: seedsFrom(group * 1000, size),
        score: (texts, index) => (texts[index] === wanted ? 1 : 0) + index / 1000,
      }),
    metricsAt: async (step: number): Promise<JsonObject> => memberOf(await scenario.row(step), 'metrics'),
  }
}

/** The log-probabilities of the answers' tokens, by the trainer's base model or a state that the trainer saved. */
export async function trainersLogProbs(
  { trainer }: TrainingWorld,
  said: readonly Pick<Spoken, 'tokens' | 'logProbs'>[],
  state: string | null = null,
) {
  const client = makeTrainerClient({ url: trainer.url, apiKey: null, timeoutSeconds: 60 })
  const { signal } = new AbortController()
  const lora = { rank: 4, seed: 0, train_attn: true, train_mlp: true, train_unembed: false }
  const model = await client.createModel(await client.createSession({}, signal), 'tiny', lora, signal)
  if (state !== null) await client.loadWeights({ model, sequence: 1 }, state, signal)
  const data = said.map(({ tokens }) => {
    const targets = tokens.slice(1)
    return { inputs: tokens.slice(0, -1), targets, numbers: { weights: targets.map(() => 1) } }
  })
  const { logProbs } = await client.forward({ model, sequence: 2 }, { data, loss: 'cross_entropy', lossConfig: {} }, signal)
  return said.map((answer, at) => logProbs[at]?.slice(-answer.logProbs.length) ?? [])
}

/** The trainer's name for the state of a release; null for a base. */
export function trainerStateOf(world: World, release: string): string | null {
  const show = ['--git-dir', join(world.directory, 'artifacts.git'), 'show', `${release}:svc-provenance.json`]
  try {
    return JSON.parse(execFileSync('git', show, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })).trainer_state
  } catch {
    return null
  }
}

/** The mean difference of the answers' log-probabilities from the trainer's base model. */
export async function driftOf(training: TrainingWorld, said: readonly Spoken[]): Promise<number> {
  const base = await trainersLogProbs(training, said)
  const drifts = said.flatMap(({ logProbs }, at) => logProbs.map((value, token) => value - (base[at]?.[token] ?? Number.NaN)))
  return drifts.reduce((sum, value) => sum + value, 0) / drifts.length
}
