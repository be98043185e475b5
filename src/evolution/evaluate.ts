/** The gate: plays pairs as the selection draws them until it can decide. The two sides of a pair are played one after the other. */
import type { Decision, Draw, Entry, Pair, Question, Reporter, Selection, Side, Task } from '../contract/index.ts'
import { MachineProblem, ScorerProblem, type EpisodeOutcome, type EpisodeRunner } from './episodes.ts'

/** A selection that draws more than this is broken. */
const PAIRS_MAX = 20_000

interface Evaluation {
  readonly selection: Selection
  readonly episodes: EpisodeRunner
  readonly candidate: readonly Entry[]
  readonly current: readonly Entry[]
  readonly question: Omit<Question, 'pairs' | 'episodesLeft'>
  /** How many pairs are played concurrently. */
  readonly workers: number
  readonly report: Reporter
}

export async function evaluate(evaluation: Evaluation): Promise<{ readonly pairs: readonly Pair[]; readonly decision: Decision }> {
  const { selection } = evaluation
  const pairs: Pair[] = []
  for (;;) {
    const draws = drawsOf(selection, questionOf(evaluation, pairs))
    const round = await playRound(evaluation, draws, pairs.length)
    pairs.push(...round)
    // Nothing more to play, or the budget is spent.
    if (round.length < draws.length || draws.length === 0) break
    if (pairs.length > PAIRS_MAX) throw new Error(`the selection asked for more than ${PAIRS_MAX} pairs without deciding`)
  }
  return { pairs, decision: selection.decide(pairs, questionOf(evaluation, pairs)) }
}

const questionOf = ({ question, episodes }: Evaluation, pairs: readonly Pair[]): Question => ({
  ...question,
  pairs,
  episodesLeft: episodes.left,
})

/** The default plays every task as often as the configuration says. */
export function drawsOf(selection: Selection, question: Question): readonly Draw[] {
  if (selection.next !== undefined) return selection.next(question)
  if (question.pairs.length > 0) return []
  return Array.from({ length: question.repeats }, (_, repeat) => question.tasks.map(({ name }) => ({ task: name, repeat }))).flat()
}

/** Why the selection rejects every candidate without playing one, such as for too few tasks; null where it plays. */
export function futileReason(selection: Selection, question: Question): string | null {
  if (selection.next === undefined || selection.next(question).length > 0) return null
  const { selected, reason } = selection.decide([], question)
  return selected ? null : reason
}

/** Returns pairs in the order drawn, fewer when the budget ended. A failure is thrown after running episodes end: none outlives its step. */
async function playRound(evaluation: Evaluation, draws: readonly Draw[], before: number): Promise<readonly Pair[]> {
  const played: (Pair | null)[] = draws.map(() => null)
  const waiting = [...draws.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, draw] = next
      played[index] = await playPair(evaluation, draw, before + index)
    }
  }
  const stop = (error: unknown): never => {
    waiting.length = 0
    throw error
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(evaluation.workers, draws.length) }, () => work().catch(stop)))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return played.filter((pair) => pair !== null)
}

async function playPair(evaluation: Evaluation, draw: Draw, index: number): Promise<Pair | null> {
  const task = evaluation.question.tasks.find(({ name }) => name === draw.task)
  if (task === undefined) throw new Error(`the selection asked for task ${draw.task}, which is not in the question`)
  const wanted = draw.sides ?? SIDES
  const scores: Partial<Record<Side, EpisodeOutcome>> = {}
  for (const side of await orderOf(evaluation, task, index)) {
    if (!wanted.includes(side)) continue
    const played = await evaluation.episodes.play(side, evaluation[side], task, draw.repeat, scores.current?.episode ?? null)
    if (played === null) return null
    scores[side] = played
  }
  refuseOutage(evaluation.episodes, task, scores)
  const pair = pairOf(task, draw, scores)
  evaluation.report.line('trial', lineOf(pair, wanted), scores.candidate?.score === null)
  return pair
}

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

function pairOf(task: Task, { repeat, weight }: Draw, { candidate, current }: Partial<Record<Side, EpisodeOutcome>>): Pair {
  const failures = { ...failureOf('candidate', candidate), ...failureOf('current', current) }
  return {
    task,
    repeat,
    candidate: candidate?.score ?? null,
    current: current?.score ?? null,
    ...(weight !== undefined && { weight }),
    ...(Object.keys(failures).length > 0 && { failures }),
  }
}

const failureOf = (side: Side, played: EpisodeOutcome | undefined): Partial<Record<Side, string>> =>
  played === undefined || played.score !== null || played.failure === null ? {} : { [side]: played.failure }

function lineOf({ task, repeat, candidate, current }: Pair, sides: readonly Side[]): string {
  const scores = sides.map((side) => `${side} ${(side === 'candidate' ? candidate : current) ?? 'no score'}`)
  return `${task.name}${repeat === 0 ? '' : ` (${repeat + 1})`}: ${scores.join(', ')}`
}
