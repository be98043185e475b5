/** The recipe tttd over HTTP: what a report must say, one step per filled grid, and grids that nothing can be learnt from. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { errorOf, expectRefusal, recordIds, textAt } from '../spec/support/helpers.ts'
import { until } from '../support/wait.ts'
import { driftOf, pupil, sharedTraining, type Pupil, type Spoken } from './support/pupil.ts'
import { openTrainingWorld, seedsFrom } from './support/training-world.ts'

const GRID = { groups_per_step: 2, rollouts_per_group: 4 }
const SLOTS = GRID.groups_per_step * GRID.rollouts_per_group

const { training, world } = sharedTraining(() =>
  openTrainingWorld({
    recipe: 'tttd',
    'training.objective_config.groups_per_step': GRID.groups_per_step,
    'training.objective_config.rollouts_per_group': GRID.rollouts_per_group,
    'training.max_staleness': 1,
    'training.learning_rate': 0.01,
  }),
)

/** Where the nth exchange of a step stands, with a score of its own. */
const placed = (step: number, slot: number, receipt: string, more: JsonObject = {}): JsonObject => ({
  score: slot,
  references: [receipt],
  metadata: {
    ...GRID,
    step,
    group: Math.floor(slot / GRID.rollouts_per_group),
    rollout: slot % GRID.rollouts_per_group,
    ...more,
  },
})

const answers = (s: Pupil, first: number): Promise<readonly Spoken[]> => s.spoken(seedsFrom(first, SLOTS))

/** Answers the ids of the reports. */
async function report(s: Pupil, step: number, receipts: readonly string[], slots = seedsFrom(0, SLOTS)): Promise<readonly string[]> {
  const ids: string[] = []
  for (const slot of slots) ids.push(textAt((await s.report(placed(step, slot, receipts[slot] ?? ''))).json, 'agent_record_id'))
  return ids
}
const receiptsOf = (said: readonly Spoken[]): readonly string[] => said.map(({ receipt }) => receipt)

describe('a report', () => {
  it.each<readonly [field: string, more: JsonObject]>([
    ['metadata.algorithm', { algorithm: 'grpo' }],
    ['metadata.step', { step: -1 }],
    ['metadata.step', { step: '0' }],
    ['metadata.group', { group: 2 }],
    ['metadata.rollout', { rollout: 4 }],
    ['metadata.groups_per_step', { groups_per_step: 3 }],
    ['metadata.rollouts_per_group', { rollouts_per_group: 8 }],
    ['metadata.comparison_set', { comparison_set: 'tttd-step-0-group-1' }],
  ])('whose %s is wrong is 400 and not kept [report.tttd]', async (field, more) => {
    const s = pupil(world, 'refused')
    const { receipt } = await s.say()
    const before = await recordIds(world, s.name)
    const refused = await s.report(placed(0, 0, receipt, more))
    expectRefusal(refused, 400, textAt(errorOf(refused), 'code'))
    expect(textAt(errorOf(refused), 'message')).toContain(`${field}: must be`)
    expect(await recordIds(world, s.name)).toEqual(before)
  })

  it('without a score is 400; one that names its group by both its names is taken [report.tttd]', async () => {
    const s = pupil(world, 'refused')
    const { receipt } = await s.say()
    const { score: _, ...unscored } = placed(0, 0, receipt)
    expect(textAt(errorOf(await s.report(unscored)), 'message')).toContain('score: must be')
    const both = placed(0, 0, receipt, { algorithm: 'ttt-discover', comparison_set: 'tttd-step-0-group-0' })
    expect((await s.report(both)).status).toBe(200)
  })
})

describe('a grid', () => {
  it('is one step when its last slot is filled, and each is trained in its turn', async () => {
    const s = pupil(world, 'turns')
    const [first, second] = [receiptsOf(await answers(s, 0)), receiptsOf(await answers(s, 100))]
    const later = [...(await report(s, 1, second, seedsFrom(0, SLOTS - 1)))]
    const earlier = await report(s, 0, first)
    const row = await s.row(1)
    later.push(...(await report(s, 1, second, [SLOTS - 1])))
    expect(row['consumed_ids']).toEqual([...first, ...earlier].sort())
    expect(row['metrics']).toMatchObject({ training_method: 'tttd', groups: 2, constant_groups: 0, samples_fresh: SLOTS })
    const next = await s.row(2)
    expect(next['consumed_ids']).toEqual([...second, ...later].sort())
    expect(next['metrics']).toMatchObject({ samples_fresh: 0, samples_admitted_stale: SLOTS, optimizer_steps: 1 })
    expect((await s.releases()).map(({ result }) => result)).toEqual(['published', 'published', 'published'])
  })

  it('whose rollouts come from two releases is discarded and listed, and stands in the way of none', async () => {
    const s = pupil(world, 'mixed')
    const early = receiptsOf(await answers(s, 0))
    await report(s, 0, receiptsOf(await answers(s, 100)))
    await s.row(1)
    const late = receiptsOf(await answers(s, 200))
    await report(s, 1, [...early.slice(0, 3), ...late.slice(3)], seedsFrom(0, 4))
    await until(async () => JSON.stringify(await s.processor()).includes('mixed_release_ids'))
    expect(await s.processor()).toMatchObject({ failed_steps: [{ step: 1, reason: 'mixed_release_ids' }], open_steps: 0 })
    await report(s, 2, receiptsOf(await answers(s, 300)))
    expect(await s.metricsAt(2)).toMatchObject({ samples_fresh: SLOTS, optimizer_steps: 1 })
  })

  it('is held against the frozen base, token by token, as the trainer has it', async () => {
    const s = pupil(world, 'pulled')
    for (const step of [0, 1]) {
      const said = await answers(s, step * 100)
      await report(s, step, receiptsOf(said))
      const reported = Number((await s.metricsAt(step + 1))['base_log_prob_difference'])
      const drift = await driftOf(training, said)
      expect(reported).toBeCloseTo(drift, 4)
      // Nothing was trained yet at first; after one step the answers are no longer the base's.
      if (step === 0) expect(Math.abs(drift)).toBeLessThan(0.001)
      else expect(Math.abs(drift)).toBeGreaterThan(0.01)
    }
  })
})
