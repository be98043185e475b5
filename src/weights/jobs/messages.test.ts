/** Passes in protocol buffers: the same bodies and answers as in JSON, and nothing is believed that is no answer. */
import { describe, expect, it } from 'vitest'
import { passAnswer, passMessage } from './messages.ts'
import { clientOf, LORA, startFakeTrainer } from './testing.ts'
import { passIn, passOut } from './testing-messages.ts'

const NEVER = new AbortController().signal
const DATUM = { inputs: [1, 2, 70_000], targets: [2, 3, 4], numbers: { logprobs: [0, -0.5, -1.25], advantages: [0, 1, -2] } }
const PASS = { data: [DATUM, DATUM], loss: 'ppo', lossConfig: { clip_low_threshold: 0.75 } } as const

describe('a server that takes passes in protocol buffers alone', () => {
  it('gets them so after its first refusal, and its answers are those of JSON', async () => {
    const trainer = await startFakeTrainer()
    const plain = clientOf(trainer.url)
    const model = await plain.createModel(await plain.createSession({}, NEVER), 'tiny', LORA, NEVER)
    const inJson = await plain.forward({ model, sequence: 1 }, PASS, NEVER)
    trainer.wantsMessages = true
    const client = clientOf(trainer.url)
    const asked = trainer.calls.length
    const { isNumbered, logProbs, loss } = await client.begin({ model, sequence: 2 }, PASS, NEVER)
    expect([isNumbered, loss]).toEqual([true, inJson.loss])
    expect(logProbs.flat()).toEqual(inJson.logProbs.flat().map(Math.fround))
    await client.forwardBackward({ model, sequence: 3, isNumbered: true }, PASS, NEVER)
    const passes = trainer.calls.slice(asked).filter(({ name }) => name.startsWith('forward'))
    const [json, message] = ['application/json', 'application/x-protobuf']
    expect(passes.map(({ headers }) => headers['content-type'])).toEqual([json, message, message, message])
    expect(trainer.calls.findLast(({ name }) => name === 'forward_backward')?.body).toMatchObject({
      seq_id: 3,
      forward_backward_input: {
        loss_fn: 'ppo',
        loss_fn_config: { clip_low_threshold: 0.75 },
        data: [{ model_input: { chunks: [{ tokens: [1, 2, 70_000] }] }, loss_fn_inputs: { target_tokens: { data: [2, 3, 4] } } }, {}],
      },
    })
    await client.about(NEVER)
    expect(client.known).toEqual({ server: null, version: null, format: 'protobuf' })
  })
})

describe('an answer in protocol buffers', () => {
  const whole = passOut({ loss_fn_outputs: [{ logprobs: { data: [-1, -2] } }, { logprobs: { data: [] } }], metrics: { 'loss:sum': 0.5 } })

  it('is read as JSON would be', () => {
    expect(passAnswer(whole)).toEqual({
      loss_fn_outputs: [{ logprobs: { data: [-1, -2] } }, { logprobs: { data: [] } }],
      metrics: { 'loss:sum': 0.5 },
    })
  })

  it('is nothing when it is cut anywhere, or when a byte of its places is another', () => {
    for (let length = 0; length < whole.length - 1; length += 1) {
      const read = passAnswer(whole.subarray(0, length))
      // What is cut between two fields may lack its metrics, and never has other numbers.
      if (read !== null) expect(read['loss_fn_outputs']).toEqual(passAnswer(whole)?.['loss_fn_outputs'])
    }
    const places = whole.indexOf(Buffer.from(BigInt64Array.from([0n, 8n, 8n]).buffer))
    for (const at of [0, 8, 16]) {
      const bent = Buffer.from(whole)
      bent[places + at] = 7
      expect(passAnswer(bent)).toBeNull()
    }
  })
})

const tensor = (data: readonly number[], dtype: string) => ({ data, dtype, shape: [data.length] })

it('a pass keeps its numbers on the way there and back', () => {
  const datum = {
    model_input: { chunks: [{ type: 'encoded_text', tokens: [5, 6] }] },
    loss_fn_inputs: { target_tokens: tensor([6, 2 ** 40], 'int64'), weights: tensor([0.5, -1], 'float32') },
  }
  const body = { model_id: 'm', seq_id: 300, forward_input: { data: [datum], loss_fn: 'cross_entropy', loss_fn_config: {} } }
  expect(passIn(passMessage('forward', body))).toMatchObject({
    model_id: 'm',
    seq_id: 300,
    forward_input: {
      loss_fn: 'cross_entropy',
      data: [{ loss_fn_inputs: { target_tokens: { data: [6, 2 ** 40] }, weights: { data: [0.5, -1] } } }],
    },
  })
})
