import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it, onTestFinished } from 'vitest'
import { sharedFolder } from '../../../test/support/folder.ts'
import { until } from '../../../test/support/wait.ts'
import type { Lease, Tryout } from '../../contract/index.ts'
import { adapterFolder, ScriptedEngine } from './testing.ts'
import { Weights } from './weights.ts'

const root = sharedFolder()
const NEVER = new AbortController().signal
const SHORT_SECONDS = 0.01
const LONG_SECONDS = 60

const nameOf = (scenario: string, sequence: number): string => `svc.${Buffer.from(scenario).toString('base64url')}.ab.${sequence}`
const [A1, A2, B1, B2] = [nameOf('a', 1), nameOf('a', 2), nameOf('b', 1), nameOf('b', 2)]

type Options = ConstructorParameters<typeof ScriptedEngine>[0] & { readonly drainSeconds?: number }

function open({ drainSeconds = SHORT_SECONDS, ...options }: Options = {}) {
  const engine = new ScriptedEngine(options)
  onTestFinished(() => expect(engine.violations).toEqual([]))
  const weights = new Weights(engine, drainSeconds)
  return {
    engine,
    weights,
    serve: async (scenario: string, sequence: number, shift = sequence): Promise<void> =>
      weights.serve(scenario, { runtime_load_id: `ab:${sequence}`, directory: await adapterFolder(root, shift) }),
    serveBase: (sequence: number): Promise<void> => weights.serve('a', { runtime_load_id: `ab:${sequence}`, directory: null }),
    lease: (scenario: string): Promise<Lease> => weights.lease(scenario, NEVER),
    chat: (adapter: string | null) => engine.chat({ body: {}, adapter, signal: NEVER }),
    trial: async <T>(work: (tryout: Tryout) => Promise<T>): Promise<T> =>
      weights.trial({ name: 'job', directory: await adapterFolder(root, 2) }, work, NEVER),
  }
}

async function openOne(options?: Options) {
  const world = open(options)
  await world.serve('a', 1)
  return world
}

async function openTwo(options?: Options) {
  const world = await openOne({ capacity: 2, ...options })
  await world.serve('b', 1)
  return world
}

/** While scenario a waits for its request to end, before its adapter is replaced. */
async function openReplacing() {
  const world = await openTwo({ drainSeconds: LONG_SECONDS })
  const first = await world.lease('a')
  const replaced = world.serve('a', 2)
  await until(() => world.weights.admission('a') === 'closed')
  return { ...world, first, replaced }
}

async function tornFolder(): Promise<string> {
  const directory = await adapterFolder(root, 1)
  await writeFile(join(directory, 'svc-provenance.json'), '{"probe":')
  return directory
}

const ask = (tryout: Tryout) => tryout.chat({ messages: [] })

describe('serving weights', () => {
  it('loads them, and names them to every request from then on', async () => {
    const { engine, weights, lease } = await openOne()
    expect(engine.names).toEqual([A1])
    expect(weights.served('a')).toEqual({ runtime_load_id: 'ab:1', adapter: A1 })
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:1', adapter: A1 })
  })

  it('that are the base loads nothing and keeps the load id', async () => {
    const { engine, serveBase, lease } = open({ capacity: 0 })
    await serveBase(4)
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:4', adapter: null })
    expect(engine.calls).toEqual([])
  })

  it('twice loads them once, also at the same time', async () => {
    const { engine, serve } = open()
    await Promise.all([serve('a', 1), serve('a', 1)])
    await serve('a', 1)
    expect(engine.calls).toEqual([`load ${A1}`])
  })

  it('unloads the oldest adapter that no scenario needs', async () => {
    const { engine, serve } = await openTwo({ capacity: 3 })
    await serve('a', 2)
    await serve('b', 2)
    expect(engine.callsOf('unload')).toEqual([`unload ${A1}`])
  })

  it('waits for a request that still runs on an earlier adapter instead of unloading it', async () => {
    const { engine, serve, lease, chat } = await openOne({ capacity: 2, drainSeconds: LONG_SECONDS })
    const held = await lease('a')
    await serve('a', 2)
    const whenUnloaded: string[] = []
    engine.onUnload = (name) => whenUnloaded.push(`${name} ${engine.underway.size}`)
    const { answer, letGo } = await engine.midway(() => chat(held.adapter).finally(() => held.end()))
    const third = serve('a', 3)
    letGo()
    await Promise.all([answer, third])
    expect(whenUnloaded).toEqual([`${A1} 0`])
    expect(engine.names).toEqual([A2, nameOf('a', 3)])
  })

  it('refuses a malformed load id', async () => {
    const { weights } = open()
    await expect(weights.serve('a', { runtime_load_id: 'seven', directory: null })).rejects.toMatchObject({ kind: 'invalid' })
  })

  it('moves running requests where the engine can, and never from the base or to it', async () => {
    const { engine, serve, serveBase } = open({ capacity: 3, moves: true })
    await serveBase(0)
    await serve('a', 1)
    await serve('a', 2)
    await serveBase(3)
    expect(engine.callsOf('move')).toEqual([`move ${A1} ${A2}`])
  })

  it('keeps the adapter that a moved request is on, after a newer one is served', async () => {
    const { engine, weights, serve, lease } = await openOne({ capacity: 3, moves: true })
    const held = await lease('a')
    await serve('a', 2)
    weights.forget('a')
    await serve('b', 1)
    await expect(serve('c', 1)).rejects.toMatchObject({ code: 'engine_busy' })
    expect(engine.names).toContain(A2)
    held.end()
    await serve('c', 1)
    expect(engine.names).not.toContain(A1)
  })
})

describe('a load that fails', () => {
  it('keeps no slot and leaves what was served before', async () => {
    const { engine, weights, serve } = await openOne()
    engine.faults.set('load', 1)
    await expect(serve('a', 2)).rejects.toMatchObject({ code: 'adapter_not_loaded' })
    expect(weights.served('a')?.adapter).toBe(A1)
    expect(weights.status()).toMatchObject({ resident: 1, leaked: 0, counters: { load_failures: 1, load_cleanups: 1 } })
    await serve('a', 2)
  })

  it('and whose cleanup fails too is the first to be unloaded again when a slot is needed', async () => {
    const { engine, weights, serve } = await openOne()
    engine.faults.set('load', 1).set('unload', 1)
    await expect(serve('b', 1)).rejects.toThrow()
    expect(weights.status()).toMatchObject({ resident: 1, leaked: 1, counters: { cleanup_failures: 1 } })
    await serve('b', 2)
    expect(weights.status()).toMatchObject({ resident: 2, leaked: 0, counters: { evictions: 1 } })
  })

  it('because it hangs until the service closes is not the fault of the adapter', async () => {
    const { engine, weights, serve } = open()
    engine.isHanging = true
    const served = serve('a', 1)
    await until(() => engine.calls.length > 0)
    await Promise.all([weights.close(), expect(served).rejects.toMatchObject({ code: 'engine_unreachable' })])
    expect(weights.status()).toMatchObject({ resident: 0, counters: { load_failures: 1 } })
  })

  it('because the engine loads the adapter and ignores it is detected', async () => {
    const { engine, weights, serve } = await openOne()
    engine.isIgnoring = true
    await expect(serve('a', 2)).rejects.toMatchObject({ kind: 'conflict', code: 'adapter_ignored' })
    expect(engine.names).toEqual([A1])
    expect(weights.served('a')?.runtime_load_id).toBe('ab:1')
  })

  it.each([
    ['the adapter answers its probe differently than in training', 'adapter_differs', () => adapterFolder(root, 1, 2)],
    ['its provenance cannot be read', 'bad_adapter', tornFolder],
  ])('because %s is detected', async (_what, code, folder) => {
    const { engine, weights } = open()
    await expect(weights.serve('a', { runtime_load_id: 'ab:1', directory: await folder() })).rejects.toMatchObject({ code })
    expect(engine.names).toEqual([])
  })

  it('is not one without a probe, nor one that training left unchanged', async () => {
    const { weights, serve } = open()
    await weights.serve('a', { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1, null) })
    await serve('b', 1, 0)
    expect(weights.status()).toMatchObject({ resident: 2 })
  })
})

describe('two scenarios in two slots', () => {
  it('each replace their own, and the other is not disturbed', async () => {
    const { engine, weights, serve } = await openTwo()
    await serve('a', 2)
    await serve('b', 2)
    expect(engine.names).toEqual([A2, B2])
    expect(engine.calls).not.toContain('pause')
    expect(weights.admission('a')).toBe('open')
  })

  it('leave no room for a third, which is refused before anything is touched', async () => {
    const { engine, weights, serve } = await openTwo()
    const before = [...engine.calls]
    await expect(serve('c', 1)).rejects.toMatchObject({ kind: 'conflict', code: 'engine_full' })
    expect(engine.calls).toEqual(before)
    expect(weights.status()).toMatchObject({ resident: 2, counters: { capacity_rejections: 1 } })
  })

  it('hold a request back until the new adapter is there', async () => {
    const { engine, lease, first, replaced } = await openReplacing()
    const waiting = lease('a')
    expect(await lease('b')).toMatchObject({ adapter: B1 })
    first.end()
    await replaced
    expect(await waiting).toMatchObject({ adapter: A2 })
    expect(engine.calls).not.toContain('pause')
  })

  it('release a waiting client that leaves at once', async () => {
    const { weights, first, replaced } = await openReplacing()
    const client = new AbortController()
    const waiting = weights.lease('a', client.signal)
    client.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'client_gone' })
    first.end()
    await replaced
  })

  it('abort a request that does not end by itself, and continue', async () => {
    const { engine, weights, serve, lease, chat } = await openTwo()
    const first = await lease('a')
    const { answer, letGo } = await engine.midway(() => chat(first.adapter).finally(() => first.end()))
    await serve('a', 2)
    expect(await answer).toEqual({ kind: 'aborted' })
    expect(engine.isPaused).toBe(false)
    expect(weights.served('a')?.adapter).toBe(A2)
    letGo()
  })

  it('go back to the last good adapter when the new one cannot be loaded', async () => {
    const { engine, weights, serve, lease } = await openTwo()
    engine.faults.set('load', 1)
    await expect(serve('a', 2)).rejects.toThrow()
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:1', adapter: A1 })
    expect(engine.names).toContain(A1)
    expect(weights.admission('a')).toBe('open')
  })

  it('load the last good adapter with the next request when loading it back failed too', async () => {
    const { engine, serve, lease } = await openTwo()
    engine.faults.set('load', 2)
    await expect(serve('a', 2)).rejects.toThrow()
    expect(engine.names).not.toContain(A1)
    expect([(await lease('a')).adapter, engine.names.includes(A1)]).toEqual([A1, true])
  })

  it('stay as they are when the engine does not unload the old one', async () => {
    const { engine, serve, lease } = await openTwo()
    engine.faults.set('unload', 1)
    await expect(serve('a', 2)).rejects.toMatchObject({ code: 'engine_stuck' })
    expect(await lease('a')).toMatchObject({ adapter: A1 })
    expect(engine.names).toContain(A1)
  })

  it('never leave the engine paused, also when resuming it failed at first', async () => {
    const { engine, serve, lease } = await openTwo()
    const first = await lease('a')
    engine.faults.set('resume', 1)
    await serve('a', 2)
    expect(engine.isPaused).toBe(true)
    first.end()
    await lease('a')
    expect(engine.isPaused).toBe(false)
  })

  it('make room for a third once one of them is gone', async () => {
    const { engine, weights, serve, lease } = await openTwo()
    weights.forget('a')
    await serve('c', 1)
    expect(engine.names).toEqual([B1, nameOf('c', 1)])
    await expect(lease('a')).rejects.toMatchObject({ code: 'nothing_served' })
  })
})

describe('an engine that restarted', () => {
  it('gets back what is served when a call finds an adapter lost', async () => {
    const { engine, weights, lease, chat } = await openTwo({ capacity: 3 })
    engine.restart()
    expect(weights.noteFailure(await chat(A1).catch((error: unknown) => error))).toBe(true)
    const leases = await Promise.all([lease('a'), lease('b'), lease('a')])
    expect(leases.map(({ adapter }) => adapter)).toEqual([A1, B1, A1])
    expect(engine.names).toEqual([A1, B1])
    expect(weights.status()).toMatchObject({ counters: { lost_dropped: 2, loads: 4 } })
  })

  it('has the adapters of an earlier process of this service unloaded, and no others', async () => {
    const { engine, weights, serve } = open({ capacity: 4 })
    engine.held.set(nameOf('old', 3), 1).set('candidate-x', 1).set('theirs', 1)
    await serve('a', 1)
    expect(engine.names).toEqual(['theirs', A1])
    expect(weights.status()).toMatchObject({ counters: { strays_unloaded: 2 } })
  })

  it('and does not answer makes requests fail with advice, and is used again when it answers', async () => {
    const { engine, weights, lease, chat } = await openOne()
    engine.isDown = true
    expect(weights.noteFailure(await chat(null).catch((cause: unknown) => cause))).toBe(false)
    await expect(lease('a')).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_unreachable' })
    engine.isDown = false
    engine.restart()
    expect(await lease('a')).toMatchObject({ adapter: A1 })
    expect(engine.names).toContain(A1)
  })

  it('and refuses weights that came while it was down is asked again, and nothing older answers meanwhile', async () => {
    const { engine, serve, lease } = await openOne()
    engine.isDown = true
    await expect(serve('a', 2)).rejects.toMatchObject({ kind: 'upstream' })
    engine.isDown = false
    engine.faults.set('load', 1)
    await expect(lease('a')).rejects.toMatchObject({ code: 'adapter_not_loaded' })
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:2' })
  })

  it('loads weights that came while it was down once for many requests, and not for a deleted scenario', async () => {
    const { engine, weights, serve, lease } = open()
    engine.isDown = true
    await expect(serve('a', 1)).rejects.toThrow()
    await expect(serve('b', 1)).rejects.toThrow()
    engine.isDown = false
    const gone = lease('b')
    weights.forget('b')
    await expect(gone).rejects.toMatchObject({ code: 'nothing_served' })
    await Promise.all([lease('a'), lease('a'), lease('a')])
    expect(engine.callsOf('load')).toEqual([`load ${A1}`])
    expect(weights.served('b')).toBeNull()
  })

  it('answers unrecorded questions too, after its adapter was loaded again', async () => {
    const { engine, weights } = await openOne()
    engine.restart()
    expect(await weights.ask('a', { messages: [] }, NEVER)).toMatchObject({ choices: [{ message: { content: A1 } }] })
  })

  it('and cannot load one scenario’s adapter any more still serves the others', async () => {
    const { engine, weights, serve, lease } = open()
    const directory = await adapterFolder(root, 1)
    await weights.serve('a', { runtime_load_id: 'ab:1', directory })
    await serve('b', 1)
    await writeFile(join(directory, 'shift'), 'no adapter')
    engine.restart()
    await weights.reconcile()
    await expect(lease('a')).rejects.toMatchObject({ code: 'adapter_lost' })
    expect(await lease('b')).toMatchObject({ adapter: B1 })
  })
})

it('a service that is closing does not wait for running requests to change their weights', async () => {
  const { engine, weights, replaced } = await openReplacing()
  weights.stop()
  await expect(replaced).rejects.toMatchObject({ code: 'engine_unreachable' })
  expect(engine.names).toContain(A1)
  expect(weights.admission('a')).toBe('open')
})

describe('a trial', () => {
  it('holds a candidate for as long as the work takes, and leaves nothing', async () => {
    const { engine, weights, trial } = await openOne()
    expect(await trial(ask)).toMatchObject({ choices: [{ message: { content: expect.stringMatching(/^candidate-job-/) } }] })
    expect(engine.names).toEqual([A1])
    expect(weights.served('a')?.adapter).toBe(A1)
  })

  it('is unloaded when the work fails', async () => {
    const { engine, trial } = open()
    await expect(trial(() => Promise.reject(new Error('no')))).rejects.toThrow('no')
    expect(engine.names).toEqual([])
  })

  it('takes no slot from what is served', async () => {
    const { engine, trial } = await openOne({ capacity: 1 })
    await expect(trial(() => Promise.resolve())).rejects.toMatchObject({ code: 'engine_full' })
    expect(engine.names).toEqual([A1])
  })

  it('of the same candidate twice at once is two loads under two names', async () => {
    const { engine, trial } = open()
    const work = (): Promise<number> => Promise.resolve(engine.held.size)
    await Promise.all([trial(work), trial(work)])
    expect(engine.names).toEqual([])
  })

  it('asks again when a pause interrupted its question', async () => {
    const { engine, trial } = open()
    let asked = 0
    engine.answers = () => (++asked === 1 ? { kind: 'aborted' } : null)
    await trial(ask)
    expect(asked).toBe(2)
  })
})
