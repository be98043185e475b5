/** Whatever members of a deployment do at the same time, in the end each of them knows what the store knows, and nothing is left undone. */
import { setImmediate as nextTurn } from 'node:timers/promises'
import * as fc from 'fast-check'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { emptyExchange, hostsOf, nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import { isRefusal, type Recipe, type TrainingMode } from '../contract/index.ts'
import { Lane, newId } from '../kit/index.ts'
import { processorOf, type TrainerHost } from '../training/index.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'
import type { Scenario } from './scenario.ts'
import type { Services } from './services.ts'

const NAMES = ['a', 'b'] as const
const MEMBERS = 3
/** A waiting member asks for a lease once in each. */
const SECONDS_MAX = 20
/** The scenarios' files are real, and the machine may be busy. */
const REAL_SECONDS_MAX = 30

const where = { member: fc.nat({ max: MEMBERS - 1 }), name: fc.constantFrom(...NAMES) }
const act = fc.oneof(
  { weight: 4, arbitrary: fc.record({ do: fc.constant('append' as const), ...where }) },
  { weight: 2, arbitrary: fc.record({ do: fc.constant('move' as const), ...where }) },
  fc.record({ do: fc.constant('choose' as const), ...where, mode: fc.constantFrom<TrainingMode>('auto', 'manual') }),
  fc.record({ do: fc.constant('model' as const), ...where, model: fc.constantFrom('one', 'two') }),
  fc.record({ do: fc.constant('remove' as const), ...where }),
  fc.record({ do: fc.constant('restart' as const), ...where }),
)
type Act = typeof act extends fc.Arbitrary<infer T> ? T : never

const recipe: Recipe = {
  bind: async (scope) => ({
    ...(await recordOnly.plugin.bind(scope)),
    processors: { '': processorOf({ data: { batch_policy: 'records' } }, { name: 'each' }) },
  }),
  trainers: () => ({ '': { lane: 'thread', open: () => ({ step: () => new Promise(() => undefined) }) } }),
}

/** Publishes something new after a turn of the event loop. */
const host: TrainerHost = {
  async inTurn(_trainer, signal, work) {
    signal.throwIfAborted()
    return work(async ({ batch }) => {
      await nextTurn()
      return { kind: 'publish', content: { kind: 'files', files: { 'step.md': batch.id } } }
    })
  },
  close: nothing,
}

const clock = (): number => Date.now() / 1000

/** Every call to the store takes some turns of the event loop: before it is carried out, or before its answer arrives. */
function slowed<T extends object>(target: T, pauses: Generator<number, never>): T {
  const pause = async (): Promise<void> => {
    for (let { value: turns } = pauses.next(); turns > 0; turns -= 1) await nextTurn()
  }
  const call = async (method: () => unknown): Promise<unknown> => {
    await pause()
    const answer = await method()
    await pause()
    return answer
  }
  return new Proxy(target, {
    get(object, key) {
      const value: unknown = Reflect.get(object, key)
      if (typeof value !== 'function' || key === 'follow') return typeof value === 'function' ? value.bind(object) : value
      if (key === 'scenario') return (name: string) => slowed(value.call(object, name), pauses)
      return (...values: unknown[]) => call(() => value.apply(object, values))
    },
  })
}

function* endlessly(turns: readonly number[]): Generator<number, never> {
  for (;;) yield* turns
}

class Deployment {
  readonly #services: Services
  readonly #members: Registry[] = []
  readonly #restarts = new Lane()

  constructor(services: Services) {
    this.#services = services
  }

  static async open(pauses: readonly number[]): Promise<Deployment> {
    const files = new ScenarioFiles(temporaryFolder())
    const services = await servicesInMemory({ plain: recipe }, { files, clock, hosts: hostsOf(host) })
    const deployment = new Deployment({ ...services, store: slowed(services.store, endlessly(pauses)) })
    for (let index = 0; index < MEMBERS; index += 1) await deployment.#start(index)
    return deployment
  }

  async #start(index: number): Promise<void> {
    this.#members[index] = await Registry.open(this.#services, ROOM)
    await this.#members[index]?.preload(new AbortController().signal)
  }

  async close(): Promise<void> {
    await Promise.all(this.#members.map((member) => member.close()))
  }

  /** A name may be gone, or belong to another scenario by now. */
  async act(wish: Act): Promise<void> {
    await this.#try(wish).catch((error: unknown) => {
      if (!isRefusal(error) || !['unknown_scenario', 'unknown_release'].includes(error.code)) throw error
    })
  }

  async #try(wish: Act): Promise<unknown> {
    const { name } = wish
    const member = this.#members[wish.member]
    if (wish.do === 'append') return member?.useOrCreate(name, null, (scenario) => scenario.append([emptyExchange(newId())]))
    if (wish.do === 'move') return member?.move(name, (await this.#rows(name))[0]?.release?.release_id ?? '', 'rollback')
    if (wish.do === 'choose') return member?.update(name, { mode: wish.mode })
    if (wish.do === 'model') return member?.update(name, { model: { model: wish.model } })
    if (wish.do === 'remove') return member?.remove(name)
    return this.#restarts.run(async () => {
      await this.#members[wish.member]?.close()
      await this.#start(wish.member)
    })
  }

  #rows(name: string) {
    return this.#services.store.scenario(name).commits({ after: -1, limit: 1000 })
  }

  async check(): Promise<void> {
    for (const name of NAMES) {
      const loaded = this.#members.flatMap((member) => member.loaded(name) ?? [])
      const rows = await this.#rows(name)
      if (rows.length === 0) expect(loaded).toEqual([])
      for (const scenario of loaded) await this.#checkLoaded(name, scenario)
      if (loaded.length > 0) await this.#checkTrained(name, loaded)
    }
  }

  async #checkLoaded(name: string, scenario: Scenario): Promise<void> {
    const store = this.#services.store.scenario(name)
    const rows = await this.#rows(name)
    const [created] = rows
    expect(scenario.created).toEqual(created)
    expect(scenario.history.step).toBe(rows.at(-1)?.step)
    expect(scenario.head()).toEqual(rows.findLast(({ outcome }) => outcome === 'published')?.release)
    expect(scenario.trainingMode).toBe((await store.settings()).training_mode ?? 'auto')
    const own = await this.#services.files.readModel(scenario.created)
    expect(scenario.model.model).toBe(own?.model ?? 'm')
  }

  /** One member trains, and a record is used once, by then or in manual mode never. */
  async #checkTrained(name: string, loaded: readonly Scenario[]): Promise<void> {
    expect(loaded.filter(({ workers }) => workers.length > 0)).toHaveLength(1)
    const used = (await this.#rows(name)).flatMap(({ consumed_ids }) => consumed_ids)
    expect(new Set(used).size).toBe(used.length)
    const records = await this.#services.store.scenario(name).records({ after: 0, limit: 1000 })
    if (loaded[0]?.trainingMode === 'auto') expect(used.length).toBe(records.length)
  }

  /** Everything that is due happens within seconds. */
  async settle(): Promise<void> {
    const end = performance.now() + REAL_SECONDS_MAX * 1000
    for (let second = 1; ; second += 1) {
      await vi.advanceTimersByTimeAsync(1000)
      for (let turn = 0; turn < 20; turn += 1) await nextTurn()
      const wrong = await this.check().then(
        () => null,
        (error: unknown) => error,
      )
      if (wrong === null) return
      if (second >= SECONDS_MAX && performance.now() > end) throw wrong
    }
  }
}

beforeEach(() => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'] }))
afterEach(() => void vi.useRealTimers())

it('every member ends with what the store has, whoever did what', { timeout: 3 * REAL_SECONDS_MAX * 1000 }, async () => {
  const turns = fc.array(fc.nat({ max: 3 }), { minLength: 1, maxLength: 64 })
  const groups = fc.array(fc.array(act, { minLength: 1, maxLength: 4 }), { minLength: 1, maxLength: 8 })
  await fc.assert(
    fc.asyncProperty(groups, turns, async (all, pauses) => {
      const deployment = await Deployment.open(pauses)
      try {
        for (const group of all) await Promise.all(group.map((wish) => deployment.act(wish)))
        await deployment.settle()
      } finally {
        await deployment.close()
      }
    }),
    { numRuns: 40 },
  )
})
