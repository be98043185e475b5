/** The step: claim a proposal or ask for one, admit it, play both sides, decide, settle. */
import type { JsonObject, StepResult, Trainer } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { admitCandidate, findCandidate, questionOf } from './candidate.ts'
import { chooseTasks } from './choose-tasks.ts'
import { MachineProblem, ScorerProblem } from './episodes.ts'
import { judge, unplayable } from './verdict.ts'
import { beginRun, endRun, metricsOf, stateOf, type Run, type Workshop } from './run.ts'

export function makeTrainer(workshop: Workshop): Trainer {
  return {
    async step(order, report, signal) {
      const run = await beginRun(workshop, order, report, signal)
      const result = await takeStep(run).catch((error: unknown) => failed(run, error))
      await keepUnplayed(run, result)
      const kept = await endRun(run)
      signal.throwIfAborted()
      return { ...result, metrics: { ...toldOf(run, result), ...result.metrics, ...kept } }
    },
  }
}

/** The row that names a proposal settles it; a step that failed gives its own back. */
function toldOf(run: Run, { kind }: StepResult): JsonObject {
  const { proposal, ...metrics } = metricsOf(run)
  return kind === 'fail' || proposal === undefined ? metrics : { ...metrics, proposal }
}

/** What the machine could not play is played by the next try: it is not asked for again, and counts as no try of a proposal. */
async function keepUnplayed(run: Run, result: StepResult): Promise<void> {
  const { unplayed, inbox } = run.workshop
  const { origin } = run
  if (result.kind !== 'fail' || result.retry !== true) return unplayed.forget()
  if (origin === null) return
  if ('claimed' in origin) await inbox.release(origin.claimed)
  else await unplayed.keep(questionOf(run), origin.answer)
}

async function takeStep(run: Run): Promise<StepResult> {
  await run.workshop.inbox.reconcile(run.state.proposals)
  const choice = chooseTasks(run)
  if ('skip' in choice) return skipped(run, choice.skip)
  const problem = unplayable(run, choice)
  if (problem !== null) return skipped(run, problem)
  await readyProgram(run)
  const found = await findCandidate(run, choice)
  if ('skip' in found) return skipped(run, found.skip)
  const candidate = await admitCandidate(run, choice, found)
  if ('skip' in candidate) return skipped(run, candidate.skip)
  return judge(run, choice, candidate)
}

/** Before anybody is asked for a change: without it nothing could be played, and the same change would be paid for again. */
async function readyProgram({ workshop }: Run): Promise<void> {
  try {
    await workshop.program()
  } catch (error) {
    throw new MachineProblem(wordsOf(error), { cause: error })
  }
}

/** A step that had nothing to try. Its row tells why. */
function skipped(run: Run, reason: string): StepResult {
  return { kind: 'skip', reason, state: stateOf(run) }
}

/**
 * What cannot go better the next time is not tried again with the same traffic, and a person's request is not tried twice. Where the machine
 * could not do its part, nothing is known of either: both are kept, and tried again.
 */
function failed(run: Run, error: unknown): StepResult {
  const words = wordsOf(error)
  const metrics = { failed_stage: run.phase }
  if (error instanceof ScorerProblem && run.order.batch.request === null)
    return { kind: 'skip', reason: 'the evaluation failed', metrics: { ...metrics, error: words }, state: stateOf(run) }
  return { kind: 'fail', error: words, ...(error instanceof MachineProblem && { retry: true }), metrics }
}
