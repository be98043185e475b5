/** The trainer as its callers see it: it learns, gives the same bytes for the same calls, and does nothing twice. */
import { once } from 'node:events'
import { describe, expect, it } from 'vitest'
import { spawnTrainer } from '../../src/cli/trainer/python.ts'
import type { JsonObject } from '../../src/contract/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { pythonWithTorch } from './support/torch.ts'
import { completion, promptOf } from './support/rows.ts'
import { datum, logProbsIn, savedDigest, sharedTrainer, towards } from './support/trainer-calls.ts'

const ADAM = { learning_rate: 0.02 }

const here = sharedTrainer()
const { state, caller } = here

const sum = (numbers: readonly number[]): number => numbers.reduce((total, number) => total + number, 0)

describe('training', () => {
  it('makes a wanted answer likelier, by the scores of a group alone', async () => {
    const run = await caller.model({ rank: 4, seed: 1 })
    const before = await run.chanceOf('Pick a colour.', 'gold')
    for (let step = 0; step < 12; step += 1) {
      // A whole group at once: each answer as often as it would be sampled, the wanted one with a score of 1 and the others with none.
      const answers = ['red', 'green', 'blue', 'gold']
      const said = await Promise.all(answers.map(async (answer) => ({ answer, logprobs: await run.logProbs('Pick a colour.', answer) })))
      const share = Math.exp(sum(said.at(-1)?.logprobs ?? []))
      const data = said.map(({ answer, logprobs }) =>
        datum('Pick a colour.', answer, { logprobs, advantages: Math.exp(sum(logprobs)) * ((answer === 'gold' ? 1 : 0) - share) }),
      )
      const passed = await run.done('forward_backward', { forward_backward_input: { data, loss_fn: 'importance_sampling' } })
      // The sampler was this very model: nothing lies between what it said then and what it says now.
      expect(passed).toMatchObject({ metrics: { 'logprob_difference:max': expect.closeTo(0, 4) } })
      expect(await run.done('optim_step', { adam_params: { learning_rate: 0.003 } })).toMatchObject({
        metrics: { optimizer_steps: step + 1 },
      })
    }
    expect(before).toBeGreaterThan(0.05)
    expect(before).toBeLessThan(0.5)
    expect(await run.chanceOf('Pick a colour.', 'gold')).toBeGreaterThan(0.9)
  })

  it('holds a clipped ratio back, where one without a clip goes on', async () => {
    const run = await caller.model()
    const now = await run.logProbs('Pick a colour.', 'gold')
    const data = [datum('Pick a colour.', 'gold', { logprobs: now.map((logprob) => logprob - 1), advantages: 1 })]
    await run.done('forward_backward', { forward_backward_input: { data, loss_fn: 'ppo' } })
    expect(await run.done('optim_step', { adam_params: ADAM })).toMatchObject({ metrics: { grad_norm: 0 } })
    await run.done('forward_backward', { forward_backward_input: { data, loss_fn: 'importance_sampling' } })
    const { metrics } = await run.done('optim_step', { adam_params: ADAM })
    expect(metrics).toMatchObject({ grad_norm: expect.not.closeTo(0, 3) })
  })

  it('begins as the base, and looks without changing anything', async () => {
    const [first, second] = [await caller.model({ seed: 1 }), await caller.model({ seed: 2 })]
    const looked = await first.logProbs('Pick a fruit.', 'fig')
    expect(await first.logProbs('Pick a fruit.', 'fig')).toEqual(looked)
    expect(await second.logProbs('Pick a fruit.', 'fig')).toEqual(looked)
    expect(await first.failed('optim_step', { adam_params: ADAM })).toMatchObject({
      category: 'user',
      error: expect.stringContaining('no gradient'),
    })
  })

  it('gives a row the same numbers alone and beside longer ones, in the order they came', async () => {
    const run = await caller.model()
    const questions = ['Pick a fruit.', 'a much longer question than that one, with many words in it?', 'Yes or no?']
    const alone = await Promise.all(questions.map((question) => run.logProbs(question, 'fig')))
    const data = questions.map((question) => datum(question, 'fig'))
    const together = logProbsIn(await run.done('forward', { forward_input: { data, loss_fn: 'cross_entropy' } }))
    const answers = together.map((row, at) => row.slice(-(alone[at]?.length ?? 0)))
    expect(answers).toEqual(alone.map((row) => row.map((number): unknown => expect.closeTo(number, 4))))
    expect(together.map((row) => row.length)).toEqual(questions.map((question) => promptOf(question).length + completion('fig').length - 1))
  })

  it('makes the same bytes of the same calls, and others of another seed', async () => {
    const digests: string[] = []
    for (const seed of [3, 3, 4]) {
      const run = await caller.model({ rank: 4, seed })
      await run.step(towards('blue'))
      await run.done('save_weights_for_sampler', { path: 'a' })
      digests.push(savedDigest(state, run.id, 'a'))
    }
    expect(digests[1]).toBe(digests[0])
    expect(digests[2]).not.toBe(digests[0])
  })

  it('leaves the model as it was when a gradient is not finite', async () => {
    const run = await caller.model()
    const before = await run.logProbs('Pick a colour.', 'gold')
    const data = [datum('Pick a colour.', 'gold', { logprobs: before.map(() => -1e30), advantages: 1 })]
    const refused = await run.failed('forward_backward', { forward_backward_input: { data, loss_fn: 'importance_sampling' } })
    expect(refused).toMatchObject({ category: 'user', error: expect.stringContaining('not finite') })
    await run.done('forward_backward', { forward_backward_input: towards('gold') })
    expect(await run.failed('optim_step', { adam_params: { learning_rate: 1e300 } })).toMatchObject({ category: 'user' })
    expect(await run.logProbs('Pick a colour.', 'gold')).toEqual(before)
  })
})

describe('a sequence number', () => {
  it('is one call, however often it is sent', async () => {
    const run = await caller.model()
    const pass = { model_id: run.id, forward_backward_input: towards('red'), seq_id: 7 }
    const tickets = await Promise.all([1, 2, 3].map(() => caller.post('forward_backward', pass)))
    expect(new Set(tickets.map(({ body }) => body['request_id'])).size).toBe(1)
    const step = { model_id: run.id, adam_params: ADAM, seq_id: 8 }
    const stepped = await caller.result('optim_step', step)
    expect(await caller.result('optim_step', step)).toEqual(stepped)
    await run.done('forward_backward', { forward_backward_input: towards('red') })
    expect(await run.done('optim_step', { adam_params: ADAM })).toMatchObject({ metrics: { optimizer_steps: 2 } })
  })

  it('is not for two calls, and is free again after a refusal', async () => {
    const run = await caller.model()
    const pass = (answer: string): JsonObject => ({ model_id: run.id, forward_backward_input: towards(answer), seq_id: 3 })
    expect(await caller.post('forward_backward', { ...pass('red'), forward_backward_input: {} })).toMatchObject({ status: 400 })
    expect(await caller.post('forward_backward', pass('red'))).toMatchObject({ status: 200 })
    expect(await caller.post('forward_backward', pass('blue'))).toMatchObject({ status: 409 })
    expect(await caller.post('optim_step', { model_id: run.id, adam_params: ADAM, seq_id: 3 })).toMatchObject({ status: 409 })
  })

  it('of a session makes one model', async () => {
    const { body } = await caller.post('create_session', {})
    const order = { session_id: body['session_id'] ?? '', model_seq_id: 0, base_model: 'tiny', lora_config: { rank: 2 } }
    const [first, second] = await Promise.all([caller.post('create_model', order), caller.post('create_model', order)])
    expect(first).toEqual(second)
    expect(await caller.post('create_model', { ...order, lora_config: { rank: 3 } })).toMatchObject({ status: 409 })
  })
})

describe('a model', () => {
  it('says what it is, and is gone once unloaded', async () => {
    const run = await caller.model({ rank: 6 })
    const info = {
      model_id: run.id,
      model_name: 'tiny',
      is_lora: true,
      lora_rank: 6,
      model_data: { model_name: 'tiny', arch: 'LlamaForCausalLM' },
    }
    expect((await caller.post('get_info', { model_id: run.id })).body).toEqual(info)
    const gone = { model_id: run.id, type: 'unload_model' }
    expect(await caller.result('unload_model', { model_id: run.id })).toEqual(gone)
    expect(await caller.result('unload_model', { model_id: run.id })).toEqual(gone)
    expect((await caller.post('get_info', { model_id: run.id })).status).toBe(404)
  })

  it('is made over a base that is there', async () => {
    expect((await caller.get('get_server_capabilities')).body).toMatchObject({ supported_models: [{ model_name: 'tiny' }] })
    const { body } = await caller.post('create_session', {})
    const order = { session_id: body['session_id'] ?? '', model_seq_id: 0, base_model: 'large', lora_config: { rank: 2 } }
    expect(await caller.post('create_model', order)).toMatchObject({ status: 404, body: { detail: expect.stringMatching(/: tiny$/) } })
    expect(await caller.post('create_model', { ...order, session_id: 'unknown' })).toMatchObject({ status: 404 })
    expect(await caller.post('session_heartbeat', { session_id: 'unknown' })).toMatchObject({ status: 404 })
    expect(await caller.post('session_heartbeat', { session_id: body['session_id'] ?? '' })).toEqual({ status: 200, body: {} })
  })
})

it('ends with the process that started it', async () => {
  const args = [`--state=${temporaryFolder()}`, '--port=0', `--model=tiny=${here.model}`]
  const child = spawnTrainer(await pythonWithTorch(), args, process.env)
  await once(child.stdout, 'data')
  child.stdin.end()
  expect(await once(child, 'close')).toEqual([0, null])
})
