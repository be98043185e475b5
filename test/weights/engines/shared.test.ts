/** What an engine is asked before anything is trained for it, and how two services share one. */
import { describe, expect, it } from 'vitest'
import { isRefusal } from '../../../src/contract/index.ts'
import { makeWeightRuntime } from '../../../src/weights/serving/runtime.ts'
import { until } from '../../support/wait.ts'
import { adapterFolder } from './adapter-folder.ts'
import { scriptedDecoder } from './decoder.ts'
import { connect, kinds, NEVER, openEngine, type Kind } from './kinds.ts'
import type { EngineOptions } from './state.ts'

const CHAT = { model: 'tiny', messages: [{ role: 'user', content: 'hi' }] }
const PLAN = { rank: 16, modules: ['q_proj', 'up_proj'] }

function weightsOn(kind: Kind, url: string, adapterPrefix: string | null = null, config = {}) {
  const runtime = makeWeightRuntime(connect(kind, url, config), { name: kind, modelName: 'tiny', adapterPrefix })
  const { weights } = runtime
  if (weights === undefined) throw new Error('this runtime serves no weights')
  return { weights, status: () => runtime.status() }
}

async function open(kind: Kind, options: EngineOptions = {}, config = {}) {
  const { server } = await openEngine(kind, options)
  return { server, ...weightsOn(kind, server.url, null, config) }
}

describe.each(kinds)('before a job for %s is sent', (kind) => {
  it('its rank, its modules and the number of adapters are compared with what the engine was started for', async () => {
    const { weights } = await open(kind, { rankMax: 16, capacity: 4 })
    await weights.checkPlan(PLAN, NEVER)
    const tooHigh = weights.checkPlan({ ...PLAN, rank: 32 }, NEVER)
    await expect(tooHigh).rejects.toMatchObject({
      kind: 'conflict',
      code: 'engine_limits',
      message: expect.stringMatching(/16 .*lora_rank is 32/),
    })
    const { weights: narrow } = await open(kind, { modules: ['q_proj', 'v_proj'] })
    await expect(narrow.checkPlan(PLAN, NEVER)).rejects.toMatchObject({ message: expect.stringContaining('no adapters on up_proj') })
    const { weights: small } = await open(kind, { capacity: 2 })
    await expect(small.checkPlan(PLAN, NEVER)).rejects.toMatchObject({ message: expect.stringMatching(/holds 2 .*capacity is 4/) })
  })

  it('the operator may tell the rank of an engine that does not', async () => {
    const fault = kind === 'vllm' ? 'noDevMode' : 'old'
    const { weights } = await open(kind, { faults: [fault], modules: [] }, { max_lora_rank: 8 })
    if (kind === 'vllm') await expect(weights.checkPlan(PLAN, NEVER)).rejects.toMatchObject({ code: 'engine_limits' })
    else await weights.checkPlan(PLAN, NEVER)
    const { weights: silent } = await open(kind, { faults: [fault] })
    await silent.checkPlan(PLAN, NEVER)
  })

  it('a base that answers otherwise than at first is noticed, and so is one that is not the trainer’s', async () => {
    const { server, weights } = await open(kind)
    const tokens = [1, 107, 104, 111]
    const base = await scriptedDecoder().score(tokens, null)
    await weights.checkPlan(PLAN, NEVER)
    await weights.checkBase(tokens, base, NEVER)
    server.baseShift = 0.5
    await expect(weights.checkPlan(PLAN, NEVER)).rejects.toMatchObject({ kind: 'conflict', code: 'base_changed' })
    await expect(weights.checkBase(tokens, base, NEVER)).rejects.toMatchObject({ kind: 'conflict', code: 'base_differs' })
    server.baseShift = 0
    await weights.checkPlan(PLAN, NEVER)
  })

  it('an engine that comes back with another base answers no request', async () => {
    const { server, weights } = await open(kind)
    await weights.serve('s', { runtime_load_id: 'abc:1', directory: await adapterFolder(3) })
    server.restart()
    server.baseShift = 0.5
    const codeOf = async (): Promise<unknown> =>
      weights.ask('s', CHAT, NEVER).then(String, (error: unknown) => isRefusal(error) && error.code)
    // The first call finds only the connection gone.
    await until(async () => (await codeOf()) !== 'engine_unreachable')
    expect(await codeOf()).toBe('base_changed')
  })
})

describe.each(kinds)('two services on one %s', (kind) => {
  it('have names of their own, and neither unloads what the other loaded', async () => {
    const { server } = await openEngine(kind)
    const [one, other] = [weightsOn(kind, server.url, 'svc-1'), weightsOn(kind, server.url, 'svc-2')]
    await one.weights.serve('same', { runtime_load_id: 'abc:1', directory: await adapterFolder(3) })
    await other.weights.serve('same', { runtime_load_id: 'abc:1', directory: await adapterFolder(4) })
    const held = [...server.adapters.keys()]
    expect(held.map((name) => name.split('.')[0])).toEqual(['svc-1', 'svc-2'])
    // As after a start: each looks through the engine for leftovers of its own.
    const again = weightsOn(kind, server.url, 'svc-1')
    await again.weights.serve('same', { runtime_load_id: 'abc:2', directory: await adapterFolder(5) })
    expect([...server.adapters.keys()].map((name) => name.split('.').filter((part) => /^svc-|^\d+$/.test(part)))).toEqual(
      [
        ['svc-2', '1'],
        ['svc-1', '2'],
      ], // The leftover is gone, the other service's adapter is not.
    )
    const lease = await other.weights.lease('same', NEVER)
    expect(lease.adapter).toMatch(/^svc\./)
    expect(await other.status()).toMatchObject({ adapter_prefix: 'svc-2', adapters: { counters: { strays_unloaded: 0 } } })
  })

  it('are told when the other has taken the last slot, and keep what they serve', async () => {
    const { server } = await openEngine(kind, { capacity: 2 })
    const [one, other] = [weightsOn(kind, server.url, 'svc-1', { capacity: 2 }), weightsOn(kind, server.url, 'svc-2', { capacity: 2 })]
    await one.weights.serve('a', { runtime_load_id: 'abc:1', directory: await adapterFolder(3) })
    await other.weights.serve('b', { runtime_load_id: 'abc:1', directory: await adapterFolder(4) })
    const third = one.weights.serve('c', { runtime_load_id: 'abc:1', directory: await adapterFolder(5) })
    await expect(third).rejects.toMatchObject({ code: 'engine_full' })
    expect(server.adapters.size).toBe(2)
    expect(one.weights.served('a')).toMatchObject({ runtime_load_id: 'abc:1' })
  })
})
