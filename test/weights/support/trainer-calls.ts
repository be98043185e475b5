/** One trainer for the tests of a file, its calls, and rows of the tiny model for them. */
import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { beforeAll, expect } from 'vitest'
import { z } from 'zod'
import { isObject, type Json, type JsonObject } from '../../../src/contract/index.ts'
import { sharedFolder } from '../../support/folder.ts'
import { completion, promptOf } from './rows.ts'
import { tinyModel } from './tiny-model.ts'
import { startTrainer } from './trainer-process.ts'

/** Started before the first test, stopped after the last; `url` and `model` are empty until then. */
export function sharedTrainer() {
  const shared = { state: sharedFolder(), model: '', url: '' }
  beforeAll(async () => {
    shared.model = await tinyModel()
    const trainer = await startTrainer({ state: shared.state, models: { tiny: shared.model } })
    shared.url = trainer.url
    return () => trainer.stop()
  })
  return Object.assign(shared, { caller: callerOf(() => shared.url) })
}

/** The digest of weights that were saved for the sampler. */
export function savedDigest(state: string, id: string, name: string): string {
  const path = join(state, 'checkpoints', id, 'sampler_weights', name, 'adapter_model.safetensors')
  return createHash('sha256').update(readFileSync(path)).digest('hex')
}

interface Answer {
  readonly status: number
  readonly body: JsonObject
}

export type Caller = ReturnType<typeof callerOf>

const LEARNING_RATE = 0.02

type Tensor = { data: Json[]; dtype: string; shape: number[] }
/** A row as it is sent; tests of refusals change it. */
export type Datum = { model_input: { chunks: { type: string; tokens: number[] }[] }; loss_fn_inputs: Record<string, Tensor> }

/** Shifted by one, as trainers expect. The prompt's numbers are zero. */
export function datum(question: string, answer: string, sampled?: { logprobs: readonly number[]; advantages: number }): Datum {
  const tokens = [...promptOf(question), ...completion(answer)]
  const length = tokens.length - 1
  const answered = completion(answer).length
  const tensor = (data: number[], dtype = 'float32'): Tensor => ({ data, dtype, shape: [length] })
  const padded = (numbers: readonly number[]): Tensor => tensor([...Array<number>(length - answered).fill(0), ...numbers])
  const each = (number: number): Tensor => padded(Array<number>(answered).fill(number))
  const numbers: Record<string, Tensor> =
    sampled === undefined ? { weights: each(1) } : { logprobs: padded(sampled.logprobs), advantages: each(sampled.advantages) }
  return {
    model_input: { chunks: [{ type: 'encoded_text', tokens: tokens.slice(0, -1) }] },
    loss_fn_inputs: { target_tokens: tensor(tokens.slice(1), 'int64'), ...numbers },
  }
}

const created = z.object({ model_id: z.string() })
const passed = z.object({ loss_fn_outputs: z.array(z.object({ logprobs: z.object({ data: z.array(z.number()) }) })) })

/** Row by row, of every target. */
export const logProbsIn = (answer: JsonObject): readonly (readonly number[])[] =>
  passed.parse(answer).loss_fn_outputs.map(({ logprobs }) => logprobs.data)

/** Of a supervised step towards one answer. */
export const towards = (answer: string): JsonObject => ({ data: [datum('Pick a colour.', answer)], loss_fn: 'cross_entropy' })

export function callerOf(urlNow: () => string) {
  const ask = async (path: string, init: RequestInit): Promise<Answer> => {
    const response = await fetch(`${urlNow()}/api/v1/${path}`, init)
    const body: Json = JSON.parse(await response.text())
    if (!isObject(body)) throw new Error(`${path} did not answer with an object`)
    return { status: response.status, body }
  }
  const raw = (call: string, text: string, type = 'application/json'): Promise<Answer> =>
    ask(call, { method: 'POST', body: text, headers: { 'content-type': type } })
  const post = (call: string, body: JsonObject): Promise<Answer> => raw(call, JSON.stringify(body))
  /** The final result. */
  const result = async (call: string, body: JsonObject): Promise<JsonObject> => {
    const ticket = await post(call, body)
    if (ticket.status !== 200) throw new Error(`${call} was answered with ${ticket.status}: ${JSON.stringify(ticket.body)}`)
    for (;;) {
      const { status, body: found } = await post('retrieve_future', { request_id: ticket.body['request_id'] ?? '' })
      if (status === 200) return found
      if (status !== 408) throw new Error(`the result of ${call} was answered with ${status}`)
    }
  }
  const model = async (lora: JsonObject = {}, base_model = 'tiny') => {
    const { body } = await post('create_session', {})
    const order = { session_id: body['session_id'] ?? '', model_seq_id: 0, base_model, lora_config: { rank: 2, ...lora } }
    const { model_id } = created.parse(await result('create_model', order))
    return runOf(model_id, result)
  }
  return {
    get: (path: string) => ask(path, {}),
    delete: (path: string) => ask(path, { method: 'DELETE' }),
    post,
    raw,
    result,
    model,
  }
}

/** A model in training; its calls are numbered. */
function runOf(id: string, result: (call: string, body: JsonObject) => Promise<JsonObject>) {
  let calls = 0
  const ended = async (call: string, body: JsonObject, failed: boolean): Promise<JsonObject> => {
    const answer = await result(call, { ...body, model_id: id, seq_id: (calls += 1) })
    expect('error' in answer).toBe(failed)
    return answer
  }
  const done = (call: string, body: JsonObject): Promise<JsonObject> => ended(call, body, false)
  /** Of the answer's tokens, including its end. */
  const logProbs = async (question: string, answer: string): Promise<readonly number[]> => {
    const input = { data: [datum(question, answer)], loss_fn: 'cross_entropy' }
    const [row = []] = logProbsIn(await done('forward', { forward_input: input }))
    return row.slice(-completion(answer).length)
  }
  return {
    id,
    done,
    failed: (call: string, body: JsonObject) => ended(call, body, true),
    /** A gradient, and a step by it. */
    step: async (input: JsonObject) => {
      await done('forward_backward', { forward_backward_input: input })
      return done('optim_step', { adam_params: { learning_rate: LEARNING_RATE } })
    },
    logProbs,
    chanceOf: async (question: string, answer: string) =>
      Math.exp((await logProbs(question, answer)).reduce((total, number) => total + number, 0)),
  }
}
