/** The routes of workers, and of the episodes that they play. */
import { SMALL_BODY_BYTES_MAX } from '../../contract/index.ts'
import * as wire from '../../contract/wire/index.ts'
import type { Handler, HttpRoute } from '../context.ts'
import { CHECKED_BODY, KNOWN, refusals } from '../openapi/refusals.ts'
import { answer, live } from '../openapi/spec.ts'
import { rowsOf } from './row.ts'

const { get, post } = rowsOf('fleet')

/** Loaded with the first request: most services have no workers. */
const fleet =
  (name: 'offer' | 'distrusted' | 'take' | 'beat' | 'finish' | 'show'): Handler =>
  async (context) =>
    (await import('../handlers/fleet.ts'))[name](context)

const OFFERED = {
  access: 'evaluation',
  right: 'manage',
  summary: 'Has an episode played by a worker, and answers with its result',
  description: 'Answers once a worker has played it. Who leaves before cancels it. Takes the evaluation token too.',
  body: wire.offeredEpisodeSchema,
  answers: { 200: answer(wire.playedEpisodeSchema, 'What the worker answered.') },
  refusals: refusals(CHECKED_BODY, KNOWN, { 503: ['service_closing'] }),
} as const
const DISTRUSTED = {
  access: 'evaluation',
  right: 'manage',
  summary: 'Lists the workers whose scores are worth nothing',
  description: 'Takes the evaluation token too.',
  answers: { 200: live(wire.distrustedSchema, 'Workers that were set aside.') },
  refusals: KNOWN,
} as const
const LEASED = refusals(CHECKED_BODY, { 404: ['unknown_lease'] })

export const fleetRoutes: readonly HttpRoute[] = [
  post('/svc/scenarios/:scenario/evaluation/episodes', fleet('offer'), { ...OFFERED, operationId: 'playEpisode' }),
  post('/svc/scenarios/:scenario/components/:component/evaluation/episodes', fleet('offer'), {
    ...OFFERED,
    operationId: 'playComponentEpisode',
  }),
  get('/svc/scenarios/:scenario/evaluation/episodes', fleet('distrusted'), { ...DISTRUSTED, operationId: 'listDistrusted' }),
  get('/svc/scenarios/:scenario/components/:component/evaluation/episodes', fleet('distrusted'), {
    ...DISTRUSTED,
    operationId: 'listComponentDistrusted',
  }),
  get('/svc/fleet', fleet('show'), {
    right: 'read',
    operationId: 'showFleet',
    summary: 'Lists the workers, and how many episodes wait and run',
    answers: { 200: live(wire.fleetSchema, 'Workers that were heard of in the last ten minutes.') },
    refusals: {},
  }),
  post('/svc/fleet/take', fleet('take'), {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'play',
    scope: 'any',
    operationId: 'takeEpisode',
    summary: 'Gives a worker an episode to play, under a lease',
    description: 'Waits up to 20 seconds for one. A lease ends when the worker is silent for ten seconds.',
    body: wire.takeBodySchema,
    answers: { 200: answer(wire.takenEpisodeSchema, 'The episode, or null.') },
    refusals: refusals(CHECKED_BODY, { 409: ['worker_set_aside', 'worker_version'], 429: ['worker_limit'] }),
  }),
  post('/svc/fleet/episodes/:lease/beat', fleet('beat'), {
    bodyBytesMax: SMALL_BODY_BYTES_MAX,
    right: 'play',
    scope: 'any',
    operationId: 'keepEpisode',
    summary: 'Keeps a lease, and asks whether the episode is still wanted',
    body: wire.beatBodySchema,
    answers: { 200: answer(wire.beatSchema, 'Whether to go on.') },
    refusals: CHECKED_BODY,
  }),
  post('/svc/fleet/episodes/:lease/result', fleet('finish'), {
    right: 'play',
    scope: 'any',
    operationId: 'finishEpisode',
    summary: 'Takes the result of an episode from the worker that has its lease, once',
    body: wire.resultBodySchema,
    answers: { 200: answer(wire.finishedSchema, 'It was taken.') },
    refusals: LEASED,
  }),
]
