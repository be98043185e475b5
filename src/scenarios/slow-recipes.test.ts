/** Recipes that never answer: how long their scenario waits, and that no other scenario does. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import memoryContents from '../../plugins/contents/memory/index.ts'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { emptyExchange, hostsOf, nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import { BIND_SECONDS_MAX, CLOSE_SECONDS_MAX, LOAD_SECONDS_MAX, POINT_SECONDS_MAX, type Binding, type Recipe } from '../contract/index.ts'
import { processorOf, type TrainerHost } from '../training/index.ts'
import type { Services } from './services.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'

let warnings: string[]
beforeEach(() => {
  warnings = []
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] })
})
afterEach(() => void vi.useRealTimers())

const never = <T>(): Promise<T> => new Promise(() => undefined)
const SLOW = { release: null, recipe: 'slow' }
const SOUND = { release: null, recipe: 'sound' }

/** Every step makes something new. */
const trainersThat = (kind: 'publish' | 'hold'): TrainerHost => ({
  inTurn: (_trainer, _signal, work) =>
    work(({ step }) => Promise.resolve({ kind, content: { kind: 'files', files: { 'step.md': `${step}` } } })),
  close: nothing,
})

const warn = (message: string): void => void warnings.push(message)

/** A deployment of two recipes: one that is sound, and this one. */
async function registryWith(slow: Recipe, more: Partial<Services> = {}): Promise<Registry> {
  const usual = { files: new ScenarioFiles(temporaryFolder()), hosts: hostsOf(trainersThat('publish')) }
  return Registry.open(await servicesInMemory({ sound: recordOnly.plugin, slow }, { ...usual, warn, ...more }), ROOM)
}

const fail = (): never => {
  throw new Error('broken on purpose')
}

/** Sound but for what is given. */
const bindingWith =
  (more: Partial<Binding>): Recipe['bind'] =>
  async (scope) => ({ ...(await recordOnly.plugin.bind(scope)), ...more })

/** How it went, once it has gone any way; read it after the clock was moved. */
function outcomeOf(work: Promise<unknown>): { now: unknown } {
  const outcome: { now: unknown } = { now: 'waiting' }
  work.then(
    () => (outcome.now = 'done'),
    (error: unknown) => (outcome.now = error),
  )
  return outcome
}

/** The real disk is waited for too, so a moment is as long as it takes. */
const pass = (seconds: number) => vi.advanceTimersByTimeAsync(seconds * 1000)

const expectOthersServed = async (registry: Registry): Promise<void> => {
  await expect(registry.create('other', SOUND, () => null)).resolves.toMatchObject({ isNew: true })
  await expect(registry.use('other', () => Promise.resolve('served'))).resolves.toBe('served')
}

describe('a recipe that never answers', () => {
  it('when it is bound keeps its own scenario waiting, no longer than the limit, and is let go of when it answers late', async () => {
    const late = Promise.withResolvers<void>()
    const bind = vi.fn<() => void>()
    const close = vi.fn<() => Promise<void>>().mockResolvedValue(undefined)
    const registry = await registryWith({
      bind: async (scope) => {
        bind()
        await late.promise
        return { ...(await recordOnly.plugin.bind(scope)), close }
      },
    })
    const created = outcomeOf(registry.create('slow', SLOW, () => null))
    await vi.waitFor(() => expect(bind).toHaveBeenCalled())
    await expectOthersServed(registry)
    await pass(BIND_SECONDS_MAX - 1)
    expect(created.now).toBe('waiting')
    await pass(1)
    expect(created.now).toMatchObject({ kind: 'unavailable', code: 'recipe_failed' })
    late.resolve()
    await vi.waitFor(() => expect(close).toHaveBeenCalledOnce())
    await registry.close()
  })

  it('when its first release is to be made ready keeps its own scenario from being loaded, and is let go of', async () => {
    const load = vi.fn<() => Promise<void>>(never)
    const close = vi.fn<() => Promise<void>>().mockResolvedValue(undefined)
    const registry = await registryWith({ bind: bindingWith({ surface: { loader: { load } }, close }) })
    const created = outcomeOf(registry.create('slow', SLOW, () => null))
    await vi.waitFor(() => expect(load).toHaveBeenCalled())
    await expectOthersServed(registry)
    await pass(LOAD_SECONDS_MAX)
    expect(created.now).toBeInstanceOf(Error)
    expect(close).toHaveBeenCalledOnce()
    expect(registry.loaded('slow')).toBeUndefined()
    await registry.close()
  })

  it('when a new head is prepared delays only its own landing: the row counts in the end, and the status says why', async () => {
    const load = vi.fn<() => Promise<void>>(never).mockResolvedValueOnce(undefined)
    const registry = await registryWith({
      bind: bindingWith({ surface: { loader: { load } }, processors: { '': processorOf(RECORDS, { name: 'slow' }) } }),
      trainers: publishing,
    })
    const { scenario } = await registry.create('slow', SLOW, () => null)
    await scenario.append([exchange])
    await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(2))
    await expectOthersServed(registry)
    await expect(registry.use('slow', () => Promise.resolve('served'))).resolves.toBe('served')
    await pass(LOAD_SECONDS_MAX)
    const released = await scenario.releases.page({ after: -1, limit: 10 })
    expect(released.map(({ step }) => step)).toEqual([0, 1])
    expect(scenario.head()).toEqual(released[1]?.release)
    expect(scenario.errors()).toEqual([`slow: the new release could not be loaded: no answer after ${LOAD_SECONDS_MAX} s`])
    expect(warnings).toEqual(['a new release could not be loaded'])
    await registry.close()
  })

  it.each<[string, Binding['close']]>([
    ['never answers', never],
    ['throws', () => fail()],
    ['rejects', () => Promise.reject(new Error('broken on purpose'))],
  ])('or %s when its scenario is closed does not keep the service from stopping', async (_what, broken) => {
    const close = vi.fn<Binding['close']>(broken)
    const registry = await registryWith({ bind: bindingWith({ close }) })
    await registry.create('slow', SLOW, () => null)
    await expectOthersServed(registry)
    const closed = outcomeOf(registry.close())
    await vi.waitFor(() => expect(close).toHaveBeenCalled())
    await pass(CLOSE_SECONDS_MAX)
    expect(closed.now).toBe('done')
    expect(warnings).toEqual(['a recipe did not close its scenario'])
  })
})

describe('a repository that does not answer', () => {
  it.each(['publish', 'hold'] as const)('after a row keeps it from being counted no longer than the limit (%s)', async (kind) => {
    const contents = await memoryContents.plugin.make({})
    const registry = await registryWith(
      { bind: bindingWith({ processors: { '': processorOf(RECORDS, { name: 'slow' }) } }), trainers: publishing },
      { contents, hosts: hostsOf(trainersThat(kind)) },
    )
    const { scenario } = await registry.create('slow', SLOW, () => null)
    await scenario.lane.run(nothing)
    const ref = vi.spyOn(contents, kind === 'hold' ? 'hold' : 'point').mockImplementation(never)
    await scenario.append([exchange])
    await vi.waitFor(() => expect(ref).toHaveBeenCalled())
    await pass(POINT_SECONDS_MAX)
    expect((await scenario.releases.page({ after: -1, limit: 10 })).map(({ step }) => step)).toEqual([0, 1])
    expect(warnings).toEqual(['a ref of a scenario is not written yet'])
    await registry.close()
  })

  it('keeps no request from the head that a move made, and the answer of the move no longer than the limit', async () => {
    const contents = await memoryContents.plugin.make({})
    const registry = await registryWith(
      { bind: bindingWith({ processors: { '': processorOf(RECORDS, { name: 'slow' }) } }), trainers: publishing },
      { contents, hosts: hostsOf(trainersThat('publish')) },
    )
    const { scenario } = await registry.create('slow', SLOW, () => null)
    const seed = scenario.head().release_id
    await scenario.append([exchange])
    await vi.waitFor(() => expect(scenario.head().release_id).not.toBe(seed))
    const published = scenario.head().release_id
    vi.spyOn(contents, 'point').mockImplementation(never)
    const moved = outcomeOf(registry.move('slow', seed, 'rollback'))
    await vi.waitFor(() => expect(scenario.head().release_id).not.toBe(published))
    expect(moved.now).toBe('waiting')
    await pass(POINT_SECONDS_MAX)
    expect(moved.now).toBe('done')
    await registry.close()
  })
})

const publishing: NonNullable<Recipe['trainers']> = () => ({ '': { lane: 'thread', open: () => ({ step: never }) } })
const RECORDS = { data: { batch_policy: 'records' } }
const exchange = emptyExchange('x')
