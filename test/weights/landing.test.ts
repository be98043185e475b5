/** Landings of weights on an engine in any mood: a record names the release whose weights answered it, and nobody is left without a way on. */
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { sharedFolder } from '../support/folder.ts'
import { openWeightHouse, type Kept, type WeightHouse } from './support/household.ts'

const root = sharedFolder()
const ONE_SLOT = 1

const loadOf = (sequence: number): unknown => expect.stringMatching(new RegExp(`:${sequence}$`))
const releaseAt = ({ scenario }: WeightHouse, step: number): string | undefined => scenario.released[step]?.release.release_id
const operations = ({ scenario }: WeightHouse): readonly string[] => scenario.released.map(({ operation }) => operation)

describe('a record', () => {
  it('names the release whose weights answered, also of requests that waited while they were changed [inference.rule-6]', async () => {
    const house = await openWeightHouse(root, ONE_SLOT)
    await house.learn(1)
    const asked: Promise<Kept>[] = []
    house.engine.onUnload = () => asked.push(house.ask(), house.ask())
    await house.learn(2)
    await house.learn(3)
    const kept = await Promise.all(asked)
    expect(kept).toEqual([2, 2, 3, 3].map((step) => ({ release: releaseAt(house, step), load: loadOf(step) })))
    await house.registry.close()
  })

  it('names the release that answers while one that the engine refused is taken back', async () => {
    const house = await openWeightHouse(root, ONE_SLOT)
    await house.learn(1)
    house.engine.faults.set('load', 1)
    const asked: Kept[] = []
    const { contents } = house
    const write = contents.seal.bind(contents)
    contents.seal = async (content, parent, mark) => {
      if (mark.operation === 'rollback') asked.push(await house.ask())
      return write(content, parent, mark)
    }
    await house.learn(2)
    expect(operations(house)).toEqual(['create', 'train', 'train', 'rollback'])
    expect(asked).toEqual([{ release: releaseAt(house, 1), load: loadOf(1) }])
    const [refused, back] = house.scenario.released.slice(2)
    expect(back?.release).toMatchObject({ parent_release_id: refused?.release.release_id })
    expect(await house.ask()).toEqual({ release: releaseAt(house, 3), load: loadOf(3) })
    await house.registry.close()
  })
})

describe('a rollback', () => {
  it('to weights that the engine refuses now says so, and what was served before is the head', async () => {
    const house = await openWeightHouse(root, ONE_SLOT)
    await house.learn(1)
    await house.learn(2)
    house.engine.faults.set('load', 1)
    const target = releaseAt(house, 1) ?? ''
    await expect(house.registry.move(house.scenario.name, target, 'rollback')).rejects.toMatchObject({
      kind: 'conflict',
      code: 'release_refused',
    })
    expect(house.scenario.head().content_id).toBe(house.scenario.released[2]?.release.content_id)
    expect((await house.ask()).release).toBe(house.scenario.head().release_id)
    await house.registry.close()
  })
})

describe('an engine that is away when a service starts', () => {
  it('keeps requests waiting alone: the scenario is there, says what is wrong, and serves once the engine is back', async () => {
    const before = await openWeightHouse(root, ONE_SLOT)
    await before.learn(1)
    const served = await before.ask()
    before.engine.isDown = true
    const house = await before.reopen()
    expect(house.scenario.errors()).toEqual([expect.stringContaining('the engine does not answer')])
    await expect(house.ask()).rejects.toMatchObject({ kind: 'unavailable', code: 'engine_unreachable' })
    expect(await house.runtime.status()).toMatchObject({ runtime: 'scripted' })
    house.engine.isDown = false
    expect(await house.ask()).toEqual(served)
    expect(house.scenario.errors()).toEqual([])
    await house.registry.close()
  })
})

describe('an engine that hangs', () => {
  it('keeps no service from closing, and what was to be loaded is served by the next one', async () => {
    const before = await openWeightHouse(root, 2)
    await before.learn(1)
    before.engine.isHanging = true
    await before.begin(2)
    before.runtime.stop?.()
    before.engine.isHanging = false
    const house = await before.reopen()
    expect(operations(house)).toEqual(['create', 'train', 'train'])
    expect(await house.ask()).toEqual({ release: releaseAt(house, 2), load: loadOf(2) })
    await house.registry.close()
  })
})

describe('weights that live in an engine alone', () => {
  it.each([
    ['are damaged', (folder: string) => writeFileSync(join(folder, 'shift'), 'no adapter')],
    ['are gone', (folder: string) => rmSync(folder, { recursive: true })],
  ])('and %s at the next start are left for the last checkpoint, and a row says so [release.live-ids]', async (_what, damage) => {
    const before = await openWeightHouse(root, 2)
    await before.learn(1)
    await before.learn(2, 'live')
    expect(await before.ask()).toEqual({ release: expect.stringMatching(/^live:/), load: loadOf(2) })
    damage(before.liveFolder())
    before.engine.restart()
    const house = await before.reopen()
    expect(operations(house)).toEqual(['create', 'train', 'train', 'rollback'])
    expect(house.scenario.head().content_id).toBe(house.scenario.released[1]?.release.content_id)
    expect(await house.ask()).toEqual({ release: releaseAt(house, 3), load: loadOf(3) })
    await house.registry.close()
  })
})

describe('a scenario that serves no weights', () => {
  it('may not name those of another [decisions.lora-path]', async () => {
    const house = await openWeightHouse(root, 2)
    await house.learn(1)
    const adapter = [...house.engine.held.keys()][0] ?? ''
    await expect(house.askBeside({ lora_path: adapter })).rejects.toMatchObject({ kind: 'invalid', code: 'foreign_lora_path' })
    await expect(house.askBeside({ lora_path: null })).resolves.toBeUndefined()
    await house.registry.close()
  })
})
