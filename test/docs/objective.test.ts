/** The example of an objective is loaded by its path and held to its suite, and the suite finds what is wrong with one. */
import { describe, expect, it } from 'vitest'
import { objectiveConformance } from '../../conformance/index.ts'
import betterHalf from '../../examples/objective/better-half.ts'
import { loadPlugin } from '../../src/config/index.ts'
import type { Objective, Prepared, Rollout } from '../../src/contract/index.ts'

const sound = betterHalf.plugin

describe('examples/objective/better-half.ts', () => {
  it('is loaded by its path', async () => {
    expect(await loadPlugin('objective', './examples/objective/better-half.ts', {}, process.cwd())).toBe(sound)
  })

  objectiveConformance({ describe, it, objective: sound })
})

type Advantages = Extract<Prepared, { kind: 'train' }>['advantages']
const weighing =
  (weigh: (rollouts: readonly Rollout[]) => Advantages): Objective['prepare'] =>
  (rollouts) =>
    rollouts.length === 0 ? { kind: 'skip', reason: 'nothing' } : { kind: 'train', advantages: weigh(rollouts) }
let count = 0

describe('its suite', () => {
  it.each<readonly [string, Partial<Objective>, string]>([
    ['no name', { name: ' ' }, 'it has a name'],
    ['a ratio without log-probabilities', { needsLogProbs: false }, 'it has a name'],
    ['a setting of its loss that is no number', { lossConfig: { clip: Number.NaN } }, 'it has a name'],
    ['a rollout left out', { prepare: weighing((rollouts) => rollouts.slice(1).map(() => 1)) }, 'of a plain batch'],
    ['a weight for each token of the prompt too', { prepare: weighing((all) => all.map(({ tokens }) => tokens)) }, 'of a plain batch'],
    ['nothing to learn, ever', { prepare: () => ({ kind: 'skip', reason: 'no' }) }, 'of a plain batch'],
    ['another answer each time', { prepare: weighing((all) => all.map(() => (count += 1))) }, 'give the same answer'],
    [
      'rollouts that it changes',
      { prepare: weighing((all) => (Object.assign(all[0] ?? {}, { score: 9 }), all.map(() => 1))) },
      'give the same',
    ],
    ['a state that is no JSON', { prepare: (...given) => ({ ...sound.prepare(...given), state: { at: Number.NaN } }) }, 'of a plain batch'],
    [
      'trust in its state',
      { prepare: (all, { baseline }) => (typeof baseline === 'string' ? JSON.parse(baseline) : sound.prepare(all, {})) },
      'left for itself',
    ],
    ['a division by nothing', { prepare: weighing((all) => all.map(({ score }) => 1 / (score ?? 0))) }, 'no scores'],
    ['a sum without bound', { prepare: weighing((all) => all.map(({ score }) => (score ?? 0) * 2)) }, 'greatest size'],
    ['something made of nothing', { prepare: (all) => ({ kind: 'train', advantages: all.map(() => 1) }) }, 'with nothing there'],
    ['the same weight for all', { prepare: weighing((all) => all.map(() => 1)) }, 'best weighs more'],
    ['the worst first', { prepare: weighing((all) => all.map(({ score }) => -(score ?? 0))) }, 'best weighs more'],
  ])('finds an objective with %s', async (_what, change, words) => {
    await expect(sentence(words, { ...sound, ...change })()).rejects.toThrow()
  })
})

function sentence(words: string, objective: Objective): () => Promise<void> {
  const bodies: (() => Promise<void>)[] = []
  const collect = (name: string, body: () => Promise<void>): void => void (name.includes(words) && bodies.push(body))
  objectiveConformance({ describe: (_name, body) => body(), it: collect, objective })
  const [body] = bodies
  if (body === undefined || bodies.length > 1) throw new Error(`${bodies.length} sentences say: ${words}`)
  return body
}
