import { describe, expect, it } from 'vitest'
import { sharedFolder } from '../../../test/support/folder.ts'
import type { Capture, Release } from '../../contract/index.ts'
import { makeFence } from './fence.ts'
import { adapterFolder, ScriptedEngine } from './testing.ts'
import { Weights } from './weights.ts'

const root = sharedFolder()
const NEVER = new AbortController().signal
const RELEASE: Release = { release_id: 'r1', parent_release_id: null, content_id: 'c1' }
const ADAPTER = 'svc.YQ.ab.1'

async function open({ adapter = true, moves = false } = {}) {
  const engine = new ScriptedEngine({ moves })
  const weights = new Weights(engine, 1)
  const directory = adapter ? await adapterFolder(root, 1) : null
  await weights.serve('a', { runtime_load_id: adapter ? 'ab:1' : 'ab:0', directory })
  return { engine, weights, fence: makeFence(weights, 'a') }
}
const captureOf = async (engine: ScriptedEngine, adapter: string | null): Promise<Capture> => {
  const said = await engine.chat({ body: {}, adapter, signal: NEVER })
  if (said.kind !== 'answer') throw new Error('the engine answers')
  return said.capture
}

describe('the fence', () => {
  it('names the adapter and asks for the proof, without changing the given body [inference.rule-4] [inference.rule-6]', async () => {
    const { fence } = await open()
    const body = Object.freeze({ messages: [] })
    expect(fence.prepare(RELEASE, 'chat', body)).toEqual({ messages: [], lora_path: ADAPTER, return_meta_info: true })
    expect(fence.prepare(RELEASE, 'chat', { stream: true })).toEqual({ stream: true, lora_path: ADAPTER })
  })

  it('names no adapter while the base is served', async () => {
    const { fence } = await open({ adapter: false })
    expect(fence.prepare(RELEASE, 'messages', {})).toEqual({ return_meta_info: true })
  })

  it('accepts a body that already names its adapter', async () => {
    const { fence } = await open()
    expect(fence.prepare(RELEASE, 'chat', { lora_path: ADAPTER, return_meta_info: true })).toMatchObject({ lora_path: ADAPTER })
  })

  it.each([
    ['another adapter', true, { lora_path: 'svc.Yg.ab.1' }, 'foreign_lora_path'],
    ['no adapter where one is served', true, { lora_path: null }, 'foreign_lora_path'],
    ['any adapter while none is served', false, { lora_path: ADAPTER }, 'foreign_lora_path'],
    ['no proof', true, { return_meta_info: false }, 'foreign_return_meta_info'],
    ['a proof of a stream', true, { return_meta_info: true, stream: true }, 'foreign_return_meta_info'],
  ])('refuses a body that asks for %s [decisions.lora-path]', async (_what, adapter, body, code) => {
    const { fence } = await open({ adapter })
    expect(() => fence.prepare(RELEASE, 'chat', body)).toThrow(expect.objectContaining({ kind: 'invalid', code }))
  })

  it('holds the adapter until the attempt ends', async () => {
    const { weights, fence } = await open()
    const letGo = await fence.begin(RELEASE, NEVER)
    expect(weights.status()).toMatchObject({ in_flight: 1, protected: 1 })
    letGo()
    letGo()
    expect(weights.status()).toMatchObject({ in_flight: 0 })
  })

  it('holds nothing after an attempt that failed to begin', async () => {
    const { engine, weights, fence } = await open()
    await weights.reconcile()
    engine.faults.set('model', 1)
    await expect(fence.begin(RELEASE, NEVER)).rejects.toThrow('model failed')
    expect(weights.status()).toMatchObject({ in_flight: 0 })
  })

  it('records what the engine generated', async () => {
    const { engine, fence } = await open()
    await fence.begin(RELEASE, NEVER)
    fence.prepare(RELEASE, 'chat', {})
    expect(fence.verify(RELEASE, 'chat', {}, await captureOf(engine, ADAPTER))).toMatchObject({
      runtime_load_id: 'ab:1',
      loss_mask: [1, 1, 1, 1],
    })
  })

  it('refuses an answer without spans, and one of other weights; a token count needs none [errors.409-engine]', async () => {
    const { engine, fence } = await open()
    await fence.begin(RELEASE, NEVER)
    fence.prepare(RELEASE, 'chat', {})
    expect(() => fence.verify(RELEASE, 'chat', {})).toThrow(expect.objectContaining({ kind: 'conflict', code: 'no_load_id' }))
    const other = await captureOf(engine, null)
    expect(() => fence.verify(RELEASE, 'chat', {}, other)).toThrow(expect.objectContaining({ code: 'spans_do_not_add_up' }))
    expect(fence.verify(RELEASE, 'count_tokens', {})).toBeUndefined()
  })

  it('accepts an answer of the base that was served before its release was the head, whatever is served now', async () => {
    const { engine, weights, fence } = await open()
    fence.prepare(RELEASE, 'chat', {})
    await weights.serve('a', { runtime_load_id: 'ab:2', directory: null })
    await fence.begin(RELEASE, NEVER)
    fence.prepare(RELEASE, 'chat', {})
    const said = await captureOf(engine, null)
    await weights.serve('a', { runtime_load_id: 'ab:3', directory: await adapterFolder(root, 3) })
    expect(fence.verify(RELEASE, 'chat', {}, said)).toMatchObject({ runtime_load_id: 'ab:2' })
  })

  it('accepts an answer that moved to newer weights halfway, and records where', async () => {
    const { engine, weights, fence } = await open({ moves: true })
    await fence.begin(RELEASE, NEVER)
    fence.prepare(RELEASE, 'chat', {})
    const { answer, letGo } = await engine.midway(() => captureOf(engine, ADAPTER))
    await weights.serve('a', { runtime_load_id: 'ab:2', directory: await adapterFolder(root, 2) })
    letGo()
    expect(fence.verify(RELEASE, 'chat', {}, await answer)).toMatchObject({
      runtime_load_id: null,
      runtime_load_spans: [
        { start: 0, end: 2, runtime_load_id: 'ab:1' },
        { start: 2, end: 4, runtime_load_id: 'ab:2' },
      ],
    })
  })
})
