/** What the trainer refuses, with the reason. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject } from '../../src/contract/index.ts'
import { temporaryFolder } from '../support/folder.ts'
import { completion } from './support/rows.ts'
import { datum, sharedTrainer, type Datum } from './support/trainer-calls.ts'
import { startTrainer } from './support/trainer-process.ts'

const here = sharedTrainer()
const { state, caller } = here

describe('a model', () => {
  it.each<[string, JsonObject]>([
    ['no rank', {}],
    ['a rank of zero', { rank: 0 }],
    ['a rank beyond reason', { rank: 100_000 }],
    ['a rank that is none', { rank: true }],
    ['nothing to train', { rank: 2, train_attn: false, train_mlp: false }],
    ['an unembedding that is none', { rank: 2, train_unembed: 'yes' }],
    ['an alpha of zero', { rank: 2, alpha: 0 }],
    ['a seed below zero', { rank: 2, seed: -1 }],
  ])('is not made with %s', async (_, lora_config) => {
    const { body } = await caller.post('create_session', {})
    const order = { session_id: body['session_id'] ?? '', model_seq_id: 0, base_model: 'tiny', lora_config }
    expect(await caller.post('create_model', order)).toMatchObject({ status: 400, body: { detail: expect.any(String) } })
  })
})

/** A good one, changed. */
function row(change: (inputs: Datum['loss_fn_inputs'], tokens: number[]) => void): Datum {
  const made = datum('Pick a colour.', 'red', { logprobs: completion('red').map(() => -1), advantages: 1 })
  change(made.loss_fn_inputs, made.model_input.chunks[0]?.tokens ?? [])
  return made
}

const changed = (change: (inputs: Datum['loss_fn_inputs'], tokens: number[]) => void): JsonObject => ({ data: [row(change)] })

describe('a row', () => {
  it.each<[string, JsonObject, string]>([
    ['that is none', { data: [3] }, 'data[0]'],
    ['among none', { data: [] }, 'from 1 to'],
    ['of an unknown loss', { loss_fn: 'magic' }, 'loss_fn must be one of'],
    ['with a setting the loss does not have', { loss_fn_config: { clip: 2 } }, 'takes nothing'],
    ['with a clip the wrong way round', { loss_fn: 'ppo', loss_fn_config: { clip_low_threshold: 1.5 } }, 'clip_low_threshold'],
    ['of other lengths', changed(({ logprobs }) => logprobs?.data.pop()), 'data[0].logprobs has'],
    ['of a shape that is not its own', changed(({ advantages }) => advantages?.shape.push(1)), 'shape'],
    ['with an advantage that is no number', changed(({ advantages }) => advantages?.data.fill('x')), 'finite'],
    ['with an advantage larger than the trainer reckons with', changed(({ advantages }) => advantages?.data.fill(1e300)), 'finite'],
    ['with a token beyond the vocabulary', changed((_, tokens) => tokens.fill(259)), 'from 0 to 258'],
    ['with a target that is no id', changed(({ target_tokens }) => target_tokens?.data.fill(1.5)), 'target_tokens'],
    ['without tokens', changed((_, tokens) => tokens.splice(0)), 'from 1 to 1024'],
    ['with numbers the loss does not use', changed((inputs) => Object.assign(inputs, { mask: inputs['logprobs'] })), 'nothing else'],
    ['without what the loss needs', { loss_fn: 'cross_entropy' }, 'must hold target_tokens, weights'],
  ])('%s is refused', async (_, change, words) => {
    const run = await caller.model()
    const input: Json = { data: [row(() => undefined)], loss_fn: 'importance_sampling', ...change }
    for (const call of ['forward', 'forward_backward']) {
      const refused = await caller.post(call, { model_id: run.id, [`${call}_input`]: input, seq_id: 1 })
      expect(refused).toMatchObject({ status: 400, body: { detail: expect.stringContaining(words) } })
    }
  })

  it('with a number that JSON has no word for is refused', async () => {
    const run = await caller.model()
    const input = { data: [row(() => undefined)], loss_fn: 'importance_sampling' }
    const text = JSON.stringify({ model_id: run.id, forward_input: input, seq_id: 1 })
    for (const word of ['NaN', '-Infinity', '1e999']) {
      const refused = await caller.raw('forward', text.replace('-1,', `${word},`))
      expect(refused).toMatchObject({ status: 400 })
    }
  })
})

describe('the HTTP server', () => {
  it.each([
    ['no JSON', 'hello', 'application/json', 400],
    ['no object', '[]', 'application/json', 400],
    ['nested without end', '['.repeat(100_000), 'application/json', 400],
    ['of a form that web pages may send', '{}', 'text/plain', 415],
  ])('refuses a body that is %s', async (_, text, type, status) => {
    expect(await caller.raw('create_session', text, type)).toMatchObject({ status, body: { detail: expect.any(String) } })
  })

  it('says that it is there, and knows no other calls', async () => {
    expect(await caller.get('healthz')).toEqual({ status: 200, body: { status: 'ok' } })
    expect((await caller.get('nothing')).status).toBe(404)
    expect((await caller.post('__init__', {})).status).toBe(404)
    expect((await caller.post('retrieve_future', { request_id: 'unknown' })).status).toBe(404)
    expect((await caller.get('training_runs/..%2f..%2f/checkpoints')).status).toBe(404)
  })

  it('opens to the key alone where there is one, in either header', async () => {
    const locked = await startTrainer({ state: temporaryFolder(), models: { tiny: here.model }, apiKey: 'opensesame' })
    const url = `${locked.url}/api/v1/get_server_capabilities`
    const statuses = await Promise.all(
      [{}, { 'x-api-key': 'sesame' }, { 'x-api-key': 'opensesame' }, { authorization: 'Bearer opensesame' }].map(
        async (headers) => (await fetch(url, { headers })).status,
      ),
    )
    expect(statuses).toEqual([401, 401, 200, 200])
    await locked.stop()
  })

  it('is one for a state folder', async () => {
    await expect(startTrainer({ state, models: { tiny: here.model } })).rejects.toThrow('another trainer works in this state folder')
  })
})

it('what newer clients ask for is refused by name: weights that move under a sampling client, a model made by loading a state', async () => {
  const run = await caller.model()
  const inflight = await caller.post('save_weights_for_sampler', {
    model_id: run.id,
    sampling_session_seq_id: 0,
    seq_id: 1,
    kind: 'inflight',
  })
  expect(inflight).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^kind must be snapshot/) } })
  const loaded = await caller.post('load_weights', { session_id: 's', model_seq_id: 0, path: 'tinker://a/weights/b' })
  expect(loaded).toMatchObject({ status: 400, body: { detail: expect.stringMatching(/^session_id is not supported/) } })
})
