/** Conformance suite for objectives, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import type { JsonObject, Objective, Prepared, Rollout } from '../src/contract/index.ts'
import { assertPlain, assertUntouched, type Runner } from './support.ts'

export interface ObjectiveSuite extends Runner {
  readonly objective: Objective
  /** Whether a higher score gives a higher weight. */
  readonly scores?: boolean
}

const GROUPS = 3
const ROLLOUTS_PER_GROUP = 4

export function objectiveConformance({ it, objective, scores = true }: ObjectiveSuite): void {
  it('it has a name and one of the three losses, and asks for log-probabilities where the loss has a ratio', async () => {
    const { name, loss, lossConfig = {}, needsLogProbs } = objective
    assert.notEqual(name.trim(), '')
    assert.ok(['importance_sampling', 'ppo', 'cross_entropy'].includes(loss), 'no trainer knows its loss')
    assert.ok(loss === 'cross_entropy' || needsLogProbs, 'its loss compares with log-probabilities that it does not ask for')
    assertFinite(Object.values(lossConfig))
  })
  it('every rollout of a plain batch gets one finite weight, or one for each generated token', async () => {
    const prepared = prepare(objective, plainBatch())
    assert.equal(prepared.kind, 'train', 'it finds nothing to learn in a plain batch')
  })
  it('the same batch and state give the same answer, and are afterwards what they were', async () => {
    for (const rollouts of [plainBatch(), ...Object.values(ODD_BATCHES)]) {
      const { state = {} } = objective.prepare(structuredClone(rollouts), {})
      await assertUntouched({ rollouts, state }, (given) => {
        assert.deepEqual(objective.prepare(given.rollouts, given.state), objective.prepare(given.rollouts, given.state))
      })
    }
  })
  it('what it left for itself is enough to go on with, and what another left does not stop it', async () => {
    const { state = {} } = prepare(objective, plainBatch())
    for (const before of [state, {}, { baseline: 'high', of: [null, { version: -1 }] }]) prepare(objective, plainBatch(), before)
  })
  for (const [what, rollouts] of Object.entries(ODD_BATCHES))
    it(`${what}: it answers, and every number is finite`, async () => {
      prepare(objective, rollouts)
    })
  it('with nothing there it trains nothing', async () => {
    assert.equal(prepare(objective, []).kind, 'skip')
  })
  if (scores)
    it('of a group the best weighs more than the worst', async () => {
      const rollouts = plainBatch()
      const prepared = prepare(objective, rollouts)
      assert.ok(prepared.kind === 'train', 'it finds nothing to learn in a plain batch')
      for (let first = 0; first < rollouts.length; first += ROLLOUTS_PER_GROUP) {
        const weights = prepared.advantages.slice(first, first + ROLLOUTS_PER_GROUP).map(meanWeight)
        assert.ok((weights.at(-1) ?? 0) > (weights[0] ?? 0), 'the worst of a group weighs as much as the best')
      }
    })
}

function prepare(objective: Objective, rollouts: readonly Rollout[], before: JsonObject = {}): Prepared {
  const prepared = objective.prepare(rollouts, before)
  const { state = {}, metrics = {} } = prepared
  assertPlain(state, 'its state')
  assertPlain(metrics, 'its metrics')
  if (prepared.kind === 'skip') assert.notEqual(prepared.reason.trim(), '', 'it trains nothing, without a word')
  else assertWeights(prepared.advantages, rollouts)
  return prepared
}

function assertWeights(advantages: readonly (number | readonly number[])[], rollouts: readonly Rollout[]): void {
  assert.equal(advantages.length, rollouts.length, 'it does not weigh each rollout')
  for (const [at, weight] of advantages.entries()) {
    assertFinite([weight].flat())
    if (typeof weight !== 'number') assert.equal(weight.length, rollouts[at]?.lossMask.length, 'it does not weigh each generated token')
  }
}

function assertFinite(numbers: readonly (number | undefined)[]): void {
  for (const number of numbers) assert.ok(Number.isFinite(number), 'a number is not finite')
}

/** Groups of rollouts, the best last in each, with distinct scores. Every seventh token is masked. */
function plainBatch(): readonly Rollout[] {
  return Array.from({ length: GROUPS * ROLLOUTS_PER_GROUP }, (_, n) => {
    const group = Math.floor(n / ROLLOUTS_PER_GROUP)
    return rolloutOf(n, { group: `group-${group}`, score: (n % ROLLOUTS_PER_GROUP) / ROLLOUTS_PER_GROUP + group / 100 })
  })
}

function rolloutOf(n: number, { group, score }: Pick<Rollout, 'group' | 'score'>): Rollout {
  const answer = Array.from({ length: 3 + (n % 5) }, (_, at) => (n * 7 + at * 3) % 50)
  const lossMask = answer.map((_, at) => ((n + at) % 7 === 6 ? 0 : 1))
  const logProbs = answer.map((token, at) => (lossMask[at] === 0 ? 0 : -0.1 - token / 20))
  const record_ids = [`exchange-${n}`, `report-${n}`]
  return {
    record_ids,
    group,
    score,
    tokens: [1, 2, 3, ...answer],
    lossMask,
    logProbs,
    baseLogProbs: logProbs.map((value, at) => value - 0.05 * (at % 3)),
    policyLogProbs: logProbs.map((value, at) => value - 0.02 * (at % 2)),
    teacherLogProbs: logProbs.map((value, at) => value + 0.1 * ((at % 3) - 1)),
    sample: { record_ids, exchanges: [{}, {}], score, feedback: null, ...(group !== null && { group }) },
  }
}

const ODD_BATCHES: Readonly<Record<string, readonly Rollout[]>> = {
  'one rollout': [rolloutOf(0, { group: 'a', score: 1 })],
  'two rollouts': [0, 1].map((score) => rolloutOf(score, { group: 'a', score })),
  'no scores': changed(() => ({ score: null })),
  'a score here and there': changed((n) => (n % 3 === 0 ? {} : { score: null })),
  'no groups': changed(() => ({ group: null })),
  'each a group of its own': changed((n) => ({ group: `${n}` })),
  'groups with names that objects have': changed((n) => ({ group: ['__proto__', 'constructor', 'toString'][n % 3] ?? null })),
  'the same score for all': changed(() => ({ score: 0.3 })),
  'scores that differ by next to nothing': changed((n) => ({ score: 1 + n * Number.EPSILON })),
  'scores of the greatest size': changed((n) => ({ score: n % 2 === 0 ? Number.MAX_VALUE : -Number.MAX_VALUE })),
  'scores of great size': changed((n) => ({ score: 1e12 * n })),
  'scores of the smallest size': changed((n) => ({ score: n * Number.MIN_VALUE })),
  'no token to learn': plainBatch().map((rollout) => ({ ...rollout, lossMask: rollout.lossMask.map(() => 0) })),
}

function changed(change: (n: number) => Partial<Pick<Rollout, 'group' | 'score'>>): readonly Rollout[] {
  return plainBatch().map(({ group, score }, n) => rolloutOf(n, { group, score, ...change(n) }))
}

const meanWeight = (weight: number | readonly number[]): number =>
  typeof weight === 'number' ? weight : weight.reduce((sum, each) => sum + each, 0) / weight.length
