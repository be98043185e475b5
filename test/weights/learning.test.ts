/** Real training end to end: rewarded answers become more frequent, random rewards change nothing, and a rollback restores the old answers. */
import { describe, expect, it } from 'vitest'
import { textAt } from '../spec/support/helpers.ts'
import { IS_SHORT } from '../support/short.ts'
import { pupil, sharedTraining, trainersLogProbs, trainerStateOf, type Pupil, type Spoken } from './support/pupil.ts'
import { openTrainingWorld, playGroup, seedsFrom } from './support/training-world.ts'

const WANTED = 'blue'
const GROUP = 16
const ROUNDS = 7
/** The engine stores weights in half precision. */
const ENGINE_NOISE = 0.005

const { training, world } = sharedTraining(() => openTrainingWorld({ 'inference.engine.capacity': 5 }))

/** How often the wanted answer is given, by counting. */
const share = async (s: Pupil): Promise<number> => (await s.shares(WANTED))[0] ?? Number.NaN

/** Which of a group's answers is given the score of which: all but always another's. */
const AS_EARNED = (index: number): number => index
const SHUFFLED = (index: number): number => (index * 7 + 5) % GROUP

async function learn(s: Pupil, seed: number, whose: (index: number) => number): Promise<void> {
  for (let round = 1; round <= ROUNDS; round += 1) {
    const seeds = seedsFrom(seed * 1_000_000 + round * 1000, GROUP)
    await playGroup(world, s.name, `${seed}-${round}`, { seeds, score: (texts, index) => (texts[whose(index)] === WANTED ? 1 : 0) })
    await s.row(round)
  }
}

describe('reward', () => {
  it.each(IS_SHORT ? [1] : [1, 2, 3])('rises on seed %i', async (seed) => {
    const s = pupil(world, `seed-${seed}`)
    const before = await share(s)
    await learn(s, seed, AS_EARNED)
    expect(before).toBeLessThan(0.5)
    expect(await share(s)).toBeGreaterThan(0.85)
  })

  it('does not rise where every answer is given the score of another', async () => {
    const control = pupil(world, 'control')
    await learn(control, 1, SHUFFLED)
    expect(await share(control)).toBeLessThan(0.5)
  })
})

describe('a rollback', () => {
  it('brings the old distribution back, token by token what the trainer says of it', async () => {
    const s = pupil(world, 'seed-1')
    const [first, second] = [await s.voice(), await rollBackTo(s, 1).then(() => s.voice())]
    expect(second.map(({ tokens }) => tokens)).not.toEqual(first.map(({ tokens }) => tokens))
    await expect(expectTrainersWords(s, ROUNDS, second)).rejects.toThrow('to be less than')
    await expectTrainersWords(s, 1, second)
    await rollBackTo(s, ROUNDS)
    expect(await s.voice()).toEqual(first)
    await expectTrainersWords(s, ROUNDS, first)
  })

  it('to before the first step asks the base alone', async () => {
    const s = pupil(world, 'control')
    await rollBackTo(s, 0)
    const said = await s.voice()
    expect(said).toEqual(await pupil(world, 'fresh').voice())
    await expectTrainersWords(s, 0, said)
  })
})

async function rollBackTo(s: Pupil, step: number): Promise<void> {
  expect((await s.move('rollback', await releaseAt(s, step))).status).toBe(200)
}

const releaseAt = async (s: Pupil, step: number): Promise<string> =>
  textAt((await s.releases()).find((row) => row['step'] === step) ?? {}, 'release_id')

/** The log-probability of every generated token, by the trainer that made the release, from the state it kept of it. */
async function expectTrainersWords(s: Pupil, step: number, said: readonly Pick<Spoken, 'tokens' | 'logProbs'>[]): Promise<void> {
  const trainers = await trainersLogProbs(training, said, trainerStateOf(world, await releaseAt(s, step)))
  for (const [index, { logProbs }] of said.entries()) {
    const own = trainers[index] ?? []
    expect(own).toHaveLength(logProbs.length)
    for (const [at, value] of logProbs.entries()) expect(Math.abs(value - (own[at] ?? Number.NaN))).toBeLessThan(ENGINE_NOISE)
  }
}
