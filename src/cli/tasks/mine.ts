/** `svc tasks mine`: finds tasks in a repository, and keeps those that hold. */
import { resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin } from '../../config/index.ts'
import { mineTasks, type MiningResult } from '../../mining/index.ts'
import { counted } from '../../presentation/index.ts'
import { printError } from '../explain.ts'
import { cut, jsonText, oneLine, shellWord } from '../screen/text.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { countOf, judgeWith, stoppable, TASKS_FOLDER } from './place.ts'

export interface MineOptions {
  readonly folder?: string
  readonly output?: string
  readonly number: string
  readonly seconds: string
  readonly miner: string
  readonly seed: string
  readonly executor: string
  readonly json?: boolean
}

export async function mine(options: MineOptions, surroundings: Surroundings): Promise<number> {
  const { folder = '.', output = TASKS_FOLDER, miner: name, seed, executor, json } = options
  try {
    const [tasksMax, secondsMax] = [countOf('--number', options.number), countOf('--seconds', options.seconds)]
    const miner = await (await loadPlugin('miner', name, builtins, resolve('.'))).make({})
    const judge = await judgeWith(executor)
    const report = (line: string): void => surroundings.progress(cut(oneLine(line), surroundings.width - 1))
    const signal = stoppable(surroundings)
    const source = resolve(folder)
    const result = await mineTasks({ directory: resolve(output), miner, source, tasksMax, seed, judge, secondsMax, report, signal })
    surroundings.progress('')
    surroundings.out(json === true ? jsonText({ folder: output, ...result }, 2) : wordsFor(result, output))
    return result.added.length + result.kept > 0 ? EXIT.fine : EXIT.failed
  } catch (error) {
    surroundings.progress('')
    printError(error, null, surroundings)
    return EXIT.misconfigured
  }
}

function wordsFor({ added, kept, passedOver }: MiningResult, folder: string): string {
  const reasons = new Map<string, number>()
  for (const { reason } of passedOver) reasons.set(reason, (reasons.get(reason) ?? 0) + 1)
  return [
    `${counted(added.length, 'task')} mined, ${kept} were there before`,
    ...[...reasons].map(([reason, times]) => `  ${times} passed over: ${oneLine(reason)}`),
    ...(added.length === 0
      ? []
      : [`look at them: svc tasks list ${shellWord(folder)}`, `use them: svc tasks accept ${shellWord(folder)}/*`]),
  ].join('\n')
}
