/** One training step: runs the trainer on a batch, then lands one row. Training needs no lane; landing runs in the scenario's lane. */
import { isRefusal, type Commit, type Content, type Release, type ScenarioStore, type TrainerPlan } from '../contract/index.ts'
import type { TrainingContext, StepDraft } from './context.ts'
import { draftOf, type Circumstances, type Reserved, type Settled } from './draft.ts'
import type { Feed } from './feed.ts'
import { StepFailure, type RunStep } from './hosts/host.ts'
import type { LiveStep } from './progress.ts'
import { memoryOf } from './rows.ts'

/**
 * in place  the base is still the head.
 * beside    only other components published since: the trainer's policy decides.
 * moved     a promote or rollback happened: the result is obsolete.
 */
type Standing = 'in place' | 'beside' | 'moved'

export interface StepPlace {
  readonly context: TrainingContext
  readonly component: string
  readonly stale: NonNullable<TrainerPlan['stale']>
  readonly judgesCommands: boolean
  readonly feed: Feed
}

export interface StepTask {
  readonly reserved: Reserved
  readonly candidate: Candidate | null
}
/** A stale result to be evaluated again, and the release it was made on. */
interface Candidate {
  readonly content: Content
  readonly base: Release
}

export type StepEnd =
  | { readonly kind: 'landed'; readonly commit: Commit }
  /** No row landed because the head moved. The batch stays reserved; a candidate may be evaluated again. */
  | { readonly kind: 'overtaken'; readonly by: 'people' | 'components'; readonly candidate: Candidate | null }

export async function takeStep(place: StepPlace, task: StepTask, run: RunStep, live: LiveStep, signal: AbortSignal): Promise<StepEnd> {
  const { context, component } = place
  const base = context.head()
  // After a promote or rollback, an earlier candidate is obsolete.
  const isPast = task.candidate !== null && (await standingOf(context.store, task.candidate.base, component)) === 'moved'
  const current = isPast ? { ...task, candidate: null } : task
  const made = await keepContent(context, await attempt(place, current, base, run, live, signal))
  live.phase('settling')
  return land(place, current, base, made, signal)
}

/** A trainer's failure becomes a row. Everything else that is thrown is an internal failure. */
async function attempt(
  { context, component }: StepPlace,
  { reserved: { batch, problem }, candidate }: StepTask,
  base: Release,
  run: RunStep,
  live: LiveStep,
  signal: AbortSignal,
): Promise<Settled | StepFailure> {
  if (problem !== null) return new StepFailure(problem)
  const files = await context.files(base, component)
  const state = memoryOf(context.latest(component)).trainer
  const rejections = await context.rejections(component)
  const step = context.step + 1
  try {
    const { model, evolution = {} } = context
    const runtime_load_id = context.loadId()
    const result = await run(
      {
        step,
        batch,
        base,
        files,
        model,
        state,
        ...(runtime_load_id !== undefined && { runtime_load_id }),
        ...(candidate !== null && { candidate: candidate.content }),
        ...(rejections.length > 0 && { rejections }),
        ...(Object.keys(evolution).length > 0 && { evolution }),
      },
      live,
      signal,
    )
    if (result.kind !== 'fail') return result
    if (result.retry === true) throw new Error(result.error)
    return new StepFailure(result.error, { ...(result.metrics && { metrics: result.metrics }) })
  } catch (error) {
    if (error instanceof StepFailure) return error
    throw error
  }
}

/** A step's result, with its content already written. Without a row the content stays unreferenced. */
interface Made {
  readonly result: Settled | StepFailure
  readonly contentId: string | null
  readonly live: string | null
}

/** Content that cannot be written (a path outside the folder, invalid text) is the trainer's failure. */
async function keepContent(context: TrainingContext, result: Settled | StepFailure): Promise<Made> {
  const nothing = { contentId: null, live: null }
  try {
    if ('content' in result && result.content !== undefined) return { ...nothing, result, contentId: await context.keep(result.content) }
    if (!('path' in result)) return { ...nothing, result }
    await context.admit(result.path)
    return { ...nothing, result, live: result.path }
  } catch (error) {
    if (!isRefusal(error) || (error.kind !== 'invalid' && error.kind !== 'conflict')) throw error
    return { ...nothing, result: new StepFailure(`the result cannot be kept: ${error.message}`, { cause: error }) }
  }
}

async function land(place: StepPlace, { reserved, candidate }: StepTask, base: Release, made: Made, signal: AbortSignal): Promise<StepEnd> {
  const { context, component, stale, judgesCommands, feed } = place
  const losses = await context.store.losses()
  return context.landing(async (append) => {
    signal.throwIfAborted()
    const content = 'content' in made.result && made.result.kind !== 'reject' ? made.result.content : null
    const standing = content === null && made.live === null ? 'in place' : await standingOf(context.store, base, component)
    if (standing === 'moved') return { kind: 'overtaken', by: 'people', candidate: null }
    if (standing === 'beside' && stale === 'refuse') return { kind: 'overtaken', by: 'components', candidate: null }
    if (standing === 'beside' && stale === 'reevaluate' && content !== null)
      return { kind: 'overtaken', by: 'components', candidate: { content, base: candidate?.base ?? base } }
    const latest = memoryOf(context.latest(component))
    const around: Circumstances = {
      component,
      reserved,
      judgesCommands,
      losses,
      contentId: made.contentId,
      live: made.live,
      failures: context.trained(component).failures,
      mergedOnto: standing === 'beside' ? context.head() : null,
      aside: feed.aside(),
      givenUp: null,
      memory: (consumed, trainer) => feed.memory(consumed, trainer ?? latest.trainer),
    }
    const own = feed.own(reserved.batch.samples.flatMap(({ record_ids }) => record_ids))
    const commit = await appendOnce(append, made.result, around, own)
    feed.settle(commit.consumed_ids)
    return { kind: 'landed', commit }
  })
}

/** The store refuses to consume a record twice. A batch that tries, because its processor kept consumed records, is given up for good. */
async function appendOnce(
  append: (draft: StepDraft) => Promise<Commit>,
  result: Settled | StepFailure,
  around: Circumstances,
  own: readonly string[],
): Promise<Commit> {
  try {
    return await append(draftOf(result, around))
  } catch (error) {
    if (!isRefusal(error) || error.code !== 'already_consumed') throw error
    const failure = new StepFailure('the batch holds records that an earlier step consumed', { cause: error })
    return append(draftOf(failure, { ...around, contentId: null, live: null, givenUp: own }))
  }
}

/** From the newest row back to the base, so the cost does not depend on the length of the history. */
export async function standingOf(rows: Pick<ScenarioStore, 'chain'>, base: Release, component: string): Promise<Standing> {
  let standing: Standing = 'in place'
  for (let before = Number.MAX_SAFE_INTEGER; ;) {
    const page = await rows.chain({ before, limit: ROWS_PER_LOOK, only: 'published' })
    for (const row of page) {
      if (row.release?.release_id === base.release_id) return standing
      if (row.operation !== 'train' || (row.component ?? '') === component) return 'moved'
      standing = 'beside'
    }
    const last = page.at(-1)
    if (last === undefined) return standing
    before = last.step
  }
}

/** Most often the newest row is the base. */
const ROWS_PER_LOOK = 4
