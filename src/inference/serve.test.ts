/** The request line over a scripted runtime: which release an exchange names, and how long it is tried. */
import { describe, expect, it } from 'vitest'
import type { Release, RuntimeAnswer, RuntimeCall } from '../contract/index.ts'
import { BytePieces } from '../kit/index.ts'
import { outlinedBody } from './request-body.ts'
import { serve } from './serve.ts'
import { callOf, releaseOf, servingOf } from './testing/scenario.ts'

const whole: RuntimeAnswer = { kind: 'whole', status: 200, headers: {}, body: Buffer.from('{}') }

/** A scenario whose head a test can move while a call is under way. */
function scripted(infer: (attempt: number, move: (next: Release) => void) => RuntimeAnswer) {
  let [head, attempts] = [releaseOf('r1'), 0]
  const move = (next: Release): void => void (head = next)
  return servingOf(() => Promise.resolve(infer((attempts += 1), move)), { head: () => head })
}

/** Time stands still, so that the pauses alone decide how often a call is tried. */
const call = (retryTimeoutSeconds: number, signal = new AbortController().signal) => callOf({ retryTimeoutSeconds, signal })

describe('an exchange', () => {
  it('names the release that was current when it began, also when an update lands meanwhile [inference.rule-1]', async () => {
    const { scenario, records, asked } = scripted((_attempt, move) => {
      move(releaseOf('r2'))
      return whole
    })
    const served = await serve(scenario, call(0))
    expect(served).toMatchObject({ kind: 'whole', receipt: 'receipt-1' })
    expect(asked).toEqual(['r1'])
    expect(records).toMatchObject([{ agent_record_id: 'receipt-1', artifact_ref: 'r1' }])
    await serve(scenario, call(0))
    expect(records.at(-1)).toMatchObject({ artifact_ref: 'r2' })
  })

  it('that lost to an update is built again against the release of the new attempt', async () => {
    const { scenario, records, asked } = scripted((attempt, move) => {
      move(releaseOf('r2'))
      return attempt === 1 ? { kind: 'interrupted' } : whole
    })
    await serve(scenario, call(1))
    expect(asked).toEqual(['r1', 'r2'])
    expect(records).toMatchObject([{ artifact_ref: 'r2' }])
  })

  it('of an evaluation is not kept', async () => {
    const { scenario, records } = scripted(() => whole)
    const { keep: _keep, ...evaluation } = scenario
    expect(await serve(evaluation, call(0))).toMatchObject({ receipt: null })
    expect(records).toEqual([])
  })
})

describe('a call that keeps losing', () => {
  it.each([
    [0, 1],
    [0.04, 1],
    [0.05, 2],
    [0.1, 3],
    [0.2, 4],
    [0.39, 4],
  ])('with %d seconds to try pauses 0.05, 0.1, 0.2, ... and is tried %i times [decisions.inference-race]', async (seconds, attempts) => {
    const { scenario, records, asked } = scripted(() => ({ kind: 'interrupted' }))
    await expect(serve(scenario, call(seconds))).rejects.toMatchObject({ kind: 'unavailable', code: 'weight_update_race' })
    expect(asked).toHaveLength(attempts)
    expect(records).toEqual([])
  })

  it('never pauses longer than a second [decisions.inference-race]', async () => {
    const controller = new AbortController()
    const { scenario } = scripted((attempt) => {
      // After 0.05, 0.1, 0.2, 0.4 and 0.8 the next pause would be 1.6, which is more than there is time for.
      if (attempt === 6) controller.abort()
      return { kind: 'interrupted' }
    })
    await expect(serve(scenario, call(1.5, controller.signal))).rejects.toMatchObject({ code: 'client_gone' })
  })
})

const sent = () => new BytePieces(['{"model":"m",', '"messages":[', ']}'].map((text) => ownMemory(text)))
const requestOf = (pieces: BytePieces) =>
  outlinedBody(pieces, { facts: {}, kept: [{ start: 1, end: pieces.length - 1 }], tagged: new Map() })
const answerWith = (isBodySent: boolean): RuntimeAnswer => ({ ...whole, isBodySent: () => isBodySent })

describe('the memory of a request', () => {
  it('goes to the runtime and into the record as it is: nothing is copied on the way', async () => {
    const pieces = sent()
    const memory = pieces.list.map(({ buffer }) => buffer)
    const calls: RuntimeCall[] = []
    const { scenario, records } = servingOf((asked) => {
      calls.push(asked)
      return Promise.resolve(answerWith(false))
    })
    await serve(scenario, callOf({ request: requestOf(pieces) }))
    expect(calls[0]?.pieces?.map(({ buffer }) => buffer)).toEqual(memory)
    const kept = records[0]?.pieces ?? []
    for (const buffer of memory) expect(kept.some((piece) => piece.buffer === buffer)).toBe(true)
    expect(Buffer.concat(kept).toString()).toMatch(/^\{"model":"m","messages":\[ *\],"response":\{\}\}$/)
    expect(Buffer.from(calls[0]?.body ?? []).toString()).toBe(pieces.joined().toString())
  })

  it('is given back once the record is durable and the request has left, and not before', async () => {
    const [durable, held] = [Promise.withResolvers<void>(), sent()]
    const { scenario } = servingOf(() => Promise.resolve(answerWith(true)), { keep: () => durable.promise })
    const serving = serve(scenario, callOf({ request: requestOf(held) }))
    await new Promise((resolve) => setImmediate(resolve))
    expect(held.list).toHaveLength(3)
    durable.resolve()
    await serving
    expect(() => held.list).toThrow('given back')
  })

  it('is left alone where the request may still be on its way, the runtime does not say, or the record was not kept', async () => {
    const cases: readonly [RuntimeAnswer, (() => Promise<unknown>)?][] = [
      [answerWith(false)],
      [whole],
      [answerWith(true), () => Promise.reject(new Error('the disk is full'))],
    ]
    for (const [answer, keep = () => Promise.resolve()] of cases) {
      const pieces = sent()
      const { scenario } = servingOf(() => Promise.resolve(answer), { keep })
      await serve(scenario, callOf({ request: requestOf(pieces) })).catch(() => undefined)
      expect(pieces.joined()).toHaveLength(pieces.length)
    }
  })
})

/** As a connection gives it: enough of it to be given back, and nobody else's. */
function ownMemory(text: string): Buffer {
  const padded = text.replace('[', `[${' '.repeat(8192)}`)
  return Buffer.allocUnsafeSlow(Buffer.byteLength(padded)).fill(padded)
}
