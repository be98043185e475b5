/** Rounds of learning: failing tasks are reported to the service, whose step writes a change, plays it against the served tree and decides. */
import { isObject, type Files } from '../contract/index.ts'
import type { ImproveEvent, RoundOutcome } from './events.ts'
import type { KeptPlay } from './plays.ts'
import {
  createScenario,
  readRows,
  reasonOf,
  sendReport,
  servedFiles,
  settledBy,
  troubleOf,
  type ServiceAddress,
  type TaskReport,
} from './service.ts'
import type { ImproveState } from './state.ts'

/** One round as it was begun. Kept before anything is sent, so that a second run sends the same. */
export interface RoundPlan {
  readonly round: number
  readonly reports: readonly TaskReport[]
  readonly tasks: readonly string[]
  readonly episodesMax: number
}

export interface RoundEnd extends RoundOutcome {
  /** What is served after it. */
  readonly files: Files
}

/** More failures at once would not fit into what a proposer reads. */
const REPORTS_MAX = 6
const FEEDBACK_CHARACTERS_MAX = 4000

/** Failing tasks by turns, so that every round shows others where there are many. */
export function planRound(round: number, failing: readonly FailedTask[], episodesMax: number): RoundPlan {
  const from = ((round - 1) * REPORTS_MAX) % failing.length
  const chosen = [...failing.slice(from), ...failing.slice(0, from)].slice(0, REPORTS_MAX)
  return {
    round,
    episodesMax,
    tasks: chosen.map(({ play }) => play.task),
    reports: chosen.map(({ prompt, play }) => ({
      id: `improve-${round}-${play.task}`,
      prompt,
      answer: play.answer,
      score: play.score ?? 0,
      feedback: feedbackOf(play),
    })),
  }
}

export interface FailedTask {
  readonly prompt: string
  readonly play: KeptPlay
}

/** What the tests said tells most of what went wrong. */
function feedbackOf({ score, failure, note, printed = '' }: KeptPlay): string {
  const said = [`The result was scored ${score ?? 0} of 1.`, note, failure].filter((words) => words !== null)
  const told = tellingLines(printed)
  return [said.join(' '), ...(told === '' ? [] : [`The tests printed:\n${told}`])]
    .join(' ')
    .slice(0, FEEDBACK_CHARACTERS_MAX)
    .toWellFormed()
}

const TELLING = /error|exception|expect|actual|wanted|assert|cannot|no such|not found|not defined|undefined|missing|fail|differ/i
/** Proposers read so much of it. */
const TOLD_CHARACTERS_MAX = 700

/** Lines that say what is wrong, in their order; where there are none, the last ones. */
export function tellingLines(printed: string): string {
  const lines = [...new Set(printed.split('\n').map((line) => line.trim()))].filter((line) => line !== '')
  const telling = lines.filter((line) => TELLING.test(line))
  const text = telling.join('\n').slice(0, TOLD_CHARACTERS_MAX)
  return text === '' ? lines.join('\n').slice(-TOLD_CHARACTERS_MAX) : text
}

export const planName = (round: number): string => `round-${round}`
const endName = (round: number): string => `round-${round}-end`

export async function readPlan(state: ImproveState, round: number): Promise<RoundPlan | null> {
  const kept = await state.read(planName(round))
  return isPlan(kept) ? kept : null
}

export async function readEnd(state: ImproveState, round: number): Promise<RoundEnd | null> {
  const kept = await state.read(endName(round))
  return isEnd(kept) ? kept : null
}

const isPlan = (value: unknown): value is RoundPlan =>
  typeof value === 'object' && value !== null && 'reports' in value && 'episodesMax' in value
const isEnd = (value: unknown): value is RoundEnd => typeof value === 'object' && value !== null && 'result' in value && 'files' in value

export interface RoundParts {
  readonly state: ImproveState
  readonly service: ServiceAddress
  readonly emit: (event: ImproveEvent) => void
  /** How many episodes the step has played so far. */
  readonly played: () => Promise<number>
  readonly secondsPerEpisode: number
}

/** Sends the reports of the plan, waits for the step that uses them, and keeps its outcome. */
export async function runRound({ state, service, emit, played, secondsPerEpisode }: RoundParts, plan: RoundPlan): Promise<RoundEnd> {
  const { round, reports, tasks, episodesMax } = plan
  emit({ event: 'round', round, tasks, episodes_max: episodesMax })
  await createScenario(service)
  const last = Math.max(0, ...(await readRows(service)).map(({ step }) => step))
  for (const report of reports) await sendReport(service, report)
  const before = await played()
  let told = -1
  let trouble = ''
  const row = await settledBy(service, reports.at(-1)?.id ?? '', last, async () => {
    const reason = await troubleOf(service)
    if (reason !== trouble && reason !== '') emit({ event: 'waiting', round, reason })
    trouble = reason
    const episodes = (await played()) - before
    if (episodes === told) return
    told = episodes
    emit({ event: 'progress', round, episodes, seconds_left: Math.round(Math.max(0, episodesMax - episodes) * secondsPerEpisode) })
  })
  const outcome: RoundOutcome = {
    round,
    result: row.result,
    reason: reasonOf(row),
    // A step that ends with its screening has no other count.
    episodes: numberIn(row.metrics['episodes_used'] ?? row.metrics['screen_episodes']),
    model_calls: numberIn(row.metrics['proposer_calls']),
    ...(isObject(row.metrics['spent']) && { spent: row.metrics['spent'] }),
  }
  const end = { ...outcome, files: await servedFiles(service) }
  await state.write(endName(round), end)
  emit({ event: 'step', ...outcome })
  return end
}

const numberIn = (value: unknown): number => (typeof value === 'number' ? value : 0)
