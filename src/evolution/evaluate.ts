/** The gate: plays pairs as the selection draws them until it can decide. The two sides of a pair are played one after the other. */
import type { Decision, Draw, Entry, Pair, Question, Reporter, Selection, Side, Task } from '../contract/index.ts'
import type { EpisodeResult, EpisodeRunner } from './episodes.ts'
import { MachineProblem, type EpisodeOutcome } from './hosts/host.ts'
import { ScorerProblem } from './scoring.ts'
import type { Known } from './cache.ts'
import { inTurns } from './in-turns.ts'
import { lotOf } from '../kit/index.ts'
import { gainOf, weighs, worthOf, type GateObjective } from './objective.ts'

/** A selection that draws more than this is broken. */
const PAIRS_MAX = 20_000

interface Evaluation {
  readonly selection: Selection
  readonly episodes: EpisodeRunner
  readonly candidate: readonly Entry[]
  readonly current: readonly Entry[]
  /** What the current side is. */
  readonly against: 'current' | 'baseline'
  readonly question: Omit<Question, 'pairs' | 'episodesLeft'>
  readonly objective: GateObjective
  /** What earlier steps played of the same case. */
  readonly before: readonly PriorPair[]
  /** How many pairs are played concurrently. */
  readonly workers: number
  readonly report: Reporter
}

export async function evaluate(evaluation: Evaluation): Promise<EvaluationEnd> {
  const { selection, episodes, report } = evaluation
  const played: PlayedPair[] = evaluation.before.map(drawnBefore)
  const pairs: Pair[] = evaluation.before.map(({ pair }) => pair)
  const flushed: string[] = []
  let rechecked = 0
  let use: Use = 'recent'
  const renew = async (): Promise<void> => {
    rechecked += played.filter(({ isStale }) => isStale).length
    const again = await renewed(evaluation, played)
    played.splice(0, Infinity, ...again)
    pairs.splice(0, Infinity, ...again.map(({ pair }) => pair))
  }
  for (;;) {
    const wanted = drawsOf(selection, questionOf(evaluation, pairs))
    const tied = wanted.length === 0 ? null : tiedAtZero(evaluation, pairs)
    const draws = tied === null ? wanted : []
    const before = pairs.length
    const round = await playRound(
      evaluation,
      draws.map((draw, index) => () => playPair(evaluation, draw, before + index, use)),
    )
    played.push(...round)
    pairs.push(...round.map(({ pair }) => pair))
    const { cacheProblem } = episodes
    if (cacheProblem !== null) {
      flushed.push(cacheProblem)
      report.line('check', `${cacheProblem}; all known scores are dropped, and played again`, true)
      await episodes.flush()
      await renew()
      continue
    }
    if (pairs.length > PAIRS_MAX) throw new Error(`the selection asked for more than ${PAIRS_MAX} pairs without deciding`)
    // There is more to play, and a budget for it.
    if (round.length === draws.length && draws.length > 0) continue
    const decision = { ...selection.decide(pairs, questionOf(evaluation, pairs)), ...tied }
    if (!decision.selected || !played.some(({ isStale }) => isStale)) return { pairs, played, decision, flushed, rechecked }
    report.line('check', 'plays again what is known from earlier steps, before it is published')
    use = 'step'
    await renew()
  }
}

export interface EvaluationEnd {
  readonly pairs: readonly Pair[]
  readonly played: readonly PriorPair[]
  readonly decision: Decision
  /** Why known scores were dropped, each time. */
  readonly flushed: readonly string[]
  /** How many pairs with a known score were played again. */
  readonly rechecked: number
}

/** A cap cuts the play short anywhere, so nothing is published then; the case stays open, and goes on with its pairs. */
export function uncapped({ capReached, isCut }: EpisodeRunner, decision: Decision): Decision {
  if (capReached === null || (decision.selected && !isCut)) return decision
  return { ...decision, selected: false, isOpen: true, reason: `${capReached}; until then: ${decision.reason}` }
}

type Scores = Partial<Record<Side, EpisodeResult>>
export interface PriorPair {
  readonly pair: Pair
  /** Its sides were not played one after the other: a model may have changed between two steps. */
  readonly isStale: boolean
}
interface PlayedPair extends PriorPair {
  readonly draw: Draw
  readonly index: number
}

function drawnBefore({ pair, isStale }: PriorPair, index: number): PlayedPair {
  const { task, repeat, weight } = pair
  return { pair, isStale, index, draw: { task: task.name, repeat, ...(weight !== undefined && { weight }) } }
}

/** With fewer pairs, a small gain over nothing may not have shown yet. */
const TIED_PAIRS_MIN = 20
/** As many tasks as a first round has at most. */
const TIED_TASKS_MAX = 64

/** A rejection where neither side has a point in any pair, once every task was played: such pairs show nothing, and more of them would not. */
function tiedAtZero(
  { question: { kind, tasks }, before }: Evaluation,
  pairs: readonly Pair[],
): Pick<Decision, 'selected' | 'reason' | 'isOpen'> | null {
  if (kind === 'request' || pairs.length === before.length) return null
  // Most evaluations have a point in one of their first pairs: the others are not looked at again and again.
  if (pairs.some(({ task, candidate, current }) => task.role === 'gate' && (candidate !== 0 || current !== 0))) return null
  const gate = pairs.filter(({ task }) => task.role === 'gate')
  if (gate.length < TIED_PAIRS_MIN) return null
  const wanted = Math.min(TIED_TASKS_MAX, tasks.filter(({ role }) => role === 'gate').length)
  if (new Set(gate.map(({ task }) => task.name)).size < wanted) return null
  const reason = `both sides score 0 in all of ${gate.length} pairs, so nothing can be compared; check the evaluator, or add tasks that can be solved`
  return { selected: false, reason, isOpen: true }
}

/**
 * Plays both sides of the stale pairs again: a side that was played before would have the luck that it was chosen by, and a model of another
 * hour. A pair for which the budget is too small is dropped.
 */
async function renewed(evaluation: Evaluation, played: readonly PlayedPair[]): Promise<readonly PlayedPair[]> {
  const stale = played.filter(({ isStale }) => isStale)
  const again = await playRound(
    evaluation,
    stale.map(
      ({ draw, index }) =>
        () =>
          playPair(evaluation, draw, index, 'pair'),
    ),
  )
  const byIndex = new Map(again.map((pair) => [pair.index, pair]))
  return played.flatMap((pair) => (pair.isStale ? (byIndex.get(pair.index) ?? []) : pair))
}

const questionOf = ({ question, episodes }: Evaluation, pairs: readonly Pair[]): Question => ({
  ...question,
  pairs,
  episodesLeft: episodes.left,
})

/** The default plays every task as often as the configuration says; an open case goes on with what it lacks. */
export function drawsOf(selection: Selection, question: Question): readonly Draw[] {
  if (selection.next !== undefined) return selection.next(question)
  const played = new Set(question.pairs.map(({ task, repeat }) => JSON.stringify([task.name, repeat])))
  return Array.from({ length: question.repeats }, (_, repeat) => question.tasks.map(({ name }) => ({ task: name, repeat })))
    .flat()
    .filter(({ task, repeat }) => !played.has(JSON.stringify([task, repeat])))
}

/** Why the selection rejects every candidate without playing one, such as for too few tasks; null where it plays. */
export function futileReason(selection: Selection, question: Question): string | null {
  if (selection.next === undefined || selection.next(question).length > 0) return null
  const { selected, reason } = selection.decide([], question)
  return selected ? null : reason
}

/** Returns pairs in the order drawn, fewer when the budget ended. */
async function playRound({ workers }: Evaluation, pairs: readonly (() => Promise<PlayedPair | null>)[]): Promise<readonly PlayedPair[]> {
  return (await inTurns(workers, pairs)).filter((pair) => pair !== null)
}

async function playPair(evaluation: Evaluation, draw: Draw, index: number, use: Use): Promise<PlayedPair | null> {
  const { episodes, report } = evaluation
  const task = evaluation.question.tasks.find(({ name }) => name === draw.task)
  if (task === undefined) throw new Error(`the selection asked for task ${draw.task}, which is not in the question`)
  const wanted = draw.sides ?? SIDES
  const scores: Scores = {}
  const known = await knownOf(evaluation, task, draw, use, index === 0)
  for (const side of await orderOf(evaluation, task, index)) {
    if (!wanted.includes(side)) continue
    const order = orderFor(evaluation, side, task, draw)
    const { taken = null, before = null } = known[side] ?? {}
    const played = taken === null ? await episodes.play(order, scores.current?.episode ?? null, before) : await episodes.take(order, taken)
    if (played === null) return null
    scores[side] = played
  }
  refuseOutage(episodes, task, scores)
  const pair = pairOf(evaluation, task, draw, scores)
  report.line('trial', lineOf(evaluation, pair, wanted), scores.candidate?.score === null)
  return { pair, isStale: isStaleIn(scores), draw, index }
}

const isStaleIn = ({ candidate, current }: Scores): boolean =>
  candidate !== undefined && current !== undefined && candidate.step !== current.step

const orderFor = (evaluation: Evaluation, side: Side, task: Task, { repeat }: Draw) => ({
  side: labelOf(evaluation, side),
  entries: evaluation[side],
  task,
  repeat,
})

const labelOf = ({ against }: Evaluation, side: Side): Side | 'baseline' => (side === 'current' ? against : side)

/** `taken`: used as it is. `before`: played again, and compared with this one. */
type KnownScores = Partial<Record<Side, { readonly taken?: Known; readonly before?: Known }>>

/** Which known scores are used: also those of other steps while they are recent, those of this step, or pairs that this step played. */
type Use = 'recent' | 'step' | 'pair'

/** Scores of an earlier try of this step are taken; those of other steps too, but for a sample of the served side. */
async function knownOf(evaluation: Evaluation, task: Task, draw: Draw, use: Use, isFirst: boolean): Promise<KnownScores> {
  const { episodes, question, objective, against } = evaluation
  const known = async (side: Side): Promise<Known | null> => {
    const one = await episodes.known(orderFor(evaluation, side, task, draw))
    // A score of which is not known what it took cannot be weighed.
    return one !== null && weighs(objective) && worthOf(objective, one) === null ? null : one
  }
  const found: Record<Side, Known | null> = { candidate: await known('candidate'), current: await known('current') }
  const { candidate, current } = found
  // One step played them by turns.
  if (candidate !== null && current !== null && candidate.step === current.step && episodes.isRecent(current))
    return { candidate: { taken: candidate }, current: { taken: current } }
  if (use === 'pair') return {}
  const usable = (one: Known): boolean => {
    // A candidate is played before its baseline is: that may be long ago, also within one step.
    if (one.step === episodes.step && against === 'current') return true
    return (one.step === episodes.step || use === 'recent') && episodes.isRecent(one)
  }
  const scores: { -readonly [S in Side]?: KnownScores[S] } = {}
  for (const side of SIDES) {
    const one = found[side]
    if (one === null || !usable(one)) continue
    const isDrawn = isFirst || lotOf(`sample ${question.seed} ${draw.task} ${draw.repeat}`) % SAMPLE_OF === 0
    const isSample = side === 'current' && one.step !== episodes.step && isDrawn
    scores[side] = isSample ? { before: one } : { taken: one }
  }
  return scores
}

/** The first, and one in this many known scores of the served release are played again. */
const SAMPLE_OF = 8

const SIDES: readonly Side[] = ['candidate', 'current']

/**
 * Throws where the model answers nobody, and where it fails the served side alone. A candidate could cause the latter, and a pair without the
 * served side's score would spare it a loss.
 */
function refuseOutage({ troubles }: EpisodeRunner, task: Task, { candidate, current }: Partial<Record<Side, EpisodeOutcome>>): void {
  if (candidate?.trouble === 'model' && current?.trouble === 'model')
    throw new MachineProblem(`both sides of ${task.name} had no score: ${current.failure ?? 'the model failed'}`)
  if (current?.score === null && troubles.isOwnOf('current'))
    throw new ScorerProblem(`episodes of the served side alone fail (${troubles.words}), so nothing can be compared`)
}

/** Alternates, so that drift during a step affects both sides alike; where an evaluator compares, the candidate comes second. */
async function orderOf({ episodes }: Evaluation, task: Task, index: number): Promise<readonly Side[]> {
  return index % 2 === 1 || (await episodes.compares(task)) ? SIDES.toReversed() : SIDES
}

function pairOf({ objective }: Evaluation, task: Task, { repeat, weight }: Draw, { candidate, current }: Scores): Pair {
  const gain = gainOf(objective, candidate, current)
  const failures = { ...failureOf('candidate', candidate), ...failureOf('current', current) }
  return {
    task,
    repeat,
    candidate: candidate?.score ?? null,
    current: current?.score ?? null,
    ...(gain !== null && { gain }),
    ...(weight !== undefined && { weight }),
    ...(Object.keys(failures).length > 0 && { failures }),
  }
}

const failureOf = (side: Side, played: EpisodeOutcome | undefined): Partial<Record<Side, string>> =>
  played === undefined || played.score !== null || played.failure === null ? {} : { [side]: played.failure }

function lineOf(evaluation: Evaluation, { task, repeat, candidate, current }: Pair, sides: readonly Side[]): string {
  const scores = sides.map((side) => `${labelOf(evaluation, side)} ${(side === 'candidate' ? candidate : current) ?? 'no score'}`)
  return `${task.name}${repeat === 0 ? '' : ` (${repeat + 1})`}: ${scores.join(', ')}`
}
