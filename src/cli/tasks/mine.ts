/** `svc tasks mine`: finds tasks in a repository or in recorded sessions, and keeps those that hold. */
import { resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { ConfigProblem, loadPlugin } from '../../config/index.ts'
import { gitPlaceOf } from '../../improve/index.ts'
import { countReasons, mineTasks, type MiningResult } from '../../mining/index.ts'
import { counted } from '../../presentation/index.ts'
import { printError } from '../explain.ts'
import type { RemoteOptions } from '../remote/address.ts'
import { chooseScenario } from '../remote/scenario.ts'
import { withService } from '../remote/service.ts'
import { jsonText, oneLine, shellWord } from '../screen/text.ts'
import { stoppable } from '../stopping.ts'
import { EXIT, type Surroundings } from '../surroundings.ts'
import { countOf, judgeWith, NO_COMMIT, secondsOf, SHALLOW, STOPPED, TASKS_FOLDER } from './place.ts'
import { withRecords } from './recorded.ts'

export interface MineOptions extends RemoteOptions {
  readonly folder?: string
  readonly output?: string
  readonly number: string
  readonly seconds: string
  readonly records: string
  readonly miner?: string
  readonly seed: string
  readonly executor: string
}

const SESSIONS = 'sessions'

export async function mine(options: MineOptions, surroundings: Surroundings): Promise<number> {
  const miner = options.miner ?? (options.scenario === undefined ? 'git' : SESSIONS)
  const stopping = stoppable(surroundings, STOPPED)
  try {
    const order = await orderOf(options, miner, stopping.signal)
    if (options.scenario === undefined && (miner !== SESSIONS || options.folder !== undefined))
      return await mineFrom(resolve(options.folder ?? '.'), order, surroundings)
    if (options.folder !== undefined) throw new ConfigProblem(['name a file of records or --scenario, and not both'])
    return await mineService(options, order, surroundings)
  } catch (error) {
    surroundings.progress('')
    printError(error, null, surroundings)
    return stopping.exitCode() ?? EXIT.misconfigured
  }
}

type Order = Omit<Parameters<typeof mineTasks>[0], 'source' | 'report'> & { readonly output: string; readonly isJson: boolean }

async function orderOf(options: MineOptions, name: string, signal: AbortSignal): Promise<Order> {
  const { output = TASKS_FOLDER, seed, executor, json } = options
  const [tasksMax, secondsMax] = [countOf('--number', options.number), secondsOf('--seconds', options.seconds)]
  const miner = await (await loadPlugin('miner', name, builtins, resolve('.'))).make({})
  const judge = await judgeWith(executor)
  return { output, isJson: json === true, directory: resolve(output), miner, tasksMax, seed, judge, secondsMax, signal }
}

async function mineFrom(source: string, { output, isJson, ...run }: Order, surroundings: Surroundings): Promise<number> {
  const report = (line: string): void => surroundings.progress(oneLine(line))
  const result = await mineTasks({ ...run, source, report })
  surroundings.progress('')
  const { leftOut, ...found } = result
  surroundings.out(isJson ? jsonText({ folder: output, ...found, reasons: countReasons(leftOut) }, 2) : wordsFor(result, output))
  if (!isJson && result.added.length + result.kept < run.tasksMax) for (const hint of await hintsOn(source, result)) surroundings.out(hint)
  return result.added.length + result.kept > 0 ? EXIT.fine : EXIT.failed
}

/** The records of the running service. */
function mineService(options: MineOptions, order: Order, surroundings: Surroundings): Promise<number> {
  const recordsMax = countOf('--records', options.records)
  return withService(options, surroundings, async (service) => {
    const scenario = await chooseScenario(service, options.scenario, (name) => `tasks mine --scenario ${shellWord(name)}`)
    const wanted = { svc: service.in(scenario), scenario, recordsMax, directory: order.directory, signal: order.signal }
    return withRecords(wanted, surroundings, (file) => mineFrom(file, order, surroundings))
  })
}

function wordsFor({ added, kept, leftOut }: MiningResult, folder: string): string {
  return [
    `${counted(added.length, 'task')} mined, ${kept} were there before`,
    ...countReasons(leftOut).map(({ reason, count }) => `  ${count} passed over: ${oneLine(reason)}`),
    ...(added.length === 0
      ? []
      : [`look at them: svc tasks list ${shellWord(folder)}`, `use them: svc tasks accept ${shellWord(folder)}/*`]),
  ].join('\n')
}

/** Of a repository with fewer tasks than were asked for. */
async function hintsOn(source: string, { added, kept, leftOut }: MiningResult): Promise<readonly string[]> {
  const place = await gitPlaceOf(source).catch(() => null)
  if (place === null) return []
  return [...(added.length + kept + leftOut.size === 0 ? [NO_COMMIT] : []), ...(place.isShallow ? [SHALLOW] : [])]
}
