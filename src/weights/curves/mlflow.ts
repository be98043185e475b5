/** Sends the numbers of steps to an MLflow server: one experiment for the service, one run for each scenario. */
import { fetch } from 'undici'
import { z } from 'zod'
import { parsed } from '../../dialects/index.ts'
import type { CurveSink } from './sinks.ts'

const API = '/api/2.0/mlflow/'
const CALL_SECONDS_MAX = 10
const ANSWER_BYTES_MAX = 1024 * 1024
/** The tag by which the run of a scenario is found again after a start. */
const TAG = 'svc.scenario'

const experimentFound = z.object({ experiment: z.object({ experiment_id: z.string() }) })
const experimentMade = z.object({ experiment_id: z.string() })
const runMade = z.object({ run: z.object({ info: z.object({ run_id: z.string() }) }) })
const runsFound = z.object({ runs: z.array(runMade.shape.run).default([]) })

export interface MlflowAddress {
  readonly url: string
  readonly experiment: string
  readonly apiKey: string | null
}

export function mlflow({ url, experiment, apiKey }: MlflowAddress, clock: () => number): CurveSink {
  const runs = new Map<string, string>()
  const headers = { 'content-type': 'application/json', ...(apiKey !== null && { authorization: `Bearer ${apiKey}` }) }

  async function call<T>(path: string, body: object | null, answer: z.ZodType<T>, signal: AbortSignal): Promise<T | null> {
    const over = AbortSignal.any([signal, AbortSignal.timeout(CALL_SECONDS_MAX * 1000)])
    const sent = body === null ? { method: 'GET' } : { method: 'POST', body: JSON.stringify(body) }
    const response = await fetch(`${url}${API}${path}`, { ...sent, headers, signal: over, redirect: 'error' })
    const text = await response.text()
    if (response.status === 404 && body === null) return null
    if (!response.ok) throw new Error(`status ${response.status} for ${path.split('?')[0] ?? ''}`)
    const { data } = answer.safeParse(text.length > ANSWER_BYTES_MAX ? null : parsed(text))
    if (data === undefined) throw new Error(`an answer to ${path.split('?')[0] ?? ''} that is not MLflow's`)
    return data
  }

  async function experimentId(signal: AbortSignal): Promise<string> {
    const found = await call(`experiments/get-by-name?experiment_name=${encodeURIComponent(experiment)}`, null, experimentFound, signal)
    if (found !== null) return found.experiment.experiment_id
    return (await call('experiments/create', { name: experiment }, experimentMade, signal))?.experiment_id ?? ''
  }

  async function runOf(scenario: string, signal: AbortSignal): Promise<string> {
    const known = runs.get(scenario)
    if (known !== undefined) return known
    const experiment_id = await experimentId(signal)
    const wanted = { experiment_ids: [experiment_id], filter: `tags.\`${TAG}\` = '${scenario}'`, max_results: 1 }
    const [old] = (await call('runs/search', wanted, runsFound, signal))?.runs ?? []
    const made = { experiment_id, run_name: scenario, start_time: milliseconds(clock), tags: [{ key: TAG, value: scenario }] }
    const run = old?.info.run_id ?? (await call('runs/create', made, runMade, signal))?.run.info.run_id ?? ''
    runs.set(scenario, run)
    return run
  }

  return {
    name: 'MLflow',
    async note(scenario, step, numbers, signal) {
      const run_id = await runOf(scenario, signal)
      const metrics = Object.entries(numbers).map(([key, value]) => ({ key, value, timestamp: milliseconds(clock), step }))
      await call('runs/log-batch', { run_id, metrics }, z.unknown(), signal)
    },
  }
}

const milliseconds = (clock: () => number): number => Math.round(clock() * 1000)
