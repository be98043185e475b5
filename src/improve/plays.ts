/** Plays tasks with one tree, some at a time, and keeps each result as soon as it is there: what was played is not played again. */
import type { Entry, ModelAddress, Task } from '../contract/index.ts'
import { NOTHING_SPENT, type Player } from '../evolution/index.ts'
import { wordsOf } from '../kit/index.ts'
import type { ImproveEvent, TaskScore } from './events.ts'
import type { ImproveState } from './state.ts'

export interface KeptPlay extends TaskScore {
  /** What the agent said, for a report about it. */
  readonly answer: string
  readonly note: string | null
  /** What its tests printed; of a run of an earlier version not known. */
  readonly printed?: string
}

export interface PlayParts {
  readonly state: ImproveState
  readonly player: Player
  readonly model: ModelAddress
  readonly workers: number
  readonly signal: AbortSignal
  readonly emit: (event: ImproveEvent) => void
  /** Every play, by its name. */
  readonly taken: Map<string, KeptPlay>
}

const ANSWER_CHARACTERS_MAX = 20_000
const PRINTED_CHARACTERS_MAX = 8000

/** By task, in the order of the tasks. `name` is where the results are kept. */
export async function playAll(
  parts: PlayParts,
  name: string,
  side: 'before' | 'after',
  tasks: readonly Task[],
  entries: readonly Entry[],
): Promise<readonly KeptPlay[]> {
  const results = new Map<string, KeptPlay>()
  const waiting = [...tasks]
  const work = async (): Promise<void> => {
    for (let task = waiting.shift(); task !== undefined; task = waiting.shift()) {
      const kept = await keptPlay(parts.state, name, task)
      const played = kept ?? (await playOne(parts, task, entries))
      // One without a score is played again by the next run: its cause may be gone by then.
      if (kept === null && played.score !== null) await parts.state.write(`${name}/${task.name}`, played)
      results.set(task.name, played)
      take(parts.taken, `${name}/${task.name}`, played)
      const { answer: _answer, note: _note, printed: _printed, ...told } = played
      parts.emit({ event: 'played', side, kept: kept !== null, ...told })
    }
  }
  await Promise.all(Array.from({ length: Math.min(parts.workers, tasks.length) }, work))
  return tasks.flatMap((task) => results.get(task.name) ?? [])
}

/** One without a score is played again, and took what it took. A name of a play has no space. */
function take(taken: Map<string, KeptPlay>, name: string, played: KeptPlay): void {
  const before = taken.get(name)
  if (before?.score === null) taken.set(`${name} ${taken.size}`, before)
  taken.set(name, played)
}

async function playOne({ player, model, signal }: PlayParts, task: Task, entries: readonly Entry[]): Promise<KeptPlay> {
  const began = performance.now()
  const played = await player.play({ entries, task, model, signal }).catch((error: unknown) => {
    signal.throwIfAborted()
    return { score: null, failure: wordsOf(error), note: null, printed: '', answer: '', spent: NOTHING_SPENT, answered: 0 }
  })
  const { score, failure, note, printed, answer, spent, answered } = played
  const { calls, inputTokens, cachedTokens, outputTokens, cost, unpricedCalls } = spent
  // An agent that reached no model shows nothing about its rules.
  const isUnheard = calls > 0 && answered === 0
  return {
    task: task.name,
    role: task.role,
    score: isUnheard ? null : score,
    failure: isUnheard ? `the model answered none of ${calls} calls${failure === null ? '' : `: ${failure}`}` : failure,
    seconds: Math.round(performance.now() - began) / 1000,
    model_calls: calls,
    input_tokens: inputTokens,
    cached_tokens: cachedTokens,
    output_tokens: outputTokens,
    cost: unpricedCalls > 0 ? null : cost,
    answer: answer.slice(-ANSWER_CHARACTERS_MAX).toWellFormed(),
    note,
    printed: printed.slice(-PRINTED_CHARACTERS_MAX).toWellFormed(),
  }
}

/** Null where it was not played yet, or not scored. */
async function keptPlay(state: ImproveState, name: string, task: Task): Promise<KeptPlay | null> {
  const kept = await state.read(`${name}/${task.name}`)
  return isPlay(kept) ? kept : null
}

const isPlay = (value: unknown): value is KeptPlay =>
  typeof value === 'object' && value !== null && 'task' in value && 'score' in value && typeof value.score === 'number' && 'answer' in value

/** The name under which the results of a tree are kept: another tree is played anew. */
export const playsOf = (side: 'before' | 'after', digest: string): string => `${side}-${digest.slice(0, DIGEST_CHARACTERS)}`
const DIGEST_CHARACTERS = 12
