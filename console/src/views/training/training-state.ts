/** The training state of a scenario, read from the service's status, whatever its recipe reports. Pure. */
import type { StatusReport } from '@svc-ai/client'
import type { PlotSeries, PlotTone } from '../../ui/plot-layout.ts'
import { spanOf, timeStep } from '../../ui/scale.ts'
import { isRecord, numberAt, objectAt, OUTCOMES, textAt, type StepStatus, type UnknownRecord } from '../../../../src/presentation/index.ts'
import type { StepChain } from '../../data/chain.ts'
import { loadFailure, statusFor, trainingFailures } from '../../data/status.ts'

export type TrainingState = NonNullable<ReturnType<typeof trainingStateOf>>

/** Null for a scenario that is not in memory. */
export function trainingStateOf(status: StatusReport, scenario: string) {
  const own = statusFor(status, scenario)
  if (own === undefined) return null
  const components = Object.entries(objectAt(own, 'components')).filter((entry): entry is [string, UnknownRecord] => isRecord(entry[1]))
  const trainers = components.length === 0 ? [trainerOf('', own)] : components.map(([name, component]) => trainerOf(name, component))
  const last = own.last_committed_step ?? null
  return {
    mode: own.training_mode ?? 'unknown',
    lastStep: last === null ? null : { step: last.step, at: last.recorded_at },
    trainers,
    learns: trainers.some(({ pendingInstructions }) => pendingInstructions !== null),
  }
}

/** `name` is its component; empty where the scenario has one trainer alone. */
function trainerOf(name: string, own: UnknownRecord) {
  const processor = objectAt(own, 'processor')
  return {
    name,
    /** A step runs, or would if it were its turn. */
    isReady: own['batch_ready'] === true,
    pendingInstructions: numberAt(processor, 'pending_instructions'),
    setAside: Object.entries(objectAt(processor, 'set_aside')).flatMap(([reason, count]): (readonly [string, number])[] =>
      typeof count === 'number' ? [[reason, count]] : [],
    ),
    gathered: gatheredIn(processor),
    /** Why no automatic step starts any more. */
    stopped: textAt(processor, 'automatic_steps_stopped'),
    facts: Object.entries(processor).flatMap(([key, value]): (readonly [string, string])[] =>
      SHOWN_ELSEWHERE.has(key) || !isPlain(value) ? [] : [[wordsOf(key), String(value)]],
    ),
  }
}

/** The samples that it has, of those that a step takes; null where it does not say. */
function gatheredIn(processor: UnknownRecord): { readonly count: number; readonly of: number } | null {
  const [count, of] = [numberAt(processor, 'buffered_units'), numberAt(processor, 'batch_size')]
  return count === null || of === null ? null : { count, of }
}

const SHOWN_ELSEWHERE = new Set(['pending_instructions', 'buffered_requests', 'set_aside', 'automatic_steps_stopped'])

const isPlain = (value: unknown): value is string | number | boolean => ['string', 'number', 'boolean'].includes(typeof value)

const COUNT_WORDS: Readonly<Record<string, string>> = { batch_size: 'Samples a step takes', buffered_units: 'Samples gathered' }

/** "oldest_sample" reads "Oldest sample". */
const wordsOf = (key: string): string => {
  const known = COUNT_WORDS[key]
  if (known !== undefined) return known
  const words = key.replaceAll('_', ' ')
  return words.slice(0, 1).toUpperCase() + words.slice(1)
}

/** Each failure with what to do, or what happens by itself. */
export function troublesOf(status: StatusReport | null, scenario: string) {
  const [unloaded, own] = [loadFailure(status, scenario), statusFor(status, scenario)?.error]
  return [
    ...(unloaded === null ? [] : [{ line: unloaded, cure: LOAD_CURE }]),
    ...(own === undefined ? [] : [{ line: own, cure: 'The rest of the service is not affected.' }]),
    ...trainingFailures(status, scenario).map((line) => ({ line, cure: cureOf(line) })),
  ]
}

const LOAD_CURE = 'Fix the cause it names and restart the service; until then every request retries the scenario.'

function cureOf(line: string): string {
  if (line.includes('StepFailure: '))
    return 'Traffic is retried, later each time, and set aside after eight failures. An instruction is not: fix the cause, then resend it.'
  if (line.includes('Overtaken: ')) return 'The head moved three times meanwhile. It is retried in a minute.'
  return 'The service itself failed. Fix the cause that the line names (a disk, a repository); it is retried.'
}

const PLOT_TONES: Readonly<Record<StepStatus['outcome'], PlotTone>> = {
  published: 'good',
  held: 'warn',
  rejected: 'plain',
  skipped: 'accent',
  failed: 'bad',
}
const BARS_MAX = 24

/** How many steps had each outcome, by the time they settled. */
export function outcomeSeries({ rows: all }: StepChain): readonly PlotSeries[] {
  const rows = all.filter(({ operation }) => operation === 'train')
  const [first, last] = spanOf(rows.map(({ recorded_at: at }) => at))
  const width = timeStep((last - first) / BARS_MAX)
  return Object.entries(OUTCOMES).flatMap(([result, { word, outcome }]) => {
    const counts = new Map<number, number>()
    for (const row of rows) {
      if (row.result !== result) continue
      const bar = Math.floor(row.recorded_at / width) * width
      counts.set(bar, (counts.get(bar) ?? 0) + 1)
    }
    const points = [...counts].map(([x, y]) => ({ x, y }))
    return points.length === 0 ? [] : [{ name: word, tone: PLOT_TONES[outcome], points }]
  })
}
