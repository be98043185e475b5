/** Conformance suite for trainers, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { isObject } from '../src/contract/index.ts'
import type { Batch, Content, Files, Json, Release, Sample, StepOrder, StepResult, Trainer } from '../src/contract/index.ts'
import { assertGivenUp, assertKeepable, assertPlain, assertUntouched, never, QUIET, type Runner } from './support.ts'

export interface TrainerSuite extends Runner {
  /** A new trainer. */
  readonly make: () => Trainer | Promise<Trainer>
  /** The files of the base release: the recipe's seed, or its component's part. */
  readonly files: Files
  /** Whether the same order gives the same result. False for a method that calls a model or draws at random. */
  readonly isRepeatable: boolean
}

/** A thread is ended if its step runs longer after an abort. */
const GIVE_UP_MS_MAX = 1000

export function trainerConformance(suite: TrainerSuite): void {
  const { describe } = suite
  describe('its answers', () => describeAnswers(suite))
  describe('its orders', () => describeOrders(suite))
  describe('stopping', () => describeStopping(suite))
}

const samples: readonly Sample[] = [
  { record_ids: ['exchange-1', 'report-1'], exchanges: [exchange('first')], score: 0, feedback: 'too long' },
  { record_ids: ['a', 'b', 'report-2'], exchanges: [exchange('a'), exchange('b')], score: 1, feedback: { tone: ['fine', null] } },
  { record_ids: ['exchange-3'], exchanges: [{}], score: null, feedback: null, task: { name: 'sort', n: 3 }, group: 'pair' },
]
const request = { id: 'train-1', text: 'Answer in one sentence.', session: 's', release_id: 'release-1', requires: [] }

const BATCHES: Readonly<Record<string, Omit<Batch, 'id'>>> = {
  'a request alone': { samples: [], request },
  'samples alone': { samples, request: null },
  'a request and samples': { samples, request },
}

function describeAnswers(suite: TrainerSuite): void {
  for (const [what, batch] of Object.entries(BATCHES)) {
    suite.it(`${what}: it answers a step result that can be kept`, async () => {
      assertResult(await stepOf(await suite.make(), orderOf(suite, batch)))
    })
  }
  suite.it('it takes one step after another', async () => {
    const trainer = await suite.make()
    for (const batch of Object.values(BATCHES)) assertResult(await stepOf(trainer, orderOf(suite, batch)))
  })
  suite.it('a base without files, and a state that another trainer left, are worked on too', async () => {
    const order = orderOf(suite, { samples, request })
    assertResult(await stepOf(await suite.make(), { ...order, files: {}, state: { of: ['another', { version: 0 }] } }))
  })
}

function describeOrders(suite: TrainerSuite): void {
  suite.it('an order is afterwards what it was', async () => {
    const trainer = await suite.make()
    await assertUntouched(orderOf(suite, { samples, request }), (order) => stepOf(trainer, order))
  })
  if (!suite.isRepeatable) return
  suite.it('the same order again, of the same trainer and of a fresh one, gets the same answer', async () => {
    const trainer = await suite.make()
    for (const batch of Object.values(BATCHES)) {
      const first = await stepOf(trainer, orderOf(suite, batch))
      assert.deepEqual(await stepOf(trainer, orderOf(suite, batch)), first)
      assert.deepEqual(await stepOf(await suite.make(), orderOf(suite, batch)), first)
    }
  })
}

function describeStopping(suite: TrainerSuite): void {
  suite.it('a step that was aborted before it began is soon over', async () => {
    const trainer = await suite.make()
    await assertGivenUp(trainer.step(orderOf(suite, { samples, request }), QUIET, AbortSignal.abort()), GIVE_UP_MS_MAX)
  })
  suite.it('a step that is aborted on its way is soon over, and the next one is taken', async () => {
    const trainer = await suite.make()
    const stopping = new AbortController()
    const step = trainer.step(orderOf(suite, { samples, request }), QUIET, stopping.signal)
    await nextTurn()
    stopping.abort()
    await assertGivenUp(step, GIVE_UP_MS_MAX)
    assertResult(await stepOf(await suite.make(), orderOf(suite, { samples, request })))
  })
}

function stepOf(trainer: Trainer, order: StepOrder): Promise<StepResult> {
  return trainer.step(order, QUIET, never())
}

/** A copy, as it arrives in the trainer's thread. */
function orderOf({ files }: TrainerSuite, batch: Omit<Batch, 'id'>): StepOrder {
  const base: Release = { release_id: 'release-1', parent_release_id: null, content_id: 'content-1' }
  const model = { model: 'model-1', api: 'openai' } as const
  return structuredClone({ step: 1, batch: { id: 'scenario:batch-1', ...batch }, base, files, model, state: {} })
}

/** The shape that the service accepts. */
function assertResult(result: StepResult): void {
  assert.ok(['publish', 'hold', 'reject', 'skip', 'fail'].includes(result.kind), `${result.kind} is no verdict`)
  if (result.kind === 'publish' || result.kind === 'hold') assertContent(result.content)
  if (result.kind === 'skip') assert.equal(typeof result.reason, 'string', 'a step that made nothing says why')
  if (result.kind === 'fail') assert.equal(typeof result.error, 'string', 'a step that failed says why')
  for (const part of ['metrics', 'state'] as const)
    if (result[part] !== undefined) assert.ok(isObject(result[part]), `${part} is no object`)
  if (result.requires !== undefined) assert.ok(Array.isArray(result.requires), 'requires is no list')
  assertPlain(result, 'the answer')
}

function assertContent(content: Content): void {
  if (content.kind === 'files') return assertKeepable(content.files)
  if (content.kind === 'checkpoint') return assert.notEqual(content.path, '', 'a checkpoint is the path of a folder')
  for (const id of Object.values(content.components)) assert.equal(typeof id, 'string', 'a component is the id of a content')
}

function exchange(text: string): { readonly [key: string]: Json } {
  const messages = [{ role: 'user', content: text }]
  return { messages, response: { choices: [{ index: 0, message: { role: 'assistant', content: text.toUpperCase() } }] } }
}
