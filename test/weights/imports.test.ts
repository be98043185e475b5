/** Ways to learn other than grouped reports: imported chats, a teacher, a running baseline; and an examiner that keeps what is worse from being served. */
import { randomUUID } from 'node:crypto'
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import type { JsonObject } from '../../src/contract/index.ts'
import { named, rowsOf, textAt } from '../spec/support/helpers.ts'
import { memberOf } from '../spec/support/trainee.ts'
import type { Settings } from '../support/settings.ts'
import { driftOf, pupil, sharedTraining, type Pupil } from './support/pupil.ts'
import { openTrainingWorld, PROMPT, seedsFrom } from './support/training-world.ts'

const BATCH = 8
/** So many answers of the student make a step. */
const WORDS = 32
const BATCHES: Settings = { 'pipeline.task2batch.config.batch_size': BATCH, 'training.learning_rate': 0.01 }
const OF_RECORDS: Settings = { ...BATCHES, 'data.batch_policy': 'records' }
const IMITATE: Settings = { ...OF_RECORDS, 'training.objective': 'sft' }

const { training, world } = sharedTraining(() =>
  openTrainingWorld(
    { 'inference.engine.capacity': 16 },
    {
      recipes: {
        outdo: { ...BATCHES, 'training.objective': 'baseline' },
        imitate: IMITATE,
        follow: {
          ...OF_RECORDS,
          'pipeline.task2batch.config.batch_size': WORDS,
          'training.objective': 'distill',
          'training.objective_config.clip': 2,
          'training.teacher_model': 'tiny',
          'training.learning_rate': 0.003,
          // Whatever it learnt last elsewhere may not carry it further there.
          'training.beta1': 0,
        },
        careful: {
          ...IMITATE,
          'training.examiner': 'threshold',
          'training.examiner_config.tasks': JSON.stringify([{ prompt: PROMPT, answer: 'gold' }]),
          'training.examiner_config.floor': 1,
          'training.examiner_config.against_current': false,
        },
      },
    },
  ),
)

async function scenario(recipe: string, release?: string): Promise<Pupil> {
  const name = `${recipe}-${randomUUID()}`
  const created = await world.post('/svc/scenarios', { name, recipe, ...(release !== undefined && { release_id: release }) })
  expect(created.status).toBe(201)
  return pupil(world, name)
}

const headOf = async (s: Pupil): Promise<string> => textAt(await s.head(), 'release_id')

/** Asked in a scenario of its own that learns from reports alone, so that asking teaches nothing. */
async function asked<T>(release: string, ask: (scenario: Pupil) => Promise<T>): Promise<T> {
  const s = await scenario('outdo', release)
  const answer = await ask(s)
  await s.remove()
  return answer
}
const share = async (release: string, answer: string): Promise<number> => (await asked(release, (s) => s.shares(answer)))[0] ?? Number.NaN

/** One batch of chats in which somebody else gave that answer. No ids, no log-probabilities: text alone. */
async function importChats(s: Pupil, batch: number, answer: string): Promise<readonly string[]> {
  const records = Array.from({ length: BATCH }, (_, index) => ({
    agent_record_id: `${answer}-${batch}-${index}`,
    request_type: 'inference',
    payload: {
      model: 'elsewhere',
      messages: [{ role: 'user', content: PROMPT }],
      response: { choices: [{ index: 0, message: { role: 'assistant', content: answer }, finish_reason: 'stop' }] },
    },
  }))
  const answered = await world.post('/svc/records/batch', { records }, named(s.name))
  return rowsOf(answered, 'records').map((receipt) => textAt(receipt, 'agent_record_id'))
}

async function imitate(s: Pupil, batch: number, answer: string): Promise<JsonObject> {
  await importChats(s, batch, answer)
  return s.row(batch)
}

const trained = z.object({ metrics: z.object({ loss: z.number(), tokens_trained: z.number() }) })

describe('imported chats without ids or log-probabilities', () => {
  it('are encoded by the template of the model and make their answer likelier', async () => {
    const s = await scenario('imitate')
    const before = await share(await headOf(s), 'gold')
    const ids = await importChats(s, 1, 'gold')
    const first = await s.row(1)
    expect(first['consumed_ids']).toEqual([...ids].sort())
    const { metrics } = trained.parse(first)
    // Four letters and the end of the turn: the answer as the model itself would have ended it.
    expect(metrics.tokens_trained).toBe(BATCH * 'gold.'.length)
    for (const batch of [2, 3, 4]) expect(trained.parse(await imitate(s, batch, 'gold')).metrics.loss).toBeLessThan(metrics.loss)
    expect(before).toBeLessThan(0.6)
    expect(await share(await headOf(s), 'gold')).toBeGreaterThan(0.8)
  })

  it('name no release, and get no ids of their own', async () => {
    const s = await scenario('imitate')
    const [id] = await importChats(s, 1, 'gold')
    const { json } = await world.get(`/svc/scenarios/${s.name}/records/${id}`)
    expect(json['artifact_ref']).toBeNull()
    expect(memberOf(memberOf(json, 'payload'), 'response')).not.toHaveProperty('training')
    await s.row(1)
  })
})

describe('a teacher', () => {
  it('draws a student that was trained away from it back, by what it makes of the words of the student', async () => {
    const imitator = await scenario('imitate')
    const taught = await share(await headOf(imitator), 'gold')
    await imitate(imitator, 1, 'gold')
    const s = await scenario('follow', await headOf(imitator))
    const away = await share(await headOf(s), 'gold')
    for (let step = 1; step <= 4; step += 1) {
      const said = await s.spoken(seedsFrom(step * 1000, WORDS))
      const { metrics } = await s.row(step)
      expect(metrics).toMatchObject({ training_method: 'distill', samples_fresh: WORDS })
      // The teacher is the base: what it makes of these very words is what the student was weighed by.
      if (step === 1) expect(memberOf({ metrics }, 'metrics')['teacher_distance']).toBeCloseTo(await driftOf(training, said), 4)
    }
    expect(away).toBeGreaterThan(taught + 0.3)
    expect(Math.abs((await share(await headOf(s), 'gold')) - taught)).toBeLessThan((away - taught) / 2)
  })
})

describe('single scores', () => {
  it('are held against a running baseline, and what scores above it is said more often', async () => {
    const s = await scenario('outdo')
    const before = await share(await headOf(s), 'green')
    for (let step = 1; step <= 4; step += 1) {
      const said = await s.spoken(seedsFrom(step * 1000, BATCH))
      for (const { receipt, text } of said) await s.report({ references: [receipt], score: text === 'green' ? 1 : 0 })
      const { metrics } = await s.row(step)
      expect(metrics).toMatchObject({ training_method: 'baseline', baseline: expect.any(Number) })
    }
    expect(await share(await headOf(s), 'green')).toBeGreaterThan(before + 0.2)
  })
})

describe('an examiner with a floor', () => {
  it('rejects a candidate below it, with what it was measured by in the row; what is served stays', async () => {
    const s = await scenario('careful')
    const head = await s.head()
    const before = await asked(textAt(head, 'release_id'), (other) => other.voice())
    await imitate(s, 1, 'green')
    const selection = { candidate_score: 0, evaluation_task_count: 1 }
    expect(await s.release()).toMatchObject({ result: 'rejected', metrics: { selected: false, selection } })
    expect(await s.head()).toEqual(head)
    expect(await s.status()).toMatchObject({ adapter_runtime_load_id: null })
    expect((await s.spoken([0]))[0]).toMatchObject({
      tokens: before[0]?.tokens,
      logProbs: before[0]?.logProbs,
    })
  })

  it('publishes one that reaches it', async () => {
    const s = await scenario('careful')
    await importChats(s, 1, 'gold')
    await s.row(1)
    expect(await s.release()).toMatchObject({ result: 'published', metrics: { selected: true, selection: { candidate_score: 1 } } })
  })
})
