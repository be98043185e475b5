/** The weight trainer: a batch becomes rollouts, rollouts a job, a job a candidate, and a candidate that passes its examination a release. */
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import {
  isObject,
  type Examiner,
  type JsonObject,
  type Objective,
  type Prepared,
  type Reporter,
  type Rollout,
  type StepOrder,
  type StepResult,
  type Trainer,
  type TrainerScope,
  type WeightRuntime,
  type Candidate,
  type Examination,
  ENGINE_UNREACHABLE,
  isRefusal,
} from '../../contract/index.ts'
import type { AssembleOptions } from '../rollouts/assemble.ts'
import { collect, nothingToLearn } from './collect.ts'
import { exportPath, pruneExports } from './exports.ts'
import { jobOf, type WeightJob, type Row } from './job-id.ts'
import { markerIn, type Marker, type MarkerFile } from './marker.ts'
import { parentOf } from './parent.ts'
import { makeReferences, type AskReference, type Reference } from './references.ts'
import { isLearntFrom } from './rows.ts'
import { runJob, type JobPlace } from './run-job.ts'
import type { AdamParams, LoraConfig, TrainerClient } from './tinker.ts'

const REST_FIRST_SECONDS = 1
const REST_MAX_SECONDS = 30
/** Who forgets this often in a row is not restarting: then its own words are the failure. */
const FORGOTTEN_MAX = 3
const AWAY: ReadonlySet<string> = new Set(['trainer_unreachable', ENGINE_UNREACHABLE])

/** Has a candidate judged, once: what was decided is in the marker before anybody acts on it. */
interface Bench {
  readonly scope: Pick<TrainerScope, 'scenario' | 'directory'>
  readonly weights: WeightRuntime
  readonly examiner: Examiner
  readonly marker: MarkerFile
}

type Judged = Marker & { readonly examination: Examination }

export interface WeightTrainerOptions {
  readonly scope: TrainerScope
  readonly weights: WeightRuntime
  readonly client: TrainerClient
  readonly objective: Objective
  readonly examiner: Examiner
  /** How the trainer calls the base; null: as the engine does. */
  readonly baseModel: string | null
  readonly teacher: Reference | null
  readonly lora: LoraConfig
  readonly adam: AdamParams
  readonly rollouts: Omit<AssembleOptions, 'vocabulary' | 'contextTokens'>
  readonly maxStaleness: number
  /** Every so manieth publication is kept as a checkpoint; those between live on this machine alone. */
  readonly checkpointEvery: number
}

export function makeWeightTrainer(options: WeightTrainerOptions): Trainer {
  const ask = makeReferences(options.client, { scenario: options.scope.scenario }, options.lora)
  return { step: (order, report, signal) => whileAway(report, signal, () => stepOnce(options, ask, order, report, signal)) }
}

/** Everything before the job is pure or asked again, and the job goes on where it was: so a step may be begun again at any point of it. */
async function stepOnce(
  options: WeightTrainerOptions,
  ask: AskReference,
  order: StepOrder,
  report: Reporter,
  signal: AbortSignal,
): Promise<StepResult> {
  const { objective, weights } = options
  report.phase('proposing')
  const model = await weights.model(signal)
  const { vocabulary, contextTokens } = model
  const base = { name: options.baseModel ?? model.name, digest: model.digest }
  const memory = memoryIn(order.state)
  const assembling = { ...options.rollouts, vocabulary, contextTokens }
  const { rollouts, metrics: admitted } = await collect(order, { ...options, rollouts: assembling }, signal)
  if (rollouts.length === 0) return { kind: 'skip', reason: nothingToLearn(admitted), metrics: admitted }

  const prepared = objective.prepare(await withReferences(options, base.name, ask, rollouts, signal), memory.objective)
  const kept = { objective: prepared.state ?? memory.objective, published: memory.published }
  const metrics = { training_method: objective.name, ...admitted, ...prepared.metrics }
  if (prepared.kind === 'skip') return { kind: 'skip', reason: prepared.reason, state: kept, metrics }
  const rows = rowsOf(objective.name, rollouts, prepared)
  if (rows.length === 0) return { kind: 'skip', reason: 'every token of the batch weighs nothing', state: kept, metrics }

  const parent = parentOf(order.base, order.files)
  const { lora, adam } = options
  const job = jobOf({
    base,
    parentState: parent.trainerState,
    lora,
    loss: objective.loss,
    lossConfig: objective.lossConfig ?? {},
    adam,
    rows,
  })
  const judged = await trainAndJudge(options, job, { parent, shape: model.shape }, report, signal)
  return verdictOf(options, judged, kept, metrics)
}

async function withReferences(
  { objective, teacher }: WeightTrainerOptions,
  base: string,
  ask: AskReference,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
): Promise<readonly Rollout[]> {
  const of = (reference: Reference) => ask(reference, rollouts, signal)
  const baseSays = objective.needsBase === true ? await of({ model: base, state: null }) : null
  const teacherSays = objective.needsTeacher === true && teacher !== null ? await of(teacher) : null
  return rollouts.map((rollout, at) => ({
    ...rollout,
    ...(baseSays !== null && { baseLogProbs: baseSays[at] ?? [] }),
    ...(teacherSays !== null && { teacherLogProbs: teacherSays[at] ?? [] }),
  }))
}

function rowsOf(name: string, rollouts: readonly Rollout[], { advantages }: Prepared & { kind: 'train' }): readonly Row[] {
  if (advantages.length !== rollouts.length) throw badObjective(name, 'one weight, or list of weights, for every rollout')
  const rows = rollouts.map(({ record_ids, tokens, lossMask, logProbs }, at) => {
    const weight = advantages[at] ?? 0
    return { record_ids, tokens, lossMask, logProbs, advantages: typeof weight === 'number' ? lossMask.map(() => weight) : weight }
  })
  if (rows.some((row) => row.advantages.length !== row.lossMask.length)) throw badObjective(name, 'one weight for every generated token')
  if (rows.some((row) => !row.advantages.every(Number.isFinite))) throw badObjective(name, 'finite weights alone')
  return rows.filter(isLearntFrom)
}

const badObjective = (name: string, rule: string): Error => new Error(`the objective ${name} must give ${rule}`)

async function trainAndJudge(
  options: WeightTrainerOptions,
  job: WeightJob,
  from: Pick<JobPlace, 'parent' | 'shape'>,
  report: Reporter,
  signal: AbortSignal,
): Promise<Judged> {
  const { scope, client, objective, examiner, weights } = options
  const { scenario, directory } = scope
  const marker = markerIn(directory)
  const done = await runJob(job, { ...from, client, marker, scenario, directory, objective: objective.name, report, signal })
  const { parent } = from
  await pruneExports(directory, parent.job === null ? [job.id] : [job.id, parent.job])
  report.phase('evaluating')
  const judged = await examineJob(done, { scope, weights, examiner, marker }, signal)
  report.job?.(job.id, judged.status)
  return judged
}

interface Memory {
  readonly objective: JsonObject
  readonly published: number
}

function verdictOf(
  { scope, checkpointEvery }: WeightTrainerOptions,
  { job, trained, examination }: Judged,
  memory: Memory,
  told: JsonObject,
): StepResult {
  const { select, metrics: selection = {} } = examination
  const metrics = { training_job_id: job, ...told, ...trained?.metrics, selected: select, selection }
  if (!select) return { kind: 'reject', metrics, state: { ...memory } }
  const published = memory.published + 1
  const kept = { metrics, state: { ...memory, published } }
  const path = exportPath(job)
  if (published % checkpointEvery !== 0) return { kind: 'live', path, ...kept }
  return { kind: 'publish', content: { kind: 'checkpoint', path: join(scope.directory, path) }, ...kept }
}

/** Whatever the latest step left; an older version may have left something else. */
function memoryIn({ objective, published }: JsonObject): Memory {
  const isCount = typeof published === 'number' && Number.isSafeInteger(published) && published >= 0
  return { objective: isObject(objective) ? objective : {}, published: isCount ? published : 0 }
}

async function examineJob(done: Marker, bench: Bench, signal: AbortSignal): Promise<Judged> {
  if (done.examination !== undefined) return { ...done, examination: done.examination }
  const { select, metrics = {} } = await bench.examiner.examine(candidateOf(done, bench, signal), signal)
  signal.throwIfAborted()
  if (typeof select !== 'boolean') throw new Error('the examiner answered without a decision: select must be true or false')
  const judged = { ...done, status: select ? 'EXAMINED' : 'REJECTED', examination: { select, metrics } } as const
  await bench.marker.write(judged)
  return judged
}

function candidateOf({ job, trained }: Marker, { scope, weights }: Bench, signal: AbortSignal): Candidate {
  const directory = join(scope.directory, exportPath(job))
  return {
    scenario: scope.scenario,
    job,
    metrics: { ...trained?.metrics },
    try: (work) => weights.trial({ name: job, directory }, work, signal),
    current: (work) => work({ chat: (body) => weights.ask(scope.scenario, body, signal) }),
  }
}

/** A trainer or an engine that is away is waited for inside the step, and a trainer that came back without its memory is told everything again. */
export async function whileAway<T>(
  report: Reporter,
  signal: AbortSignal,
  work: () => Promise<T>,
  restFirstSeconds = REST_FIRST_SECONDS,
): Promise<T> {
  let forgotten = 0
  for (let seconds = restFirstSeconds; ; seconds = Math.min(seconds * 2, REST_MAX_SECONDS)) {
    try {
      return await work()
    } catch (error) {
      signal.throwIfAborted()
      if (!isRefusal(error)) throw error
      forgotten = error.code === 'trainer_forgot' ? forgotten + 1 : 0
      if (!AWAY.has(error.code) && (forgotten === 0 || forgotten === FORGOTTEN_MAX)) throw error
      report.line('check', `${error.message}; trying again in ${seconds} s`, true)
    }
    await rest(seconds * 1000, undefined, { signal }).catch(() => signal.throwIfAborted())
  }
}
