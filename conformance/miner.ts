/** Conformance suite for miners, for any test runner with `describe` and `it`. */
import assert from 'node:assert/strict'
import { isObject, type JsonObject, type MinedTask, type Miner, type MiningOrder } from '../src/contract/index.ts'
import { assertGivenUp, assertKeepable, assertPlain, never, type Runner } from './support.ts'

export interface MinerSuite extends Runner {
  readonly miner: Miner
  /** Something with at least two tasks in it. */
  readonly source: string
}

const GIVE_UP_MS_MAX = 5000
const NAME = /^[A-Za-z0-9][A-Za-z0-9._-]{0,127}$/

export function minerConformance({ it, miner, source }: MinerSuite): void {
  it('its tasks are plain data, with a name, a prompt, an origin and a module', async () => {
    const tasks = await mined(miner, { source })
    assert.ok(tasks.length >= 2, 'it found fewer than two tasks')
    for (const task of tasks) {
      assertPlain(task, 'a task')
      assert.match(task.name, NAME, 'a name cannot be a folder of tasks')
      for (const field of ['prompt', 'origin', 'module'] as const) assert.ok(task[field].trim() !== '', `${field} is blank`)
      assertKeepable(task.files ?? {})
      assertKeepable(task.reference?.files ?? {})
      for (const path of Object.keys(hiddenIn(task.data)))
        assert.ok(path.startsWith('verify/'), 'a path of verify_files does not start with verify/')
    }
  })
  it('no two tasks have one name or one origin', async () => {
    const tasks = await mined(miner, { source })
    for (const field of ['name', 'origin'] as const)
      assert.equal(new Set(tasks.map((task) => task[field])).size, tasks.length, `two tasks have one ${field}`)
  })
  it('it finds the same again, and leaves out what is known', async () => {
    const tasks = await mined(miner, { source })
    assert.deepEqual(await mined(miner, { source }), tasks, 'it finds something else the second time')
    const [first] = tasks
    const others = await mined(miner, { source, known: new Set([first?.origin ?? '']) })
    assert.ok(!others.some(({ origin }) => origin === first?.origin), 'it offers what is known')
  })
  it('it is soon over when the reader leaves, and after an abort', async () => {
    const leave = async (): Promise<void> => {
      for await (const _ of miner.mine(orderOf({ source }))) return
    }
    await assertGivenUp(leave(), GIVE_UP_MS_MAX)
    const stopping = new AbortController()
    stopping.abort(new Error('stopped'))
    await assertGivenUp(mined(miner, { source, signal: stopping.signal }), GIVE_UP_MS_MAX)
  })
}

const hiddenIn = ({ verify_files: files = {} }: JsonObject): JsonObject => (isObject(files) ? files : {})

const orderOf = (given: Partial<MiningOrder> & { readonly source: string }): MiningOrder => ({
  tasksMax: 100,
  known: new Set(),
  report: () => undefined,
  passOver: () => undefined,
  signal: never(),
  ...given,
})

async function mined(miner: Miner, given: Partial<MiningOrder> & { readonly source: string }): Promise<readonly MinedTask[]> {
  const tasks: MinedTask[] = []
  for await (const task of miner.mine(orderOf(given))) tasks.push(task)
  return tasks
}
