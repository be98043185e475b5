/** `svc tasks check`: tries tasks without an agent, says what did not hold, and keeps it with the task. */
import { resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin } from '../../config/index.ts'
import { RECENT_DECISIONS, type Task } from '../../contract/index.ts'
import { shortageOf, type TaskShortage } from '../../evolution/index.ts'
import { checkTask, readMined, readMinedTask, recordCheck, type CheckResult } from '../../mining/index.ts'
import { printError } from '../explain.ts'
import { shortageText } from '../screen/shortage.ts'
import { jsonText, oneLine } from '../screen/text.ts'
import { stoppable } from '../stopping.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { countOf, judgeWith, placeOf, secondsOf, STOPPED } from './place.ts'

export interface CheckOptions {
  readonly folder: readonly string[]
  readonly repeats: string
  readonly seconds: string
  readonly executor: string
  readonly json?: boolean
}

export async function check(options: CheckOptions, surroundings: Surroundings): Promise<number> {
  const stopping = stoppable(surroundings, STOPPED)
  try {
    const order = { repeats: countOf('--repeats', options.repeats), secondsMax: secondsOf('--seconds', options.seconds) }
    const judge = await judgeWith(options.executor)
    const { signal } = stopping
    const results: (CheckResult['record'] & { readonly name: string })[] = []
    for (const { directory, name } of options.folder.map(placeOf)) {
      const { task, reference } = await readMinedTask(directory, name)
      const progress = (done: number, total: number): void => surroundings.progress(`${oneLine(name)}: ${done} of ${total} runs`)
      const { record } = await checkTask({ directory, task, reference, judge, now: () => new Date(), progress, signal, ...order })
      await recordCheck(directory, name, record)
      results.push({ name, ...record })
      surroundings.progress('')
      if (options.json !== true) surroundings.out(`${oneLine(name)}: ${wordsFor(record)}`)
    }
    if (options.json === true) surroundings.out(jsonText(results, 2))
    for (const directory of new Set(options.folder.map((folder) => placeOf(folder).directory))) {
      // A task beside them that cannot be read is for `svc tasks list` to report.
      const shortage = await shortageIn(directory).catch(() => null)
      // With --json the output stays a list of tasks.
      if (shortage !== null) (options.json === true ? surroundings.err : surroundings.out)(shortageText(shortage))
    }
    return results.every(({ problems }) => problems.length === 0) ? EXIT.fine : EXIT.failed
  } catch (error) {
    surroundings.progress('')
    printError(error, null, surroundings)
    return stopping.exitCode() ?? EXIT.misconfigured
  }
}

/** Of all tasks beside those that were checked, but for dropped ones. */
async function shortageIn(directory: string): Promise<TaskShortage | null> {
  const tasks: Task[] = []
  for (const { name, mined } of await readMined(directory))
    if (mined?.status !== 'dropped') tasks.push((await readMinedTask(directory, name)).task)
  const selection = await loadPlugin('selection', 'evidence', builtins, resolve('.'))
  return shortageOf('make' in selection ? await selection.make({}) : selection, tasks, RECENT_DECISIONS)
}

function wordsFor({ passed, untried, problems }: CheckResult['record']): string {
  if (untried !== null) return `not tried: ${untried}`
  return passed ? 'holds' : problems.map(oneLine).join('; ')
}
