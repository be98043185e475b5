/** The texts of a sample, and as they are held against each other. */
import type { Json } from '../../contract/index.ts'

/** All white space but a single blank, which most of it is and which stays as it is. */
const SPACING = /[^\S ]\s*| \s+/g

/** Spacing and case make no other text. */
export const plain = (text: string): string => text.replaceAll(SPACING, ' ').trim().toLowerCase()

/** Every text anywhere in a value; strangers made it, so it may be nested deeper than a call stack. */
export function* textsIn(value: Json): Generator<string> {
  const waiting: Json[] = [value]
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (typeof next === 'string') yield next
    else if (typeof next === 'object' && next !== null) for (const part of Object.values(next)) waiting.push(part)
  }
}
