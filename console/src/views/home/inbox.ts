/** What the first page says of all scenarios: what waits for a person, what failed, what waits for traffic, and what a week brought. Pure. */
import type { ReleaseRow, StatusReport, StepProgress } from '@svc-ai/client'
import {
  counted,
  decisionOf,
  gainsSince,
  headlineOf,
  heldRows,
  reasonOf,
  runningView,
  spentSince,
  stepName,
  totalOf,
  WEEK_SECONDS,
  type GainsOfSpan,
  type SpentTotals,
} from '../../../../src/presentation/index.ts'
import { statusFor } from '../../data/status.ts'
import { trainingStateOf, troublesOf, type TrainingState } from '../training/training-state.ts'

export interface ScenarioHistory {
  readonly scenario: string
  /** Newest first. */
  readonly rows: readonly ReleaseRow[]
  /** Whether these are all rows. */
  readonly isWhole: boolean
  /** Tasks that were mined and wait for acceptance. */
  readonly proposedTasks?: number
}

export interface InboxItem {
  readonly scenario: string
  /** The step that it is about; null of the scenario itself. */
  readonly step: number | null
  /** Where it leads where it is about no step, if not where its list leads. */
  readonly view?: 'tasks' | 'settings'
  readonly title: string
  readonly line: string | null
  readonly at: number | null
}

export interface WeekRow {
  readonly scenario: string
  readonly gains: GainsOfSpan<ReleaseRow>
  readonly spent: SpentTotals | null
}

export interface HomeInbox {
  /** Newest first. */
  readonly decisions: readonly InboxItem[]
  readonly failures: readonly InboxItem[]
  readonly forTraffic: readonly InboxItem[]
  readonly working: readonly InboxItem[]
  readonly week: readonly WeekRow[]
  /** Of all scenarios; null where nothing was counted. */
  readonly weekSpent: SpentTotals | null
  /** Scenarios of which only the newest steps were read. */
  readonly cut: readonly string[]
}

/** A step that runs now. */
export interface StepAtWork {
  readonly scenario: string
  /** What a person asked for; null of a step on traffic, and where the words are not known. */
  readonly asked: string | null
  readonly progress: StepProgress
}

/** `status` is null for a token that is for single scenarios: what is known of them then is their rows and tasks. */
export function inboxOf(
  status: StatusReport | null,
  histories: readonly ScenarioHistory[],
  now: number,
  atWork: readonly StepAtWork[] = [],
): HomeInbox {
  const since = now - WEEK_SECONDS
  const each = <T>(read: (history: ScenarioHistory, state: TrainingState | null) => readonly T[]): readonly T[] =>
    histories.flatMap((history) => read(history, status === null ? null : trainingStateOf(status, history.scenario)))
  const week = each(({ scenario, rows }) => [{ scenario, gains: gainsSince(rows, since), spent: spentSince(rows, since) }])
  const spent = week.flatMap((row) => row.spent ?? [])
  return {
    decisions: newestFirst(each((history, state) => [...heldIn(history), ...proposedIn(history), ...stoppedIn(history, state)])),
    failures: [
      ...storageTrouble(status),
      ...unloadedIn(status, histories),
      ...newestFirst(each((history) => failuresIn(status, history, since))),
    ],
    forTraffic: each((history, state) => [...unprovenIn(status, history), ...hungryIn(history, state)]),
    working: each(({ scenario }, state) => {
      const steps = atWork.filter((step) => step.scenario === scenario)
      if (steps.length > 0) return steps.map(workingItem)
      return isAtWork(state) ? [item(scenario, 'A step runs or is next')] : []
    }),
    week: week.filter((row) => row.gains.releases.length > 0 || row.spent !== null),
    weekSpent: spent.length === 0 ? null : totalOf(spent),
    cut: histories.flatMap(({ scenario, isWhole }) => (isWhole ? [] : [scenario])),
  }
}

export const isAtWork = (state: TrainingState | null): boolean => state?.trainers.some(({ isReady }) => isReady) === true

function workingItem({ scenario, asked, progress }: StepAtWork): InboxItem {
  const { progress: played, left, spent } = runningView(progress)
  const line = [progress.meaning, played, left, spent].filter((words) => words !== null).join(' · ')
  const title = asked ?? (progress.request_id === null ? 'Learns from traffic' : 'Works on a request')
  return item(scenario, title, { line: line === '' ? null : line, at: progress.started_at })
}

/** What is about scenarios whose names have these words. */
export function narrowed<Inbox extends HomeInbox>(inbox: Inbox, words: string): Inbox {
  const needle = words.trim().toLowerCase()
  if (needle === '') return inbox
  const of = <T extends { readonly scenario: string }>(all: readonly T[]): readonly T[] =>
    all.filter(({ scenario }) => scenario.toLowerCase().includes(needle))
  const [decisions, failures, forTraffic, working] = [inbox.decisions, inbox.failures, inbox.forTraffic, inbox.working].map(of)
  const week = of(inbox.week)
  const spent = week.flatMap((row) => row.spent ?? [])
  return {
    ...inbox,
    decisions: decisions ?? [],
    failures: failures ?? [],
    forTraffic: forTraffic ?? [],
    working: working ?? [],
    week,
    weekSpent: spent.length === 0 ? null : totalOf(spent),
  }
}

/** Those of a scenario together, where the first of them stood. */
export function byScenario(items: readonly InboxItem[]): readonly (readonly [InboxItem, ...InboxItem[]])[] {
  const groups = new Map<string, [InboxItem, ...InboxItem[]]>()
  for (const each of items) {
    const group = groups.get(each.scenario)
    if (group === undefined) groups.set(each.scenario, [each])
    else group.push(each)
  }
  return [...groups.values()]
}

const item = (scenario: string, title: string, more: Partial<InboxItem> = {}): InboxItem => ({
  scenario,
  title,
  step: null,
  line: null,
  at: null,
  ...more,
})

/** What has no time is of now. */
const newestFirst = (items: readonly InboxItem[]): readonly InboxItem[] =>
  items.toSorted((one, other) => (other.at ?? Infinity) - (one.at ?? Infinity) || 0)

const heldIn = ({ scenario, rows }: ScenarioHistory): readonly InboxItem[] =>
  heldRows(rows).map((row) =>
    item(scenario, reasonOf(rows, row, stepName).text, {
      step: row.step,
      line: headlineOf(row.metrics) ?? decisionOf(row.metrics),
      at: row.recorded_at,
    }),
  )

const proposedIn = ({ scenario, proposedTasks = 0 }: ScenarioHistory): readonly InboxItem[] =>
  proposedTasks === 0
    ? []
    : [
        item(scenario, `${counted(proposedTasks, 'mined task waits', 'mined tasks wait')} for acceptance`, {
          line: 'Only accepted tasks measure a change.',
          view: 'tasks',
        }),
      ]

const stoppedIn = ({ scenario }: ScenarioHistory, state: TrainingState | null): readonly InboxItem[] =>
  (state?.trainers ?? []).flatMap(({ stopped }) =>
    stopped === null
      ? []
      : [
          item(scenario, stopped, {
            line: 'Raise it in the settings of the scenario, or ask for a change, which runs past it.',
            view: 'settings',
          }),
        ],
  )

const storageTrouble = (status: StatusReport | null): readonly InboxItem[] =>
  status === null || status.storage.error === null
    ? []
    : [item('', status.storage.error.message, { line: 'No record can be stored until this is fixed.' })]

/** One that could not be loaded is not in memory, so it has no history here. */
function unloadedIn(status: StatusReport | null, histories: readonly ScenarioHistory[]): readonly InboxItem[] {
  const seen = new Set(histories.map(({ scenario }) => scenario))
  const names = Object.keys(status?.preload_errors ?? {}).filter((scenario) => !seen.has(scenario))
  return names.flatMap((scenario) => troublesIn(status, scenario))
}

const troublesIn = (status: StatusReport | null, scenario: string): readonly InboxItem[] =>
  troublesOf(status, scenario).map(({ line, cure }) => item(scenario, line, { line: cure }))

/** A failed step is listed once: as a step of this week, or else as the trouble that it still is. */
function failuresIn(status: StatusReport | null, { scenario, rows }: ScenarioHistory, since: number): readonly InboxItem[] {
  const failed = rows.filter(({ result, recorded_at: at }) => result === 'failed' && at >= since)
  const steps = failed.map((row) => {
    const why = decisionOf(row.metrics) ?? 'The step failed and gave no reason.'
    const { requestId, text } = reasonOf(rows, row, stepName)
    const [title, line] =
      requestId === null
        ? [why, 'Traffic is retried by itself.']
        : [text, `${why}. Fix the cause, then ask again: a request is not retried by itself.`]
    return item(scenario, title, { step: row.step, line, at: row.recorded_at })
  })
  const said = failed.flatMap(({ metrics: { error } }) => (typeof error === 'string' && error !== '' ? [error] : []))
  const troubles = troublesIn(status, scenario).filter(({ title }) => !said.some((words) => title.includes(words)))
  return [...troubles, ...steps]
}

function unprovenIn(status: StatusReport | null, { scenario }: ScenarioHistory): readonly InboxItem[] {
  const provisional = statusFor(status, scenario)?.provisional
  if (provisional === undefined) return []
  const { step, canary_share: share } = provisional
  const served = share === null ? 'It is served to nobody yet.' : `It is served to ${Math.round(share * 100)}% of sessions.`
  return [item(scenario, 'A release seems better and waits for its proof', { step, line: served })]
}

/** Waits for reports or exchanges. A step that is ready, a budget that is used up and manual mode wait for something else. */
function hungryIn({ scenario }: ScenarioHistory, state: TrainingState | null): readonly InboxItem[] {
  if (state === null || !state.learns || state.mode === 'manual') return []
  return state.trainers.flatMap(({ name, isReady, stopped, gathered }) => {
    if (isReady || stopped !== null) return []
    const words = gathered === null ? 'Waits for more traffic' : `${gathered.count} of ${gathered.of} samples for the next step`
    return [item(scenario, name === '' ? words : `${name}: ${words}`)]
  })
}
