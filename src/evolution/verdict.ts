/** From an admitted change to the step's verdict: both sides played, the decision with everything it rests on, publish or hold. */
import type { Decision, Entry, Json, JsonObject, Pair, Question, Side, StepResult } from '../contract/index.ts'
import { contentOf } from '../harness/index.ts'
import { caseOf, type Candidate } from './candidate.ts'
import type { Choice } from './choose-tasks.ts'
import { evaluate } from './evaluate.ts'
import type { Told } from './players.ts'
import { MachineProblem, ScorerProblem } from './episodes.ts'
import { stateOf, type Run } from './run.ts'
import { runsCode, touchedEntries } from './touched.ts'

/** How many episodes of the candidate a row tells one by one; the step's record has them all. */
const TOLD_MAX = 8

export async function judge(run: Run, choice: Choice, candidate: Candidate): Promise<StepResult> {
  const { decision: selections, pairs } = await play(run, choice, candidate)
  refuseUnscored(run)
  const decision = healthy(pairs, selections)
  Object.assign(run.metrics, evaluationMetrics(run, pairs), decisionMetrics(run, decision), savedMetrics(run, decision))
  run.report.line('check', decision.reason, !decision.selected)
  const { unsolved_tasks: unsolved } = run.metrics
  if (Array.isArray(unsolved))
    run.report.line('check', `neither side has a point in ${unsolved.join(', ')}; see what the evaluator said`, true)
  remember(run, choice, candidate, decision)
  const told = { state: stateOf(run), requires: candidate.requires }
  if (!decision.selected) return { kind: 'reject', ...told }
  const content = { kind: 'files', files: contentOf(run.workshop.adapter, candidate.entries) } as const
  const held = reviewReason(run, candidate)
  return held === null ? { kind: 'publish', content, ...told } : { kind: 'hold', content, metrics: { held_because: held }, ...told }
}

/** Where nothing was scored, and that is neither side's doing, nothing was found out about the candidate. Scores known from before say nothing of now. */
function refuseUnscored({ players }: Run): void {
  const told = players.told.filter(({ side, cached }) => side !== 'trial' && !cached)
  if (told.some(({ score }) => score !== null)) return
  const caused = (trouble: 'machine' | 'evaluator'): string | null => told.find((one) => one.trouble === trouble)?.failure ?? null
  const [machine, evaluator] = [caused('machine'), caused('evaluator')]
  if (machine !== null) throw new MachineProblem(`no episode has a score; the first ${machine}`)
  if (evaluator !== null) throw new ScorerProblem(`no episode has a score; the first ${evaluator}`)
}

/** Whoever decides, and whoever asked: a candidate that fails a task of role health is not selected. */
function healthy(pairs: readonly Pair[], decision: Decision): Decision {
  const failing = pairs.find(({ task, candidate }) => task.role === 'health' && (candidate ?? 0) < 1)
  if (!decision.selected || failing === undefined) return decision
  const why = failing.candidate === null ? ` (${failing.failures?.candidate ?? 'no score'})` : ''
  return { ...decision, selected: false, reason: `it fails the health task ${failing.task.name}${why}` }
}

async function play(run: Run, choice: Choice, { entries }: Candidate) {
  const { workshop, players, report } = run
  const { settings, method } = workshop
  run.phase = 'evaluating'
  report.phase('evaluating', episodesAtMost(run, choice))
  return evaluate({
    selection: method.selection,
    players,
    candidate: entries,
    current: run.entries,
    question: questionOf(run, choice),
    workers: settings.episode_workers,
    report,
  })
}

/** As far as it can be said beforehand: a selection that draws by itself may end at any time. */
function episodesAtMost({ workshop: { method, settings }, players }: Run, { gate }: Choice): { readonly episodes_total?: number } {
  const all = method.selection.next === undefined ? SIDES * gate.length * settings.episode_repeats : null
  const known = [all, players.left].filter((count) => count !== null)
  return known.length === 0 ? {} : { episodes_total: Math.min(...known) }
}
const SIDES = 2

function questionOf({ workshop, order, state }: Run, { gate }: Choice): Omit<Question, 'pairs' | 'episodesLeft'> {
  return {
    kind: order.batch.request === null ? 'traffic' : 'request',
    tasks: gate,
    repeats: workshop.settings.episode_repeats,
    seed: `${workshop.scenario}:${order.step}:${order.batch.id}`,
    history: { decided: state.decided, selected: state.selected },
  }
}

/** Why nothing that traffic could bring would ever be selected, or null: then nobody needs to write anything, and nothing is decided. */
export function unplayable(run: Run, choice: Choice): string | null {
  const { selection } = run.workshop.method
  const question = { ...questionOf(run, choice), pairs: [], episodesLeft: run.players.left }
  if (question.kind === 'request' || selection.next === undefined || selection.next(question).length > 0) return null
  const { selected, reason } = selection.decide([], question)
  return selected ? null : reason
}

/** Sums and means over the pairs, and the first episodes one by one. A side that was not played is not spoken of. */
function evaluationMetrics({ players, workshop }: Run, pairs: readonly Pair[]): JsonObject {
  const told = players.told.filter(({ side }) => side !== 'trial')
  const played = (side: Side): boolean => told.some((one) => one.side === side)
  return {
    ...(played('candidate') && { candidate_score: sumOf(pairs, 'candidate') }),
    ...(played('current') && { current_score: sumOf(pairs, 'current') }),
    ...meanMetrics(pairs, told),
    ...(!played('current') && played('candidate') && { evaluation_sides: ['candidate'] }),
    episode_failures: told.filter(({ score }) => score === null).length,
    episode_repeats: workshop.settings.episode_repeats,
    episodes_used: players.played,
    episodes_cached: told.filter(({ cached }) => cached).length,
    ...unsolvedMetrics(pairs),
    candidate_episodes: told
      .filter(({ side }) => side === 'candidate')
      .slice(0, TOLD_MAX)
      .map(briefly),
  }
}

/** Tasks by which nothing can be told: neither side had a point in any pair. More likely than not it is the evaluator that is wrong. */
function unsolvedMetrics(pairs: readonly Pair[]): JsonObject {
  const compared = pairs.filter(({ candidate, current }) => candidate !== null && current !== null)
  const solved = new Set(compared.flatMap(({ task, candidate, current }) => (candidate === 0 && current === 0 ? [] : [task.name])))
  const unsolved = [...new Set(compared.map(({ task }) => task.name))].filter((name) => !solved.has(name))
  return unsolved.length === 0 ? {} : { unsolved_tasks: unsolved.slice(0, UNSOLVED_MAX) }
}
const UNSOLVED_MAX = 50

const sumOf = (pairs: readonly Pair[], side: Side): number => pairs.reduce((sum, pair) => sum + (pair[side] ?? 0), 0)

/**
 * Both means are over the same episodes, so that they can be held against each other: the pairs that both sides played. Where the candidate
 * was played alone, over what it played. An episode without a score counts as 0, as it does in the sums.
 */
function meanMetrics(pairs: readonly Pair[], told: readonly Told[]): JsonObject {
  const played = new Set(told.map(({ side, task, repeat }) => episodeOf(side, task.name, repeat)))
  const by = (side: Side, among: readonly Pair[]): readonly Pair[] =>
    among.filter(({ task, repeat }) => played.has(episodeOf(side, task.name, repeat)))
  const alone = by('candidate', pairs)
  const both = by('current', alone)
  if (both.length > 0)
    return { candidate_mean_score: sumOf(both, 'candidate') / both.length, current_mean_score: sumOf(both, 'current') / both.length }
  return alone.length > 0 ? { candidate_mean_score: sumOf(alone, 'candidate') / alone.length } : {}
}

const episodeOf = (side: string, task: string, repeat: number): string => `${side} ${repeat} ${task}`

const briefly = ({ task, repeat, score, failure, grounds }: Told): Json => ({
  task: task.name,
  score,
  ...(repeat > 0 && { repeat }),
  ...(failure !== null && { failure }),
  ...(grounds !== null && { evaluation: grounds.words }),
})

function decisionMetrics({ workshop }: Run, { selected, reason, metrics = {} }: Decision): JsonObject {
  const selection = { policy: workshop.settings.selection, outcome: selected ? 'select' : 'reject', reason }
  return { ...metrics, selected, published: selected, selection }
}

/** Against a test that plays its whole budget: what was known already, and what an early end left unplayed. */
const savedMetrics = ({ players }: Run, { episodesMax }: Decision): JsonObject =>
  episodesMax === undefined ? {} : { episodes_saved: Math.max(0, episodesMax - players.played) }

/** All that a proposer is told: how far it got is the gate's own business, or it could be asked for it. */
const TURNED_DOWN = 'it was played, and found no better than what is served'

/** Only changes that came from traffic were held to be better; what a person asked for spends nothing of the gate's trust. */
function remember(run: Run, { gate }: Choice, { mutations, proposalId }: Candidate, { selected, reason, isOpen = false }: Decision): void {
  const { step, batch } = run.order
  const { state } = run
  const counted = batch.request === null ? { decided: state.decided + 1, selected: state.selected + (selected ? 1 : 0) } : {}
  const rejected = selected
    ? state.rejected
    : [...state.rejected, { step, mutations, reason: TURNED_DOWN, ...(!isOpen && { case: caseOf(run, gate) }) }]
  const proposals = proposalId === null ? state.proposals : [...state.proposals, { id: proposalId, step, selected, reason }]
  run.state = { ...state, ...counted, rejected, proposals }
}

/** The kind that stands for everything that an agent would run, whatever its own kind is called. */
const CODE = 'code_extension'
/** Code that replaces the whole loop is never served unseen. */
const ALWAYS_REVIEWED = 'native_loop'

/** Why a person looks at it first, or null: always, or because of what it touches. */
function reviewReason({ workshop: { settings, adapter }, entries }: Run, candidate: Candidate): string | null {
  if (settings.publish === 'review') return 'evolution.publish is review'
  const reviewed = new Set([...settings.review_kinds, ALWAYS_REVIEWED])
  const { before, after } = touchedEntries(entries, candidate.entries)
  const isReviewed = (entry: Entry): boolean => reviewed.has(entry.name) || (reviewed.has(CODE) && runsCode(adapter, entry))
  const touched = [...before, ...after].find(isReviewed)
  return touched === undefined ? null : `it changes ${touched.id}, of kind ${touched.name}, which evolution.review_kinds holds for review`
}
