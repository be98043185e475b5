/** Every family of tasks, in the order in which a text is tried against them: the narrower the pattern, the earlier. */
import { arithmetic } from './arithmetic.ts'
import { counting } from './counting.ts'
import { dates } from './dates.ts'
import type { Family, Problem } from './family.ts'
import { jsonField } from './json-field.ts'
import { lookup } from './lookup.ts'
import { reversing } from './reversing.ts'
import { roman } from './roman.ts'
import { shell } from './shell.ts'
import { sorting } from './sorting.ts'
import { story } from './story.ts'
import { units } from './units.ts'

export type { Family, PracticeTask, Problem, Slip } from './family.ts'
export { HANDBOOK } from './lookup.ts'

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
