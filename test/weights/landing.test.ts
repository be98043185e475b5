/** Landing weights on a faulty engine: a record names the release whose weights answered it, and every scenario recovers. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { openWeightScenario, type Kept, type WeightScenario } from './support/weight-scenario.ts'

const root = sharedFolder()
const ONE_SLOT = 1

const loadOf = (sequence: number): unknown => expect.stringMatching(new RegExp(`:${sequence}$`))
const releasedIn = ({ scenario }: WeightScenario) => scenario.releases.page({ after: -1, limit: 100 })
const releaseAt = async (weights: WeightScenario, step: number): Promise<string | undefined> =>
  (await releasedIn(weights))[step]?.release.release_id
const operations = async (weights: WeightScenario): Promise<readonly string[]> =>
  (await releasedIn(weights)).map(({ operation }) => operation)

describe('a record', () => {
  it('names the release whose weights answered, also of requests that waited while they were changed [inference.rule-6]', async () => {
    const weights = await openWeightScenario(root, ONE_SLOT)
    await weights.learn(1)
    const asked: Promise<Kept>[] = []
    weights.engine.onUnload = () => asked.push(weights.ask(), weights.ask())
    await weights.learn(2)
    await weights.learn(3)
    const kept = await Promise.all(asked)
    const expected = [2, 2, 3, 3].map(async (step) => ({ release: await releaseAt(weights, step), load: loadOf(step) }))
    expect(kept).toEqual(await Promise.all(expected))
    await weights.registry.close()
  })

  it('names the release that answers while one that the engine refused is taken back', async () => {
    const weights = await openWeightScenario(root, ONE_SLOT)
    await weights.learn(1)
    weights.engine.faults.set('load', 1)
    const asked: Kept[] = []
    const { contents } = weights
    const write = contents.seal.bind(contents)
    contents.seal = async (content, parent, mark) => {
      if (mark.operation === 'rollback') asked.push(await weights.ask())
      return write(content, parent, mark)
    }
    await weights.learn(2)
    expect(await operations(weights)).toEqual(['create', 'train', 'train', 'rollback'])
    expect(asked).toEqual([{ release: await releaseAt(weights, 1), load: loadOf(1) }])
    const [refused, back] = (await releasedIn(weights)).slice(2)
    expect(back?.release).toMatchObject({ parent_release_id: refused?.release.release_id })
    expect(await weights.ask()).toEqual({ release: await releaseAt(weights, 3), load: loadOf(3) })
    await weights.registry.close()
  })
})

describe('a rollback', () => {
  it('to weights that the engine refuses now says so, and what was served before is the head', async () => {
    const weights = await openWeightScenario(root, ONE_SLOT)
    await weights.learn(1)
    await weights.learn(2)
    weights.engine.faults.set('load', 1)
    const target = (await releaseAt(weights, 1)) ?? ''
    await expect(weights.registry.move(weights.scenario.name, target, 'rollback')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'release_refused',
    })
    expect(weights.scenario.head().content_id).toBe((await releasedIn(weights))[2]?.release.content_id)
    expect((await weights.ask()).release).toBe(weights.scenario.head().release_id)
    await weights.registry.close()
  })
})

describe('an engine that is away when a service starts', () => {
  it('keeps requests waiting alone: the scenario is there, says what is wrong, and serves once the engine is back', async () => {
    const before = await openWeightScenario(root, ONE_SLOT)
    await before.learn(1)
    const served = await before.ask()
    before.engine.isDown = true
    const weights = await before.reopen()
    expect(weights.scenario.errors()).toEqual([expect.stringContaining('the engine does not answer')])
    await expect(weights.ask()).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_unreachable' })
    expect(await weights.runtime.status()).toMatchObject({ runtime: 'scripted' })
    weights.engine.isDown = false
    expect(await weights.ask()).toEqual(served)
    expect(weights.scenario.errors()).toEqual([])
    await weights.registry.close()
  })
})

describe('an engine that hangs', () => {
  it('keeps no service from closing, and what was to be loaded is served by the next one', async () => {
    const before = await openWeightScenario(root, 2)
    await before.learn(1)
    before.engine.isHanging = true
    await before.begin(2)
    before.runtime.stop?.()
    before.engine.isHanging = false
    const weights = await before.reopen()
    expect(await operations(weights)).toEqual(['create', 'train', 'train'])
    expect(await weights.ask()).toEqual({ release: await releaseAt(weights, 2), load: loadOf(2) })
    await weights.registry.close()
  })
})

describe('weights that live in an engine alone', () => {
  it.each([
    ['are damaged', (folder: string) => writeFileSync(join(folder, 'shift'), 'no adapter')],
    ['are gone', (folder: string) => rmSync(folder, { recursive: true })],
  ])('and %s at the next start are left for the last checkpoint, and a row says so [release.live-ids]', async (_what, damage) => {
    const before = await openWeightScenario(root, 2)
    await before.learn(1)
    await before.learn(2, 'live')
    expect(await before.ask()).toEqual({ release: expect.stringMatching(/^live:/), load: loadOf(2) })
    damage(before.liveFolder())
    before.engine.restart()
    const weights = await before.reopen()
    expect(await operations(weights)).toEqual(['create', 'train', 'train', 'rollback'])
    expect(weights.scenario.head().content_id).toBe((await releasedIn(weights))[1]?.release.content_id)
    expect(await weights.ask()).toEqual({ release: await releaseAt(weights, 3), load: loadOf(3) })
    await weights.registry.close()
  })
})

describe('a scenario that serves no weights', () => {
  it('may not name those of another [decisions.lora-path]', async () => {
    const weights = await openWeightScenario(root, 2)
    await weights.learn(1)
    const adapter = [...weights.engine.held.keys()][0] ?? ''
    await expect(weights.askBeside({ lora_path: adapter })).rejects.toMatchObject({ kind: 'invalid', code: 'foreign_lora_path' })
    await expect(weights.askBeside({ lora_path: null })).resolves.toBeUndefined()
    await weights.registry.close()
  })
})
