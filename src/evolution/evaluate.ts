/** The gate: plays pairs as the selection asks for them, the two sides of a pair one after the other, until it can decide. */
import type { Decision, Draw, Entry, Pair, Question, Reporter, Selection, Side, Task } from '../contract/index.ts'
import type { Played } from './episodes.ts'
import type { Players } from './players.ts'

/** A selection that asks for more than this has lost its way. */
const PAIRS_MAX = 20_000

export interface Match {
  readonly selection: Selection
  readonly players: Players
  readonly candidate: readonly Entry[]
  readonly current: readonly Entry[]
  readonly question: Omit<Question, 'pairs' | 'episodesLeft'>
  /** How many pairs are played at once. */
  readonly workers: number
  readonly report: Reporter
}

export interface Outcome {
  readonly pairs: readonly Pair[]
  readonly decision: Decision
}

export async function evaluate(match: Match): Promise<Outcome> {
  const { selection } = match
  const pairs: Pair[] = []
  for (;;) {
    const draws = drawsOf(selection, questionOf(match, pairs))
    const round = await playRound(match, draws, pairs.length)
    pairs.push(...round)
    // Nothing more to play, or nothing to pay it with.
    if (round.length < draws.length || draws.length === 0) break
    if (pairs.length > PAIRS_MAX) throw new Error(`the selection asked for more than ${PAIRS_MAX} pairs without deciding`)
  }
  return { pairs, decision: selection.decide(pairs, questionOf(match, pairs)) }
}

const questionOf = ({ question, players }: Match, pairs: readonly Pair[]): Question => ({ ...question, pairs, episodesLeft: players.left })

/** Without a wish of the selection's own: every task as often as the configuration says. */
function drawsOf(selection: Selection, question: Question): readonly Draw[] {
  if (selection.next !== undefined) return selection.next(question)
  if (question.pairs.length > 0) return []
  return Array.from({ length: question.repeats }, (_, repeat) => question.tasks.map(({ name }) => ({ task: name, repeat }))).flat()
}

/** In the order drawn. Shorter than asked for when the budget ended. A failure ends it once nothing is played any more: no episode outlives its step. */
async function playRound(match: Match, draws: readonly Draw[], before: number): Promise<readonly Pair[]> {
  const played: (Pair | null)[] = draws.map(() => null)
  const waiting = [...draws.entries()]
  const work = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      const [index, draw] = next
      played[index] = await playPair(match, draw, before + index)
    }
  }
  const stop = (error: unknown): never => {
    waiting.length = 0
    throw error
  }
  const ended = await Promise.allSettled(Array.from({ length: Math.min(match.workers, draws.length) }, () => work().catch(stop)))
  for (const end of ended) if (end.status === 'rejected') throw end.reason
  return played.filter((pair) => pair !== null)
}

async function playPair(match: Match, draw: Draw, index: number): Promise<Pair | null> {
  const task = match.question.tasks.find(({ name }) => name === draw.task)
  if (task === undefined) throw new Error(`the selection asked for task ${draw.task}, which is none of the question's`)
  const wanted = draw.sides ?? SIDES
  const scores: Partial<Record<Side, Played>> = {}
  for (const side of await orderOf(match, task, index)) {
    if (!wanted.includes(side)) continue
    const told = await match.players.play(side, match[side], task, draw.repeat, scores.current?.episode ?? null)
    if (told === null) return null
    scores[side] = told
  }
  const pair = pairOf(task, draw, scores)
  match.report.line('trial', lineOf(pair, wanted), scores.candidate?.score === null)
  return pair
}

const SIDES: readonly Side[] = ['candidate', 'current']

/** By turns, so that whatever drifts while a step runs hits both sides alike; a candidate that is held against the other side comes second. */
async function orderOf({ players }: Match, task: Task, index: number): Promise<readonly Side[]> {
  return index % 2 === 1 || (await players.compares(task)) ? SIDES.toReversed() : SIDES
}

function pairOf(task: Task, { repeat, weight }: Draw, { candidate, current }: Partial<Record<Side, Played>>): Pair {
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

const failureOf = (side: Side, played: Played | undefined): Partial<Record<Side, string>> =>
  played === undefined || played.score !== null || played.failure === null ? {} : { [side]: played.failure }

function lineOf({ task, repeat, candidate, current }: Pair, sides: readonly Side[]): string {
  const told = sides.map((side) => `${side} ${(side === 'candidate' ? candidate : current) ?? 'no score'}`)
  return `${task.name}${repeat === 0 ? '' : ` (${repeat + 1})`}: ${told.join(', ')}`
}
