/** Episodes on other machines: a step offers them, workers take them, and what they answer goes back to the step. */
import { conflict, FLEET_PROTOCOL, ROUTE_PREFIX, unauthorized } from '../../contract/index.ts'
import {
  beatBodySchema,
  offeredEpisodeSchema,
  resultBodySchema,
  takeBodySchema,
  type Distrusted,
  type Fleet,
  type PlayedEpisodeAnswer,
  type TakenEpisodeAnswer,
} from '../../contract/wire/index.ts'
import { BEAT_MS } from '../../fleet/index.ts'
import { checkShape } from '../../records/index.ts'
import type { HttpContext } from '../context.ts'
import { json, liveJson, type HttpReply } from '../reply.ts'
import { nameInPath } from '../request-fields.ts'
import { clientSignal } from '../response-stream.ts'

const TAKE_MS = 20_000

export async function offer(context: HttpContext): Promise<HttpReply> {
  // A worker would fill the queue that it plays from.
  refuseLease(context)
  const scenario = nameInPath(context)
  const {
    plays,
    priority,
    episode,
    model,
    seconds_max: secondsMax,
    ...given
  } = checkShape(offeredEpisodeSchema, await context.readObject())
  const { needs, calls_max: callsMax, tokens_max: tokensMax, budget } = given
  // Refuses one that is not loaded here.
  await context.services.registry.useLoaded(scenario, async () => undefined)
  const order = { component: context.params['component'] ?? null, plays, episode, model }
  const limits = {
    ...(needs !== undefined && { needs: { adapter: needs.adapter, memoryBytes: needs.memory_bytes } }),
    ...(callsMax !== undefined && { callsMax }),
    ...(tokensMax !== undefined && { tokensMax }),
    ...(budget !== undefined && { budget }),
  }
  const offered = { scenario, plays, priority, secondsMax, order, ...limits }
  const played = await context.services.fleet.play(offered, clientSignal(context.response))
  return json(played satisfies PlayedEpisodeAnswer)
}

export async function take(context: HttpContext): Promise<HttpReply> {
  const { worker, plays, slots, memory_bytes: memoryBytes, protocol = 1 } = checkShape(takeBodySchema, await context.readObject())
  if (protocol !== FLEET_PROTOCOL) throw otherVersion(protocol)
  const { principal, services } = context
  const scenarios = principal.kind === 'service' ? principal.scenarios : null
  const signal = AbortSignal.any([clientSignal(context.response), AbortSignal.timeout(TAKE_MS)])
  const taken = await services.fleet.take(
    { name: nameOf(context, worker), plays, slots, scenarios, ...(memoryBytes !== undefined && { memoryBytes }) },
    signal,
  )
  const beat_seconds = BEAT_MS / 1000
  if (taken === null) return json({ episode: null, beat_seconds } satisfies TakenEpisodeAnswer)
  const { lease, key, scenario, order } = taken
  context.logFields.scenario = scenario
  return json({
    episode: { lease, key, scenario, model_path: modelPath(scenario, order['component']), order },
    beat_seconds,
  } satisfies TakenEpisodeAnswer)
}

export async function beat(context: HttpContext): Promise<HttpReply> {
  const { worker } = checkShape(beatBodySchema, await context.readObject())
  return json({ goes_on: await context.services.fleet.beat(nameOf(context, worker), context.params['lease'] ?? '') })
}

export async function finish(context: HttpContext): Promise<HttpReply> {
  const { worker, result } = checkShape(resultBodySchema, await context.readObject())
  const [name, lease] = [nameOf(context, worker), context.params['lease'] ?? '']
  if (result === null) await context.services.fleet.giveBack(name, lease)
  else await context.services.fleet.finish(name, lease, result)
  return json({ taken: true })
}

export async function show({ services }: HttpContext): Promise<HttpReply> {
  return liveJson((await services.fleet.status()) satisfies Fleet)
}

/** Whom a step may not believe, also what it said before. */
export async function distrusted(context: HttpContext): Promise<HttpReply> {
  refuseLease(context)
  // Refuses one that is not loaded here.
  await context.services.registry.useLoaded(nameInPath(context), async () => undefined)
  return liveJson({ set_aside: await context.services.fleet.setAside() } satisfies Distrusted)
}

function refuseLease({ principal }: HttpContext): void {
  if (principal.kind === 'evaluation' && principal.lease !== null)
    throw unauthorized('the key of an episode opens the model of its scenario alone; a step offers episodes', 'role_forbids')
}

/** What it plays already may still be answered. */
const otherVersion = (protocol: number): Error =>
  conflict(
    'worker_version',
    `this worker speaks version ${protocol} of the routes of workers, and the service version ${FLEET_PROTOCOL}: install the version of svc that the service has`,
  )

/** With the name of its token before a slash, so that no worker speaks for one of another. */
function nameOf({ principal }: HttpContext, worker: string): string {
  // oxlint-disable-next-line no-control-regex -- those are what is taken out
  const name = worker.replaceAll(/[/\u0000-\u001f\u007f]/g, '_')
  return principal.kind === 'service' && principal.isStored ? `${principal.name}/${name}` : name
}

function modelPath(scenario: string, component: unknown): string {
  const of = `${ROUTE_PREFIX}/scenarios/${encodeURIComponent(scenario)}`
  return typeof component === 'string' ? `${of}/components/${encodeURIComponent(component)}/evaluation` : `${of}/evaluation`
}
