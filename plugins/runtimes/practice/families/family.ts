/** A family of tasks: how one is recognised, what the right answer is, and which slips a weak model makes on it. */
import type { Fix } from '../lessons.ts'

/** A task the mock model can be scored on: the last line of the reply is compared with the answer. */
export interface PracticeTask {
  readonly name: string
  readonly prompt: string
  readonly answer: string
}

export interface Family {
  readonly name: string
  /** Matches the names and descriptions of skills about this family. */
  readonly topic: RegExp
  /** The lessons that fix its slips. */
  readonly lessons: readonly Fix[]
  read(text: string): Problem | null
  /** Depends on the seed and the index only. */
  task(seed: string, index: number): Pick<PracticeTask, 'prompt' | 'answer'>
}

export interface Problem {
  readonly right: string
  /** Wrong answers, each until its lesson is learned; a task tempts to one of them. */
  readonly slips: readonly { readonly lesson: Fix; readonly wrong: string }[]
  /** For a calculator. */
  readonly expression?: string
  /** For a shell. */
  readonly command?: string
  /** Set where the answer is a fact that only the prompt can hold. */
  readonly find?: (text: string) => string | null
  /** Set where the answer needs a tool: without one it stays a guess. */
  readonly needsTool?: boolean
}

const TASKS_PER_FAMILY = 8

export const tasksOf = (family: Family): readonly PracticeTask[] =>
  Array.from({ length: TASKS_PER_FAMILY }, (_, index) => {
    const name = `${family.name}-${index + 1}`
    return { name, ...family.task(name, index) }
  })
