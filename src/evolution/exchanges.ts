/** The users' texts and the answer of a recorded exchange, in any of the formats. */
import type { JsonObject } from '../contract/index.ts'
import { objectOf, readerOf, type Turn } from '../dialects/index.ts'

/** Tool results, which some formats send in the user role, are left out. */
export function userTexts(payload: JsonObject): readonly string[] {
  const { turns } = readerOf(payload).read(payload)
  return nonBlank(turns.filter(({ role }) => role === 'user').map(textOf))
}

export function answerText(payload: JsonObject): string {
  return nonBlank(readerOf(payload).readAnswer(objectOf(payload['response'])).map(textOf)).join('\n')
}

const textOf = ({ parts }: Turn): string => parts.flatMap((part) => (part.kind === 'text' ? [part.text] : [])).join('\n')

const nonBlank = (texts: readonly string[]): readonly string[] => texts.filter((text) => text.trim() !== '')
