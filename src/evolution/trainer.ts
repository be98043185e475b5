/** The step: claim or request a proposal, admit it, play both sides, decide, settle. */
import type { JsonObject, StepOrder, StepResult, Trainer } from '../contract/index.ts'
import { wordsOf } from '../kit/index.ts'
import { admitCandidate, findCandidates, goesOn, questionOf, type FoundChanges, type ProposedChange, type Skip } from './candidate.ts'
import { chooseTasks, type TaskChoice } from './choose-tasks.ts'
import { screen, screeningOf } from './screening/screen.ts'
import { MachineProblem } from './hosts/host.ts'
import { ScorerProblem } from './scoring.ts'
import { judge, unplayable } from './judge.ts'
import { improvementAfter } from './money/improvement.ts'
import { Purse } from './money/purse.ts'
import { pricesOf } from './money/spent.ts'
import { beginRun, endRun, metricsOf, stateOf, type StepRun, type EvolutionContext } from './run.ts'

export function makeTrainer(configured: EvolutionContext): Trainer {
  return {
    async step(order, report, signal) {
      const context = settled(configured, order)
      const spent = await spentToday(context, order)
      if (spent !== null) return tomorrow(spent)
      const run = await beginRun(context, order, report, signal)
      const taken = await takeStep(run).catch((error: unknown) => failed(run, error))
      // Where the disk does not take it, it is kept for the next step.
      await run.purse.settle().catch(() => undefined)
      const result = postponed(run, taken)
      await keepUnplayed(run, result)
      const kept = await endRun(run)
      signal.throwIfAborted()
      return accounted(run, { ...result, metrics: { ...rowMetrics(run, result), ...result.metrics, ...kept } })
    },
  }
}

/** What people set for the scenario goes before what is configured. */
const settled = (context: EvolutionContext, { evolution }: StepOrder): EvolutionContext =>
  evolution === undefined ? context : { ...context, settings: { ...context.settings, ...evolution } }

/** Nothing begins on a day whose cap is reached, nor a step that a call of did not fit into what is left of it: the batch waits. */
async function spentToday({ ledger, settings, now }: EvolutionContext, { step }: StepOrder): Promise<string | null> {
  await ledger.tidy(now()).catch(() => undefined)
  await ledger.settle(now()).catch(() => undefined)
  return new Purse(ledger, settings, step, now).reachedToday
}

const tomorrow = (reached: string): StepResult => ({ kind: 'fail', error: `${reached}; it goes on tomorrow (UTC)`, retry: true })

/** Where a call did not fit into the day before anything was decided, the step is taken again: else it would use up its batch or request. */
function postponed({ purse: { refusedToday }, phase }: StepRun, result: StepResult): StepResult {
  const isUndecided = phase === 'proposing' && (result.kind === 'fail' || result.kind === 'skip')
  return isUndecided && refusedToday !== null ? tomorrow(refusedToday) : result
}

/** A result that makes a release says what all steps since the last one took. A failed step has no state; the next one counts it too. */
function accounted({ order, state: { spending }, context: { ledger } }: StepRun, result: StepResult): StepResult {
  if (result.kind === 'fail' || result.state === undefined) return result
  const isRelease = result.kind === 'publish' || result.kind === 'hold'
  const { improvement, state } = improvementAfter(spending, ledger, order.step, isRelease)
  return { ...result, metrics: { ...result.metrics, ...improvement }, state: { ...result.state, spending: state } }
}

/** A row that names a proposal settles it, so a failed step leaves it out. */
function rowMetrics(run: StepRun, { kind }: StepResult): JsonObject {
  const { proposal, ...metrics } = metricsOf(run)
  return kind === 'fail' || proposal === undefined ? metrics : { ...metrics, proposal }
}

/** Keeps the proposal when the machine could not play it: the next attempt uses it, and it does not count as tried. */
async function keepUnplayed(run: StepRun, result: StepResult): Promise<void> {
  const { unplayed, inbox } = run.context
  const { origin } = run
  // A step that was stopped is done again.
  if (run.signal.aborted) return
  if (result.kind !== 'fail' || result.retry !== true) return unplayed.forget()
  if (origin === null) return
  if ('claimed' in origin) await inbox.release(origin.claimed)
  else await unplayed.keep(questionOf(run), origin.answers)
}

async function takeStep(run: StepRun): Promise<StepResult> {
  const { reachedByStep } = run.purse
  if (reachedByStep !== null) return { kind: 'fail', error: reachedByStep }
  await run.context.inbox.reconcile(run.state.proposals)
  const choice = chooseTasks(run)
  if ('skip' in choice) return skipped(run, choice.skip)
  const problem = unpriced(run)
  if (problem !== null) return skipped(run, problem)
  run.screening = await screeningOf(run, choice)
  const futile = unplayable(run, choice)
  // An open case has the level of its first decision: what is too little for a new change may be enough for it.
  const open = futile === null ? null : goesOn(run, choice)
  if (futile !== null && open === null) return skipped(run, futile)
  // Before the proposer: where nothing can be played, the proposal would be paid for again.
  await run.episodes.ready()
  const found = open ?? (await findCandidates(run, choice))
  if ('skip' in found) return skipped(run, found.skip)
  const change = await screened(run, choice, found)
  if ('skip' in change) return skipped(run, change.skip)
  const candidate = await admitCandidate(run, choice, change)
  if ('skip' in candidate) return skipped(run, candidate.skip)
  return judge(run, choice, candidate)
}

/** Why money cannot be weighed, or null. */
function unpriced({ context: { settings }, order: { batch, model } }: StepRun): string | null {
  if (batch.request !== null || settings.objective.cost_per_point === null || pricesOf(settings, model.model) !== null) return null
  const named = model.model === null ? 'the model' : `the model ${model.model}`
  return `evolution.objective.cost_per_point is set, and the price of ${named} is not known; set evolution.prices, or leave the objective out`
}

async function screened(run: StepRun, choice: TaskChoice, { changes, isNew }: FoundChanges): Promise<ProposedChange | Skip> {
  if (isNew && run.screening !== null) return screen(run, choice, run.screening, changes)
  return changes[0] ?? { skip: 'no proposal' }
}

function skipped(run: StepRun, reason: string): StepResult {
  return { kind: 'skip', reason, state: stateOf(run) }
}

/** A broken evaluator skips the batch, since a retry would fail too. A request is not retried, unless the machine was the problem. */
function failed(run: StepRun, error: unknown): StepResult {
  const words = wordsOf(error)
  const metrics = { failed_stage: run.phase }
  if (error instanceof ScorerProblem && run.order.batch.request === null)
    return { kind: 'skip', reason: 'the evaluation failed', metrics: { ...metrics, error: words }, state: stateOf(run) }
  return { kind: 'fail', error: words, ...(error instanceof MachineProblem && { retry: true }), metrics }
}
