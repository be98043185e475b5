/** A worker: takes episodes from a service, plays them, and answers, until it is told to stop. */
import { setTimeout as wait } from 'node:timers/promises'
import { FLEET_PROTOCOL, isObject, type JsonObject, type ModelAddress } from '../contract/index.ts'
import { takenEpisodeSchema, beatSchema, type TakeBody, type TakenEpisodeAnswer } from '../contract/wire/index.ts'
import { knowPassingSecret, wordsOf } from '../kit/index.ts'

/** After an answer that never came, or a refusal: longer each time. */
const PAUSE_MS = 500
const PAUSE_MAX_MS = 15_000

/** What a worker can play; fits by shape. */
interface WorkerPlayer {
  readonly plays: string
  play(order: JsonObject, model: ModelAddress, signal: AbortSignal): Promise<object>
}

export interface WorkerOrder {
  readonly name: string
  readonly slots: number
  /** Of this machine, for all that it plays at once. */
  readonly memoryBytes?: number
  readonly players: readonly WorkerPlayer[]
  readonly service: FleetService
  readonly tell: (event: WorkerEvent) => void
  /** Takes no more; what is played is played to its end. */
  readonly draining: AbortSignal
  /** Ends what is played, and gives it back. */
  readonly stopping: AbortSignal
}

export type WorkerEvent =
  | ({ readonly event: 'taken' } & EpisodeAbout)
  | ({ readonly event: 'cancelled' } & EpisodeAbout)
  | ({ readonly event: 'given_back'; readonly reason: string } & EpisodeAbout)
  | ({ readonly event: 'played'; readonly score: number | null; readonly failure: string | null; readonly seconds: number } & EpisodeAbout)
  | { readonly event: 'waiting'; readonly reason: string }

interface EpisodeAbout {
  readonly scenario: string
  readonly task: string
  readonly side: string
}

/** A service, as a worker sees it. Throws what the service refuses. */
export interface FleetService {
  readonly url: string
  ask(path: string, body: object, signal: AbortSignal): Promise<unknown>
}

type Taken = NonNullable<TakenEpisodeAnswer['episode']>

/** Resolves when it is drained or stopped. Throws where the service will never give it an episode. */
export async function work(order: WorkerOrder): Promise<void> {
  await Promise.all(Array.from({ length: order.slots }, () => workInSlot(order)))
}

async function workInSlot(order: WorkerOrder): Promise<void> {
  const { service, name, slots, memoryBytes, players, draining, stopping, tell } = order
  const memory = memoryBytes === undefined ? {} : { memory_bytes: memoryBytes }
  const body = { worker: name, slots, plays: players.map(({ plays }) => plays), ...memory, protocol: FLEET_PROTOCOL } satisfies TakeBody
  const leaving = AbortSignal.any([draining, stopping])
  let failures = 0
  while (!leaving.aborted) {
    try {
      const answer = takenEpisodeSchema.parse(await service.ask('/svc/fleet/take', body, leaving))
      failures = 0
      if (answer.episode !== null) await playTaken(order, answer.episode, answer.beat_seconds * 1000)
    } catch (error) {
      if (leaving.aborted) return
      if (isFinal(error)) throw error
      failures += 1
      // Once for each interruption, not for each try.
      if (failures === 1) tell({ event: 'waiting', reason: wordsOf(error) })
      await wait(Math.min(PAUSE_MAX_MS, PAUSE_MS * 2 ** failures), undefined, { signal: leaving }).catch(() => undefined)
    }
  }
}

/** What asking again does not change: a wrong token or role, a worker that was set aside or is of another version. */
const isFinal = (error: unknown): boolean => error instanceof FleetRefusal && (error.status === 401 || error.status === 409)

/** What the service answered instead. */
export class FleetRefusal extends Error {
  readonly status: number

  constructor(status: number, message: string) {
    super(message)
    this.status = status
  }
}

async function playTaken(order: WorkerOrder, taken: Taken, beatMs: number): Promise<void> {
  const { service, name, players, stopping, tell } = order
  const { plays, episode, model } = Object(taken.order)
  const about = { scenario: taken.scenario, task: textIn(Object(episode).task, 'name'), side: textIn(episode, 'side') }
  tell({ event: 'taken', ...about })
  const unwanted = new AbortController()
  const signal = AbortSignal.any([stopping, unwanted.signal])
  const beating = beat(order, taken, beatMs, unwanted)
  const began = performance.now()
  const answer = (result: object | null): Promise<unknown> =>
    service.ask(`/svc/fleet/episodes/${taken.lease}/result`, { worker: name, result }, AbortSignal.timeout(ANSWER_MS))
  knowPassingSecret(taken.key)
  try {
    const player = players.find((each) => each.plays === plays)
    if (player === undefined) throw new Error('it asks for another agent or evaluator than this worker has')
    const address: ModelAddress = {
      url: `${service.url}${taken.model_path}`,
      apiKey: taken.key,
      model: Object(model).name ?? null,
      api: Object(model).api ?? 'openai',
    }
    const result: object = await player.play(isObject(episode) ? episode : {}, address, signal)
    await answer(result)
    const { score = null, failure = null } = Object(result)
    tell({ event: 'played', ...about, score, failure, seconds: Math.round(performance.now() - began) / 1000 })
  } catch (error) {
    if (unwanted.signal.aborted) return tell({ event: 'cancelled', ...about })
    await answer(null).catch(() => undefined)
    tell({ event: 'given_back', ...about, reason: wordsOf(error) })
    // A machine that cannot play must not take one episode after the other.
    if (!stopping.aborted)
      await wait(PAUSE_MAX_MS, undefined, { signal: AbortSignal.any([stopping, order.draining]) }).catch(() => undefined)
  } finally {
    unwanted.abort()
    await beating
  }
}

/** The service has its own record of what was answered. */
const ANSWER_MS = 60_000

/** Says that it still plays, until it does not. A beat that is lost is no reason to stop: the next one may arrive. */
async function beat({ service, name }: WorkerOrder, { lease }: Taken, beatMs: number, unwanted: AbortController): Promise<void> {
  while (!unwanted.signal.aborted) {
    await wait(beatMs, undefined, { signal: unwanted.signal }).catch(() => undefined)
    if (unwanted.signal.aborted) return
    const answer = await service.ask(`/svc/fleet/episodes/${lease}/beat`, { worker: name }, unwanted.signal).catch(() => null)
    const { data } = beatSchema.safeParse(answer)
    if (data?.goes_on === false) unwanted.abort()
  }
}

const textIn = (value: unknown, name: string): string => String(Object(value)[name] ?? '')
