/** How a run looks: a live table on a terminal, plain lines elsewhere, one JSON object per event for programs. */
import { resolve } from 'node:path'
import type { Estimate, ImproveEvent, ImproveResult } from '../../improve/index.ts'
import { scoreText, summaryLines } from '../../improve/index.ts'
import { costText as moneyText, counted, whole } from '../../presentation/index.ts'
import { table, type Cell } from '../screen/table.ts'
import { shortageText } from '../screen/shortage.ts'
import { cut, jsonText, oneLine, paint, shellWord } from '../screen/text.ts'
import type { Surroundings } from '../surroundings.ts'

export interface ImproveScreen {
  show(event: ImproveEvent): void
  /** A line of its own below everything so far. */
  say(line: string): void
  /** The question stands below everything so far. */
  ask(question: string): Promise<string | null>
}

export function openScreen(surroundings: Surroundings, json: boolean): ImproveScreen {
  const { ask } = surroundings
  if (json) return { show: (event) => surroundings.out(jsonText(event)), say: (line) => surroundings.err(line), ask }
  // A dumb terminal would print what moves the cursor.
  if (!surroundings.isTerminal || surroundings.environment['TERM'] === 'dumb')
    return {
      show: (event) => linesOf(event).forEach((line) => surroundings.out(line)),
      say: (line) => surroundings.out(line),
      ask,
    }
  return liveScreen(surroundings)
}

/** The lines of an event, one after the other as they come. */
function linesOf(event: ImproveEvent): readonly string[] {
  switch (event.event) {
    case 'found':
      return foundLines(event)
    case 'mined':
      return minedLines(event)
    case 'tasks':
      return [`${counted(event.tasks.length, 'task')}: ${rolesOf(event.tasks)}`]
    case 'played':
      return event.kept
        ? []
        : [`${event.side} ${event.task}: ${event.score === null ? `no score (${oneLine(event.failure ?? '')})` : scoreText(event.score)}`]
    case 'estimate':
      return estimateLines(event)
    case 'round':
      return [`round ${event.round}: learns from ${event.tasks.map(oneLine).join(', ')}; at most ${counted(event.episodes_max, 'episode')}`]
    case 'progress':
      return [`round ${event.round}: ${counted(event.episodes, 'episode')} played, at most ${timeText(event.seconds_left)} left`]
    case 'waiting':
      return [`round ${event.round}: waits: ${oneLine(event.reason)}`]
    case 'step':
      return [`round ${event.round}: ${event.result}: ${oneLine(event.reason)}`]
    case 'result':
      return resultLines(event)
    case 'serving':
      return [`serving the scenario ${event.scenario} at ${event.url}; SVC_TOKEN=${event.token}`]
    default:
      return [changeLine(event)]
  }
}

type EventOf<Name extends ImproveEvent['event']> = Extract<ImproveEvent, { readonly event: Name }>

const foundLines = ({ agent, why, files, left_out }: EventOf<'found'>): readonly string[] => [
  `${agent}, ${why}: ${files.length === 0 ? 'no rules or skills yet' : files.map(oneLine).join(', ')}`,
  ...left_out.map(({ path, why: reason }) => `left out, and not touched: ${oneLine(path)}: ${oneLine(reason)}`),
]

const minedLines = ({ added, kept, reasons, folder }: EventOf<'mined'>): readonly string[] => [
  `${counted(added, 'task')} mined, ${kept} were there before: svc tasks list ${shellWord(folder)}`,
  ...reasons.slice(0, REASONS_SHOWN_MAX).map(({ reason, count }) => `  ${count} passed over: ${oneLine(reason)}`),
]
export const REASONS_SHOWN_MAX = 5

function changeLine({ folder, branch, commit, patch = '', files }: EventOf<'change'>): string {
  const git = folder === resolve('.') ? 'git' : `git -C ${shellWord(folder)}`
  const made = branch === undefined ? `apply it with: ${git} apply ${shellWord(patch)}` : `branch ${branch}, commit ${commit ?? ''}`
  return `${counted(files.length, 'file')} changed: ${made}`
}

function rolesOf(tasks: EventOf<'tasks'>['tasks']): string {
  const roles = [...new Set(tasks.map(({ role }) => role))]
  return roles.map((role) => `${tasks.filter((task) => task.role === role).length} ${role}`).join(', ')
}

function estimateLines({ shortage, ...cost }: EventOf<'estimate'>): readonly string[] {
  const short = shortage === null ? [] : [shortageText(shortage)]
  return [...short, `the rest takes at most ${costText(cost)}; it ends earlier where nothing more is found`]
}

export function costText({ episodes, model_calls: calls, input_tokens: input, output_tokens: output, cost, seconds }: Estimate): string {
  const tokens = input + output === 0 ? [] : [`${input.toLocaleString('en')} tokens in and ${output.toLocaleString('en')} out`]
  const money =
    cost === null ? (tokens.length === 0 ? [] : ['cost unknown (evolution.prices)']) : [`${cost.toFixed(2)} by the configured prices`]
  return [
    counted(episodes, 'episode'),
    `about ${counted(calls, 'model call')} besides those that write changes`,
    ...tokens,
    ...money,
    timeText(seconds),
  ].join(', ')
}

function timeText(seconds: number): string {
  if (seconds < SECONDS_SHOWN_MAX) return counted(Math.ceil(seconds), 'second')
  const minutes = Math.ceil(seconds / SECONDS_PER_MINUTE)
  return minutes < MINUTES_SHOWN_MAX ? counted(minutes, 'minute') : `${Math.ceil(minutes / SECONDS_PER_MINUTE)} hours`
}
const SECONDS_SHOWN_MAX = 90
const SECONDS_PER_MINUTE = 60
const MINUTES_SHOWN_MAX = 120

function resultLines({
  improved,
  rounds,
  tasks,
  episodes,
  input_tokens: input,
  output_tokens: output,
  cost,
}: ImproveResult): readonly string[] {
  const took = input + output === 0 ? '' : `, ${whole(input)} tokens in, ${whole(output)} out, ${moneyText(cost)}`
  const tried = `${counted(rounds.length, 'round')}, ${counted(episodes, 'episode')}${took}`
  if (improved) return [`improved: ${tried}`, ...summaryLines(tasks)]
  return [
    `nothing proved better: ${tried}`,
    ...rounds.map(({ round, result, reason }) => `round ${round}: ${result}: ${oneLine(reason)}`),
    ...(rounds.length === 0 ? ['every task that is learnt from passes already'] : []),
  ]
}

const ROWS_MAX = 24
/** The titles, the count of what is left out, the status, and the line of the cursor. */
const OTHER_LINES = 4

/** The table is drawn again in place; what was said stays above it. */
function liveScreen(surroundings: Surroundings): ImproveScreen {
  const scores = new Map<string, { role: string; before: string; after: string }>()
  let drawn = 0
  let status = ''
  let played = 0
  let calls = 0
  const erase = (): string => (drawn === 0 ? '' : `\u001B[${drawn}A\u001B[J`)
  const draw = (above: readonly string[]): void => {
    // What has scrolled away cannot be drawn over.
    const rowsMax = Math.max(0, Math.min(ROWS_MAX, surroundings.height() - OTHER_LINES))
    const rows = [...scores].slice(0, rowsMax).map(([task, { role, before, after }]): readonly Cell[] => [task, role, before, after])
    const more = scores.size > rowsMax ? [cut(`and ${scores.size - rowsMax} more`, surroundings.width - 1)] : []
    const shown = rows.length === 0 ? [] : [table(COLUMNS, rows, surroundings), ...more].join('\n').split('\n')
    const last =
      scores.size === 0
        ? []
        : [
            paint(
              cut(`${counted(played, 'episode')}, ${counted(calls, 'model call')}${status}`, surroundings.width - 1),
              'quiet',
              surroundings,
            ),
          ]
    surroundings.out([`${erase()}${above.map((line) => `${line}\n`).join('')}${[...shown, ...last].join('\n')}`].join(''))
    drawn = shown.length + last.length
  }
  return {
    say(line) {
      surroundings.out(line)
      drawn = 0
    },
    ask(question) {
      drawn = 0
      return surroundings.ask(question)
    },
    show(event) {
      if (event.event === 'tasks') for (const { name, role } of event.tasks) scores.set(name, { role, before: '', after: '' })
      if (event.event === 'played') {
        const row = scores.get(event.task) ?? { role: event.role, before: '', after: '' }
        scores.set(event.task, { ...row, [event.side]: scoreText(event.score) })
        if (!event.kept) [played, calls] = [played + 1, calls + event.model_calls]
      }
      if (event.event === 'progress')
        status = `, round ${event.round}: ${counted(event.episodes, 'episode')}, at most ${timeText(event.seconds_left)} left`
      if (event.event === 'step') [status, played, calls] = ['', played + event.episodes, calls + event.model_calls]
      const isRow = event.event === 'played' || event.event === 'progress'
      // What a person types next stands at the end of some of them.
      draw(isRow ? [] : linesOf(event))
    },
  }
}

const COLUMNS = [
  { title: 'TASK', least: 12 },
  { title: 'ROLE' },
  { title: 'BEFORE', isNumber: true },
  { title: 'AFTER', isNumber: true },
] as const
