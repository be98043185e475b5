/** Tasks from the history of the repository and from recorded sessions: mined beside the run's state, and used unless a person dropped them. */
import { join, resolve } from 'node:path'
import { builtins } from '../../../plugins/index.ts'
import { loadPlugin } from '../../config/index.ts'
import { invalid, type Miner } from '../../contract/index.ts'
import { gitPlaceOf, type GitPlace } from '../../improve/index.ts'
import { counted } from '../../presentation/index.ts'
import { countReasons, decide, mineTasks, readMined, REFERENCE_FAILS, type CountedReason, type MiningResult } from '../../mining/index.ts'
import type { RemoteOptions } from '../remote/address.ts'
import { chooseScenario } from '../remote/scenario.ts'
import { fromService } from '../remote/service.ts'
import { oneLine, shellWord } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'
import { RECORDS_MAX } from '../tasks.ts'
import { judgeWith, NO_COMMIT, SHALLOW } from '../tasks/place.ts'
import { withRecords } from '../tasks/recorded.ts'
import { REASONS_SHOWN_MAX, type ImproveScreen } from './screen.ts'

export interface MiningOfRun {
  readonly repository: string
  /** The folder of the run's state. */
  readonly folder: string
  readonly tasksMax: number
  /** Whose sessions are mined too, and where that service is. */
  readonly recorded: RemoteOptions
  readonly executor: string | null
  readonly signal: AbortSignal
  readonly surroundings: Surroundings
  readonly screen: ImproveScreen
}

/** The same every time, so that a second run gives each task the same role. */
const SEED = 'svc'

/** The folder of the tasks. */
export async function mineFor(run: MiningOfRun): Promise<string> {
  const { repository, folder, tasksMax, recorded, surroundings, screen } = run
  const place = await gitPlaceOf(repository)
  const hasHistory = place !== null && place.head !== null
  const hasSessions = recorded.scenario !== undefined
  if (!hasHistory && !hasSessions)
    throw invalid(
      'no_history',
      `${place === null ? 'this is no git repository' : 'the repository has no commit yet'}, so there is no history to find tasks in; ${WRITE_SOME}`,
    )
  const directory = join(folder, 'mined')
  // Sessions are what people ask for: half of the tasks are theirs where there are as many, and more where the history has too few.
  const results = [
    ...(hasSessions ? [await mineSessions(run, directory, Math.ceil(tasksMax / 2))] : []),
    ...(hasHistory ? [await mineFrom(run, { directory, miner: 'git', source: repository, tasksMax })] : []),
  ]
  if (hasSessions && countOf(results) < tasksMax) results.push(await mineSessions(run, directory, tasksMax))
  surroundings.progress('')
  const passedOver = results.reduce((sum, result) => sum + result.passedOver.length, 0)
  const added = results.reduce((sum, result) => sum + result.added.length, 0)
  const reasons = countReasons(new Map(results.flatMap(({ leftOut }) => [...leftOut])))
  screen.show({ event: 'mined', added, kept: results[0]?.kept ?? 0, passed_over: passedOver, reasons, folder: directory })
  if (countOf(results) === 0) throw nothingFound(reasons, hasSessions, place)
  if (place?.isShallow === true && countOf(results) < tasksMax) screen.say(SHALLOW)
  for (const { name, mined } of await readMined(directory)) if (mined?.status === 'proposed') await decide(directory, name, 'accepted')
  return directory
}

/** Those that were there, and those that each added. */
const countOf = (results: readonly MiningResult[]): number => results.reduce((sum, { added }) => sum + added.length, results[0]?.kept ?? 0)

async function mineFrom(
  { executor, signal, surroundings }: MiningOfRun,
  { miner, ...wanted }: { directory: string; miner: string; source: string; tasksMax: number },
): Promise<MiningResult> {
  const report = (line: string): void => surroundings.progress(oneLine(line))
  const judge = await judgeWith(executor ?? 'sandbox')
  const made = await (await loadPlugin('miner', miner, builtins, resolve('.'))).make({})
  return mineTasks({ ...wanted, miner: withoutJudged(made), seed: SEED, judge, report, signal })
}

/** Of a running service. */
function mineSessions(run: MiningOfRun, directory: string, tasksMax: number): Promise<MiningResult> {
  const { recorded, surroundings, signal } = run
  return fromService(recorded, surroundings, async (service) => {
    const scenario = await chooseScenario(service, recorded.scenario, (name) => `improve --scenario ${shellWord(name)}`)
    const wanted = { svc: service.in(scenario), scenario, recordsMax: RECORDS_MAX, directory, signal }
    return withRecords(wanted, surroundings, (source) => mineFrom(run, { directory, miner: 'sessions', source, tasksMax }))
  })
}

/** Without what only a model can judge: nothing has shown that it can be solved, and every episode would ask that model twice more. */
const withoutJudged = (miner: Miner): Miner => ({
  async *mine(order) {
    for await (const task of miner.mine(order))
      if (task.data['evaluator'] === 'judge') order.passOver(task.origin, 'only a model can judge it')
      else yield task
  },
})

const WRITE_SOME = 'write some tasks, and name their folder with --tasks-dir'

function nothingFound(reasons: readonly CountedReason[], hasSessions: boolean, place: GitPlace | null): Error {
  const where = hasSessions ? 'in the history of the repository or in the sessions' : 'in the history of the repository'
  const shallow = place?.isShallow === true ? `; ${SHALLOW}` : ''
  const missing = reasons.some(({ reason }) => reason === REFERENCE_FAILS)
    ? '; what the tests need may be missing: install it in the checkout, and run this again'
    : ''
  return invalid('no_tasks', `no task was found ${where}; ${lookedAt(reasons, hasSessions)}${shallow}${missing}; ${WRITE_SOME}`)
}

function lookedAt(reasons: readonly CountedReason[], hasSessions: boolean): string {
  const looked = reasons.reduce((sum, { count }) => sum + count, 0)
  if (looked === 0) return NO_COMMIT
  const words = hasSessions
    ? counted(looked, 'commit or session was', 'commits and sessions were')
    : counted(looked, 'commit was', 'commits were')
  const why = reasons.slice(0, REASONS_SHOWN_MAX).map(({ reason, count }) => `${count}: ${oneLine(reason)}`)
  return `${words} looked at (${why.join(', ')})`
}
