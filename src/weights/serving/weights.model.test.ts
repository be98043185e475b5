import * as fc from 'fast-check'
import { beforeAll, expect, it } from 'vitest'
import { sharedFolder } from '../../../test/support/folder.ts'
import { isRefusal, type Lease } from '../../contract/index.ts'
import { adapterFolder, ScriptedEngine } from './testing.ts'
import { Weights } from './weights.ts'

const root = sharedFolder()
const NEVER = new AbortController().signal
const SCENARIOS = ['a', 'b', 'c'] as const
const DRAIN_SECONDS = 0.001
let directory = ''

beforeAll(async () => {
  directory = await adapterFolder(root, 1)
})

const scenario = fc.constantFrom(...SCENARIOS)
const fault = fc.constantFrom('load', 'unload', 'adapters', 'pause', 'resume', 'health', 'score')
const step = fc.oneof(
  { weight: 5, arbitrary: fc.record({ do: fc.constant('serve' as const), scenario }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('base' as const), scenario }) },
  { weight: 4, arbitrary: fc.record({ do: fc.constant('lease' as const), scenario }) },
  { weight: 3, arbitrary: fc.record({ do: fc.constant('end' as const), at: fc.nat(5) }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('fault' as const), fault, times: fc.integer({ min: 1, max: 3 }) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('restart' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('trial' as const) }) },
  { weight: 1, arbitrary: fc.record({ do: fc.constant('forget' as const), scenario }) },
)
type Step = typeof step extends fc.Arbitrary<infer T> ? T : never

it('any history of an engine: never over capacity, no needed adapter is unloaded, every wait ends, and all is served in the end', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.integer({ min: 1, max: 4 }),
      fc.boolean(),
      fc.array(step, { maxLength: 40, size: 'max' }),
      async (capacity, moves, steps) => {
        const world = new World(capacity, moves)
        // Two steps at a time: what one does must hold while the other runs.
        for (let at = 0; at < steps.length; at += 2) await Promise.all(steps.slice(at, at + 2).map((each) => world.take(each)))
        await world.finish()
      },
    ),
    { numRuns: 200 },
  )
})

class World {
  readonly #engine: ScriptedEngine
  readonly #weights: Weights
  readonly #leases: Lease[] = []
  readonly #wrong: string[] = []
  #sequence = 0

  constructor(capacity: number, moves: boolean) {
    this.#engine = new ScriptedEngine({ capacity, moves })
    this.#engine.onUnload = (name) => this.#check(name)
    this.#weights = new Weights(this.#engine, DRAIN_SECONDS)
  }

  /** Only a scenario that takes no requests may lose its current adapter, or one that its requests hold. */
  #check(name: string): void {
    const owner = SCENARIOS.find((one) => name.startsWith(`svc.${Buffer.from(one).toString('base64url')}.`))
    if (owner === undefined || this.#weights.admission(owner) === 'closed') return
    const isCurrent = this.#weights.served(owner)?.adapter === name && this.#weights.isResident(name)
    // A load that fails its probe is unloaded before any request uses it.
    const isTakenBack = this.#engine.calls.at(-2) === `load ${name}`
    const isHeld = this.#engine.held.has(name) && !isTakenBack && this.#leases.some(({ adapter }) => adapter === name)
    if (isCurrent || isHeld) this.#wrong.push(`unloaded while needed: ${name}`)
  }

  async take(each: Step): Promise<void> {
    switch (each.do) {
      case 'serve':
        return this.#quietly(this.#weights.serve(each.scenario, { runtime_load_id: `ab:${++this.#sequence}`, directory }))
      case 'base':
        return this.#quietly(this.#weights.serve(each.scenario, { runtime_load_id: `ab:${++this.#sequence}`, directory: null }))
      case 'lease':
        return this.#quietly(this.#weights.lease(each.scenario, NEVER).then((lease) => this.#leases.push(lease)))
      case 'end':
        return this.#leases.splice(each.at, 1)[0]?.end()
      case 'fault':
        return void this.#engine.faults.set(each.fault, each.times)
      case 'restart':
        return this.#engine.restart()
      case 'trial':
        return this.#quietly(this.#weights.trial({ name: 'job', directory }, (tryout) => tryout.chat({ messages: [] }), NEVER))
      case 'forget':
        return this.#weights.forget(each.scenario)
    }
  }

  async #quietly(work: Promise<unknown>): Promise<void> {
    await work.catch(() => undefined)
  }

  async finish(): Promise<void> {
    expect(this.#wrong).toEqual([])
    expect(this.#engine.violations).toEqual([])
    for (const lease of this.#leases.splice(0)) lease.end()
    this.#engine.faults.clear()
    await this.#weights.reconcile()
    for (const one of SCENARIOS) {
      if (this.#weights.served(one) === null) continue
      // The weights of a scenario may be loaded only by its next request.
      const lease = await this.#weights.lease(one, NEVER).catch((error: unknown) => this.#unlessTaken(one, error))
      if (lease === null) continue
      expect(lease).toMatchObject(this.#weights.served(one) ?? {})
      if (lease.adapter !== null) expect(this.#engine.held.has(lease.adapter)).toBe(true)
      lease.end()
    }
    expect(this.#engine.isPaused).toBe(false)
    expect(this.#engine.held.size).toBe(this.#weights.status()['resident'])
    expect(this.#weights.status()).toMatchObject({ in_flight: 0, leaked: 0 })
  }

  /** There may be more scenarios than slots: one without a slot is refused, and served by nothing else. */
  #unlessTaken(one: string, error: unknown): null {
    const others = SCENARIOS.filter((other) => other !== one && this.#weights.served(other)?.adapter != null)
    if (isRefusal(error) && error.code === 'engine_full' && others.length >= this.#engine.capacity) return null
    throw error
  }
}
