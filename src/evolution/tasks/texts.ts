/** Collects and normalises texts for comparison. */
import type { Json } from '../../contract/index.ts'

/** All white space but a single space, which is the common case. */
const SPACING = /[^\S ]\s*| \s+/g

/** Ignores spacing and case. */
export const plain = (text: string): string => text.replaceAll(SPACING, ' ').trim().toLowerCase()

/** Every text in a value. Iterative, since the value may be nested deeper than the call stack. */
export function* textsIn(value: Json): Generator<string> {
  const waiting: Json[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) waiting.push(part)
  }
}
