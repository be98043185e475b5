/** Which family and role mined tasks get. */
import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { MINED_PROMPT_ENDS, type TaskRole } from '../contract/index.ts'
import { readTask } from '../evolution/index.ts'
import { readMined } from './folder.ts'
import { mineTasks } from './mine.ts'
import { place, type Placed } from './placing.ts'
import { minerOf, numbers, offer, runOf, sentence } from './testing/offers.ts'

const rolesIn = async (directory: string): Promise<ReadonlyMap<string, { role: TaskRole; family: string | undefined }>> => {
  const names = (await readMined(directory)).map(({ name }) => name)
  const tasks = await Promise.all(names.map((name) => readTask(directory, name)))
  return new Map(tasks.map(({ name, role, family }) => [name, { role, family }]))
}

describe('families and roles', () => {
  it('split each family over the roles, the same way for the same seed', async () => {
    const tasks = numbers(24).map((n) => offer(n))
    const [run, again, other] = [runOf(tasks), runOf(tasks), runOf(tasks, { seed: 'other' })]
    for (const each of [run, again, other]) await mineTasks(each)
    const placed = await rolesIn(run.directory)
    expect(await rolesIn(again.directory)).toEqual(placed)
    expect(await rolesIn(other.directory)).not.toEqual(placed)
    const count = (role: TaskRole): number => [...placed.values()].filter((each) => each.role === role).length
    for (const role of ['gate', 'train', 'sealed', 'regression'] as const) expect(count(role)).toBeGreaterThan(1)
    for (const module of ['module.0', 'module.1', 'module.2', 'module.3']) {
      const roles = new Set([...placed.values()].filter(({ family }) => family === module).map(({ role }) => role))
      expect([...roles]).toEqual(expect.arrayContaining(['train', 'gate']))
    }
  })

  it.each(Object.values(MINED_PROMPT_ENDS))('do not come from what a miner says in every prompt: %s', async (end) => {
    const words = ['gcd', 'median', 'clamp', 'range']
    const tasks = words.map((word, n) => offer(n, { prompt: `Add ${word}.\n\n${end}`, module: word }))
    const run = runOf(tasks)
    expect(await mineTasks(run)).toMatchObject({ passedOver: [] })
    expect(new Set([...(await rolesIn(run.directory)).values()].map(({ family }) => family)).size).toBe(words.length)
  })

  it('are one for all tasks of a module, also when mining goes on, with a task of each role', async () => {
    const tasks = numbers(15).map((n) => offer(n, { module: 'one/file' }))
    const run = runOf(tasks.slice(0, 8))
    await mineTasks(run)
    await mineTasks({ ...run, miner: minerOf(...tasks) })
    const placed = [...(await rolesIn(run.directory)).values()]
    expect(placed).toHaveLength(15)
    expect(new Set(placed.map(({ family }) => family))).toEqual(new Set(['one.file']))
    expect(new Set(placed.map(({ role }) => role))).toEqual(new Set(['gate', 'train', 'sealed', 'regression']))
  })

  it('need a task to learn from and one that decides before any other', async () => {
    for (const seed of numbers(5).map(String)) {
      const run = runOf([offer(1), offer(2)], { seed })
      await mineTasks(run)
      expect([...(await rolesIn(run.directory)).values()].map(({ role }) => role).toSorted()).toEqual(['gate', 'train'])
    }
  })

  it.each([
    [6, 1],
    [5, 2],
    [10, 1],
  ])('give the gate the five families that a first decision needs, of %i files with %i each', (files, each) => {
    for (const seed of numbers(20).map(String)) {
      const placed: Placed[] = []
      for (const n of numbers(files * each)) {
        const task = { module: `file/${n % files}`, origin: `${n}`, shingles: new Set([n]) }
        const placement = place(task, placed, seed)
        if (placement !== null) placed.push({ ...task, ...placement })
      }
      expect(new Set(placed.filter(({ role }) => role === 'gate').map(({ family }) => family)).size).toBeGreaterThanOrEqual(5)
      expect(placed.some(({ role }) => role === 'train')).toBe(true)
    }
  })

  it('are one for near duplicates, also of another module', async () => {
    const twins = numbers(8).map((n) => offer(100 + n, { prompt: `Please ${sentence(1)}, number ${n}.`, module: `other/${n}` }))
    const run = runOf([...numbers(6).map((n) => offer(n)), ...twins])
    await mineTasks(run)
    const placed = await rolesIn(run.directory)
    for (const { name } of twins) expect(placed.get(name)).toEqual(placed.get('task-1'))
  })

  it('keep a task out that is alike to tasks on both sides of the held-out line', async () => {
    const run = runOf([])
    for (const [name, role] of [
      ['one', 'train'],
      ['two', 'gate'],
    ] as const) {
      mkdirSync(join(run.directory, name), { recursive: true })
      writeFileSync(
        join(run.directory, name, 'task.yaml'),
        `role: ${role}\nprompt: ${JSON.stringify(`Please ${sentence(3)}, ${name}.`)}\nanswer: a\n`,
      )
    }
    const reason = 'it is alike to tasks on both sides of the held-out line'
    const reference = { files: { done: '' }, removed: [] }
    expect(await mineTasks({ ...run, miner: minerOf(offer(9, { prompt: `Please ${sentence(3)}, three.`, reference })) })).toMatchObject({
      passedOver: [{ reason }],
    })
  })
})
