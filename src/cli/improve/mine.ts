/** Tasks from the history of the repository: mined beside the run's state, and used unless a person dropped them. */
import { join, resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin } from '../../config/index.ts'
import { invalid } from '../../contract/index.ts'
import { gitPlaceOf } from '../../improve/index.ts'
import { decide, mineTasks, readMined } from '../../mining/index.ts'
import { cut, oneLine } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'
import { judgeWith } from '../tasks/place.ts'
import type { ImproveScreen } from './screen.ts'

export interface MiningOfRun {
  readonly repository: string
  /** The folder of the run's state. */
  readonly folder: string
  readonly tasksMax: number
  readonly executor: string | null
  readonly signal: AbortSignal
  readonly surroundings: Surroundings
  readonly screen: ImproveScreen
}

/** The same every time, so that a second run gives each task the same role. */
const SEED = 'svc'

/** The folder of the tasks. */
export async function mineFor({ repository, folder, tasksMax, executor, signal, surroundings, screen }: MiningOfRun): Promise<string> {
  if (((await gitPlaceOf(repository))?.head ?? null) === null)
    throw invalid('no_history', 'there is no history of git to find tasks in; write some, and name their folder with --tasks-dir')
  const directory = join(folder, 'mined')
  const miner = await (await loadPlugin('miner', 'git', builtins, resolve('.'))).make({})
  const report = (line: string): void => surroundings.progress(cut(oneLine(line), surroundings.width - 1))
  const judge = await judgeWith(executor ?? 'sandbox')
  const { added, kept, passedOver } = await mineTasks({ directory, miner, source: repository, tasksMax, seed: SEED, judge, report, signal })
  surroundings.progress('')
  screen.show({ event: 'mined', added: added.length, kept, passed_over: passedOver.length, folder: directory })
  if (added.length + kept === 0)
    throw invalid(
      'no_tasks',
      `no task was found in the history of the repository${why(passedOver)}; write some, and name their folder with --tasks-dir`,
    )
  for (const { name, mined } of await readMined(directory)) if (mined?.status === 'proposed') await decide(directory, name, 'accepted')
  return directory
}

function why(passedOver: readonly { readonly reason: string }[]): string {
  const [first] = passedOver
  return first === undefined ? '' : ` (${passedOver.length} were passed over, the first since ${first.reason})`
}
