/** The head of a skill or command file: agents list a skill by it, so a text without one is given one. */
import { stringify } from 'yaml'
import { firstCodePoints } from '../../kit/index.ts'

const DESCRIPTION_CHARACTERS_MAX = 200

export const hasFrontMatter = (text: string): boolean => /^---[ \t]*\r?\n/.test(text)

/** The text as it is when it has a head; else with its name and its first line as description. */
export function withFrontMatter(name: string, text: string): string {
  if (hasFrontMatter(text)) return text
  const head = stringify(
    { name, description: descriptionOf(name, text) },
    { lineWidth: 0, defaultStringType: 'QUOTE_DOUBLE', defaultKeyType: 'PLAIN' },
  )
  return `---\n${head}---\n\n${text}`
}

function descriptionOf(name: string, text: string): string {
  const line = text
    .split('\n')
    .map((each) => each.replace(/^#+/, '').trim())
    .find((each) => each !== '')
  return firstCodePoints(line ?? name, DESCRIPTION_CHARACTERS_MAX)
}
