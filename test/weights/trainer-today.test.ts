/** The calls that newer clients make: configuration, sampling, protocol buffers, training runs, archives by redirection. */
import { describe, expect, it } from 'vitest'
import { z } from 'zod'
import { completion, promptOf } from './support/rows.ts'
import { logProbsIn, sharedTrainer, towards } from './support/trainer-calls.ts'

const here = sharedTrainer()
const { caller } = here

const PROMPT = promptOf('Pick a colour.')
const prompt = { chunks: [{ type: 'encoded_text', tokens: PROMPT }] }
const sampled = z.object({
  sequences: z.array(z.object({ stop_reason: z.enum(['stop', 'length']), tokens: z.array(z.number()), logprobs: z.array(z.number()) })),
  prompt_logprobs: z.array(z.number().nullable()).nullable(),
})

async function samplerOf(source: { base_model: string } | { model_path: string }) {
  const { body: session } = await caller.post('create_session', {})
  const order = { session_id: session['session_id'] ?? '', sampling_session_seq_id: 0, ...source }
  const { status, body } = await caller.post('create_sampling_session', order)
  expect(status).toBe(200)
  expect((await caller.post('create_sampling_session', order)).body).toEqual(body)
  const id = body['sampling_session_id'] ?? ''
  const asking = (sampling_params: object, more: object, seq_id: number) =>
    JSON.parse(JSON.stringify({ sampling_session_id: id, seq_id, num_samples: 4, prompt, sampling_params, ...more }))
  return {
    sample: async (params: object, more = {}, seq = 1) => sampled.parse(await caller.result('asample', asking(params, more, seq))),
    refused: (params: object, more = {}) => caller.post('asample', asking(params, more, 9)),
  }
}

/** A field of a message: bytes or a whole number. */
function part(number: number, value: Buffer | string | number): Buffer {
  const varint = (left: number): number[] => (left < 128 ? [left] : [(left & 127) | 128, ...varint(left >>> 7)])
  if (typeof value === 'number') return Buffer.from([...varint(number << 3), ...varint(value)])
  const bytes = Buffer.from(value)
  return Buffer.concat([Buffer.from([...varint((number << 3) | 2), ...varint(bytes.length)]), bytes])
}

const TOKENS = [...PROMPT, ...completion('gold')]

function passMessage(model: string, sequence: number, isForward: boolean): Buffer {
  const inputs = Buffer.from(Int32Array.from(TOKENS.slice(0, -1)).buffer)
  const targets = Buffer.from(BigInt64Array.from(TOKENS.slice(1).map(BigInt)).buffer)
  const weights = Buffer.from(Float32Array.from(TOKENS.slice(1).map((_, at) => (at < PROMPT.length - 1 ? 0 : 1))).buffer)
  const tensor = (data: Buffer, kind: number) => Buffer.concat([part(1, data), part(3, kind), part(4, Buffer.from([TOKENS.length - 1]))])
  const entry = (name: string, value: Buffer) => part(2, Buffer.concat([part(1, name), part(2, value)]))
  const datum = Buffer.concat([
    part(1, part(1, part(1, inputs))),
    entry('target_tokens', tensor(targets, 2)),
    entry('weights', tensor(weights, 1)),
  ])
  const head = [part(1, model), part(2, sequence), part(3, datum), part(4, 'cross_entropy')]
  return Buffer.concat([...head, ...(isForward ? [part(6, 1)] : [])])
}

const message = (call: string, body: Buffer) =>
  fetch(`${here.url}/api/v1/${call}`, { method: 'POST', body: new Uint8Array(body), headers: { 'content-type': 'application/x-protobuf' } })

describe('a newer client', () => {
  it('is told what to do before its first call', async () => {
    expect((await caller.post('client/config', { sdk_version: '0.36.0' })).body).toMatchObject({ pjwt_auth_enabled: false })
    expect((await caller.post('client/dynamic_config', {})).body).toMatchObject({ refresh_interval_sec: expect.any(Number) })
    expect((await caller.post('telemetry', { events: [] })).body).toEqual({ status: 'accepted' })
    expect((await caller.get('get_server_capabilities')).body).toMatchObject({
      supported_models: [{ model_name: 'tiny', max_context_length: 1024 }],
      server: 'svc',
    })
  })

  it('sends a pass as a message, and gets the numbers that JSON gets', async () => {
    const run = await caller.model()
    const [expected] = logProbsIn(await run.done('forward', { forward_input: towards('gold') }))
    const ticket = await message('forward_backward', passMessage(run.id, 2, true))
    const { request_id } = z.object({ request_id: z.string() }).parse(await ticket.json())
    const answer = await fetch(`${here.url}/api/v1/retrieve_future`, {
      method: 'POST',
      body: JSON.stringify({ request_id }),
      headers: { 'content-type': 'application/json', accept: 'application/x-protobuf' },
    })
    expect(answer.headers.get('content-type')).toBe('application/x-protobuf')
    const bytes = Buffer.from(await answer.arrayBuffer())
    const numbers = Buffer.from(Float32Array.from(expected ?? []).buffer)
    expect(bytes.includes(numbers)).toBe(true)
    expect(logProbsIn((await caller.post('retrieve_future', { request_id })).body)[0]).toEqual(expected)
  })

  it.each([
    ['that is cut', (good: Buffer) => good.subarray(0, -3)],
    ['with an image', (good: Buffer) => Buffer.concat([good, part(3, part(1, part(2, 'png')))])],
    ['without an end', () => Buffer.from([0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff])],
  ])('is refused a message %s', async (_what, change) => {
    const run = await caller.model()
    expect((await message('forward_backward', change(passMessage(run.id, 1, false)))).status).toBe(400)
  })
})

describe('a sampler', () => {
  it('answers with tokens and log-probabilities that training agrees with', async () => {
    const { sequences } = await (await samplerOf({ base_model: 'tiny' })).sample({ max_tokens: 8, seed: 3 })
    expect(sequences).toHaveLength(4)
    const run = await caller.model()
    for (const { tokens, logprobs, stop_reason } of sequences) {
      expect(stop_reason).toBe('stop')
      const said = Buffer.from(tokens.slice(0, -1).map((token) => token - 3)).toString()
      const trained = await run.logProbs('Pick a colour.', said)
      for (const [at, logprob] of logprobs.entries()) expect(logprob).toBeCloseTo(trained[at] ?? 0, 4)
    }
  })

  it('gives the same for the same seed, one answer for greedy, and scores of the prompt', async () => {
    const sampler = await samplerOf({ base_model: 'tiny' })
    const first = await sampler.sample({ max_tokens: 8, seed: 3 })
    expect(await sampler.sample({ max_tokens: 8, seed: 3 }, {}, 2)).toEqual(first)
    const greedy = await sampler.sample({ max_tokens: 3, temperature: 0 }, { prompt_logprobs: true }, 3)
    expect(new Set(greedy.sequences.map(({ tokens }) => tokens.join())).size).toBe(1)
    const only = await sampler.sample({ max_tokens: 3, top_k: 1 }, { prompt_logprobs: true, prompt_logprobs_last_n: 2 }, 4)
    expect(only.sequences.map(({ tokens }) => tokens)).toEqual(greedy.sequences.map(({ tokens }) => tokens))
    expect(greedy.prompt_logprobs?.filter((score) => score === null)).toHaveLength(1)
    expect(only.prompt_logprobs?.filter((score) => score === null)).toHaveLength(PROMPT.length - 2)
    expect(only.prompt_logprobs?.at(-1)).toBeCloseTo(greedy.prompt_logprobs?.at(-1) ?? 0, 5)
  })

  it.each<[string, object, object]>([
    ['a stop of texts', { stop: ['x'] }, {}],
    ['no tokens', { max_tokens: 0 }, {}],
    ['a top_p of zero', { top_p: 0 }, {}],
    ['a temperature below zero', { temperature: -1 }, {}],
    ['too many samples', {}, { num_samples: 100_000 }],
    ['top-k scores', {}, { topk_prompt_logprobs: 3 }],
    ['an empty prompt', {}, { prompt: { chunks: [] } }],
  ])('refuses %s', async (_what, params, more) => {
    expect(await (await samplerOf({ base_model: 'tiny' })).refused(params, more)).toMatchObject({ status: 400 })
  })

  it('of a model in training keeps what it was made of', async () => {
    const run = await caller.model({ rank: 4, train_unembed: true })
    for (let step = 0; step < 8; step += 1) {
      await run.done('forward_backward', { forward_backward_input: towards('gold') })
      await run.done('optim_step', { adam_params: { learning_rate: 0.002 } })
    }
    const kept = await run.done('save_weights_for_sampler', { sampling_session_seq_id: 0 })
    expect(kept).toMatchObject({ path: null, sampling_session_id: expect.any(String) })
    const { path } = z.object({ path: z.string() }).parse(await run.done('save_weights_for_sampler', { path: 'step-8' }))
    const { sequences } = await (await samplerOf({ model_path: path })).sample({ max_tokens: 8, temperature: 0 })
    expect(sequences[0]?.tokens).toEqual(completion('gold'))
    const asked = {
      sampling_session_id: kept['sampling_session_id'] ?? '',
      seq_id: 1,
      prompt,
      sampling_params: { max_tokens: 8, temperature: 0 },
    }
    expect(sampled.parse(await caller.result('asample', asked)).sequences[0]).toEqual(sequences[0])
  })
})

describe('a training run', () => {
  it('is listed with what it saved, says what it trains, and goes on from there', async () => {
    const run = await caller.model({ rank: 3, train_mlp: false, train_unembed: true })
    await run.step(towards('gold'))
    const { path } = z.object({ path: z.string() }).parse(await run.done('save_weights', { path: 'one' }))
    expect((await caller.get(`training_runs/${run.id}`)).body).toMatchObject({
      training_run_id: run.id,
      base_model: 'tiny',
      lora_rank: 3,
      last_checkpoint: { tinker_path: path },
    })
    const { body } = await caller.get('training_runs?limit=1000')
    expect(JSON.stringify(body['training_runs'])).toContain(run.id)
    expect((await caller.get('checkpoints?limit=1000')).body['checkpoints']).toContainEqual(expect.objectContaining({ tinker_path: path }))
    const info = (await caller.post('weights_info', { tinker_path: path })).body
    expect(info).toMatchObject({ lora_rank: 3, train_attn: true, train_mlp: false, train_unembed: true })
    const again = await caller.model({ rank: 3, train_mlp: false, train_unembed: true })
    await again.done('load_weights', { path, optimizer: true })
    expect(await again.logProbs('Pick a colour.', 'gold')).toEqual(await run.logProbs('Pick a colour.', 'gold'))
    expect((await caller.get('training_runs/nobody')).status).toBe(404)
  })

  it('gives its archive, or to the SDK an address that works without the key, and only as it was given', async () => {
    const run = await caller.model()
    await run.done('save_weights_for_sampler', { path: 'archive' })
    const url = `${here.url}/api/v1/training_runs/${run.id}/checkpoints/sampler_weights/archive/archive`
    expect((await fetch(url)).headers.get('content-type')).toBe('application/x-tar')
    const answer = await fetch(url, { redirect: 'manual', headers: { accept: 'application/gzip' } })
    expect(answer.status).toBe(302)
    const address = answer.headers.get('location') ?? ''
    expect((await fetch(address)).headers.get('content-type')).toBe('application/x-tar')
    for (const wrong of [address.replace(/until=\d+/, 'until=99999999999'), address.replace(/.$/, 'x'), address.replace(/\?.*/, '')])
      expect((await fetch(wrong)).status).toBe(401)
  })
})
