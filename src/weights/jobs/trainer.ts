/** The weight trainer: a batch becomes rollouts, rollouts a job, a job a candidate, and a candidate that passes its examination a release. */
import { hash } from 'node:crypto'
import { join } from 'node:path'
import { setTimeout as rest } from 'node:timers/promises'
import {
  ENGINE_UNREACHABLE,
  isObject,
  isRefusal,
  type AdapterPlan,
  type Candidate,
  type Examination,
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
} from '../../contract/index.ts'
import { FolderDocuments } from '../../kit/index.ts'
import { collect, nothingToLearn } from '../rollouts/admit.ts'
import type { AssembleOptions } from '../rollouts/assemble.ts'
import { exportPath, parentOf, pruneExports } from './exports.ts'
import { jobOf, type WeightJob, type Row } from './job-id.ts'
import { markerIn, type Marker, type MarkerFile } from './marker.ts'
import { noteStep, type CurveSink } from '../curves/sinks.ts'
import { curvesOf } from '../curves/curves.ts'
import { callsOf, generatedOf, isLearntFrom, questionOf } from './rows.ts'
import { runJob, type JobPlace } from './run-job.ts'
import { keepingAlive, letGo } from './session.ts'
import type { AdamParams, LoraConfig, TrainerClient } from './tinker.ts'

const REST_FIRST_SECONDS = 1
const REST_MAX_SECONDS = 30
/** A trainer that forgets this often in a row is not restarting, and the step fails with its words. */
const FORGOTTEN_MAX = 3
const AWAY: ReadonlySet<string> = new Set(['trainer_unreachable', ENGINE_UNREACHABLE])

/** The frozen base, the weights before the step, and a teacher. */
const REFERENCES_MAX = 3

/** For each rollout the log-probabilities of its generated tokens. */
type Scores = readonly (readonly number[])[]
/** Which weights are asked: a model as it is, or with a state that the trainer saved. */
interface Reference {
  readonly model: string
  readonly state: string | null
}
type AskReference = (reference: Reference, rollouts: readonly Rollout[], signal: AbortSignal) => Promise<Scores>

type Judged = Marker & { readonly examination: Examination }

export interface WeightTrainerOptions {
  readonly scope: TrainerScope
  readonly weights: WeightRuntime
  readonly client: TrainerClient
  readonly objective: Objective
  readonly examiner: Examiner
  /** Who else is told the numbers of every step. */
  readonly sinks: readonly CurveSink[]
  /** The trainer's name for the base; null: the engine's. */
  readonly baseModel: string | null
  /** The model that an objective may learn from. */
  readonly teacher: string | null
  /** Whether the base is asked about every batch, to report the distance from it. */
  readonly measuresKl: boolean
  readonly lora: LoraConfig
  readonly adam: AdamParams
  readonly rollouts: Omit<AssembleOptions, 'vocabulary' | 'contextTokens'>
  readonly maxStaleness: number
  /** One in so many publications is kept as a checkpoint; the others stay on this machine only. */
  readonly checkpointEvery: number
}

export function makeWeightTrainer(options: WeightTrainerOptions): Trainer {
  const ask = makeReferences(options)
  return {
    async step(order, report, signal) {
      const result = await whileAway(report, signal, () => stepOnce(options, ask, order, report, signal))
      const noted = { scenario: options.scope.scenario, step: order.step, metrics: result.metrics ?? {} }
      await noteStep(options.sinks, noted, report, signal)
      return result
    },
  }
}

/** Everything before the job can be repeated, and the job continues where it was, so a step may be restarted at any point. */
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
  await weights.checkPlan(planOf(options.lora), signal)
  const base = { name: options.baseModel ?? model.name, digest: model.digest }
  const memory = memoryIn(order.state)
  const assembling = { ...options.rollouts, vocabulary, contextTokens }
  const { rollouts, metrics: admitted } = await collect(order, { ...options, rollouts: assembling }, signal)
  if (rollouts.length === 0) return { kind: 'skip', reason: nothingToLearn(admitted), metrics: admitted }

  const parent = parentOf(order.base, order.files)
  const informed = await withReferences(options, { model: base.name, state: parent.trainerState }, ask, rollouts, signal)
  const prepared = objective.prepare(informed, memory.objective)
  const kept = { objective: prepared.state ?? memory.objective, published: memory.published }
  const metrics = { training_method: objective.name, ...admitted, ...curvesOf(informed), ...prepared.metrics }
  if (prepared.kind === 'skip') return { kind: 'skip', reason: prepared.reason, state: kept, metrics }
  const rows = rowsOf(objective.name, rollouts, prepared)
  if (rows.length === 0) return { kind: 'skip', reason: 'every token of the batch weighs nothing', state: kept, metrics }

  const { lora, adam } = options
  const { loss, lossConfig = {} } = objective
  const job = jobOf({ base, parentState: parent.trainerState, lora, loss, lossConfig, adam, rows })
  const judged = await trainAndJudge(options, job, { parent, shape: model.shape }, report, signal)
  return verdictOf(options, judged, kept, metrics)
}

/** The modules as every base of the Llama family names them. */
const planOf = ({ rank, train_attn, train_mlp }: LoraConfig): AdapterPlan => ({
  rank,
  modules: [...(train_attn ? ['q_proj', 'k_proj', 'v_proj', 'o_proj'] : []), ...(train_mlp ? ['gate_proj', 'up_proj', 'down_proj'] : [])],
})

/** Answers are kept for a step that is tried again, and no longer. */
function makeReferences(options: WeightTrainerOptions): AskReference {
  const kept = new Map<string, Scores>()
  return async (reference, rollouts, signal) => {
    const key = hash(
      'sha256',
      JSON.stringify([reference.model, reference.state, rollouts.map(({ tokens, lossMask }) => [tokens, lossMask.length])]),
    )
    const known = kept.get(key)
    if (known !== undefined) return known
    const scores = await askReference(options, reference, rollouts, signal)
    kept.set(key, scores)
    for (const oldest of [...kept.keys()].slice(0, -REFERENCES_MAX)) kept.delete(oldest)
    return scores
  }
}

/** A fresh adapter changes nothing, so it answers as the model does. */
async function askReference(
  { client, scope, lora }: WeightTrainerOptions,
  { model: base, state }: Reference,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
): Promise<Scores> {
  const session = await client.createSession({ scenario: scope.scenario }, signal)
  return keepingAlive(client, session, signal, async () => {
    const model = await client.createModel(session, base, lora, signal)
    const answers: (readonly number[])[] = []
    try {
      if (state !== null) await client.loadWeights({ model, sequence: 1 }, state, signal)
      const first = state === null ? 1 : 2
      for (const [at, call] of callsOf(rollouts).entries()) {
        const pass = { data: call.map(({ tokens }) => questionOf(tokens)), loss: 'cross_entropy', lossConfig: {} } as const
        const { logProbs } = await client.forward({ model, sequence: at + first }, pass, signal)
        answers.push(...logProbs)
      }
    } finally {
      await letGo(client, model, signal)
    }
    return rollouts.map((rollout, at) => generatedOf(answers[at] ?? [], rollout))
  })
}

async function withReferences(
  { objective, teacher, measuresKl }: WeightTrainerOptions,
  policy: Reference,
  ask: AskReference,
  rollouts: readonly Rollout[],
  signal: AbortSignal,
): Promise<readonly Rollout[]> {
  const base = { ...policy, state: null }
  const baseSays = objective.needsBase === true || measuresKl ? await ask(base, rollouts, signal) : null
  const policySays = objective.needsPolicy === true ? await ask(policy, rollouts, signal) : null
  const teacherSays =
    objective.needsTeacher === true && teacher !== null ? await ask({ model: teacher, state: null }, rollouts, signal) : null
  return rollouts.map((rollout, at) => ({
    ...rollout,
    ...(baseSays !== null && { baseLogProbs: baseSays[at] ?? [] }),
    ...(policySays !== null && { policyLogProbs: policySays[at] ?? [] }),
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
  const { client, objective } = options
  const { scenario, directory, documents } = options.scope
  const marker = markerIn(documents?.('own') ?? new FolderDocuments(directory))
  const checkBase: JobPlace['checkBase'] = (tokens, logProbs) => options.weights.checkBase(tokens, logProbs, signal)
  const done = await runJob(job, { ...from, client, marker, scenario, directory, objective: objective.name, report, checkBase, signal })
  await pruneExports(directory, [job.id, from.parent.job])
  report.phase('evaluating')
  const judged = await examineJob(options, done, marker, signal)
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
  reported: JsonObject,
): StepResult {
  const { select, metrics: selection = {} } = examination
  const metrics = { training_job_id: job, ...reported, ...trained?.metrics, selected: select, selection }
  if (!select) return { kind: 'reject', metrics, state: { ...memory } }
  const published = memory.published + 1
  const kept = { metrics, state: { ...memory, published } }
  const path = exportPath(job)
  if (published % checkpointEvery !== 0) return { kind: 'live', path, ...kept }
  return { kind: 'publish', content: { kind: 'checkpoint', path: join(scope.directory, path) }, ...kept }
}

/** The state of the latest step, which an older version may have written differently. */
function memoryIn({ objective, published }: JsonObject): Memory {
  const isCount = typeof published === 'number' && Number.isSafeInteger(published) && published >= 0
  return { objective: isObject(objective) ? objective : {}, published: isCount ? published : 0 }
}

/** The decision is stored in the marker before it takes effect, so a candidate is examined once. */
async function examineJob(options: WeightTrainerOptions, done: Marker, marker: MarkerFile, signal: AbortSignal): Promise<Judged> {
  if (done.examination !== undefined) return { ...done, examination: done.examination }
  const { select, metrics = {} } = await options.examiner.examine(candidateOf(options, done, signal), signal)
  signal.throwIfAborted()
  if (typeof select !== 'boolean') throw new Error('the examiner answered without a decision: select must be true or false')
  const judged = { ...done, status: select ? 'EXAMINED' : 'REJECTED', examination: { select, metrics } } as const
  await marker.write(judged)
  return judged
}

function candidateOf({ scope, weights }: WeightTrainerOptions, { job, trained }: Marker, signal: AbortSignal): Candidate {
  const directory = join(scope.directory, exportPath(job))
  return {
    scenario: scope.scenario,
    job,
    metrics: { ...trained?.metrics },
    try: (work) => weights.trial({ name: job, directory }, work, signal),
    current: (work) => work({ chat: (body) => weights.ask(scope.scenario, body, signal) }),
  }
}

/** Waits inside the step for a trainer or engine that cannot be reached, and repeats everything for a trainer that lost its memory. */
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
