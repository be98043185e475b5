/**
 * Every family of tasks, in the order in which a text is tried against them: the narrower the pattern, the earlier.
 *
 * | family     | what the bare model does wrong              | fixed by                                        |
 * |------------|---------------------------------------------|-------------------------------------------------|
 * | shell      | makes up what a command prints              | a shell tool and the lesson use-tools           |
 * | lookup     | guesses                                     | the fact, in a rule or in a skill it can read   |
 * | json-field | takes the first field of that name          | json-path                                       |
 * | sorting    | sorts numbers as text; drops duplicates     | numeric-order; keep-duplicates                  |
 * | roman      | only adds (IIII)                            | subtractive                                     |
 * | dates      | gives every month thirty days               | calendar                                        |
 * | units      | converts roughly; forgets the unit          | exact-factors; state-units                      |
 * | counting   | is off by one                               | count-each                                      |
 * | reversing  | reverses the words, not the letters         | reverse-letters                                 |
 * | story      | stops reading after the first change        | every-step                                      |
 * | arithmetic | works from left to right                    | precedence; a calculator; a shell and use-tools |
 * | (all)      | buries the answer in prose                  | answer-line                                     |
 *
 * A lesson is taught by a rule, or by a skill on the family's topic that the agent offers a way to read. `lessons.ts` says in which
 * words, and which rules do harm; `rules.ts` says how many are held at once; `answer.ts` says how often a flaw shows.
 */
import type { Family, Problem } from './family.ts'
import { arithmetic, dates, roman, story, units } from './numbers.ts'
import { counting, jsonField, lookup, reversing, shell, sorting } from './texts.ts'

export { tasksOf, type Family, type PracticeTask, type Problem } from './family.ts'
export { HANDBOOK } from './texts.ts'

export const FAMILIES: readonly Family[] = [shell, lookup, jsonField, sorting, roman, dates, units, counting, reversing, story, arithmetic]

/** Longer texts are documents, not tasks of this world; the patterns are not run over them. */
export const TASK_CHARACTERS_MAX = 2000

export function recognise(text: string): { readonly family: Family; readonly problem: Problem } | null {
  if (text.length > TASK_CHARACTERS_MAX) return null
  for (const family of FAMILIES) {
    const problem = family.read(text)
    if (problem !== null) return { family, problem }
  }
  return null
}
