/** Engines with false reports, through the whole service: nothing false is recorded, and ignored adapters are not published. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { expectRefusal, recordIds } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import { until } from '../support/wait.ts'
import type { Fault } from './engines/state.ts'
import { pupil, sharedTraining } from './support/pupil.ts'
import { openRemoteTrainingWorld } from './support/remote-training-world.ts'

const STARTING_MILLISECONDS = 300_000
const CAPACITY = 2
const GROUP = 4

const metricsOf = (row: JsonObject): JsonObject => memberOf(row, 'metrics')

describe.each(['sglang', 'vllm'] as const)('an engine of %s', (kind) => {
  const { training, world } = sharedTraining(() => openRemoteTrainingWorld(kind, CAPACITY, { 'training.group_size': GROUP }))
  const s = pupil(world, 'pupil')
  beforeAll(async () => {
    await s.teach(1, GROUP)
    await s.row(1)
  }, STARTING_MILLISECONDS)

  it('that names other weights than the scenario is served by is refused with 409, whole or streamed, and nothing is recorded [errors.409-engine] [inference.rule-5] [inference.rule-6]', async () => {
    await expectNothingOf(kind === 'sglang' ? 'otherWeightVersion' : 'otherModel', 409, 'spans_do_not_add_up')
  })

  it.each<[string, Fault, string]>([
    ['drops a token', 'dropsToken', 'engine_answer_broken'],
    ['gives no log-probabilities', 'noLogProbs', 'engine_answer_broken'],
    ['gives one that is no number', 'nanLogProb', 'engine_not_json'],
    ['gives one that is no number, as null', 'nullLogProb', 'engine_answer_broken'],
    ['reports another prompt', 'wrongPromptIds', 'engine_answer_broken'],
  ])('that %s is refused with 502, whole or streamed, and nothing is recorded', async (_what, fault, code) => {
    await expectNothingOf(fault, 502, code)
  })

  async function expectNothingOf(fault: Fault, status: number, code: string): Promise<void> {
    const before = await recordIds(world, s.name)
    training.engine.faults.add(fault)
    const refused = [await s.chat({}), await s.chat({ stream: true })]
    training.engine.faults.delete(fault)
    for (const answer of refused) expectRefusal(answer, status, code)
    expect(await recordIds(world, s.name)).toEqual(before)
    expect((await s.chat({})).status).toBe(200)
    expect(await recordIds(world, s.name)).toHaveLength(before.length + 1)
  }

  it('that has no numbers for a new adapter does not get it published: the step waits and says why, and publishes it once there are some', async () => {
    const head = await s.head()
    training.engine.hold('loads')
    await s.teach(2, GROUP)
    training.engine.faults.add('nullLogProb')
    training.engine.letGoOn()
    await until(async () => (await s.errors()).some((line) => line.includes('not every log-probability is a number')))
    expect(await s.head()).toEqual(head)
    training.engine.faults.delete('nullLogProb')
    expect(metricsOf(await s.row(2))).toMatchObject({ optimizer_steps: 1, selected: true })
    expect(await s.head()).not.toEqual(head)
  })

  it('that takes an adapter and ignores it fails the step; the last good release stays, and the same adapter is published once it is used', async () => {
    const [head, voice] = [await s.head(), await s.voice()]
    training.engine.hold('loads')
    await s.teach(3, GROUP)
    training.engine.faults.add('ignoreAdapters')
    training.engine.letGoOn()
    const failed = await s.row(3)
    expect(metricsOf(failed)['error']).toContain('answers as the base does')
    expect(failed['consumed_ids']).toEqual([])
    expect(await s.head()).toEqual(head)
    training.engine.faults.delete('ignoreAdapters')
    expect(await s.voice()).toEqual(voice)
    await s.useMode('auto')
    let published: JsonObject = {}
    await until(async () => {
      published = metricsOf((await s.rows()).at(-1) ?? {})
      return published['error'] === undefined
    })
    expect(memberOf(published, 'trainer')['optimizer_steps']).toBe(3)
    expect(await s.voice()).not.toEqual(voice)
  })
})
