/** Mining for tests, with miners and judges of their own. */
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { temporaryFolder } from '../../../test/support/folder.ts'
import type { Evaluator, Executor, MinedTask, Miner } from '../../contract/index.ts'
import type { MiningRun } from '../mine.ts'

/** Passes where the workspace holds `done`. */
export const looks: Evaluator = { score: async (_task, _episode, { workspace }) => (existsSync(join(workspace ?? '', 'done')) ? 1 : 0) }
export const idle: Executor = { run: () => Promise.reject(new Error('nothing runs here')) }

const WORDS =
  'amber birch cedar delta ember fjord grove heath inlet jetty knoll ledge marsh notch oasis plain quarry ridge shoal tarn'.split(' ')
/** Sentences that have little in common. */
export const sentence = (n: number): string =>
  Array.from({ length: 12 }, (_, at) => WORDS[(n * 7 + at * (n + 3)) % WORDS.length]).join(` ${n} `)

export const offer = (n: number, more: Partial<MinedTask> = {}): MinedTask => ({
  name: `task-${n}`,
  prompt: `Please ${sentence(n)}.`,
  files: { 'a.txt': 'a' },
  data: { evaluator: 'looks' },
  origin: `test:${n}`,
  module: `module/${n % 4}`,
  reference: { files: { done: '' }, removed: [] },
  ...more,
})

export const minerOf = (...tasks: readonly MinedTask[]): Miner => ({
  async *mine() {
    yield* tasks
  },
})

export function runOf(tasks: readonly MinedTask[], more: Partial<MiningRun> = {}): MiningRun {
  return {
    directory: join(temporaryFolder(), 'tasks'),
    miner: minerOf(...tasks),
    source: '',
    tasksMax: 100,
    seed: 'seed',
    judge: { name: 'idle', executor: idle, evaluator: async () => looks },
    report: () => undefined,
    signal: new AbortController().signal,
    ...more,
  }
}

export const numbers = (count: number): readonly number[] => Array.from({ length: count }, (_, n) => n)
