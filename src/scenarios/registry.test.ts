import { beforeEach, describe, expect, it, vi } from 'vitest'
import recordOnly from '../../plugins/recipes/record-only/index.ts'
import { temporaryFolder } from '../../test/support/folder.ts'
import { emptyExchange, nothing, ROOM, servicesInMemory } from '../../test/support/services.ts'
import { unavailable, type Commit, type ModelSettings, type NewRecord, type Recipe } from '../contract/index.ts'
import type { Services } from './services.ts'
import { ScenarioFiles } from './files.ts'
import { Registry } from './registry.ts'

/** Settings files whose writing and reading a test can hold up or spoil. */
class HeldFiles extends ScenarioFiles {
  /** What each write left in the file, oldest first; each is over when the gate of its model opens. */
  readonly written: (ModelSettings | null)[] = []
  readonly gates = new Map<string, Promise<void>>()
  isDamaged = false

  override async writeModel(_created: Pick<Commit, 'state'>, own: ModelSettings | null): Promise<void> {
    this.written.push(own)
    await this.gates.get(own?.model ?? '')
  }

  override readModel(): Promise<ModelSettings | null> {
    if (this.isDamaged) return Promise.reject(unavailable('settings_failed', 'the model settings cannot be read'))
    return Promise.resolve(this.written.at(-1) ?? null)
  }
}

let files: HeldFiles
let services: Services
beforeEach(async () => {
  files = new HeldFiles(temporaryFolder())
  services = await servicesOf(recordOnly.plugin)
})

const servicesOf = (recipe: Recipe): Promise<Services> => servicesInMemory({ plain: recipe }, { files })

const open = (from: Services): Promise<Registry> => Registry.open(from, ROOM)
const SEED = { release: null, recipe: null }

describe('creating', () => {
  it('retries for waiting callers when the first attempt failed', async () => {
    const attempt = Promise.withResolvers<string>()
    const write = vi.spyOn(services.contents, 'write').mockReturnValueOnce(attempt.promise)
    const registry = await open(services)
    const first = registry.useOrCreate('a', null, () => Promise.resolve('first'))
    await vi.waitFor(() => expect(write).toHaveBeenCalled())
    const second = registry.useOrCreate('a', null, () => Promise.resolve('second'))
    attempt.reject(new Error('no disk'))
    await expect(first).rejects.toMatchObject({ kind: 'unavailable' })
    await expect(second).resolves.toBe('second')
  })

  it('keeps the settings it was sent, also when the name is only just being freed', async () => {
    const registry = await open(services)
    await registry.create('a', SEED, () => null)
    const removed = registry.remove('a')
    const created = registry.create('a', SEED, () => ({ model: 'mine' }))
    await removed
    expect((await created).scenario.model.model).toBe('mine')
  })
})

describe('archiving', () => {
  it('keeps a record out of the next scenario of the name that was still being redacted', async () => {
    const redacted = Promise.withResolvers<readonly NewRecord[]>()
    const recorder: Services['recorder'] = { admit: () => redacted.promise }
    const registry = await open({ ...services, recorder })
    const { scenario } = await registry.create('a', SEED, () => null)
    const record = emptyExchange('late')
    const appended = scenario.append([record])
    await registry.remove('a')
    const { scenario: next } = await registry.create('a', SEED, () => null)
    redacted.resolve([record])
    await expect(appended).rejects.toMatchObject({ code: 'unknown_scenario' })
    expect(await next.store.records({ after: 0, limit: 10 })).toEqual([])
  })
})

describe('updating', () => {
  it('leaves the settings that were written last in use', async () => {
    const registry = await open(services)
    await registry.create('a', SEED, () => null)
    const gate = Promise.withResolvers<void>()
    files.gates.set('slow', gate.promise)
    const slow = registry.update('a', { model: { model: 'slow' } })
    const quick = registry.update('a', { model: { model: 'quick' } })
    // Long enough for the second to overtake the first, if anything lets it.
    await new Promise((resolve) => setImmediate(resolve))
    gate.resolve()
    await Promise.all([slow, quick])
    expect(registry.loaded('a')?.model.model).toBe(files.written.at(-1)?.model)
  })

  it('of a scenario that is being removed finds it gone, and writes nothing', async () => {
    const registry = await open(services)
    await registry.create('a', SEED, () => null)
    const removed = registry.remove('a')
    await expect(registry.update('a', { model: { model: 'late' } })).rejects.toMatchObject({ code: 'unknown_scenario' })
    await removed
    expect(files.written).toEqual([])
  })
})

describe('loading', () => {
  it('that fails leaves nothing bound', async () => {
    let bound = 0
    const counting: Recipe = {
      bind: async (scope) => {
        bound += 1
        const binding = await recordOnly.plugin.bind(scope)
        return { ...binding, close: () => Promise.resolve(void (bound -= 1)) }
      },
    }
    services = await servicesOf(counting)
    await (await open(services)).create('a', SEED, () => null)
    bound = 0
    files.isDamaged = true
    const again = await open(services)
    await expect(again.use('a', () => Promise.resolve())).rejects.toMatchObject({ code: 'settings_failed' })
    expect(bound).toBe(0)
  })

  it('that failed at the start is no longer reported once the scenario is removed', async () => {
    await (await open(services)).create('a', SEED, () => null)
    const registry = await open({ ...services, recipes: new Map() })
    await registry.preload(new AbortController().signal)
    expect(Object.keys(registry.preloadErrors())).toEqual(['a'])
    await registry.remove('a')
    expect(registry.preloadErrors()).toEqual({})
  })
})

describe('making room', () => {
  it('binds a scenario again only after its recipe has let go of it', async () => {
    const seen: string[] = []
    const letGo = Promise.withResolvers<void>()
    services = await servicesOf({
      async bind(scope) {
        seen.push(`bind ${scope.scenario}`)
        const binding = await recordOnly.plugin.bind(scope)
        return {
          ...binding,
          close: async () => {
            if (scope.scenario === 'a') await letGo.promise
            seen.push(`close ${scope.scenario}`)
          },
        }
      },
    })
    const registry = await Registry.open(services, { ...ROOM, loadedMax: 1 })
    await registry.useOrCreate('a', null, nothing)
    const other = registry.useOrCreate('b', null, nothing)
    await vi.waitFor(() => expect(registry.loaded('a')).toBeUndefined())
    const again = registry.use('a', nothing).catch(() => undefined)
    letGo.resolve()
    await Promise.all([other, again])
    await registry.use('a', nothing)
    expect(seen.indexOf('close a')).toBeLessThan(seen.lastIndexOf('bind a'))
    expect(seen.filter((word) => word === 'bind a')).toHaveLength(2)
  })
})
