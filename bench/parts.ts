/** The parts of a run, each a few windows per contestant and round; the last only starts the service. */

import { takeBoot } from './boot.ts'
import { hasCoresApart, moveAway, moveBack, SERVICE_CORES } from './cores.ts'
import { SHAPES, STREAM_SHAPE, type ShapeName, type StreamPlan } from './formats.ts'
import { canHalveCores, halveCores } from './half-cores.ts'
import type { JsonJob, SseJob } from './jobs.ts'
import type { ContestantName, PartName } from './options.ts'
import { costMetrics, type Rig, startJsonUpstream, startNodeUpstream, type Upstream } from './rig.ts'
import { takeLimits } from './limits.ts'
import { PROMOTE_SETTINGS, takePromote } from './promote.ts'
import { common, inRounds, jsonWindow, note, tinyJob, warmUp, type Part, type Turn } from './rounds.ts'
import { takeSessions } from './sessions.ts'
import { takeStart } from './start.ts'
import { takeTraining, TRAINING_SETTINGS } from './training.ts'

export const CONCURRENCIES = [1, 8, 32, 64] as const
/** Concurrent requests of 400 KB. */
const CONTEXT_CONCURRENCY = 8
const TTFT_PLAN: StreamPlan = { tokens: 64, gapMs: 5 }
const TTFT_CONCURRENCY = 4
const ROW_PLAN: StreamPlan = { tokens: 64, gapMs: 0 }
const CROWD_PLAN: StreamPlan = { tokens: 64, gapMs: 20 }
export const CROWD_STREAMS = 1000
/** The short run tries two listeners where they may change something: receipts, and what promotes do. */
const QUICK_WITHOUT: Partial<Record<ContestantName, ReadonlySet<PartName>>> = {
  'svc-durable': new Set(['promote']),
  'svc-2-listeners': new Set(['sse', 'streams']),
}
const LISTENERS: ReadonlySet<ContestantName> = new Set(['svc-durable', 'svc-2-listeners'])
const HALVES_WARM_UP_SECONDS = 40
const LISTENERS_CONCURRENCY = 128
export const LISTENERS_WINDOW = `c=${LISTENERS_CONCURRENCY}`
const STALL_MS = 200
const STREAM_WARM_UP_SECONDS = 1
const IMPORT = { batches: 40, recordsPerBatch: 1000, recordBytes: 1024, concurrency: 2 } as const

export const PART: Readonly<Record<PartName, (rig: Rig) => Promise<void>>> = {
  json: inPart('json', startJsonUpstream, takeJson),
  shapes: inPart('shapes', startJsonUpstream, takeShapes),
  sse: inPart('sse', startNodeUpstream, takeSse),
  streams: inPart('streams', startNodeUpstream, takeStreams, ['direct', 'svc-durable', 'svc-2-listeners', 'svc-before']),
  import: inPart('import', startNodeUpstream, takeImport, ['svc-durable']),
  listeners: takeListeners,
  promote: inPart('promote', startJsonUpstream, takePromote, ['svc-durable', 'svc-2-listeners'], { settings: PROMOTE_SETTINGS }),
  training: inPart('training', startJsonUpstream, takeTraining, ['svc-durable'], { settings: TRAINING_SETTINGS }),
  limits: takeLimits,
  start: takeStart,
  sessions: takeSessions,
  boot: takeBoot,
}

function inPart(
  name: PartName,
  startUpstream: (rig: Rig) => Promise<Upstream>,
  take: (turn: Turn) => Promise<void>,
  among?: readonly ContestantName[],
  more: Pick<Part, 'settings'> = {},
) {
  return async (rig: Rig): Promise<void> => {
    const isLeftOut = (who: ContestantName): boolean => rig.options.quick && (QUICK_WITHOUT[who]?.has(name) ?? false)
    const contestants = rig.options.contestants.filter((who) => (among?.includes(who) ?? true) && !isLeftOut(who))
    await inRounds(rig, { name, rounds: rig.options.rounds, contestants, upstream: await startUpstream(rig), ...more }, take)
  }
}

/** The same load with one listener and with two. The load generator and the upstream keep to other cores, or to the other halves of two. */
async function takeListeners(rig: Rig): Promise<void> {
  const contestants = rig.options.contestants.filter((name) => LISTENERS.has(name))
  const upstream = await startJsonUpstream(rig)
  const part: Part = { name: 'listeners', rounds: rig.options.rounds, contestants, upstream }
  if (!hasCoresApart()) return inRounds(rig, part, canHalveCores() ? takeBusyOnHalves : takeBusy)
  for (const pid of [rig.generator.pid, upstream.process.pid]) moveAway(pid)
  await inRounds(rig, { ...part, cores: SERVICE_CORES }, takeBusy)
  moveBack(rig.generator.pid)
}

async function takeBusy(turn: Turn): Promise<void> {
  await jsonWindow(turn, LISTENERS_WINDOW, busyJob(turn))
}

const busyJob = (turn: Turn): JsonJob => tinyJob(turn.rig, turn.running, { concurrency: LISTENERS_CONCURRENCY, ...common(turn) })

/** Every listener compiles its own copy of the code: at half the speed, and with half of the requests each, that takes longer than the usual warm-up. */
async function takeBusyOnHalves(turn: Turn): Promise<void> {
  if (turn.running.process !== undefined) halveCores(turn.running.process.pid)
  if (!turn.rig.options.quick) await turn.rig.generator.run({ ...busyJob(turn), seconds: HALVES_WARM_UP_SECONDS })
  await takeBusy(turn)
}

async function takeJson(turn: Turn): Promise<void> {
  for (const concurrency of turn.rig.options.quick ? [1, 64] : CONCURRENCIES) {
    await jsonWindow(turn, `c=${concurrency}`, tinyJob(turn.rig, turn.running, { concurrency, ...common(turn) }))
  }
}

async function takeShapes(turn: Turn): Promise<void> {
  for (const [shape, concurrency] of [
    ['tool', 32],
    ['context', CONTEXT_CONCURRENCY],
  ] as const) {
    const job = shapeJob(turn, shape, concurrency)
    await warmUp(turn.rig, job)
    await jsonWindow(turn, shape, job)
  }
}

export function shapeJob(turn: Pick<Turn, 'rig' | 'running' | 'receiptsFile'>, shape: ShapeName, concurrency: number): JsonJob {
  const { answerBytes } = SHAPES[shape]
  const body = turn.rig.format.request(SHAPES[shape])
  return { ...tinyJob(turn.rig, turn.running, { concurrency, ...common(turn) }), body, answerBytes: answerBytes / 2 }
}

async function takeSse(turn: Turn): Promise<void> {
  await warmStreams(turn)
  await sseWindow(turn, 'paced', sseJob(turn, TTFT_PLAN, TTFT_CONCURRENCY))
  await sseWindow(turn, 'in a row', sseJob(turn, ROW_PLAN, 32))
}

/** The starts are spread over the length of one stream, so that all are open when the first ends. */
async function takeStreams(turn: Turn): Promise<void> {
  await warmStreams(turn)
  const staggerMs = CROWD_PLAN.tokens * CROWD_PLAN.gapMs
  const seconds = Math.max(turn.rig.options.seconds, (2 * staggerMs) / 1000)
  await sseWindow(turn, 'crowd', { ...sseJob(turn, CROWD_PLAN, CROWD_STREAMS), staggerMs, seconds })
}

async function warmStreams(turn: Turn): Promise<void> {
  await turn.rig.generator.run({ ...sseJob(turn, ROW_PLAN, 32), seconds: STREAM_WARM_UP_SECONDS })
}

export function sseJob(turn: Pick<Turn, 'rig' | 'running' | 'receiptsFile'>, plan: StreamPlan, concurrency: number): SseJob {
  const { path, request } = turn.rig.format
  const { port, headers } = turn.running
  const body = request({ ...STREAM_SHAPE, stream: plan })
  return { kind: 'sse', port, path, headers, body, concurrency, tokens: plan.tokens, staggerMs: 0, stallMs: STALL_MS, ...common(turn) }
}

async function sseWindow(turn: Turn, window: string, job: SseJob): Promise<void> {
  const { result, cost } = await turn.rig.measure(turn.running, job)
  const seen = {
    streams: result.streams,
    per_second: result.streams / result.seconds,
    frames: result.frames,
    frames_lost: result.framesLost,
    frames_merged: result.framesMerged,
    stalls: result.stalls,
    ttft_p50_ms: result.ttftMs.p50,
    ttft_p99_ms: result.ttftMs.p99,
    gap_p50_ms: result.gapMs.p50,
    gap_p99_ms: result.gapMs.p99,
    gap_max_ms: result.gapMs.max,
  }
  note(turn, window, { ...seen, ...costMetrics(cost, result.frames) }, result.failures)
}

async function takeImport(turn: Turn): Promise<void> {
  const { rig, running, receiptsFile } = turn
  const { port, headers } = running
  const receipts = receiptsFile === undefined ? {} : { receiptsFile }
  const { result, cost } = await rig.measure(running, { kind: 'import', port, headers, path: '/svc/records/batch', ...IMPORT, ...receipts })
  const { records, seconds, failures } = result
  note(turn, 'batches', { records, per_second: records / seconds, ...costMetrics(cost, records) }, failures)
}
