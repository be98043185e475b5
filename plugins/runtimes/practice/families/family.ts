/** A family of tasks: how one is recognised, what the right answer is, and which slips a weak model makes on it. */
import type { Mend } from '../lessons.ts'

/** A task the practice model can be scored on: the last line of the reply is compared with the answer. */
export interface PracticeTask {
  readonly name: string
  readonly prompt: string
  readonly answer: string
}

export interface Family {
  readonly name: string
  /** What a skill about this family is called or described with. */
  readonly topic: RegExp
  /** The lessons that mend its slips. */
  readonly lessons: readonly Mend[]
  read(text: string): Problem | null
  tasks(): readonly PracticeTask[]
}

export interface Problem {
  readonly right: string
  /** What comes out instead while a lesson is not learned; a task tempts to one of them. */
  readonly slips: readonly Slip[]
  /** What a calculator can be asked. */
  readonly expression?: string
  /** What a shell can be asked. */
  readonly command?: string
  /** Set where the answer is a fact to be found in the prompt and nowhere else. */
  readonly find?: (text: string) => string | null
  /** Set where the answer cannot be worked out in one's head: without the tool it stays a guess. */
  readonly needsTool?: boolean
}

interface Slip {
  readonly lesson: Mend
  readonly wrong: string
}

/** How many tasks each family offers. */
const TASKS_PER_FAMILY = 8

/** The family's tasks, each made from its name and its number alone. */
export function makeTasks(
  family: string,
  make: (seed: string, index: number) => { readonly prompt: string; readonly answer: string },
): readonly PracticeTask[] {
  return Array.from({ length: TASKS_PER_FAMILY }, (_, index) => {
    const name = `${family}-${index + 1}`
    return { name, ...make(name, index) }
  })
}
