/** Mined tasks whose test file moves as one, by simulation: what the gate publishes that does nothing. */
import { expect, it } from 'vitest'
import { readTask } from '../src/evolution/index.ts'
import { mineTasks, readMined } from '../src/mining/index.ts'
import { numbers, offer, runOf } from '../src/mining/testing/offers.ts'
import { playHidden } from './simulate/hidden.ts'

const SCENARIOS = numbers(20)

const at = (name: string): number => Number(name.replace('task-', ''))

/** Tasks as mining places them, in the order of their files, all with the role that decides. */
async function minedTasks(files: number, each: number) {
  const { directory, ...run } = runOf(numbers(files * each).map((n) => offer(n, { module: `file-${Math.floor(n / each)}` })))
  await mineTasks({ ...run, directory })
  const mined = await Promise.all((await readMined(directory)).map(({ name }) => readTask(directory, name)))
  return mined.toSorted((one, other) => at(one.name) - at(other.name)).map((task) => ({ ...task, role: 'gate' as const }))
}

it.each([
  ['one mined file whose plays agree', 1, 20, { isSettled: true, sway: 0 }],
  ['one mined file', 1, 20, { isSettled: false, sway: 0.4 }],
  ['twelve mined files whose plays agree', 12, 5, { isSettled: true, sway: 0 }],
  ['twelve mined files', 12, 5, { isSettled: false, sway: 0.4 }],
])(
  'of fifty changes that do nothing none is published in 19 of 20 scenarios of %s',
  async (_which, families, size, how) => {
    const tasks = await minedTasks(families, size)
    expect(tasks).toHaveLength(families * size)
    const ends = SCENARIOS.map((scenario) => playHidden({ families, size, ...how }, scenario, { learns: true, alike: 1 }, 0, tasks))
    expect(ends.filter(({ publishedAt }) => publishedAt !== null).length).toBeLessThanOrEqual(1)
  },
  120_000,
)
