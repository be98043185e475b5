/** Real training end to end: rewarded answers become more frequent, random rewards change nothing, and a rollback restores the old answers. */
import { execFileSync } from 'node:child_process'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { makeTrainerClient } from '../../src/weights/jobs/tinker.ts'
import { openTrainingWorld, playGroup, rowAt, say, type TrainingWorld } from './support/training-world.ts'

const PROMPT = 'Pick a colour.'
const WANTED = 'blue'
const GROUP = 16
const ROUNDS = 7
const ASKED = 64
/** The engine stores weights in half precision. */
const ENGINE_NOISE = 0.005

let training: TrainingWorld
beforeAll(async () => {
  training = await openTrainingWorld({ 'inference.engine.capacity': 5 })
})
afterAll(() => training.close())

/** How often the wanted answer is given, by counting. */
async function share(scenario: string): Promise<number> {
  const said = await Promise.all(
    Array.from({ length: ASKED }, (_, index) => say(training.world, scenario, PROMPT, { seed: 10_000 + index })),
  )
  return said.filter(({ text }) => text === WANTED).length / said.length
}

const seedsOf = (seed: number, round: number): readonly number[] =>
  Array.from({ length: GROUP }, (_, index) => seed * 1_000_000 + round * 1000 + index)

/** Which of a group's answers is given the score of which: all but always another's. */
const AS_EARNED = (index: number): number => index
const SHUFFLED = (index: number): number => (index * 7 + 5) % GROUP

async function learn(scenario: string, seed: number, whose: (index: number) => number, rounds: number): Promise<void> {
  for (let round = 1; round <= rounds; round += 1) {
    const seeds = seedsOf(seed, round)
    await playGroup(training.world, scenario, `${seed}-${round}`, {
      prompt: PROMPT,
      seeds,
      score: (texts, index) => (texts[whose(index)] === WANTED ? 1 : 0),
    })
    await rowAt(training.world, scenario, round)
  }
}

describe('reward', () => {
  it.each([1, 2, 3])('rises on seed %i', async (seed) => {
    const before = await share(`seed-${seed}`)
    await learn(`seed-${seed}`, seed, AS_EARNED, ROUNDS)
    expect(before).toBeLessThan(0.5)
    expect(await share(`seed-${seed}`)).toBeGreaterThan(0.85)
  })

  it('does not rise where every answer is given the score of another', async () => {
    await learn('control', 1, SHUFFLED, ROUNDS)
    expect(await share('control')).toBeLessThan(0.5)
  })
})

describe('a rollback', () => {
  it('brings the old distribution back, token by token what the trainer says of it', async () => {
    const [first, second] = [await spoken('seed-1'), await rollBackTo('seed-1', 1).then(() => spoken('seed-1'))]
    expect(second.map(({ tokens }) => tokens)).not.toEqual(first.map(({ tokens }) => tokens))
    await expect(expectTrainersWords('seed-1', ROUNDS, second)).rejects.toThrow('to be less than')
    await expectTrainersWords('seed-1', 1, second)
    await rollBackTo('seed-1', ROUNDS)
    expect(await spoken('seed-1')).toEqual(first)
    await expectTrainersWords('seed-1', ROUNDS, first)
  })

  it('to before the first step asks the base alone', async () => {
    await rollBackTo('seed-2', 0)
    const said = await spoken('seed-2')
    expect(said).toEqual(await spoken('fresh'))
    await expectTrainersWords('seed-2', 0, said)
  })
})

interface Spoken {
  readonly tokens: readonly number[]
  readonly logProbs: readonly number[]
}

/** Answers to the same question by the same seeds, as the engine saw them. */
async function spoken(scenario: string): Promise<readonly Spoken[]> {
  const said = await Promise.all(Array.from({ length: 8 }, (_, seed) => say(training.world, scenario, PROMPT, { seed })))
  const records = await Promise.all(said.map(({ receipt }) => training.world.get(`/svc/scenarios/${scenario}/records/${receipt}`)))
  return records.map(({ text }) => {
    const { tokens, rollout_log_probs: logProbs } = JSON.parse(text).payload.response.training
    return { tokens, logProbs }
  })
}

async function rollBackTo(scenario: string, step: number): Promise<void> {
  const answer = await training.world.post(`/svc/scenarios/${scenario}/rollback`, { release_id: await releaseAt(scenario, step) })
  expect(answer.status).toBe(200)
}

async function releaseAt(scenario: string, step: number): Promise<string> {
  const { releases } = JSON.parse((await training.world.get(`/svc/scenarios/${scenario}/releases`)).text)
  return releases.find((row: JsonObject) => row['step'] === step).release_id
}

/** The log-probability of every generated token, by the trainer that made the release, from the state it kept of it. */
async function expectTrainersWords(scenario: string, step: number, said: readonly Spoken[]): Promise<void> {
  const client = makeTrainerClient({ url: training.trainer.url, apiKey: null, timeoutSeconds: 60 })
  const { signal } = new AbortController()
  const lora = { rank: 4, seed: 0, train_attn: true, train_mlp: true, train_unembed: false }
  const model = await client.createModel(await client.createSession({}, signal), 'tiny', lora, signal)
  const state = stateOf(await releaseAt(scenario, step))
  if (state !== null) await client.loadWeights({ model, sequence: 1 }, state, signal)
  const data = said.map(({ tokens }) => ({
    inputs: tokens.slice(0, -1),
    targets: tokens.slice(1),
    numbers: { weights: tokens.slice(1).map(() => 1) },
  }))
  const { logProbs } = await client.forward({ model, sequence: 2 }, { data, loss: 'cross_entropy', lossConfig: {} }, signal)
  for (const [index, answer] of said.entries()) {
    const own = logProbs[index]?.slice(-answer.logProbs.length) ?? []
    expect(own).toHaveLength(answer.logProbs.length)
    for (const [at, value] of answer.logProbs.entries()) expect(Math.abs(value - (own[at] ?? Number.NaN))).toBeLessThan(ENGINE_NOISE)
  }
}

function stateOf(release: string): string | null {
  const show = ['--git-dir', join(training.world.directory, 'artifacts.git'), 'show', `${release}:svc-provenance.json`]
  try {
    return JSON.parse(execFileSync('git', show, { encoding: 'utf8', stdio: ['ignore', 'pipe', 'ignore'] })).trainer_state
  } catch {
    return null
  }
}
