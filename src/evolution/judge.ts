/** Judges an admitted change: plays both sides, decides, and publishes, holds or rejects it. */
import {
  RECENT_DECISIONS,
  type Content,
  type Decision,
  type JsonObject,
  type Pair,
  type Question,
  type StepResult,
  type StepVerdict,
  type Task,
} from '../contract/index.ts'
import { contentOf, reviewedEntry, touchedEntries } from '../harness/index.ts'
import { firstCodePoints } from '../kit/index.ts'
import { baselineAfter, isAdded, judgeSum, sumBefore, type JudgedSum } from './baseline.ts'
import type { HarnessCandidate } from './candidate.ts'
import { casesBeside, casesWith, gateTasks, isResumed, openCase, standingOf, treeOf, type Standing } from './cases.ts'
import type { TaskChoice } from './choose-tasks.ts'
import { evaluate, futileReason, uncapped } from './evaluate.ts'
import { evaluationMetrics, cacheMetrics } from './evaluation-metrics.ts'
import type { EpisodeRunner } from './episodes.ts'
import { ScorerProblem } from './scoring.ts'
import { joinedFamilies, joinedNames } from './families/join.ts'
import { movesWith } from './families/moves.ts'
import { gainAfterRound } from './looks-better.ts'
import { heldPowers } from './powers.ts'
import { stateOf, type AskedEntry, type StepRun } from './run.ts'

export async function judge(run: StepRun, choice: TaskChoice, candidate: HarnessCandidate): Promise<StepResult> {
  const standing = standingOf(run, choice.gate, candidate.entries)
  if (standing === null) throw new Error('this case is closed')
  const tasks = gateTasks(run, choice.gate, { tree: treeOf(run, candidate.entries), families: standing.families })
  const end = await play(run, choice, candidate, { standing, tasks })
  const { pairs, played } = end
  const unshown = unprotected(run, pairs, end.decision)
  if (unshown === null) refuseUnscored(run)
  const decision = unshown === null ? uncapped(run.episodes, healthy(pairs, end.decision)) : { ...end.decision, selected: true }
  Object.assign(run.metrics, evaluationMetrics(run, pairs), decisionMetrics(run, decision), cacheMetrics([end]))
  run.report.line('check', decision.reason, !decision.selected)
  const { unsolved_tasks: unsolved } = run.metrics
  if (Array.isArray(unsolved)) run.report.line('check', `both sides score 0 in ${unsolved.join(', ')}; see the evaluator's notes`, true)
  const open = decision.isOpen === true ? openCase(standing, played, joinedFamilies(choice.gate, tasks)) : null
  remember(run, choice, candidate, { decision, pairs, open })
  const { requires } = candidate
  const content = { kind: 'files', files: contentOf(run.context.adapter, candidate.entries) } as const
  const review = reviewReason(run, candidate, unshown)
  if (!decision.selected) {
    return { ...unproven(run, { decision, pairs, held: review, content, tasks }), state: stateOf(run), requires }
  }
  // What waits for a person anyway needs no further episodes.
  const sum = review === null ? await judgeSum(run, candidate.entries, questionOf(run, choice.gate, standing)) : null
  if (sum !== null) Object.assign(run.metrics, sumMetrics(run, sum, decision), cacheMetrics([end, sum]))
  const held = review ?? sum?.held ?? null
  if (held !== null) return { kind: 'hold', content, metrics: { held_because: held }, state: stateOf(run), requires }
  if (isAdded(run, choice.gate)) run.state = { ...run.state, baseline: baselineAfter(run, candidate.entries) }
  return { kind: 'publish', content, state: stateOf(run), requires }
}

interface Unproven {
  readonly decision: Decision
  readonly pairs: readonly Pair[]
  /** Why a person would have to review it. */
  readonly held: string | null
  readonly content: Content
  readonly tasks: readonly Task[]
}

/** A change from traffic whose case is open may be served provisionally, if a proof would publish it and it looks better so far. */
function unproven({ context, order, report }: StepRun, { decision, pairs, held, content, tasks }: Unproven): StepVerdict {
  const { settings } = context
  const isComposed = Object.keys(order.base.components ?? {}).length > 0
  if (settings.provisional === 'off' || order.batch.request !== null || isComposed) return { kind: 'reject' }
  const gain = decision.isOpen === true && held === null ? gainAfterRound(pairs, tasks) : null
  if (gain === null) return { kind: 'reject', content }
  report.line('check', `it is not proved yet, and looks better by ${gain.toFixed(2)} so far: it is offered as the provisional release`)
  return { kind: 'provisional', content, gain }
}

/** Throws when no episode of this step has a score and neither side is to blame: nothing is known about the candidate then. */
function refuseUnscored({ episodes }: StepRun): void {
  const played = episodes.results.filter(({ side, cached }) => side !== 'trial' && !cached)
  if (played.some(({ score }) => score !== null)) return
  const failure = played.find(({ trouble }) => trouble === 'evaluator')?.failure ?? null
  if (failure !== null) throw new ScorerProblem(`no episode has a score; the first ${failure}`)
}

const isUnhealthy = ({ task, candidate }: Pair): boolean => task.role === 'health' && (candidate ?? 0) < 1

/** A candidate that fails a health task is never selected. */
function healthy(pairs: readonly Pair[], decision: Decision): Decision {
  const failing = pairs.find(isUnhealthy)
  if (!decision.selected || failing === undefined) return decision
  // What the agent printed may hold the task, and this reason is shown to everyone.
  const why = failing.candidate === null ? ' (no score)' : ''
  return { ...decision, selected: false, reason: `it fails the health task ${failing.task.name}${why}` }
}

interface Asked {
  readonly standing: Standing
  /** The gate's, in their families. */
  readonly tasks: readonly Task[]
}

async function play(run: StepRun, choice: TaskChoice, { entries }: HarnessCandidate, { standing, tasks }: Asked) {
  const { context, episodes, report } = run
  const { selection } = context.method
  const { episode_workers: workers, objective } = context.settings
  run.phase = 'evaluating'
  report.phase('evaluating', episodesAtMost(run, choice))
  const { pairs: before } = standing
  if (before.length > 0) {
    report.line('check', `was played before: goes on with its ${before.length} pairs`)
    run.metrics['pairs_resumed'] = before.length
  }
  const expected = run.purse.estimate(episodesAtMost(run, choice).episodes_total ?? null, workers)
  if (expected !== null) report.line('check', expected)
  const question = questionOf(run, tasks, standing)
  const together = joinedNames(choice.gate, question.tasks)
  if (together.length > 0) run.metrics['joined_tasks'] = together
  const sides = { candidate: entries, current: run.entries, against: 'current' } as const
  return evaluate({ selection, episodes, ...sides, question, objective, before, workers, report })
}

/** Unknown where the selection draws by itself without a budget. */
function episodesAtMost(run: StepRun, { gate }: TaskChoice): { readonly episodes_total?: number } {
  const { method, settings } = run.context
  const { episodes } = run
  const sides = SIDES + (sumBefore(run, gate) === null ? 0 : 1)
  const all = method.selection.next === undefined ? sides * gate.length * settings.episode_repeats : null
  const known = [all, episodes.left].filter((count) => count !== null)
  return known.length === 0 ? {} : { episodes_total: Math.min(...known) }
}
const SIDES = 2

function questionOf(
  { context, order, state }: StepRun,
  tasks: readonly Task[],
  { seed, history }: Pick<Standing, 'seed' | 'history'>,
): Omit<Question, 'pairs' | 'episodesLeft'> {
  return {
    kind: order.batch.request === null ? 'traffic' : 'request',
    tasks,
    repeats: context.settings.episode_repeats,
    seed,
    history: { ...history, recent: recentOf(state, history.decided) },
  }
}

/** Of a case that goes on, as of its first decision. */
const recentOf = ({ selected_at: at }: StepRun['state'], decided: number): number =>
  at.filter((decision) => decision > decided - RECENT_DECISIONS && decision <= decided).length

/** Why no new change from traffic could be selected: then no proposal is asked for. Null where one could. */
export function unplayable(run: StepRun, choice: TaskChoice): string | null {
  const standing = { seed: '', history: { decided: run.state.decided, selected: run.state.selected } }
  const question = { ...questionOf(run, gateTasks(run, choice.gate, {}), standing), pairs: [], episodesLeft: run.episodes.left }
  return question.kind === 'request' ? null : futileReason(run.context.method.selection, question)
}

function decisionMetrics({ context, episodes }: StepRun, { selected, reason, metrics = {}, episodesMax }: Decision): JsonObject {
  const selection = { policy: context.settings.selection, outcome: selected ? 'select' : 'reject', reason }
  return { ...metrics, selected, published: selected, selection, ...savedMetrics(episodes, [episodesMax]) }
}

/** Saved by the cache and by early decisions, against playing the whole budget. */
function savedMetrics({ used, left }: EpisodeRunner, most: readonly (number | undefined)[]): JsonObject {
  const known = most.filter((count) => count !== undefined)
  if (known.length === 0) return {}
  const saved = Math.max(0, known.reduce((sum, count) => sum + count) - used)
  return { episodes_saved: Math.min(saved, left ?? saved) }
}

/** What the comparison with the baseline adds to those of the first. */
const sumMetrics = ({ episodes }: StepRun, { decision }: JudgedSum, { episodesMax }: Decision): JsonObject => ({
  evidence_sum: decision.metrics?.['evidence'] ?? null,
  episodes_used: episodes.used,
  ...savedMetrics(episodes, [episodesMax, decision.episodesMax]),
})

/** All that a proposer sees of a rejection: more would let it query the gate. */
const REJECTED_REASON = 'it was played, and is no better than what is served'

interface Decided {
  readonly decision: Decision
  readonly pairs: readonly Pair[]
  /** What a later step goes on with; null where the case is closed. */
  readonly open: ReturnType<typeof openCase> | null
}

function remember(run: StepRun, choice: TaskChoice, candidate: HarnessCandidate, decided: Decided): void {
  const { mutations, proposalId } = candidate
  const { selected, reason } = decided.decision
  const { state, order } = run
  const { step } = order
  const counted = countedAfter(run, choice, candidate, decided)
  const rejected = selected ? state.rejected : [...state.rejected, { step, mutations, reason: REJECTED_REASON }]
  const proposals = proposalId === null ? state.proposals : [...state.proposals, { id: proposalId, step, selected, reason }]
  const asked = selected ? [...state.asked, ...askedEntries(run, candidate)] : state.asked
  run.state = { ...state, ...counted, proving: provingAfter(run, candidate, decided), rejected, proposals, asked }
}

/** Others wait as long as one change is proved, so not for ever. */
const PROVING_STEPS_MAX = 4

/** A screened change goes on in the next step, as long as steps get further with it. */
function provingAfter({ screening, state, episodes }: StepRun, { mutations, requires, proposalId }: HarnessCandidate, { open }: Decided) {
  if (screening === null || proposalId !== null) return state.proving
  const isFurther = episodes.results.some(({ side, step }) => side !== 'trial' && step === episodes.step)
  const steps = (state.proving?.steps ?? 0) + 1
  return open === null || !isFurther || steps >= PROVING_STEPS_MAX ? null : { mutations, requires, steps }
}

/** Only changes from traffic had to be better, so only they count in the gate's history, and each once. */
function countedAfter(run: StepRun, { gate }: TaskChoice, { entries }: HarnessCandidate, judged: Decided) {
  const { state, order } = run
  const {
    decision: { selected },
    pairs,
    open,
  } = judged
  if (order.batch.request !== null) return {}
  const decided = state.decided + (isResumed(run, gate, entries) ? 0 : 1)
  return {
    decided,
    selected_at: selected ? [...state.selected_at, decided].slice(-RECENT_DECISIONS) : state.selected_at,
    selected: state.selected + (selected ? 1 : 0),
    moves: movesWith(state.moves, gate, treeOf(run, entries), pairs),
    cases: selected ? casesBeside(run, gate, entries) : casesWith(run, gate, entries, open),
  }
}

function askedEntries({ order: { step, batch }, entries }: StepRun, candidate: HarnessCandidate): readonly AskedEntry[] {
  const { request } = batch
  return request === null
    ? []
    : touchedEntries(entries, candidate.entries).after.map(({ id }) => ({
        entry: id,
        request: request.id,
        step,
        text: firstWords(request.text),
      }))
}

const ASKED_CHARACTERS_MAX = 120

function firstWords(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim()
  const first = firstCodePoints(line, ASKED_CHARACTERS_MAX)
  return first.length < line.length ? `${first}…` : line
}

/** Why no task could show that a requested change does no harm, or null: such a change waits for a person. */
function unprotected({ order: { batch }, episodes }: StepRun, pairs: readonly Pair[], { selected }: Decision): string | null {
  if (batch.request === null || (episodes.capReached !== null && !selected) || pairs.some(isUnhealthy)) return null
  const guarding = pairs.filter(({ task: { role } }) => role === 'gate' || role === 'regression')
  if (guarding.length > 0 && guarding.every(isUncompared)) {
    // What an agent printed may hold the task, so only the words of an evaluator are said.
    const scorer = episodes.results.find(({ failure }) => failure?.startsWith('could not be scored'))
    const words = scorer === undefined ? '' : ` (the first ${scorer.failure})`
    return `${UNSHOWN}: the served side has no score in any of ${guarding.length} pairs${words}; see the step's record`
  }
  const isPlayed = guarding.some(({ candidate }) => candidate !== null)
  return !selected || isPlayed
    ? null
    : `${UNSHOWN}: none of role gate or regression was played; add some, so that the next request is tested`
}
const UNSHOWN = 'no task could show that it harms nothing'

const isUncompared = ({ current, failures }: Pair): boolean => current === null && failures?.current !== undefined

/** Why a person must review it before it is served, or null. */
function reviewReason(run: StepRun, candidate: HarnessCandidate, unshown: string | null): string | null {
  const { publish } = run.context.settings
  const reasons = [
    unshown,
    candidate.byHeart,
    publish === 'review' ? 'evolution.publish is review' : null,
    reviewedKind(run, candidate),
    heldPowers(run, candidate.powers),
    agentReason(candidate),
  ]
  const held = reasons.filter((reason) => reason !== null)
  return held.length === 0 ? null : held.join('; ')
}

/** Every agent may propose; what comes of it reaches all who pull. */
const agentReason = ({ askedBy }: HarnessCandidate): string | null =>
  askedBy?.role === 'agent' ? `it was proposed with the token ${askedBy.token}, of the role agent` : null

function reviewedKind({ context: { settings, adapter }, entries }: StepRun, candidate: HarnessCandidate): string | null {
  const touched = reviewedEntry(adapter, settings.review_kinds, entries, candidate.entries)
  return touched === undefined ? null : `it changes ${touched.id}, of kind ${touched.name}, which evolution.review_kinds holds for review`
}
