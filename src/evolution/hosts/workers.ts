/** Has episodes played by workers on other machines: the service hands each to one, and answers with its result. */
import { Agent, fetch } from 'undici'
import { z } from 'zod'
import { isObject, type Adapter, type Episode, type JsonObject } from '../../contract/index.ts'
import { distrustedSchema, playedEpisodeSchema, type OfferedEpisodeBody, type PlayedEpisodeAnswer } from '../../contract/wire/index.ts'
import { wordsOf } from '../../kit/index.ts'
import type { EvolutionSettings } from '../method.ts'
import { CapReached } from '../money/caps.ts'
import { pinnedVersion } from '../program.ts'
import { ScorerProblem } from '../scoring.ts'
import { MachineProblem, type EpisodeHost, type EpisodeInput, type EpisodeMeans, type EpisodeOutcome } from './host.ts'
import { playsOf } from './plays.ts'

/** An episode waits for a worker, and then takes as long as it takes. */
const PATIENT = new Agent({ headersTimeout: 0, bodyTimeout: 0 })

export function hostWorkers(adapter: Adapter, settings: EvolutionSettings): EpisodeHost {
  const distrusted = new Set<string>()
  const distrust = (names: readonly string[]): void => names.forEach((name) => distrusted.add(name))
  return {
    // Where no worker is there, episodes wait for one.
    async ready(means) {
      try {
        distrust(distrustedSchema.parse(await ask(means, 'GET')).set_aside)
      } catch (error) {
        means.signal.throwIfAborted()
        throw new MachineProblem(`the service does not say which workers to believe: ${wordsOf(error)}`, { cause: error })
      }
    },
    distrusts: (worker) => distrusted.has(worker),
    version: () => pinnedVersion(adapter, settings.binary),
    async play(input, means) {
      const plays = await playsOf(adapter, settings)
      try {
        const body = {
          plays,
          seconds_max: secondsMax(settings),
          ...limitsOf(adapter, settings),
          ...(means.budget !== null && { budget: means.budget }),
          ...orderOf(input, means),
        } satisfies OfferedEpisodeBody
        const answer = playedEpisodeSchema.parse(await ask(means, 'POST', body))
        distrust(answer.set_aside)
        return playedBy(answer, means)
      } catch (error) {
        means.signal.throwIfAborted()
        if (error instanceof ScorerProblem || error instanceof CapReached) throw error
        return troubled(wordsOf(error))
      }
    },
  }
}

function orderOf(input: EpisodeInput, { priority, model }: EpisodeMeans): Pick<OfferedEpisodeBody, 'priority' | 'episode' | 'model'> {
  const episode: JsonObject = JSON.parse(JSON.stringify(input))
  return { priority, episode, model: { name: model.model, api: model.api } }
}

async function ask({ model, signal }: Pick<EpisodeMeans, 'model' | 'signal'>, method: 'GET' | 'POST', body?: object): Promise<unknown> {
  const response = await fetch(`${model.url}/episodes`, {
    method,
    headers: { 'content-type': 'application/json', ...(model.apiKey !== null && { authorization: `Bearer ${model.apiKey}` }) },
    ...(body !== undefined && { body: JSON.stringify(body) }),
    signal,
    dispatcher: PATIENT,
  })
  const answer = await response.json()
  if (response.status !== 200) throw new Error(isObject(answer) ? String(Object(answer['error'])['message']) : `status ${response.status}`)
  return answer
}

/** The service counted the calls; the rest is what the worker says. */
function playedBy({ worker, result, problem, cap, calls }: PlayedEpisodeAnswer, means: EpisodeMeans): EpisodeOutcome {
  for (const call of calls) means.counted({ ...call, model: means.model.model ?? call.model, cached: 0, isAnswered: true })
  if (result === null && cap !== undefined) throw new CapReached(cap)
  if (result === null) return troubled(problem ?? 'nobody played it')
  const { data: said, error } = workerResult.safeParse(result)
  if (said === undefined) return troubled(`worker ${worker} answered what is no result: ${z.prettifyError(error)}`)
  if ('problem' in said) throw new ScorerProblem(said.problem)
  return { ...said, worker }
}

/** The service holds a worker to what the sandbox of an episode may take. */
function limitsOf({ name }: Adapter, { sandbox }: EvolutionSettings): Pick<OfferedEpisodeBody, 'needs' | 'calls_max' | 'tokens_max'> {
  const { memory_bytes = 0, model_calls, model_tokens } = sandboxLimits.parse(sandbox ?? {})
  return {
    needs: { adapter: name, memory_bytes },
    ...(model_calls !== undefined && { calls_max: model_calls }),
    ...(model_tokens !== undefined && { tokens_max: model_tokens }),
  }
}
const limit = z.int().nonnegative().exactOptional()
const sandboxLimits = z.object({ memory_bytes: limit, model_calls: limit, model_tokens: limit })

/** The agent's time, that of the evaluator, which runs commands of the task, and what it takes to get both ready. */
const secondsMax = ({ episode_timeout_s }: EvolutionSettings): number => 3 * episode_timeout_s + GET_READY_SECONDS
const GET_READY_SECONDS = 900

const troubled = (words: string): EpisodeOutcome => ({
  score: null,
  failure: `could not be run: ${words}`,
  episode: null,
  note: null,
  trouble: 'machine',
  seeds: [],
  agentSeconds: 0,
  worker: null,
})

const object = z.custom<JsonObject>(isObject)
const text = z.string()
const episode: z.ZodType<Episode> = z.object({
  exitCode: z.int(),
  stdout: text,
  stderr: text,
  trajectory: z.array(object),
  ended: z.exactOptional(z.enum(['start', 'time', 'memory', 'processes', 'disk', 'files', 'output'])),
  notes: z.exactOptional(z.array(text)),
  modelFailure: z.exactOptional(text),
  answeredBy: z.exactOptional(text),
})
const outcome: z.ZodType<PlayedOutcome> = z.object({
  score: z.number().nullable(),
  failure: text.nullable(),
  episode: episode.nullable(),
  note: z.object({ words: text, more: object }).nullable(),
  trouble: z.enum(['machine', 'model', 'evaluator']).nullable(),
  seeds: z.array(z.number().nullable()),
  agentSeconds: z.number().nonnegative(),
})
/** What a worker answers: the outcome, or why no score of this evaluator can be trusted. */
const workerResult = z.union([outcome, z.object({ problem: text })])
type PlayedOutcome = Omit<EpisodeOutcome, 'worker'>
export type WorkerResult = PlayedOutcome | { readonly problem: string }
