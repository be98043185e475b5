/** Wire shapes of the fleet: what a step offers, what a worker takes and answers, and what people see of both. */
import { z } from 'zod'
import { boundedText, count, jsonObject, modelApi, scenario, text, type WireType } from './fields.ts'

const PLAYS_MAX = 64
const SLOTS_MAX = 256
const NAME_CHARACTERS_MAX = 128
const SECONDS_MAX = 7 * 86_400

const plays = boundedText(NAME_CHARACTERS_MAX, 'must be the digest of what is played')
const amount = z.number().nonnegative()
const workerName = boundedText(NAME_CHARACTERS_MAX, `must be a name of at most ${NAME_CHARACTERS_MAX} characters`)

// ── requests ─────────────────────────────────────────────────────────────────────────────────

export const offeredEpisodeSchema = z.object({
  plays: plays.describe('The digest of the agent, its version, the evaluator and the limits: only a worker with the same plays it.'),
  priority: z.enum(['request', 'traffic']),
  episode: jsonObject.describe('What a worker plays: side, entries, task, reference, luck.'),
  model: z.object({ name: text.nullable(), api: modelApi }),
  needs: z
    .object({ adapter: text, memory_bytes: count })
    .exactOptional()
    .describe('What it takes of a machine: a worker has as many at once as fit into its memory.'),
  calls_max: count.exactOptional().describe('How many model calls one play may make. Absent: no limit.'),
  tokens_max: count.exactOptional().describe('How many tokens those may take. Absent: no limit.'),
  budget: z
    .object({
      step: count,
      model: text.nullable(),
      max_tokens_per_step: count,
      max_cost_per_step: amount,
      max_tokens_per_day: count,
      max_cost_per_day: amount,
    })
    .exactOptional()
    .describe(
      'The caps of the step: a call is held at the most that it may take before it is sent, and not sent where it could pass one. Absent: no cap.',
    ),
  seconds_max: z.number().min(1).max(SECONDS_MAX).describe('How long a worker may have it, before another one gets it.'),
})
export type OfferedEpisodeBody = WireType<typeof offeredEpisodeSchema>

export const takeBodySchema = z.object({
  worker: workerName.describe('Another name for every worker.'),
  plays: z.array(plays).max(PLAYS_MAX).describe('What it can play, as digests.'),
  slots: z.int().min(1).max(SLOTS_MAX).describe('How many episodes it plays at once.'),
  memory_bytes: count.exactOptional().describe('For all of them together. Absent: it is not looked at.'),
  protocol: count.exactOptional().describe('The version of these routes that it speaks. Absent: 1.'),
})
export type TakeBody = WireType<typeof takeBodySchema>

export const beatBodySchema = z.object({ worker: workerName })
export const resultBodySchema = z.object({
  worker: workerName,
  result: jsonObject.nullable().describe('Null: it cannot play it now, and another worker may.'),
})
export type ResultBody = WireType<typeof resultBodySchema>

const setAside = z.array(text).describe('Workers whose scores are worth nothing, also those that they gave before.')

// ── answers ──────────────────────────────────────────────────────────────────────────────────

export const playedEpisodeSchema = z.object({
  worker: text.describe('Empty where nobody could play it.'),
  result: jsonObject.nullable().describe('Null: nobody could play it.'),
  problem: text.nullable().describe('Why there is no result.'),
  cap: text
    .exactOptional()
    .describe('The cap that a call of it could have passed, in words: the call was not sent, and the episode ended. Absent: none.'),
  calls: z
    .array(z.object({ model: text.nullable(), input: count, output: count }))
    .describe('The model calls of the episode, as the service counted them, those of workers that lost it included.'),
  set_aside: setAside,
})
export type PlayedEpisodeAnswer = WireType<typeof playedEpisodeSchema>

export const takenEpisodeSchema = z.object({
  episode: z
    .object({
      lease: text,
      scenario,
      key: text.describe('Opens the evaluation routes of the scenario while the lease lasts, and nothing else.'),
      model_path: text.describe('The path of those routes.'),
      order: jsonObject,
    })
    .nullable()
    .describe('Null: none came in time; ask again.'),
  beat_seconds: z.number().describe('How often the worker says that it still plays.'),
})
export type TakenEpisodeAnswer = WireType<typeof takenEpisodeSchema>

export const distrustedSchema = z.object({ set_aside: setAside })
export type Distrusted = WireType<typeof distrustedSchema>

export const beatSchema = z.object({ goes_on: z.boolean().describe('False: stop, nobody wants it any more.') })
export const finishedSchema = z.object({ taken: z.literal(true) })

const workerSchema = z.object({
  name: text,
  slots: count,
  running: count,
  played: count,
  lost: count.describe('Episodes that it was silent about until another worker got them.'),
  checked: count.describe('Episodes of it that another worker played too.'),
  differed: count.describe('Those of them that had another score.'),
  is_set_aside: z.boolean().describe('It gets no more: it differs far more often than the others from each other.'),
  seen_seconds_ago: z.number(),
})
export const fleetSchema = z.object({
  workers: z.array(workerSchema),
  waiting: count,
  running: count,
  unplayable: z
    .array(z.object({ scenario, episodes: count, reason: text }))
    .describe('Episodes that have waited for more than a minute and that no worker can play.'),
  waited_seconds: z.number().describe('How long the oldest has waited.'),
  last_hour: z.object({
    episodes: count.describe('Episodes that were played.'),
    mean_wait_seconds: z.number().describe('From the offer to the worker that played it.'),
    model_calls: count,
    input_tokens: count,
    output_tokens: count,
    cost: z.number().describe('By `limits.prices`; of calls whose model has a price there.'),
    unpriced_calls: count.describe('Calls whose model has no price.'),
  }),
})
export type Fleet = WireType<typeof fleetSchema>
