import { FolderDocuments } from '../../kit/index.ts'
import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import { until } from '../../../test/support/wait.ts'
import { objectOf } from '../../dialects/index.ts'
import { readProvenance } from '../formats/provenance.ts'
import { exportPath, type Parent } from './exports.ts'
import { jobOf, type JobContent, type WeightJob, type Row } from './job-id.ts'
import { markerIn, type Marker } from './marker.ts'
import { whileAway } from './trainer.ts'
import { runJob, type JobPlace } from './run-job.ts'
import { ADAM, clientOf, KEY, LORA, SILENT, startFakeTrainer, type FakeTrainer, type Fault } from './testing.ts'

const row = (id: string, advantage: number): Row => ({
  record_ids: [id],
  tokens: [1, 2, 3, 4, 5],
  lossMask: [1, 0, 1],
  logProbs: [-0.1, -0.2, -0.3],
  advantages: [advantage, advantage, advantage],
})
const jobWith = (rows: readonly Row[], more: Partial<JobContent> = {}): WeightJob =>
  jobOf({
    base: { name: 'tiny', digest: 'd1' },
    parentState: null,
    lora: LORA,
    loss: 'importance_sampling',
    lossConfig: {},
    adam: ADAM,
    rows,
    ...more,
  })
const first = jobWith([row('a', 1), row('b', -0.5)])
const unrelated = jobWith([row('z', 1)])
const untrained: Parent = { release_id: 'r0', job: null, trainerState: null, optimizerSteps: 0, weightsDigest: null }

let trainer: FakeTrainer
let directory: string
beforeEach(async () => {
  trainer = await startFakeTrainer()
  directory = temporaryFolder()
})

const placeOf = (more: Partial<JobPlace> = {}): JobPlace => ({
  client: clientOf(trainer.url),
  marker: markerIn(new FolderDocuments(more.directory ?? directory)),
  scenario: 'shop',
  directory,
  shape: null,
  objective: 'grouped',
  parent: untrained,
  report: SILENT,
  checkBase: async () => undefined,
  signal: new AbortController().signal,
  ...more,
})
const run = (job: WeightJob, more?: Partial<JobPlace>): Promise<Marker> => runJob(job, placeOf(more))

const weightsOf = ({ id }: WeightJob, folder = directory): Buffer => readFileSync(join(folder, exportPath(id), 'adapter_model.safetensors'))
const provenanceOf = ({ id }: WeightJob, folder = directory) =>
  readProvenance(readFileSync(join(folder, exportPath(id), 'svc-provenance.json'), 'utf8'))
const stepsOf = (job: WeightJob, folder = directory): number => trainer.stepsOf(provenanceOf(job, folder).trainer_state)

/** Runs `first`, and returns a job on top of it. */
async function runFirst(): Promise<{ readonly job: WeightJob; readonly parent: Parent & { readonly trainerState: string } }> {
  await run(first)
  const { trainer_state: trainerState, optimizer_steps: optimizerSteps, files } = provenanceOf(first)
  const weightsDigest = files['adapter_model.safetensors'] ?? null
  const job = jobWith([row('c', 2)], { parentState: trainerState })
  return { job, parent: { release_id: 'r1', job: first.id, trainerState, optimizerSteps, weightsDigest } }
}

const float = (data: readonly number[]) => ({ data, dtype: 'float32', shape: [4] })

describe('a job', () => {
  it('becomes a checked adapter with its provenance, by one optimizer step', async () => {
    const statuses: string[] = []
    const done = await run(first, { report: { ...SILENT, job: (_id, status) => statuses.push(status) } })
    expect(done).toMatchObject({ job: first.id, status: 'CHECKPOINT', trained: { metrics: { optimizer_steps: 1, tokens_trained: 4 } } })
    expect(provenanceOf(first)).toMatchObject({
      scenario: 'shop',
      job: first.id,
      base_model: 'tiny',
      base_digest: 'd1',
      parent: { release_id: 'r0', job: null },
      objective: 'grouped',
      optimizer_steps: 1,
      probe: { tokens: [1, 2, 3, 4, 5] },
    })
    expect([stepsOf(first), trainer.optimizerSteps, trainer.models.size]).toEqual([1, 1, 0])
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'CHECKPOINT'])
  })

  it('sends rows shifted by one, with weight 0 in the prompt and where the mask is 0', async () => {
    await run(first)
    const sent = trainer.calls.find(({ name }) => name === 'forward_backward')
    expect(sent?.body['forward_backward_input']).toMatchObject({
      loss_fn: 'importance_sampling',
      data: [
        {
          model_input: { chunks: [{ type: 'encoded_text', tokens: [1, 2, 3, 4] }] },
          loss_fn_inputs: {
            target_tokens: { data: [2, 3, 4, 5], dtype: 'int64', shape: [4] },
            logprobs: float([0, -0.1, -0.2, -0.3]),
            advantages: float([0, 1, 0, 1]),
          },
        },
        { loss_fn_inputs: { advantages: float([0, -0.5, 0, -0.5]) } },
      ],
    })
    expect(sent?.headers).toMatchObject({ 'x-api-key': KEY, authorization: `Bearer ${KEY}` })
  })

  it('continues from the state of its parent, and leaves that state unchanged', async () => {
    const { job, parent } = await runFirst()
    await run(job, { parent })
    expect([stepsOf(job), provenanceOf(job).optimizer_steps, trainer.stepsOf(parent.trainerState)]).toEqual([2, 2, 1])
    expect(weightsOf(job).equals(weightsOf(first))).toBe(false)
  })

  it('that is done is not trained again, and lost files of it are only fetched again', async () => {
    const before = await run(first)
    const asked = trainer.calls.length
    expect(await run(first)).toEqual(before)
    expect(trainer.calls).toHaveLength(asked)
    const weights = weightsOf(first)
    writeFileSync(join(directory, exportPath(first.id), 'adapter_model.safetensors'), 'torn')
    await run(first)
    expect(weightsOf(first).equals(weights)).toBe(true)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('that is followed unfinished by another is unloaded at the trainer', async () => {
    trainer.faults = (call) => (call === 'optim_step' ? { status: 400, body: '{"detail":"no"}' } : undefined)
    await expect(run(first)).rejects.toMatchObject({ code: 'trainer_refused' })
    expect(trainer.models.size).toBe(1)
    trainer.faults = () => undefined
    await run(unrelated)
    expect(trainer.models.size).toBe(0)
  })

  it('that was rejected leaves nothing on the disk of the trainer once another one follows', async () => {
    await markerIn(new FolderDocuments(directory)).write({ ...(await run(first)), status: 'REJECTED' })
    await run(unrelated)
    const state = provenanceOf(unrelated).trainer_state
    expect([...trainer.saved.keys()]).toEqual([state, state.replace('/weights/', '/sampler_weights/')])
  })

  it('that was published leaves its state at the trainer for later jobs, and not its adapter, which is here', async () => {
    const { job, parent } = await runFirst()
    await run(job, { parent })
    const state = provenanceOf(job).trainer_state
    expect([...trainer.saved.keys()]).toEqual([parent.trainerState, state, state.replace('/weights/', '/sampler_weights/')])
  })

  it('whose parent the trainer has no state of fails with advice', async () => {
    const parentState = 'tinker://elsewhere/weights/x'
    const parent = { ...untrained, release_id: 'r7', trainerState: parentState }
    await expect(run(jobWith(first.rows, { parentState }), { parent })).rejects.toMatchObject({
      code: 'trainer_state_gone',
      message: expect.stringContaining('r7'),
    })
  })

  it.each([
    ['the base', untrained],
    ['its parent', null],
  ])('that changed nothing of %s fails every time', async (_what, given) => {
    const { parent } = await runFirst()
    const from = given ?? parent
    const still = jobWith([row('d', 1)], { parentState: from.trainerState, adam: { ...ADAM, learning_rate: 0 } })
    for (let time = 0; time < 2; time += 1) await expect(run(still, { parent: from })).rejects.toMatchObject({ code: 'nothing_changed' })
    expect(trainer.optimizerSteps).toBe(2)
  })

  it('starts again when its marker is torn, and keeps the torn file', async () => {
    await run(first)
    const weights = weightsOf(first)
    const path = join(directory, 'weights', 'job.json')
    writeFileSync(path, '{"job":')
    await run(first)
    expect(weightsOf(first).equals(weights)).toBe(true)
    expect(readFileSync(`${path}.unreadable`, 'utf8')).toBe('{"job":')
  })
})

class Killed extends Error {}
const UNWATCHED: ReadonlySet<unknown> = new Set(['heartbeat', 'close', 'read'])

/** From one call on, nothing that this process does takes effect. */
function mortal(place: JobPlace, dieAt: number): JobPlace {
  let passed = 0
  const pass = (): void => {
    passed += 1
    if (passed > dieAt) throw new Killed()
  }
  const watched = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name): unknown {
        const call: unknown = Reflect.get(target, name)
        if (typeof call !== 'function' || UNWATCHED.has(name)) return call
        return async (...given: unknown[]): Promise<unknown> => {
          pass()
          const answer: unknown = await Reflect.apply(call, target, given)
          pass()
          return answer
        }
      },
    })
  return { ...place, client: watched(place.client), marker: watched(place.marker) }
}

describe('exactly one optimizer step is published', () => {
  it('wherever the process is killed: the next run ends with the same files, and no step is taken twice', async () => {
    const { job, parent } = await runFirst()
    await run(job, { parent })
    for (let dieAt = 0; ; dieAt += 1) {
      const folder = temporaryFolder()
      const before = trainer.optimizerSteps
      const killed = await runJob(job, mortal(placeOf({ directory: folder, parent }), dieAt)).then(
        () => false,
        (error: unknown) => {
          if (error instanceof Killed) return true
          throw error
        },
      )
      const noted = await markerIn(new FolderDocuments(folder)).read()
      await run(job, { directory: folder, parent })
      expect([stepsOf(job, folder), trainer.optimizerSteps - before], `killed at ${dieAt}`).toEqual([2, 1])
      expect(weightsOf(job, folder).equals(weightsOf(job))).toBe(true)
      // Once the marker names the model, no other is made.
      if (noted?.model_id !== undefined) expect(provenanceOf(job, folder).trainer_state).toContain(noted.model_id)
      if (killed) continue
      expect(dieAt).toBeGreaterThan(20)
      return
    }
  })

  it.each<Fault>(['lost before', 'lost after', 'killed before', 'killed after'])('whichever request is %s', async (fault) => {
    const { job, parent } = await runFirst()
    const begin = trainer.calls.length
    await run(job, { parent })
    const requests = trainer.calls.length - begin
    for (let at = 0; at < requests; at += 1) {
      const folder = temporaryFolder()
      const from = trainer.calls.length
      const before = trainer.optimizerSteps
      trainer.faults = (_call, number) => (number === from + at ? fault : undefined)
      const place = placeOf({ directory: folder, parent })
      await whileAway(SILENT, place.signal, () => runJob(job, place), 0.001)
      expect(stepsOf(job, folder), `request ${at}`).toBe(2)
      expect(weightsOf(job, folder).equals(weightsOf(job))).toBe(true)
      if (fault === 'lost before' || fault === 'lost after') expect(trainer.optimizerSteps - before, `request ${at}`).toBe(1)
    }
  })
})

const logProbs = (change: (data: number[]) => unknown) => (answer: unknown) =>
  JSON.stringify(answer, (key, value: unknown) => (key === 'data' && Array.isArray(value) ? change(value) : value))
const noNumbers = logProbs((data) => data.map(() => null))
const twice = (answer: unknown) =>
  JSON.stringify(answer, (key, value: unknown) => (key === 'loss_fn_outputs' && Array.isArray(value) ? [...value, ...value] : value))
const withoutLoss = (answer: unknown) => JSON.stringify(answer, (key, value: unknown) => (key === 'loss:sum' ? null : value))
const half = (answer: unknown) => Buffer.from(String(answer), 'base64').subarray(0, 700).toString('latin1')

describe('a trainer that fills what the API leaves open in its own way', () => {
  beforeEach(() => {
    trainer.isLoose = true
  })

  it('is learnt with: no metrics, no loss, short paths, packed archives elsewhere, modules left to the weights', async () => {
    const { job, parent } = await runFirst()
    const { trained } = await run(job, { parent })
    expect([stepsOf(job), provenanceOf(job).optimizer_steps]).toEqual([2, 2])
    // -e^(l - l0) of two tokens with the weight 2, over two tokens.
    expect(trained?.metrics.loss).toBeCloseTo(-Math.exp(-1 / 4 + 0.1) - Math.exp(-1 / 6 + 0.3), 2)
    expect(trained?.metrics.trainer).toEqual({})
  })

  it('and ignores the numbers of calls never gets a gradient or a step twice', async () => {
    const { job, parent } = await runFirst()
    const begin = trainer.calls.length
    await run(job, { parent })
    const requests = trainer.calls.slice(begin).map(({ name }, at) => ({ call: name, at }))
    const steps = requests.filter(({ call }) => ['forward_backward', 'optim_step', 'save_weights'].includes(call))
    for (const { call, at } of steps)
      for (const fault of ['lost before', 'lost after', { status: 502 }] as const) {
        const folder = temporaryFolder()
        const from = trainer.calls.length
        trainer.faults = (_call, number) => (number === from + at ? fault : undefined)
        const place = placeOf({ directory: folder, parent })
        await whileAway(SILENT, place.signal, () => runJob(job, place), 0.001)
        expect(stepsOf(job, folder), `${call}, ${JSON.stringify(fault)}`).toBe(2)
        expect(weightsOf(job, folder).equals(weightsOf(job)), `${call}, ${JSON.stringify(fault)}`).toBe(true)
      }
  })
})

describe('a trainer that answers wrongly', () => {
  it.each<readonly [string, string, (answer: unknown) => unknown, string]>([
    ['fewer log-probabilities than tokens', 'forward_backward', logProbs((data) => data.slice(1)), 'as many as its targets'],
    ['a log-probability that is null', 'forward', noNumbers, 'logprobs'],
    ['a loss that is not a number', 'forward_backward', () => '{"loss_fn_outputs":[],"metrics":{"loss:sum":NaN}}', 'finite'],
    ['fewer rows than were sent', 'forward_backward', () => ({ loss_fn_outputs: [], metrics: { 'loss:sum': 0 } }), 'as many as rows'],
    ['every row twice', 'forward_backward', twice, 'as many as rows'],
    ['a log-probability that is not a number', 'forward_backward', (answer) => noNumbers(answer).replaceAll('null', 'NaN'), 'JSON'],
    ['a loss that is null', 'forward_backward', withoutLoss, 'loss:sum'],
    ['a metric that is null', 'optim_step', () => ({ metrics: { grad_norm: null } }), 'metrics.grad_norm'],
    ['another path than was asked for', 'save_weights', () => ({ path: 'tinker://other/weights/x' }), 'path must be'],
    ['an error of the caller', 'forward_backward', () => ({ error: 'a token is out of range', category: 'user' }), 'out of range'],
    ['an error of its own', 'save_weights', () => ({ error: 'disk full', category: 'server' }), 'disk full'],
  ])('with %s fails the step with the reason, and the job continues after the fix', async (_what, call, mangle, words) => {
    let latest = ''
    trainer.faults = (name) => {
      if (name !== 'retrieve_future') latest = name
      return name === 'retrieve_future' && latest === call ? { mangle } : undefined
    }
    await expect(run(first)).rejects.toThrow(words)
    trainer.faults = () => undefined
    await run(first)
    expect([trainer.optimizerSteps, stepsOf(first)]).toEqual([1, 1])
  })

  it('too late fails the step, and what it did late is taken as done', async () => {
    trainer.faults = (name) => {
      if (name === 'optim_step') trainer.pending = 'never'
      return undefined
    }
    await expect(run(first, { client: clientOf(trainer.url, 0.2) })).rejects.toMatchObject({ code: 'trainer_timeout' })
    trainer.faults = () => undefined
    trainer.pending = 'no'
    await run(first)
    expect([trainer.optimizerSteps, stepsOf(first)]).toEqual([1, 1])
  })

  it('for a model of another job fails the step, and the job continues after the fix', async () => {
    trainer.faults = (name) => (name === 'optim_step' ? { mangle: (answer) => ({ ...objectOf(answer), model_id: 'another' }) } : undefined)
    await expect(run(first)).rejects.toThrow('model_id must be the model that was named')
    trainer.faults = () => undefined
    await run(first)
    expect([trainer.optimizerSteps, stepsOf(first)]).toEqual([1, 1])
  })

  it('with an adapter of another rank or scale than was asked for fails the step with both', async () => {
    const rank = jobWith([row('a', 1)], { lora: { ...LORA, rank: 4 } })
    await expect(run(rank)).rejects.toMatchObject({ code: 'bad_export', message: expect.stringContaining('has rank 2, and 4') })
    const alpha = jobWith([row('a', 1)], { lora: { ...LORA, alpha: 7 } })
    await expect(run(alpha)).rejects.toMatchObject({ code: 'bad_export', message: expect.stringContaining('lora_alpha') })
  })

  it('that failed, and repeats that failure for the same call, is given the job anew', async () => {
    trainer.failing = 'save_weights'
    for (let time = 0; time < 2; time += 1) await expect(run(first)).rejects.toThrow('disk full')
    trainer.failing = null
    await run(first)
    expect([stepsOf(first), trainer.models.size]).toEqual([1, 0])
  })

  it('with half an archive fails the step, leaves nothing of it, and only the archive is fetched again', async () => {
    trainer.faults = (name) => (name === 'archive' ? { mangle: half } : undefined)
    await expect(run(first)).rejects.toMatchObject({ name: 'Refusal' })
    trainer.faults = () => undefined
    const from = trainer.calls.length
    await run(first)
    const names = trainer.calls.slice(from).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('forward') || name === 'optim_step' || name.startsWith('save'))).toEqual([])
    expect(stepsOf(first)).toBe(1)
  })
})

it('a job that is aborted ends at once, with results pending or not', async () => {
  trainer.pending = 'never'
  const stopping = new AbortController()
  const job = run(first, { signal: stopping.signal })
  await until(() => trainer.calls.some(({ name }) => name === 'retrieve_future'))
  stopping.abort(new Error('aborted by the caller'))
  await expect(job).rejects.toThrow('aborted by the caller')
})
