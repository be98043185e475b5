/** One question of `init`: answered by an option, a person, or its default. An invalid answer is asked for again. */
import { ConfigProblem } from '../../config/index.ts'
import type { Surroundings } from '../surroundings.ts'

export interface InitQuestion {
  readonly option: string
  readonly title: string
  /** Possible answers, one per line, the default first. */
  readonly choices: readonly string[]
  /** An empty answer means the default. */
  read(answer: string): Promise<InitChoice | Misfit>
}

export interface InitChoice {
  /** Configuration keys and values. */
  readonly settings: Readonly<Record<string, unknown>>
  /** The answer in words. */
  readonly words: string
}

export interface Misfit {
  /** Why the answer is invalid, and what would be valid. */
  readonly problem: string
}

export interface InitAnswer extends InitChoice {
  readonly how: 'option' | 'person' | 'default' | 'no terminal'
}

const PROMPT = '> '

export function answerTo({ yes, surroundings }: { readonly yes: boolean; readonly surroundings: Surroundings }) {
  return async (question: InitQuestion, given: string | undefined): Promise<InitAnswer> => {
    if (given !== undefined) return { ...fitting(question, await question.read(given)), how: 'option' }
    if (!yes) return askFor(question, surroundings)
    return { ...fitting(question, await question.read('')), how: 'default' }
  }
}

/** No answer on a terminal cancels; without a terminal the default is used. */
async function askFor(question: InitQuestion, surroundings: Surroundings): Promise<InitAnswer> {
  let asked = [question.title, ...question.choices.map((choice, index) => `  ${index + 1}  ${choice}`), PROMPT].join('\n')
  for (;;) {
    const said = await surroundings.ask(asked)
    if (said === null && surroundings.isTerminal) throw new ConfigProblem(['no answer, so nothing is written; --yes takes the defaults'])
    if (said === null) return { ...fitting(question, await question.read('')), how: 'no terminal' }
    const chosen = await question.read(said.trim())
    if (!isMisfit(chosen)) return { ...chosen, how: 'person' }
    surroundings.out(`  ${chosen.problem}`)
    asked = PROMPT
  }
}

function fitting({ option }: InitQuestion, chosen: InitChoice | Misfit): InitChoice {
  if (isMisfit(chosen)) throw new ConfigProblem([`${option}: ${chosen.problem}`])
  return chosen
}

const isMisfit = (chosen: InitChoice | Misfit): chosen is Misfit => 'problem' in chosen

/** By its number in the list. */
export function chosenByNumber<T>(answer: string, offered: readonly T[]): T | undefined {
  return /^\d+$/.test(answer) ? offered[Number(answer) - 1] : undefined
}
