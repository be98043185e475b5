/** Finds the held-out tasks that a batch reveals to the proposer. */
import type { Sample, Task, Json } from '../../contract/index.ts'
import { userTexts } from '../exchanges.ts'
import { findAll } from './find-all.ts'

/** A shorter prompt may occur by chance: it counts only when it is a user's whole text. */
const CONTAINED_CHARACTERS_MIN = 20

/** The names of gate and regression tasks that a sample names or whose prompt it holds. */
export function exposedBy(samples: readonly Sample[], tasks: readonly Task[]): readonly string[] {
  const heldOut = tasks.filter(({ role }) => role === 'gate' || role === 'regression')
  const prompts = [...new Set(heldOut.map(({ prompt }) => plain(prompt)))]
  const [long, short] = [prompts.filter(isLong), prompts.filter((prompt) => !isLong(prompt))]
  const found = new Set([...findAll(long, CONTAINED_CHARACTERS_MIN, plainTexts(samples)), ...saidIn(samples, short)])
  const named = new Set(samples.map(({ task }) => task?.['name']))
  return heldOut.filter(({ name, prompt }) => named.has(name) || found.has(plain(prompt))).map(({ name }) => name)
}

const isLong = (prompt: string): boolean => prompt.length >= CONTAINED_CHARACTERS_MIN

function* plainTexts(samples: readonly Sample[]): Generator<string> {
  for (const { exchanges, feedback } of samples) for (const text of textsIn([...exchanges, feedback])) yield plain(text)
}

function saidIn(samples: readonly Sample[], prompts: readonly string[]): readonly string[] {
  if (prompts.length === 0) return []
  const said = new Set(samples.flatMap(({ exchanges }) => exchanges.flatMap(userTexts)).map(plain))
  return prompts.filter((prompt) => said.has(prompt))
}

/** All white space but a single space, which is the common case. */
const SPACING = /[^\S ]\s*| \s+/g

/** Ignores spacing and case. */
export const plain = (text: string): string => text.replaceAll(SPACING, ' ').trim().toLowerCase()

/** Every text in a value. Iterative, since the value may be nested deeper than the call stack. */
function* textsIn(value: Json): Generator<string> {
  const waiting: Json[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) waiting.push(part)
  }
}
