/** Engines with false reports, through the whole service: nothing false is recorded, and ignored adapters are not published. */
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { expectRefusal } from '../spec/support/refusal.ts'
import { recordIds } from '../spec/support/helpers.ts'
import { memberOf, trainee, type Trainee } from '../spec/support/trainee.ts'
import { until } from '../support/wait.ts'
import type { Answer } from '../support/world.ts'
import type { Fault } from './engines/state.ts'
import { openRemoteTrainingWorld, type RemoteTrainingWorld } from './support/remote-training-world.ts'
import { GROUP, PROMPT, teach } from './support/restartable-training-world.ts'
import { rowAt } from './support/training-world.ts'
import { voiceOf } from './support/spoken.ts'

const STARTING_MILLISECONDS = 300_000
const CAPACITY = 2

const metricsOf = (row: JsonObject): JsonObject => memberOf(row, 'metrics')

describe.each(['sglang', 'vllm'] as const)('an engine of %s', (kind) => {
  let training: RemoteTrainingWorld
  let s: Trainee
  beforeAll(async () => {
    training = await openRemoteTrainingWorld(kind, CAPACITY, { 'training.group_size': GROUP })
    s = trainee(training.world, 'pupil')
    await teach(training.world, s.name, 1)
    await rowAt(training.world, s.name, 1)
  }, STARTING_MILLISECONDS)
  afterAll(() => training.close())

  const chat = (more: JsonObject): Promise<Answer> => {
    const body = { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 8, ...more }
    return training.world.post('/v1/chat/completions', body, { 'x-svc-scenario': s.name })
  }

  it('that names other weights than the scenario is served by is refused with 409, whole or streamed, and nothing is recorded [errors.409-engine] [inference.rule-5] [inference.rule-6]', async () => {
    await expectNothingOf(kind === 'sglang' ? 'otherWeightVersion' : 'otherModel', 409, 'spans_do_not_add_up')
  })

  it.each<[string, Fault, string]>([
    ['drops a token', 'dropsToken', 'engine_answer_broken'],
    ['gives no log-probabilities', 'noLogProbs', 'engine_answer_broken'],
    ['gives one that is no number', 'nanLogProb', 'engine_not_json'],
    ['tells of another prompt', 'wrongPromptIds', 'engine_answer_broken'],
  ])('that %s is refused with 502, whole or streamed, and nothing is recorded', async (_what, fault, code) => {
    await expectNothingOf(fault, 502, code)
  })

  async function expectNothingOf(fault: Fault, status: number, code: string): Promise<void> {
    const before = await recordIds(training.world, s.name)
    training.engine.faults.add(fault)
    const refused = [await chat({}), await chat({ stream: true })]
    training.engine.faults.delete(fault)
    for (const answer of refused) expectRefusal(answer, status, code)
    expect(await recordIds(training.world, s.name)).toEqual(before)
    expect((await chat({})).status).toBe(200)
    expect(await recordIds(training.world, s.name)).toHaveLength(before.length + 1)
  }

  it('that takes an adapter and ignores it fails the step; the last good release stays, and the same adapter is published when it is heeded', async () => {
    const [head, voice] = [await s.head(), await voiceOf(training.world, s.name, PROMPT)]
    training.engine.hold('loads')
    await teach(training.world, s.name, 2)
    training.engine.faults.add('ignoreAdapters')
    training.engine.letGoOn()
    const failed = await rowAt(training.world, s.name, 2)
    expect(metricsOf(failed)['error']).toContain('answers as the base does')
    expect(failed['consumed_ids']).toEqual([])
    expect(await s.head()).toEqual(head)
    training.engine.faults.delete('ignoreAdapters')
    expect(await voiceOf(training.world, s.name, PROMPT)).toEqual(voice)
    await s.useMode('auto')
    let published: JsonObject = {}
    await until(async () => {
      published = metricsOf((await s.rows()).at(-1) ?? {})
      return published['error'] === undefined
    })
    expect(memberOf(published, 'trainer')['optimizer_steps']).toBe(2)
    expect(await voiceOf(training.world, s.name, PROMPT)).not.toEqual(voice)
  })
})
