/** One job, from its first call to a checked adapter on this machine; always on a branch of its own, so that no step is taken twice. */
import { conflict, isRefusal, type Reporter } from '../../contract/index.ts'
import { assertChanged, assertOrdered, fetchExport, findExport, type ExportPlace } from './exports.ts'
import type { WeightJob } from './job-id.ts'
import type { Marker, MarkerFile, Trained } from './marker.ts'
import { callsOf, datumOf, probeOf, questionOf, trainedTokens } from './rows.ts'
import { clearAway, keepingAlive, letGo } from './session.ts'
import { samplerPath, statePath, type Pass } from './tinker.ts'

export interface JobPlace extends ExportPlace {
  readonly marker: MarkerFile
  readonly report: Reporter
  /** Throws where the engine's base answers otherwise than the trainer's: then nothing is trained. */
  readonly checkBase: (tokens: readonly number[], logProbs: readonly number[]) => Promise<void>
}

/** Its marker is at CHECKPOINT or past it, and the export lies where `exportPath` says. */
export async function runJob(job: WeightJob, place: JobPlace): Promise<Marker> {
  const known = await place.marker.read()
  const begun = known?.job === job.id ? known : null
  // Another job is over: its row landed, or its batch is gone.
  if (begun === null && known !== null) await clearAway(known, place.client, place.signal)
  if (begun === null) return train(job, { job: job.id, status: 'RUNNING' }, place)
  if (begun.status !== 'RUNNING' && (await findExport(job, place)) !== null) return begun
  // A trainer that ignores the numbers of calls would add gradients that it has already.
  if (begun.numbered === false && begun.trained === undefined) return trainAgain(job, begun, place)
  try {
    return await train(job, begun, place)
  } catch (error) {
    if (!isLost(error)) throw error
    return trainAgain(job, begun, place)
  }
}

async function trainAgain(job: WeightJob, begun: Marker, place: JobPlace): Promise<Marker> {
  place.report.line('check', 'the trainer cannot go on with what was begun: the job is trained again from the start')
  await clearAway({ ...begun, status: 'RUNNING' }, place.client, place.signal)
  return train(job, { job: job.id, status: 'RUNNING' }, place)
}

/** The trainer lost the model, reports other calls under these numbers, or repeats a failure for its number for ever. */
const LOST: ReadonlySet<string> = new Set(['trainer_forgot', 'trainer_conflict', 'trainer_call_failed'])
const isLost = (error: unknown): boolean => isRefusal(error) && LOST.has(error.code)

/** Every call keeps its number, so the trainer answers a repeated call without running it again. */
async function train(job: WeightJob, begun: Marker, place: JobPlace): Promise<Marker> {
  const { client, signal } = place
  if (begun.session === undefined) await client.about(signal)
  const session = begun.session ?? (await client.createSession({ scenario: place.scenario, job: job.id }, signal))
  return keepingAlive(client, session, signal, async () => {
    const opened: Marker = { ...begun, status: 'RUNNING', session }
    if (begun.session === undefined) await note(opened, place)
    const model = begun.model_id ?? (await client.createModel(session, job.base.name, job.lora, signal))
    const probe = probeOf(job.rows)
    const asked = begun.trained === undefined ? await client.begin({ model, sequence: FIRST }, asking(probe), signal) : null
    const base = asked?.logProbs[0] ?? []
    const numbered = asked?.isNumbered ?? begun.numbered ?? false
    const held: Marker = { ...opened, model_id: model, numbered }
    if (begun.numbered === undefined) await note(held, place)
    if (begun.trained === undefined) await place.checkBase(probe, base)
    const trained = begun.trained ?? (await optimize(job, { model, numbered, base }, place))
    // Before saving: once the trainer forgets the model, these numbers cannot be had again.
    if (begun.trained === undefined) await note({ ...held, trained }, place)
    if (begun.trained === undefined || !(await isSaved(job, model, place))) await save(job, model, place)
    const exported = (await findExport(job, place)) ?? (await fetchExport(job, model, trained, place))
    await letGo(client, model, signal)
    assertOrdered(exported, job)
    assertChanged(exported, place.parent)
    return note({ ...held, trained, status: 'CHECKPOINT' }, place)
  })
}

async function note(marker: Marker, { marker: file, report }: JobPlace): Promise<Marker> {
  await file.write(marker)
  report.job?.(marker.job, marker.status)
  return marker
}

interface Opened {
  readonly model: string
  readonly numbered: boolean
  /** What the base says of the probe. */
  readonly base: readonly number[]
}

async function optimize(job: WeightJob, { model, numbered: isNumbered, base }: Opened, place: JobPlace): Promise<Trained> {
  const { client, parent, report, signal } = place
  const { loss, lossConfig, rows } = job
  const sequence = sequencesOf(job)
  if (job.parentState !== null) {
    if (!(await client.knows(job.parentState, signal)))
      throw conflict(
        'trainer_state_gone',
        `the trainer no longer has the state that release ${parent.release_id} was trained to; roll back to a release whose state it has, or give it back its state folder`,
      )
    await client.loadWeights({ model, sequence: sequence.load }, job.parentState, signal)
  }
  const tokens = trainedTokens(rows)
  report.line('model', `training on ${rows.length} rows, ${tokens} tokens`)
  let lossSum = 0
  for (const [at, call] of callsOf(rows).entries()) {
    const pass = { data: call.map((row) => datumOf(row, loss)), loss, lossConfig }
    lossSum += (await client.forwardBackward({ model, sequence: sequence.pass + at, isNumbered }, pass, signal)).loss
  }
  const reported = await client.optimStep({ model, sequence: sequence.step, isNumbered }, job.adam, signal)
  const probe = probeOf(rows)
  const { logProbs } = await client.forward({ model, sequence: sequence.probe }, asking(probe), signal)
  const metrics = { loss: lossSum / tokens, optimizer_steps: 1, tokens_trained: tokens, trainer: reported }
  return { metrics, probe: { tokens: probe, log_probs: logProbs[0] ?? [], base_log_probs: base } }
}

const asking = (tokens: readonly number[]): Pass => ({ data: [questionOf(tokens)], loss: 'cross_entropy', lossConfig: {} })

/** Of the call that is made twice. */
const FIRST = 1

/** In the order of the calls and without gaps, since some trainers work them off by their numbers. */
function sequencesOf({ parentState, rows }: WeightJob): Readonly<Record<'load' | 'pass' | 'step' | 'probe' | 'state' | 'sampler', number>> {
  const load = FIRST + 1
  const pass = parentState === null ? load : load + 1
  const step = pass + callsOf(rows).length
  return { load, pass, step, probe: step + 1, state: step + 2, sampler: step + 3 }
}

async function isSaved({ id }: WeightJob, model: string, { client, signal }: JobPlace): Promise<boolean> {
  return (await client.knows(samplerPath(model, id), signal)) && (await client.knows(statePath(model, id), signal))
}

async function save(job: WeightJob, model: string, { client, signal }: JobPlace): Promise<void> {
  const sequence = sequencesOf(job)
  await client.saveWeights({ model, sequence: sequence.state }, job.id, signal)
  await client.saveForSampler({ model, sequence: sequence.sampler }, job.id, signal)
}
