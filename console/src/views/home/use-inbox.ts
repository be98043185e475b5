/** Follows what all scenarios in memory wait for. The steps of a scenario are read again once it has another one. */
import { useRef } from 'preact/hooks'
import { ServiceFailure, type ReleaseRow, type ScenarioRow, type StatusReport, type Svc } from '@svc-ai/client'
import { objectAt, textAt, WEEK_SECONDS } from '../../../../src/presentation/index.ts'
import { statusFor } from '../../data/status.ts'
import { usePolled, type Polled } from '../../poll.ts'
import { trainingStateOf } from '../training/training-state.ts'
import { inboxOf, isAtWork, type HomeInbox, type ScenarioHistory, type StepAtWork } from './inbox.ts'

const AGAIN_SECONDS = 3
/** More would make this page slow. */
const SCENARIOS_MAX = 250
/** A week of steps is read, and at least so many: what is held may be older. */
const ROWS_LEAST = 300
const ROWS_MAX = 1000

export interface HomeAnswer extends HomeInbox {
  /** Scenarios that were not looked at: they are not in memory, or there are too many. */
  readonly unseen: number
  /** Whether the token is for single scenarios, so that what they do now is not known. */
  readonly isNarrow: boolean
}

interface Known extends ScenarioHistory {
  /** Changes with every row. */
  readonly mark: string
}

/** `scenarios` are those that the token may see. */
export function useInbox(scenarios: readonly ScenarioRow[] | null): Polled<HomeAnswer | null> {
  const known = useRef<ReadonlyMap<string, Known>>(new Map())
  /** What was asked for, by the id of the request: it never changes. */
  const words = useRef(new Map<string, string | null>())
  return usePolled(
    `inbox, ${scenarios === null ? 'unknown' : 'known'}`,
    async (service) => {
      if (scenarios === null) return null
      const status = await statusSeen(service())
      const now = Date.now() / 1000
      const loaded = scenarios
        .filter(({ scenario }) => status === null || statusFor(status, scenario) !== undefined)
        .slice(0, SCENARIOS_MAX)
      const read = await Promise.all(
        loaded.map(async (row, place) => {
          const [mark, before] = [markOf(status, row, now, place), known.current.get(row.scenario)]
          return before?.mark === mark ? before : readHistory(service(row.scenario), row, mark, now - WEEK_SECONDS)
        }),
      )
      const histories = read.flatMap((history) => history ?? [])
      known.current = new Map(histories.map((history) => [history.scenario, history]))
      const working = histories.filter(({ scenario }) => status !== null && isAtWork(trainingStateOf(status, scenario)))
      const atWork = await Promise.all(
        working.slice(0, WORKING_READ_MAX).map(({ scenario }) => stepsAtWork(service(scenario), scenario, words.current)),
      )
      return { ...inboxOf(status, histories, now, atWork.flat()), unseen: scenarios.length - loaded.length, isNarrow: status === null }
    },
    AGAIN_SECONDS,
  )
}

/** Of more it is only said that a step runs. */
const WORKING_READ_MAX = 20

/** None where the token may not read them. */
async function stepsAtWork(service: Svc, scenario: string, words: Map<string, string | null>): Promise<readonly StepAtWork[]> {
  try {
    return await Promise.all(
      (await service.running()).map(async (progress) => {
        const { request_id: id } = progress
        if (id !== null && !words.has(id)) words.set(id, textAt(objectAt({ ...(await service.record(id)) }, 'payload'), 'text'))
        return { scenario, progress, asked: words.get(id ?? '') ?? null }
      }),
    )
  } catch (error) {
    if (error instanceof ServiceFailure && error.status !== null && error.status < 500) return []
    throw error
  }
}

/** Null for a token that is for single scenarios: the status is about all of them. */
async function statusSeen(service: Svc): Promise<StatusReport | null> {
  try {
    return await service.status()
  } catch (error) {
    if (error instanceof ServiceFailure && error.code === 'other_scenario') return null
    throw error
  }
}

/** Tasks come without a row, and a status that may not be read tells of none. */
const LOOK_AGAIN_SECONDS = 30

/** `place` is that of the scenario in the list: they are read again by turns, not all at once. */
function markOf(status: StatusReport | null, { scenario, release_id: release }: ScenarioRow, now: number, place: number): string {
  const own = statusFor(status, scenario)
  const turn = Math.floor((now + (place % LOOK_AGAIN_SECONDS)) / LOOK_AGAIN_SECONDS)
  return JSON.stringify([own?.scenario_step, release, own?.provisional?.release_id, turn])
}

/** Null where the scenario was deleted meanwhile. */
async function readHistory(
  service: Svc,
  { scenario, has_tasks: hasTasks = false }: ScenarioRow,
  mark: string,
  since: number,
): Promise<Known | null> {
  try {
    const proposedTasks = hasTasks ? await proposedIn(service) : 0
    return { scenario, mark, proposedTasks, ...(await newestRows(service, since)) }
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 404) return null
    throw error
  }
}

/** None where the token may not read them. */
async function proposedIn(service: Svc): Promise<number> {
  try {
    return (await service.tasks()).filter(({ status, problem }) => status === 'proposed' && problem === null).length
  } catch (error) {
    if (error instanceof ServiceFailure && error.status === 401) return 0
    throw error
  }
}

export async function newestRows(service: Pick<Svc, 'releasePage'>, since: number): Promise<Pick<ScenarioHistory, 'rows' | 'isWhole'>> {
  const rows: ReleaseRow[] = []
  for (let before: number | null = null; ;) {
    const { releases, next } = await service.releasePage(before === null ? {} : { before_step: before })
    rows.push(...releases)
    if (next === null || next === before) return { rows, isWhole: true }
    const isPastWeek = (rows.at(-1)?.recorded_at ?? 0) < since
    if (rows.length >= ROWS_MAX || (isPastWeek && rows.length >= ROWS_LEAST)) return { rows, isWhole: false }
    before = next
  }
}
