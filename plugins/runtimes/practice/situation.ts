/** Where the conversation stands: the task now, the instructions before it, and the results of tools since. */
import { recognise, type Family, type Problem } from './families/index.ts'
import type { EarlierCall, Prompt, ToolTurn, PromptTurn } from './prompt.ts'

export interface Situation {
  readonly task: string
  /** What the task is an example of; null when it belongs to no family. */
  readonly found: { readonly family: Family; readonly problem: Problem } | null
  readonly instructions: string
  /** The task, and everything after it. */
  readonly fresh: string
  readonly images: number
  readonly steps: readonly Step[]
}

/** A call made for this task, with its result if there is one. */
export interface Step {
  readonly call: EarlierCall
  readonly result: ToolTurn | null
}

/** Text beyond this is not read for rules. */
const INSTRUCTION_CHARACTERS_MAX = 200_000

export function situationOf(prompt: Prompt): Situation {
  const begin = exchangeBegin(prompt.turns)
  const { task, found, at } = findTask(prompt.turns, begin)
  const before: string[] = []
  const fresh: string[] = [task]
  prompt.turns.forEach((turn, index) => {
    if (turn.role === 'tool') fresh.push(turn.text)
    else if (turn.role === 'instruction') before.push(...turn.texts)
    else if (turn.role === 'user') (index > at ? fresh : before).push(...turn.texts.filter((text) => text !== task))
  })
  return {
    task,
    found,
    instructions: before.join('\n').slice(0, INSTRUCTION_CHARACTERS_MAX),
    fresh: fresh.join('\n').slice(0, INSTRUCTION_CHARACTERS_MAX),
    images: prompt.turns.slice(begin).reduce((sum, turn) => sum + (turn.role === 'user' ? turn.images : 0), 0),
    steps: stepsOf(prompt.turns.slice(begin)),
  }
}

/** An exchange begins after the last answer that called no tool. */
function exchangeBegin(turns: readonly PromptTurn[]): number {
  return turns.findLastIndex((turn) => turn.role === 'assistant' && turn.calls.length === 0 && turn.texts.length > 0) + 1
}

/**
 * The newest text of the exchange that is a task of this world, else the newest text. Agents put other texts around the user's own
 * (project rules before it, the body of a skill after it), so the last one is not always the task.
 */
function findTask(turns: readonly PromptTurn[], begin: number): Pick<Situation, 'task' | 'found'> & { readonly at: number } {
  for (let at = turns.length - 1; at >= begin; at -= 1) {
    const turn = turns[at]
    if (turn?.role !== 'user') continue
    for (const task of [...turn.texts.toReversed(), turn.texts.join('\n')]) {
      const found = recognise(task)
      if (found !== null) return { task, found, at }
    }
  }
  const at = turns.findLastIndex((turn) => turn.role === 'user' && turn.texts.length > 0)
  const turn = turns[at]
  return { task: turn?.role === 'user' ? (turn.texts.at(-1) ?? '') : '', found: null, at }
}

function stepsOf(exchange: readonly PromptTurn[]): readonly Step[] {
  const results = exchange.filter((turn) => turn.role === 'tool')
  const calls = exchange.flatMap((turn) => (turn.role === 'assistant' ? turn.calls : []))
  return calls.map((call, index) => ({ call, result: results.find((result) => result.callId === call.id) ?? results[index] ?? null }))
}
