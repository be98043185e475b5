/** Weights at two gateways over one PostgreSQL, with one engine and one trainer: both serve the current release, also after one was killed. */
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { z } from 'zod'
import { openLlamaEngine } from '../../plugins/runtimes/llama/engine.ts'
import { readSettings } from '../../plugins/runtimes/llama/settings.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { rowsOf, textAt } from '../spec/support/helpers.ts'
import { sharedFolder } from '../support/folder.ts'
import { deploymentIn, Gateway, SCENARIO } from '../support/gateways.ts'
import { startPostgres, type PostgresServer } from '../support/postgres.ts'
import { BUCKET, startS3, type S3Server } from '../support/s3.ts'
import type { Settings } from '../support/settings.ts'
import { until } from '../support/wait.ts'
import { llamaDecoder } from '../weights/engines/llama-decoder.ts'
import type { EngineServer } from '../weights/engines/server.ts'
import { startSglang } from '../weights/engines/sglang-server.ts'
import { VOCABULARY, withLlama } from '../weights/support/llama.ts'
import { tinyModel } from '../weights/support/tiny-model.ts'
import { startTrainer, type TrainerProcess } from '../weights/support/trainer-process.ts'
import { PROMPT, QUICKLY, seedsFrom } from '../weights/support/training-world.ts'

const START_MS_MAX = 300_000
const GROUP = 8
const CAPACITY = 8
const PATH = `/svc/scenarios/${SCENARIO}`

const folder = sharedFolder()
let database: PostgresServer
let s3: S3Server
let trainer: TrainerProcess
let decoding: Awaited<ReturnType<typeof openLlamaEngine>>
let engine: EngineServer
let settings: Settings
const gateways = new Map<string, Gateway>()

const started = async (name: string): Promise<Gateway> => {
  const gateway = await Gateway.start(join(folder, name), settings)
  gateways.set(name, gateway)
  return gateway
}

beforeAll(async () => {
  withLlama()
  const model = await tinyModel()
  decoding = await openLlamaEngine(readSettings({ model: join(model, 'model.gguf'), capacity: 64 }))
  engine = await startSglang({ decoder: await llamaDecoder(decoding), capacity: CAPACITY })
  ;[database, s3, trainer] = await Promise.all([
    startPostgres({ settings: { fsync: 'off' } }),
    startS3(),
    startTrainer({ state: join(folder, 'trainer'), models: { tiny: model } }),
  ])
  settings = {
    ...deploymentIn(folder, database, 'weights'),
    'storage.artifact_repository': `s3://${BUCKET}/weights`,
    ...s3.settings,
    ...QUICKLY,
    'training.group_size': GROUP,
    // Releases between checkpoints would be on the machine that trained alone.
    'training.checkpoint_every': 5,
    'training.trainer_url': trainer.url,
    'inference.runtime': 'sglang',
    'inference.engine.url': engine.url,
    'inference.engine.model': 'tiny',
    'inference.engine.capacity': CAPACITY / 2,
    'inference.engine.vocabulary': VOCABULARY,
  }
}, START_MS_MAX)
afterAll(async () => {
  await Promise.all([...gateways.values()].map((gateway) => gateway.kill()))
  await engine.close()
  await decoding.close()
  await trainer.stop()
  s3.stop()
  database.stop()
})

const said = z.object({
  artifact_ref: z.string(),
  payload: z.object({
    response: z.object({ training: z.object({ tokens: z.array(z.number()), rollout_log_probs: z.array(z.number()) }) }),
  }),
})

async function ask(at: Gateway, seed: number): Promise<string> {
  const body = { model: 'tiny', messages: [{ role: 'user', content: PROMPT }], max_tokens: 12, temperature: 1, seed }
  const answer = await at.post('/v1/chat/completions', body)
  expect(answer.status, answer.text).toBe(200)
  return String(answer.headers['x-svc-agent-record-id'])
}

/** The release that answers, and what its weights say of fixed seeds. */
async function voice(at: Gateway) {
  const records = await Promise.all(
    (await Promise.all(seedsFrom(0, 4).map((seed) => ask(at, seed)))).map(async (id) =>
      said.parse((await at.get(`${PATH}/records/${id}`)).json),
    ),
  )
  const releases = new Set(records.map(({ artifact_ref }) => artifact_ref))
  expect(releases.size).toBe(1)
  return { release: [...releases][0], training: records.map(({ payload }) => payload.response.training) }
}

const rows = async (at: Gateway): Promise<readonly JsonObject[]> => rowsOf(await at.get(`${PATH}/commits?limit=100`), 'commits')

/** One group of answers and reports at that gateway; resolves once a step was made of it. */
async function teach(at: Gateway, round: number): Promise<JsonObject> {
  const receipts = await Promise.all(seedsFrom(round * 1000, GROUP).map((seed) => ask(at, seed)))
  for (const [index, receipt] of receipts.entries())
    await at.post('/svc/report', { score: index % 2, references: [receipt], metadata: { comparison_set: `round-${round}` } })
  let row: JsonObject | undefined
  await until(async () => (row = (await rows(at)).find(({ step }) => step === round)) !== undefined)
  expect(row).toMatchObject({ operation: 'train', metrics: { optimizer_steps: 1, selected: true } })
  return row ?? {}
}

const strays = async (at: Gateway): Promise<unknown> => {
  const { serving } = (await at.get('/svc/status')).json
  return z.object({ adapters: z.object({ counters: z.object({ strays_unloaded: z.number() }) }) }).parse(serving).adapters.counters
    .strays_unloaded
}

it(
  'both answer with the weights of the current release: trained, after the one that trained was killed, and rolled back',
  { timeout: 240_000 },
  async () => {
    const [a, b] = [await started('a'), await started('b')]
    expect((await a.post('/svc/scenarios', { name: SCENARIO })).status).toBe(201)
    const base = await voice(a)
    expect(await voice(b)).toEqual(base)

    // What is said at the one is learnt at the other.
    await teach(b, 1)
    await until(async () => (await voice(b)).release !== base.release)
    const first = await voice(a)
    expect(first.training).not.toEqual(base.training)
    expect(await voice(b)).toEqual(first)
    expect(first.release).not.toMatch(/^live:/)

    await a.kill()
    expect(await voice(b)).toEqual(first)
    await teach(b, 2)
    const second = await voice(b)
    expect(second.training).not.toEqual(first.training)

    const back = await started('a')
    expect(await voice(back)).toEqual(second)
    const moved = await b.rollback(String(first.release))
    expect([moved.status, moved.json['gateways_behind']], moved.text).toEqual([200, []])
    for (const at of [back, b]) expect(await voice(at)).toEqual({ release: textAt(moved.json, 'release_id'), training: first.training })

    expect(await strays(b)).toBe(0)
    // One copy for each gateway, of what each serves, and the leftover of the killed one is gone.
    expect(new Set([...engine.adapters.keys()].map((name) => name.split('.')[0])).size).toBe(2)
  },
)
