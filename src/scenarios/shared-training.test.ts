/** Two registries over one store: the one that holds the lease trains, and the other takes over. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import sqlite from '../../plugins/stores/sqlite/index.ts'
import { wrapStore } from '../../test/fixtures/wrap-store.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { emptyExchange, hostsOf, nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import type { Recipe, Store, StoreLease } from '../contract/index.ts'
import { processorOf, type TrainerHost } from '../training/index.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'
import type { Services } from './services.ts'

const training: Recipe = {
  bind: async (scope) => ({
    ...(await recordOnly.plugin.bind(scope)),
    processors: { '': processorOf({ data: { batch_policy: 'records' } }, { name: 'each' }) },
  }),
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: () => new Promise(() => undefined) }) } }),
}

const abortOf = (signal: AbortSignal): Promise<never> =>
  new Promise((_resolve, reject) => signal.addEventListener('abort', () => reject(signal.reason), { once: true }))

/** One process of the deployment: its steps, and what it logs. */
class Member {
  readonly steps: string[] = []
  readonly warnings: string[] = []
  /** Steps wait for it. */
  gate: Promise<void> = Promise.resolve()
  registry!: Registry

  async open(shared: Services, more: Partial<Services> = {}): Promise<this> {
    const host: TrainerHost = {
      inTurn: (_trainer, _signal, work) =>
        work(async ({ step, batch }, _report, stop) => {
          this.steps.push(batch.id)
          await Promise.race([this.gate, abortOf(stop)])
          return { kind: 'publish', content: { kind: 'files', files: { 'step.md': `${step} ${batch.id}` } } }
        }),
      close: nothing,
    }
    const store = wrapStore(shared.store, this.changes(shared.store))
    const warn = (message: string): void => void this.warnings.push(message)
    this.registry = await Registry.open({ ...shared, store, hosts: hostsOf(host), warn, ...more }, ROOM)
    return this
  }

  changes(_store: Store): Partial<Store> {
    return {}
  }

  get isTraining(): boolean {
    return (this.registry.loaded('a')?.workers.length ?? 0) > 0
  }

  append(id: string): Promise<unknown> {
    return this.registry.useOrCreate('a', null, (scenario) => scenario.append([emptyExchange(id)]))
  }
}

/** A member whose leases others may take: as from a process that was paused, or one that is told. */
class LosingMember extends Member {
  #held: { readonly lease: StoreLease; readonly lost: AbortController }[] = []

  override changes(store: Store): Partial<Store> {
    return {
      lease: async (name) => {
        const lease = await store.lease(name)
        if (lease === null) return null
        const lost = new AbortController()
        this.#held.push({ lease, lost })
        return { ...lease, signal: lost.signal }
      },
    }
  }

  /** Others may take its leases, and it does not notice. */
  async pause(): Promise<void> {
    await Promise.all(this.#held.map(({ lease }) => lease.release()))
  }

  async lose(): Promise<void> {
    await this.pause()
    for (const { lost } of this.#held.splice(0)) lost.abort()
  }
}

let services: Services
let one: Member
let two: Member
beforeEach(async () => {
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
  services = await servicesInMemory({ plain: training }, { files: new ScenarioFiles(temporaryFolder()) })
})
afterEach(async () => {
  vi.useRealTimers()
  await Promise.all([one.registry.close(), two.registry.close()])
})

async function openBoth(first: Member = new Member()): Promise<void> {
  one = await first.open(services)
  two = await new Member().open(services)
  await one.append('1')
  await two.registry.use('a', nothing)
  await vi.waitFor(() => expect(one.steps).toHaveLength(1))
}

const rows = async () => services.store.scenario('a').commits({ after: -1, limit: 100 })
const trained = async (): Promise<readonly string[]> => (await rows()).flatMap(({ consumed_ids }) => consumed_ids)
const second = (): Promise<unknown> => vi.advanceTimersByTimeAsync(1000)

describe('the member that loaded a scenario first', () => {
  it('trains it, and the other serves what it publishes', async () => {
    await openBoth()
    expect([one.isTraining, two.isTraining]).toEqual([true, false])
    await vi.waitFor(() => expect(two.registry.loaded('a')?.history.step).toBe(1))
    expect(two.registry.loaded('a')?.head()).toEqual(one.registry.loaded('a')?.head())
  })

  it('trains on what is appended at the other, one step per record', async () => {
    await openBoth()
    await two.append('2')
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
    await second()
    expect(two.steps).toEqual([])
  })

  it('takes the mode that was chosen at the other', async () => {
    await openBoth()
    await two.registry.update('a', { mode: 'manual' })
    await vi.waitFor(() => expect(one.registry.loaded('a')?.trainingMode).toBe('manual'))
    const later = await new Member().open(services)
    expect(await later.registry.use('a', ({ trainingMode }) => Promise.resolve(trainingMode))).toBe('manual')
    await later.registry.close()
    await two.append('2')
    await second()
    expect(one.steps).toHaveLength(1)
    await two.registry.update('a', { mode: 'auto' })
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
  })
})

describe('the other member', () => {
  it('takes over when the first one closes, and trains on what is left', async () => {
    await openBoth()
    await one.registry.close()
    await two.append('2')
    await second()
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
    expect(two.steps).toHaveLength(1)
  })

  it('takes over a scenario that it has not loaded', async () => {
    one = await new Member().open(services)
    two = await new Member().open(services)
    one.gate = new Promise(() => undefined)
    await one.append('1')
    await vi.waitFor(() => expect(one.steps).toHaveLength(1))
    await one.registry.close()
    await two.registry.preload(new AbortController().signal)
    await vi.waitFor(async () => expect(await trained()).toEqual(['1']))
  })

  it('takes over when the first one loses its lease, and the step in flight there is given up', async () => {
    const losing = new LosingMember()
    await openBoth(losing)
    const gate = Promise.withResolvers<void>()
    one.gate = gate.promise
    await one.append('2')
    await vi.waitFor(() => expect(one.steps).toHaveLength(2))
    await losing.lose()
    await second()
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
    gate.resolve()
    await vi.waitFor(() => expect(one.isTraining).toBe(false))
    expect(two.isTraining).toBe(true)
    expect((await rows()).map(({ step }) => step)).toEqual([0, 1, 2])
  })

  it('takes over from one that was paused, whose late landing is refused and that stops training', async () => {
    const paused = new LosingMember()
    await openBoth(paused)
    const gate = Promise.withResolvers<void>()
    one.gate = gate.promise
    await one.append('2')
    await vi.waitFor(() => expect(one.steps).toHaveLength(2))
    await paused.pause()
    two.gate = new Promise(() => undefined)
    await second()
    await vi.waitFor(() => expect(two.steps).toHaveLength(1))
    gate.resolve()
    await vi.waitFor(() => expect(one.isTraining).toBe(false))
    expect(await trained()).toEqual(['1'])
    expect((await rows()).map(({ step }) => step)).toEqual([0, 1])
  })
})

describe('a member that lost its lease', () => {
  it('is bound again before it trains again, so that no record is read twice', async () => {
    const losing = new LosingMember()
    await openBoth(losing)
    await losing.lose()
    await two.append('2')
    await second()
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
    const before = one.registry.loaded('a')
    await two.registry.close()
    await one.append('3')
    await second()
    await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2', '3']))
    expect(one.registry.loaded('a')).not.toBe(before)
    expect(one.steps).toHaveLength(2)
  })
})

describe('a store that grants no lease', () => {
  it('is asked again; until then the scenario is served and not trained, and the log says so once', async () => {
    const lease = vi.spyOn(services.store, 'lease').mockRejectedValue(new Error('no disk'))
    one = await new Member().open(services)
    two = await new Member().open(services)
    await one.append('1')
    await second()
    expect(one.steps).toEqual([])
    expect(one.warnings).toEqual(['a training lease could not be taken; it is tried again'])
    lease.mockRestore()
    await second()
    await vi.waitFor(async () => expect(await trained()).toEqual(['1']))
  })
})

describe('on a disk', () => {
  it('one trains and the other serves; what is chosen and appended at one counts at both; the other takes over', async () => {
    const store = await sqlite.plugin.make({ directory: temporaryFolder(), capacity_bytes: 1e6 })
    services = { ...services, store }
    try {
      await openBoth()
      await vi.waitFor(() => expect(two.registry.loaded('a')?.history.step).toBe(1))
      const [first = ''] = (await rows()).flatMap(({ release }) => release?.release_id ?? [])
      const { head } = await two.registry.move('a', first, 'rollback')
      await vi.waitFor(() => expect(one.registry.loaded('a')?.head()).toEqual(head))
      await two.append('2')
      await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2']))
      await one.registry.close()
      await two.append('3')
      await second()
      await vi.waitFor(async () => expect(await trained()).toEqual(['1', '2', '3']))
      expect(two.steps).toHaveLength(1)
    } finally {
      await Promise.all([one.registry.close(), two.registry.close()])
      await store.close()
    }
  })
})
