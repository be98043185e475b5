/** Where the numbers of every step are shown beside the service: TensorBoard files, an MLflow server. Neither may stop a training. */
import { isObject, type JsonObject, type Reporter } from '../../contract/index.ts'
import { wordsOf } from '../../kit/index.ts'

export type Numbers = Readonly<Record<string, number>>

export interface CurveSink {
  readonly name: string
  note(scenario: string, step: number, numbers: Numbers, signal: AbortSignal): Promise<void>
}

export interface NotedStep {
  readonly scenario: string
  readonly step: number
  readonly metrics: JsonObject
}

/** A sink that fails is named in the log of the step, and the step goes on. */
export async function noteStep(sinks: readonly CurveSink[], noted: NotedStep, report: Reporter, signal: AbortSignal): Promise<void> {
  const numbers = numbersIn(noted.metrics)
  if (Object.keys(numbers).length === 0) return
  for (const sink of sinks) {
    try {
      await sink.note(noted.scenario, noted.step, numbers, signal)
    } catch (error) {
      signal.throwIfAborted()
      report.line('check', `the numbers of this step did not reach ${sink.name}: ${wordsOf(error)}`, true)
    }
  }
}

/** Every finite number, by its path: `trainer/grad_norm`. */
export function numbersIn(metrics: JsonObject, path = ''): Numbers {
  const found = Object.entries(metrics).flatMap(([name, value]) => {
    if (typeof value === 'number' && Number.isFinite(value)) return [[`${path}${nameOf(name)}`, value] as const]
    return isObject(value) ? Object.entries(numbersIn(value, `${path}${nameOf(name)}/`)) : []
  })
  return Object.fromEntries(found)
}

/** MLflow takes no other characters. */
const nameOf = (name: string): string => name.replaceAll(/[^\w. -]/g, '_')
