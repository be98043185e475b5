import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedFolder } from '../../../test/support/folder.ts'
import type { Lease } from '../../contract/index.ts'
import { adapterFolder, ScriptedEngine } from './testing.ts'
import { Weights } from './weights.ts'

const root = sharedFolder()
const NEVER = new AbortController().signal
const SHORT_SECONDS = 0.01
const LONG_SECONDS = 60

const nameOf = (scenario: string, sequence: number): string => `svc.${Buffer.from(scenario).toString('base64url')}.ab.${sequence}`

interface Options {
  readonly capacity?: number
  readonly moves?: boolean
  readonly drainSeconds?: number
}

function open({ drainSeconds = SHORT_SECONDS, ...options }: Options = {}) {
  const engine = new ScriptedEngine(options)
  const weights = new Weights(engine, drainSeconds)
  const serve = async (scenario: string, sequence: number, shift = sequence): Promise<void> =>
    weights.serve(scenario, { runtime_load_id: `ab:${sequence}`, directory: await adapterFolder(root, shift) })
  return { engine, weights, serve, lease: (scenario: string): Promise<Lease> => weights.lease(scenario, NEVER) }
}

async function full(options: Options = {}) {
  const world = open({ capacity: 2, ...options })
  await world.serve('a', 1)
  await world.serve('b', 1)
  return world
}

describe('serving weights', () => {
  it('loads them, and names them to every request from then on', async () => {
    const { engine, weights, serve, lease } = open()
    await serve('a', 1)
    expect([...engine.held.keys()]).toEqual([nameOf('a', 1)])
    expect(weights.served('a')).toEqual({ runtime_load_id: 'ab:1', adapter: nameOf('a', 1) })
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:1', adapter: nameOf('a', 1) })
  })

  it('that are the base loads nothing and keeps the load id', async () => {
    const { engine, weights, lease } = open({ capacity: 0 })
    await weights.serve('a', { runtime_load_id: 'ab:4', directory: null })
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:4', adapter: null })
    expect(engine.calls).toEqual([])
  })

  it('twice does it once, also when both are asked for at the same time', async () => {
    const { engine, serve } = open()
    await Promise.all([serve('a', 1), serve('a', 1)])
    await serve('a', 1)
    expect(engine.calls).toEqual([`load ${nameOf('a', 1)}`])
  })

  it('lets the oldest of any scenario go that nobody needs', async () => {
    const { engine, serve } = open({ capacity: 3 })
    await serve('a', 1)
    await serve('b', 1)
    await serve('a', 2)
    await serve('b', 2)
    expect(engine.calls.filter((call) => call.startsWith('unload'))).toEqual([`unload ${nameOf('a', 1)}`])
  })

  it('waits for a request that still ends on an adapter of the past rather than taking it away', async () => {
    const { engine, serve, lease } = open({ capacity: 2, drainSeconds: LONG_SECONDS })
    await serve('a', 1)
    const held = await lease('a')
    await serve('a', 2)
    const whenUnloaded: string[] = []
    engine.onUnload = (name) => whenUnloaded.push(`${name} ${engine.underway.size}`)
    const letGo = engine.hold()
    const begun = engine.begun()
    const generation = engine.chat({ body: {}, adapter: held.adapter, signal: NEVER }).finally(() => held.end())
    await begun
    const third = serve('a', 3)
    letGo()
    await Promise.all([generation, third])
    expect(whenUnloaded).toEqual([`${nameOf('a', 1)} 0`])
    expect([...engine.held.keys()]).toEqual([nameOf('a', 2), nameOf('a', 3)])
  })

  it('refuses a load id that is none', async () => {
    const { weights } = open()
    await expect(weights.serve('a', { runtime_load_id: 'seven', directory: null })).rejects.toMatchObject({ kind: 'invalid' })
  })

  it('moves requests under way where the engine can, and never from the base or to it', async () => {
    const { engine, weights, serve } = open({ capacity: 3, moves: true })
    await weights.serve('a', { runtime_load_id: 'ab:0', directory: null })
    await serve('a', 1)
    await serve('a', 2)
    await weights.serve('a', { runtime_load_id: 'ab:3', directory: null })
    expect(engine.calls.filter((call) => call.startsWith('move'))).toEqual([`move ${nameOf('a', 1)} ${nameOf('a', 2)}`])
  })

  it('keeps the adapter that a moved request is on, after a newer one is served', async () => {
    const { engine, weights, serve, lease } = open({ capacity: 3, moves: true })
    await serve('a', 1)
    const held = await lease('a')
    await serve('a', 2)
    weights.forget('a')
    await expect(serve('b', 1)).resolves.toBeUndefined()
    await expect(serve('c', 1)).rejects.toMatchObject({ code: 'engine_busy' })
    expect(engine.held.has(nameOf('a', 2))).toBe(true)
    held.end()
    await serve('c', 1)
    expect(engine.held.has(nameOf('a', 1))).toBe(false)
  })
})

describe('a load that fails', () => {
  it('keeps no slot and leaves what was served before', async () => {
    const { engine, weights, serve } = open()
    await serve('a', 1)
    engine.faults.set('load', 1)
    await expect(serve('a', 2)).rejects.toMatchObject({ code: 'adapter_not_loaded' })
    expect(weights.served('a')?.adapter).toBe(nameOf('a', 1))
    expect(weights.status()).toMatchObject({ resident: 1, leaked: 0, counters: { load_failures: 1, load_cleanups: 1 } })
    await serve('a', 2)
    expect(engine.violations).toEqual([])
  })

  it('and whose cleaning up fails is the first to be told again when a slot is needed', async () => {
    const { engine, weights, serve } = open()
    await serve('a', 1)
    engine.faults.set('load', 1).set('unload', 1)
    await expect(serve('b', 1)).rejects.toThrow()
    expect(weights.status()).toMatchObject({ resident: 1, leaked: 1, counters: { cleanup_failures: 1 } })
    await serve('b', 2)
    expect(weights.status()).toMatchObject({ resident: 2, leaked: 0, counters: { evictions: 1 } })
  })

  it('is one that hangs until the service closes, and says nothing against the adapter', async () => {
    const { engine, weights, serve } = open()
    engine.isHanging = true
    const served = serve('a', 1)
    while (engine.calls.length === 0) await new Promise(setImmediate)
    await Promise.all([weights.close(), expect(served).rejects.toMatchObject({ code: 'engine_unreachable' })])
    expect(weights.status()).toMatchObject({ resident: 0, counters: { load_failures: 1 } })
  })

  it('is told apart when the engine takes the adapter in and ignores it', async () => {
    const { engine, weights, serve } = open()
    await serve('a', 1)
    engine.isIgnoring = true
    await expect(serve('a', 2)).rejects.toMatchObject({ kind: 'conflict', code: 'adapter_ignored' })
    expect([...engine.held.keys()]).toEqual([nameOf('a', 1)])
    expect(weights.served('a')?.runtime_load_id).toBe('ab:1')
  })

  it('is told apart when the adapter says something else than its trainer did', async () => {
    const { engine, weights } = open()
    const wrong = { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1, 2) }
    await expect(weights.serve('a', wrong)).rejects.toMatchObject({ code: 'adapter_differs' })
    expect(engine.held.size).toBe(0)
  })

  it('is one whose provenance cannot be read', async () => {
    const { engine, weights } = open()
    const directory = await adapterFolder(root, 1)
    await writeFile(join(directory, 'svc-provenance.json'), '{"probe":')
    await expect(weights.serve('a', { runtime_load_id: 'ab:1', directory })).rejects.toMatchObject({ code: 'bad_adapter' })
    expect(engine.held.size).toBe(0)
  })

  it('is not one that brings no probe, nor one that training left as it was', async () => {
    const { weights, serve } = open()
    await weights.serve('a', { runtime_load_id: 'ab:1', directory: await adapterFolder(root, 1, null) })
    await serve('b', 1, 0)
    expect(weights.status()).toMatchObject({ resident: 2 })
  })
})

describe('two scenarios in two slots', () => {
  it('each replace their own, and the other goes on undisturbed', async () => {
    const { engine, weights, serve } = await full()
    await serve('a', 2)
    await serve('b', 2)
    expect([...engine.held.keys()]).toEqual([nameOf('a', 2), nameOf('b', 2)])
    expect(engine.calls).not.toContain('pause')
    expect(weights.admission('a')).toBe('open')
    expect(engine.violations).toEqual([])
  })

  it('leave no room for a third, which is refused before anything is touched', async () => {
    const { engine, weights, serve } = await full()
    const before = [...engine.calls]
    await expect(serve('c', 1)).rejects.toMatchObject({ kind: 'conflict', code: 'engine_full' })
    expect(engine.calls).toEqual(before)
    expect(weights.status()).toMatchObject({ resident: 2, counters: { capacity_rejections: 1 } })
  })

  it('hold a request back until the new adapter is there', async () => {
    const { engine, weights, serve, lease } = await full({ drainSeconds: LONG_SECONDS })
    const first = await lease('a')
    const replaced = serve('a', 2)
    while (weights.admission('a') === 'open') await new Promise(setImmediate)
    const waiting = lease('a')
    expect(await lease('b')).toMatchObject({ adapter: nameOf('b', 1) })
    first.end()
    await replaced
    expect(await waiting).toMatchObject({ adapter: nameOf('a', 2) })
    expect(engine.calls).not.toContain('pause')
  })

  it('let a client that gave up waiting go at once', async () => {
    const { weights, serve, lease } = await full({ drainSeconds: LONG_SECONDS })
    const first = await lease('a')
    const replaced = serve('a', 2)
    while (weights.admission('a') === 'open') await new Promise(setImmediate)
    const client = new AbortController()
    const waiting = weights.lease('a', client.signal)
    client.abort()
    await expect(waiting).rejects.toMatchObject({ code: 'client_gone' })
    first.end()
    await replaced
  })

  it('break off what does not end by itself, and go on', async () => {
    const { engine, weights, serve, lease } = await full()
    const first = await lease('a')
    const letGo = engine.hold()
    const begun = engine.begun()
    const generation = engine.chat({ body: {}, adapter: first.adapter, signal: NEVER })
    await begun
    const ended = generation.then((said) => {
      first.end()
      return said.kind
    })
    await serve('a', 2)
    expect(await ended).toBe('aborted')
    expect(engine.isPaused).toBe(false)
    expect(weights.served('a')?.adapter).toBe(nameOf('a', 2))
    expect(engine.violations).toEqual([])
    letGo()
  })

  it('go back to the last good adapter when the new one cannot be loaded', async () => {
    const { engine, weights, serve, lease } = await full()
    engine.faults.set('load', 1)
    await expect(serve('a', 2)).rejects.toThrow()
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:1', adapter: nameOf('a', 1) })
    expect(engine.held.has(nameOf('a', 1))).toBe(true)
    expect(weights.admission('a')).toBe('open')
  })

  it('find the last good adapter again with the next request when loading it back failed too', async () => {
    const { engine, serve, lease } = await full()
    engine.faults.set('load', 2)
    await expect(serve('a', 2)).rejects.toThrow()
    expect(engine.held.has(nameOf('a', 1))).toBe(false)
    expect(await lease('a')).toMatchObject({ adapter: nameOf('a', 1) })
    expect(engine.held.has(nameOf('a', 1))).toBe(true)
  })

  it('stay as they are when the engine does not let go of the old one', async () => {
    const { engine, serve, lease } = await full()
    engine.faults.set('unload', 1)
    await expect(serve('a', 2)).rejects.toMatchObject({ code: 'engine_stuck' })
    expect(await lease('a')).toMatchObject({ adapter: nameOf('a', 1) })
    expect(engine.held.has(nameOf('a', 1))).toBe(true)
    expect(engine.violations).toEqual([])
  })

  it('never leave the engine paused, also when resuming it failed at first', async () => {
    const { engine, serve, lease } = await full()
    const first = await lease('a')
    engine.faults.set('resume', 1)
    await serve('a', 2)
    expect(engine.isPaused).toBe(true)
    first.end()
    await lease('a')
    expect(engine.isPaused).toBe(false)
  })

  it('make room for a third once one of them is gone', async () => {
    const { engine, weights, serve } = await full()
    weights.forget('a')
    await serve('c', 1)
    expect([...engine.held.keys()]).toEqual([nameOf('b', 1), nameOf('c', 1)])
    await expect(weights.lease('a', NEVER)).rejects.toMatchObject({ code: 'nothing_served' })
  })
})

describe('an engine that started anew', () => {
  it('is given back what is served when a call finds an adapter lost', async () => {
    const { engine, weights, serve, lease } = open({ capacity: 3 })
    await serve('a', 1)
    await serve('b', 1)
    engine.restart()
    const lost = await engine.chat({ body: {}, adapter: nameOf('a', 1), signal: NEVER }).catch((error: unknown) => error)
    expect(weights.noteFailure(lost)).toBe(true)
    const leases = await Promise.all([lease('a'), lease('b'), lease('a')])
    expect(leases.map(({ adapter }) => adapter)).toEqual([nameOf('a', 1), nameOf('b', 1), nameOf('a', 1)])
    expect([...engine.held.keys()]).toEqual([nameOf('a', 1), nameOf('b', 1)])
    expect(weights.status()).toMatchObject({ counters: { lost_dropped: 2, loads: 4 } })
  })

  it('loses the adapters that another life of this service left in it, and nobody else’s', async () => {
    const { engine, weights, serve } = open({ capacity: 4 })
    engine.held.set(nameOf('old', 3), 1).set('candidate-x', 1).set('theirs', 1)
    await serve('a', 1)
    expect([...engine.held.keys()]).toEqual(['theirs', nameOf('a', 1)])
    expect(weights.status()).toMatchObject({ counters: { strays_unloaded: 2 } })
  })

  it('and does not answer makes requests fail with advice, and is found again without help', async () => {
    const { engine, weights, serve, lease } = open()
    await serve('a', 1)
    engine.isDown = true
    const error = await engine.chat({ body: {}, adapter: null, signal: NEVER }).catch((cause: unknown) => cause)
    expect(weights.noteFailure(error)).toBe(false)
    await expect(lease('a')).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_unreachable' })
    engine.isDown = false
    engine.restart()
    expect(await lease('a')).toMatchObject({ adapter: nameOf('a', 1) })
    expect(engine.held.has(nameOf('a', 1))).toBe(true)
  })

  it('and refuses what came while it was away is asked for it again, and nothing older answers meanwhile', async () => {
    const { engine, weights, serve, lease } = open()
    await serve('a', 1)
    const directory = await adapterFolder(root, 2)
    engine.isDown = true
    await expect(weights.serve('a', { runtime_load_id: 'ab:2', directory })).rejects.toMatchObject({ kind: 'upstream' })
    engine.isDown = false
    engine.faults.set('load', 1)
    await expect(lease('a')).rejects.toMatchObject({ code: 'adapter_not_loaded' })
    expect(await lease('a')).toMatchObject({ runtime_load_id: 'ab:2' })
  })

  it('and is asked by many for what came while it was away loads it once, and not for a scenario that went meanwhile', async () => {
    const { engine, weights, serve, lease } = open()
    engine.isDown = true
    await expect(serve('a', 1)).rejects.toThrow()
    await expect(serve('b', 1)).rejects.toThrow()
    engine.isDown = false
    const gone = lease('b')
    weights.forget('b')
    await expect(gone).rejects.toMatchObject({ code: 'nothing_served' })
    await Promise.all([lease('a'), lease('a'), lease('a')])
    expect(engine.calls.filter((call) => call.startsWith('load'))).toEqual([`load ${nameOf('a', 1)}`])
    expect(weights.served('b')).toBeNull()
  })

  it('gives the answer that nobody records too, after its adapter was given back', async () => {
    const { engine, weights, serve } = open()
    await serve('a', 1)
    engine.restart()
    expect(await weights.ask('a', { messages: [] }, NEVER)).toMatchObject({ choices: [{ message: { content: nameOf('a', 1) } }] })
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
    expect(await lease('b')).toMatchObject({ adapter: nameOf('b', 1) })
  })
})

describe('a service that is about to close', () => {
  it('does not wait for requests under way to change what they are answered by', async () => {
    const { engine, weights, serve, lease } = await full({ drainSeconds: LONG_SECONDS })
    await lease('a')
    const replaced = serve('a', 2)
    while (weights.admission('a') === 'open') await new Promise(setImmediate)
    weights.stop()
    await expect(replaced).rejects.toMatchObject({ code: 'engine_unreachable' })
    expect(engine.held.has(nameOf('a', 1))).toBe(true)
    expect(weights.admission('a')).toBe('open')
  })
})

describe('a trial', () => {
  it('holds a candidate for as long as the work takes, and leaves nothing', async () => {
    const { engine, weights, serve } = open()
    await serve('a', 1)
    const candidate = { name: 'job', directory: await adapterFolder(root, 2) }
    const said = await weights.trial(candidate, (tryout) => tryout.chat({ messages: [] }), NEVER)
    expect(said).toMatchObject({ choices: [{ message: { content: expect.stringMatching(/^candidate-job-/) } }] })
    expect([...engine.held.keys()]).toEqual([nameOf('a', 1)])
    expect(weights.served('a')?.adapter).toBe(nameOf('a', 1))
  })

  it('is unloaded when the work fails', async () => {
    const { engine, weights } = open()
    const candidate = { name: 'job', directory: await adapterFolder(root, 2) }
    await expect(weights.trial(candidate, () => Promise.reject(new Error('no')), NEVER)).rejects.toThrow('no')
    expect(engine.held.size).toBe(0)
  })

  it('takes no slot from what is served', async () => {
    const { engine, weights, serve } = open({ capacity: 1 })
    await serve('a', 1)
    const candidate = { name: 'job', directory: await adapterFolder(root, 2) }
    await expect(weights.trial(candidate, () => Promise.resolve(), NEVER)).rejects.toMatchObject({ code: 'engine_full' })
    expect([...engine.held.keys()]).toEqual([nameOf('a', 1)])
  })

  it('of the same candidate twice at once is two loads under two names', async () => {
    const { engine, weights } = open()
    const candidate = { name: 'job', directory: await adapterFolder(root, 2) }
    const work = (): Promise<number> => Promise.resolve(engine.held.size)
    await Promise.all([weights.trial(candidate, work, NEVER), weights.trial(candidate, work, NEVER)])
    expect(engine.violations).toEqual([])
    expect(engine.held.size).toBe(0)
  })

  it('asks again when a pause broke its question off', async () => {
    const { engine, weights } = open()
    let asked = 0
    engine.answers = () => (++asked === 1 ? { kind: 'aborted' } : null)
    const candidate = { name: 'job', directory: await adapterFolder(root, 2) }
    await weights.trial(candidate, (tryout) => tryout.chat({ messages: [] }), NEVER)
    expect(asked).toBe(2)
  })
})
