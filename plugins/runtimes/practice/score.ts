/** How good a harness is in the practice world: the share of tasks whose answer stands on the last line of the reply. */
import type { PracticeTask } from './families/index.ts'
import type { Tool } from '../../../src/dialects/index.ts'
import type { Prompt, PromptTurn } from './prompt.ts'
import { think } from './think.ts'

export interface Harness {
  readonly rules?: string
  readonly tools?: readonly Tool[]
  /** Runs a tool call; by its result the model goes on. */
  run?(tool: string, input: string): string
}

/** More calls than this for one task is a loop. */
const CALLS_MAX = 8

/** The reply to the task after as many tool calls as it takes. */
export function playTask(task: PracticeTask, harness: Harness, noise: number): string {
  const turns: PromptTurn[] = []
  if (harness.rules !== undefined) turns.push({ role: 'instruction', texts: [harness.rules] })
  turns.push({ role: 'user', texts: [task.prompt], images: 0 })
  for (let calls = 0; calls < CALLS_MAX; calls += 1) {
    const prompt: Prompt = {
      model: 'practice',
      turns,
      tools: harness.tools ?? [],
      choice: { kind: 'auto' },
      tokensMax: null,
      stops: [],
      format: null,
    }
    const thought = think(prompt, noise)
    if (thought.kind === 'text') return thought.text
    const id = `call-${calls}`
    turns.push({ role: 'assistant', texts: [], calls: [{ id, name: thought.tool.name, input: thought.input }] })
    turns.push({ role: 'tool', callId: id, text: harness.run?.(thought.tool.name, thought.input) ?? '', failed: false })
  }
  return ''
}

export const isRight = (task: PracticeTask, reply: string): boolean => lastLine(reply) === task.answer

export const scoreOf = (harness: Harness, tasks: readonly PracticeTask[], noise: number): number =>
  tasks.filter((task) => isRight(task, playTask(task, harness, noise))).length / tasks.length

const lastLine = (text: string): string =>
  text
    .split('\n')
    .map((line) => line.trim())
    .findLast((line) => line !== '') ?? ''
