import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as sleep } from 'node:timers/promises'
import { afterAll, beforeEach, describe, expect, it } from 'vitest'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Reporter } from '../../contract/index.ts'
import { readProvenance } from '../formats/provenance.ts'
import { exportPath } from './exports.ts'
import { jobOf, type WeightJob, type Row } from './job-id.ts'
import { markerIn, type Marker, type MarkerFile } from './marker.ts'
import type { Parent } from './parent.ts'
import { whileAway } from './trainer.ts'
import { runJob, type JobPlace } from './run-job.ts'
import { startFakeTrainer, type FakeTrainer, type Fault } from './testing.ts'
import { makeTrainerClient, type TrainerClient } from './tinker.ts'

const row = (id: string, advantage: number): Row => ({
  record_ids: [id],
  tokens: [1, 2, 3, 4, 5],
  lossMask: [1, 0, 1],
  logProbs: [-0.1, -0.2, -0.3],
  advantages: [advantage, advantage, advantage],
})
const lora = { rank: 2, seed: 7, train_attn: true, train_mlp: true, train_unembed: false }
const adam = { learning_rate: 0.01, beta1: 0.9, beta2: 0.95, eps: 1e-12, weight_decay: 0, grad_clip_norm: 0 }
const content = {
  base: { name: 'tiny', digest: 'd1' },
  parentState: null,
  lora,
  loss: 'importance_sampling',
  lossConfig: {},
  adam,
} as const
const first = jobOf({ ...content, rows: [row('a', 1), row('b', -0.5)] })
const untrained: Parent = { release_id: 'r0', job: null, trainerState: null, optimizerSteps: 0, weightsDigest: null }
const silent: Reporter = { phase: () => undefined, line: () => undefined }

let trainer: FakeTrainer
const open: FakeTrainer[] = []
beforeEach(async () => {
  trainer = await startFakeTrainer()
  open.push(trainer)
})
afterAll(() => Promise.all(open.map((each) => each.close())))

function placeAt(directory: string, more: Partial<JobPlace> = {}): JobPlace {
  const client = makeTrainerClient({ url: trainer.url, apiKey: 'key-1', timeoutSeconds: 30 })
  return {
    client,
    marker: markerIn(directory),
    scenario: 'shop',
    directory,
    shape: null,
    objective: 'grouped',
    parent: untrained,
    report: silent,
    signal: new AbortController().signal,
    ...more,
  }
}

const weightsIn = (directory: string, { id }: WeightJob): Buffer =>
  readFileSync(join(directory, exportPath(id), 'adapter_model.safetensors'))
const provenanceIn = (directory: string, { id }: WeightJob) =>
  readProvenance(readFileSync(join(directory, exportPath(id), 'svc-provenance.json'), 'utf8'))

/** The job after `first`, on what that one published. */
function secondOn(directory: string): { readonly job: WeightJob; readonly parent: Parent } {
  const { trainer_state: trainerState, optimizer_steps: optimizerSteps, files } = provenanceIn(directory, first)
  const parent = {
    release_id: 'r1',
    job: first.id,
    trainerState,
    optimizerSteps,
    weightsDigest: files['adapter_model.safetensors'] ?? null,
  }
  return { job: jobOf({ ...content, parentState: trainerState, rows: [row('c', 2)] }), parent }
}

const float = (data: readonly number[]) => ({ data, dtype: 'float32', shape: [4] })

describe('a job', () => {
  it('becomes a checked adapter that says where it comes from, by one optimizer step', async () => {
    const directory = temporaryFolder()
    const statuses: string[] = []
    const done = await runJob(first, placeAt(directory, { report: { ...silent, job: (_id, status) => statuses.push(status) } }))
    expect(done).toMatchObject({ job: first.id, status: 'CHECKPOINT', trained: { metrics: { optimizer_steps: 1, tokens_trained: 4 } } })
    const provenance = provenanceIn(directory, first)
    expect(provenance).toMatchObject({
      scenario: 'shop',
      job: first.id,
      base_model: 'tiny',
      base_digest: 'd1',
      parent: { release_id: 'r0', job: null },
      objective: 'grouped',
      optimizer_steps: 1,
      probe: { tokens: [1, 2, 3, 4, 5] },
    })
    expect(trainer.stepsOf(provenance.trainer_state)).toBe(1)
    expect([trainer.optimizerSteps, trainer.models]).toEqual([1, 0])
    expect(statuses).toEqual(['RUNNING', 'RUNNING', 'RUNNING', 'CHECKPOINT'])
  })

  it('sends rows shifted by one, with nothing to learn in the prompt and where the mask says no', async () => {
    await runJob(first, placeAt(temporaryFolder()))
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
    expect(sent?.headers).toMatchObject({ 'x-api-key': 'key-1', authorization: 'Bearer key-1' })
  })

  it('goes on from the state that its parent left, and leaves that as it was', async () => {
    const directory = temporaryFolder()
    await runJob(first, placeAt(directory))
    const { job, parent } = secondOn(directory)
    await runJob(job, placeAt(directory, { parent }))
    const { trainer_state, optimizer_steps } = provenanceIn(directory, job)
    expect([trainer.stepsOf(trainer_state), optimizer_steps, trainer.stepsOf(parent.trainerState ?? '')]).toEqual([2, 2, 1])
    expect(weightsIn(directory, job).equals(weightsIn(directory, first))).toBe(false)
  })

  it('that is done is not trained again, and lost files of it are only fetched again', async () => {
    const directory = temporaryFolder()
    const before = await runJob(first, placeAt(directory))
    const asked = trainer.calls.length
    expect(await runJob(first, placeAt(directory))).toEqual(before)
    expect(trainer.calls).toHaveLength(asked)
    const weights = weightsIn(directory, first)
    writeFileSync(join(directory, exportPath(first.id), 'adapter_model.safetensors'), 'torn')
    await runJob(first, placeAt(directory))
    expect(weightsIn(directory, first).equals(weights)).toBe(true)
    expect(trainer.optimizerSteps).toBe(1)
  })

  it('that another one follows unfinished is let go of at the trainer', async () => {
    const directory = temporaryFolder()
    trainer.fault((call) => (call === 'optim_step' ? { status: 400, body: '{"detail":"no"}' } : undefined))
    await expect(runJob(first, placeAt(directory))).rejects.toMatchObject({ code: 'trainer_refused' })
    expect(trainer.models).toBe(1)
    trainer.fault(() => undefined)
    await runJob(jobOf({ ...content, rows: [row('z', 1)] }), placeAt(directory))
    expect(trainer.models).toBe(0)
  })

  it('that was turned down leaves nothing on the disk of the trainer once another one follows', async () => {
    const directory = temporaryFolder()
    const rejected = await runJob(first, placeAt(directory))
    await markerIn(directory).write({ ...rejected, status: 'REJECTED' })
    const job = jobOf({ ...content, rows: [row('z', 1)] })
    await runJob(job, placeAt(directory))
    const state = provenanceIn(directory, job).trainer_state
    expect(trainer.saved).toEqual([state, state.replace('/weights/', '/sampler_weights/')])
  })

  it('that was published leaves its state there, which later ones go on from, and not its adapter, which is here', async () => {
    const directory = temporaryFolder()
    await runJob(first, placeAt(directory))
    const { job, parent } = secondOn(directory)
    await runJob(job, placeAt(directory, { parent }))
    const state = provenanceIn(directory, job).trainer_state
    expect(trainer.saved).toEqual([parent.trainerState, state, state.replace('/weights/', '/sampler_weights/')])
  })

  it('whose parent the trainer has no state of fails with what to do', async () => {
    const parentState = 'tinker://elsewhere/weights/x'
    const job = jobOf({ ...content, parentState, rows: first.rows })
    const parent = { ...untrained, release_id: 'r7', trainerState: parentState }
    await expect(runJob(job, placeAt(temporaryFolder(), { parent }))).rejects.toMatchObject({
      code: 'trainer_state_gone',
      message: expect.stringContaining('r7'),
    })
  })

  it.each([
    ['the base', untrained],
    ['its parent', null],
  ])('that changed nothing of %s fails, each time it is tried', async (_what, given) => {
    const directory = temporaryFolder()
    await runJob(first, placeAt(directory))
    const { parent } = secondOn(directory)
    const from = given ?? parent
    const still = jobOf({ ...content, parentState: from.trainerState, adam: { ...adam, learning_rate: 0 }, rows: [row('d', 1)] })
    for (let time = 0; time < 2; time += 1)
      await expect(runJob(still, placeAt(directory, { parent: from }))).rejects.toMatchObject({ code: 'nothing_changed' })
    expect(trainer.optimizerSteps).toBe(2)
  })

  it('begins again when its marker is torn, and keeps what was torn', async () => {
    const directory = temporaryFolder()
    await runJob(first, placeAt(directory))
    const weights = weightsIn(directory, first)
    const path = join(directory, 'weights', 'job.json')
    writeFileSync(path, '{"job":')
    await runJob(first, placeAt(directory))
    expect(weightsIn(directory, first).equals(weights)).toBe(true)
    expect(readFileSync(`${path}.unreadable`, 'utf8')).toBe('{"job":')
  })
})

class Killed extends Error {}

/** From one point on nothing that this process does reaches anybody. */
function mortal(place: JobPlace, dieAt: number): JobPlace {
  let passed = 0
  const pass = (): void => {
    passed += 1
    if (passed > dieAt) throw new Killed()
  }
  const around = async <T>(work: () => Promise<T>): Promise<T> => {
    pass()
    const answer = await work()
    pass()
    return answer
  }
  const { client, marker } = place
  const calls: TrainerClient = {
    createSession: (...given) => around(() => client.createSession(...given)),
    heartbeat: (...given) => client.heartbeat(...given),
    createModel: (...given) => around(() => client.createModel(...given)),
    forward: (...given) => around(() => client.forward(...given)),
    forwardBackward: (...given) => around(() => client.forwardBackward(...given)),
    optimStep: (...given) => around(() => client.optimStep(...given)),
    loadWeights: (...given) => around(() => client.loadWeights(...given)),
    saveWeights: (...given) => around(() => client.saveWeights(...given)),
    saveForSampler: (...given) => around(() => client.saveForSampler(...given)),
    knows: (...given) => around(() => client.knows(...given)),
    archive: (...given) => around(() => client.archive(...given)),
    unload: (...given) => around(() => client.unload(...given)),
    discard: (...given) => around(() => client.discard(...given)),
    close: () => client.close(),
  }
  const file: MarkerFile = { read: () => marker.read(), write: (written: Marker) => around(() => marker.write(written)) }
  return { ...place, client: calls, marker: file }
}

describe('exactly one optimizer step is published', () => {
  it('wherever the process is killed: what goes on ends with the same files, and nothing was stepped twice', async () => {
    const reference = temporaryFolder()
    await runJob(first, placeAt(reference))
    const { job, parent } = secondOn(reference)
    await runJob(job, placeAt(reference, { parent }))
    const weights = weightsIn(reference, job)
    for (let dieAt = 0; ; dieAt += 1) {
      const directory = temporaryFolder()
      const before = trainer.optimizerSteps
      const killed = await runJob(job, mortal(placeAt(directory, { parent }), dieAt)).then(
        () => false,
        (error: unknown) => {
          if (error instanceof Killed) return true
          throw error
        },
      )
      const noted = await markerIn(directory).read()
      await runJob(job, placeAt(directory, { parent }))
      const { trainer_state } = provenanceIn(directory, job)
      expect(trainer.stepsOf(trainer_state), `killed at ${dieAt}`).toBe(2)
      expect(trainer.optimizerSteps - before, `killed at ${dieAt}`).toBe(1)
      expect(weightsIn(directory, job).equals(weights)).toBe(true)
      // Once it is written down which model it is, nobody makes another.
      if (noted?.model_id !== undefined) expect(trainer_state).toContain(noted.model_id)
      if (killed) continue
      expect(dieAt).toBeGreaterThan(20)
      return
    }
  })

  it.each<Fault>(['lost before', 'lost after', 'killed before', 'killed after'])('whichever request is %s', async (fault) => {
    const reference = temporaryFolder()
    await runJob(first, placeAt(reference))
    const { job, parent } = secondOn(reference)
    const begin = trainer.calls.length
    await runJob(job, placeAt(reference, { parent }))
    const requests = trainer.calls.length - begin
    const weights = weightsIn(reference, job)
    for (let at = 0; at < requests; at += 1) {
      const directory = temporaryFolder()
      const from = trainer.calls.length
      const before = trainer.optimizerSteps
      trainer.fault((_call, number) => (number === from + at ? fault : undefined))
      const place = placeAt(directory, { parent })
      await whileAway(silent, place.signal, () => runJob(job, place), 0.001)
      const { trainer_state } = provenanceIn(directory, job)
      expect(trainer.stepsOf(trainer_state), `request ${at}`).toBe(2)
      expect(weightsIn(directory, job).equals(weights)).toBe(true)
      if (fault === 'lost before' || fault === 'lost after') expect(trainer.optimizerSteps - before, `request ${at}`).toBe(1)
    }
  })
})

const logProbs = (change: (data: number[]) => unknown) => (answer: unknown) =>
  JSON.stringify(answer, (key, value: unknown) => (key === 'data' && Array.isArray(value) ? change(value) : value))
const result = (mangle: (answer: unknown) => unknown): Fault => ({ mangle })
const half = (answer: unknown) => Buffer.from(String(answer), 'base64').subarray(0, 700).toString('latin1')

describe('a trainer that answers wrongly', () => {
  it.each<readonly [string, string, Fault, string]>([
    ['fewer log-probabilities than tokens', 'forward_backward', result(logProbs((data) => data.slice(1))), 'as many as its targets'],
    ['a log-probability that is null', 'forward', result(logProbs((data) => data.map(() => null))), 'logprobs'],
    ['a loss that is not a number', 'forward_backward', result(() => '{"loss_fn_outputs":[],"metrics":{"loss:sum":NaN}}'), 'finite'],
    [
      'fewer rows than were sent',
      'forward_backward',
      result(() => ({ loss_fn_outputs: [], metrics: { 'loss:sum': 0 } })),
      'as many as rows',
    ],
    ['a metric that is null', 'optim_step', result(() => ({ metrics: { grad_norm: null } })), 'metrics.grad_norm'],
    ['another path than was asked for', 'save_weights', result(() => ({ path: 'tinker://other/weights/x' })), 'path must be'],
    ['an error of the caller', 'forward_backward', result(() => ({ error: 'a token is out of range', category: 'user' })), 'out of range'],
    ['an error of its own', 'save_weights', result(() => ({ error: 'disk full', category: 'server' })), 'disk full'],
  ])('with %s fails the step with the reason, and goes on when it is mended', async (_what, call, fault, words) => {
    const directory = temporaryFolder()
    let latest = ''
    trainer.fault((name) => {
      if (name !== 'retrieve_future') latest = name
      return name === 'retrieve_future' && latest === call ? fault : undefined
    })
    await expect(runJob(first, placeAt(directory))).rejects.toThrow(words)
    trainer.fault(() => undefined)
    await runJob(first, placeAt(directory))
    expect(trainer.optimizerSteps).toBe(1)
    expect(trainer.stepsOf(provenanceIn(directory, first).trainer_state)).toBe(1)
  })

  it('that failed, and answers a call sent again as it did then, is given the job anew', async () => {
    const directory = temporaryFolder()
    trainer.failing('save_weights')
    await expect(runJob(first, placeAt(directory))).rejects.toThrow('disk full')
    await expect(runJob(first, placeAt(directory))).rejects.toThrow('disk full')
    trainer.failing(null)
    await runJob(first, placeAt(directory))
    expect(trainer.stepsOf(provenanceIn(directory, first).trainer_state)).toBe(1)
    expect(trainer.models).toBe(0)
  })

  it('with half an archive fails the step, leaves nothing of it, and only the archive is asked for again', async () => {
    const directory = temporaryFolder()
    trainer.fault((name) => (name === 'archive' ? { mangle: half } : undefined))
    await expect(runJob(first, placeAt(directory))).rejects.toMatchObject({ name: 'Refusal' })
    trainer.fault(() => undefined)
    const from = trainer.calls.length
    await runJob(first, placeAt(directory))
    const names = trainer.calls.slice(from).map(({ name }) => name)
    expect(names.filter((name) => name.startsWith('forward') || name === 'optim_step' || name.startsWith('save'))).toEqual([])
    expect(trainer.stepsOf(provenanceIn(directory, first).trainer_state)).toBe(1)
  })
})

describe('a job that is told to stop', () => {
  it('is over at once, with results pending or not', async () => {
    trainer.pending('never')
    const stopping = new AbortController()
    const job = runJob(first, placeAt(temporaryFolder(), { signal: stopping.signal }))
    while (!trainer.calls.some(({ name }) => name === 'retrieve_future')) await sleep(2)
    stopping.abort(new Error('nobody waits any more'))
    await expect(job).rejects.toThrow('nobody waits any more')
  })
})
