/** What the model says to anything that is no task of its world: politely, shortly, and without pretending. */
import { FAMILIES, TASK_CHARACTERS_MAX } from './families/index.ts'
import type { Situation } from './situation.ts'

/** 'Reply with exactly: pong' and its kin, by which people and clients check that anyone is there. */
const REPEAT = [
  /\b(?:reply|respond|answer|say|repeat)\b[^"'`:\n]{0,60}?\b(?:exactly|only|just|after me)\b[^"'`:\n]{0,60}?[:"'`]([^"'`\n]+)/i,
  /\b(?:reply|respond|answer|say)\b.{0,60}?\b(?:exactly|only|just)(?: with)?(?: the words?)?\s+([\w-]+)[.!]?\s*$/i,
  /^\s*(?:say|repeat|echo)[: ]+["'`]?([^"'`\n]+?)["'`]?[.!]?\s*$/i,
]
const GREETING = /^\s*(?:hi|hello|hey|good (?:morning|evening|day)|ping)\b/i
const TOPICS = FAMILIES.map((family) => family.name.replace('-', ' ')).join(', ')
const QUOTED_CHARACTERS_MAX = 80

export function converse(situation: Situation): string {
  const { images, steps } = situation
  const task = situation.task.slice(0, TASK_CHARACTERS_MAX)
  for (const pattern of REPEAT) {
    const words = pattern.exec(task)?.[1]?.trim()
    if (words !== undefined && words !== '') return words
  }
  const seen = images === 0 ? '' : `I got ${images === 1 ? 'an image' : `${images} images`}, which I cannot look at. `
  const result = steps.at(-1)?.result
  if (result !== undefined && result !== null) return `${seen}The tool answered: ${shortened(result.text)}`
  if (GREETING.test(task)) return `${seen}Hello! Ask me a small task: ${TOPICS}.`
  if (task === '') return `${seen}Nothing was asked. I know small tasks: ${TOPICS}.`
  return `${seen}You said: "${shortened(task)}". That is beyond a practice model. I know small tasks: ${TOPICS}.`
}

function shortened(text: string): string {
  const line = text.trim().replaceAll(/\s+/g, ' ')
  return line.length > QUOTED_CHARACTERS_MAX ? `${line.slice(0, QUOTED_CHARACTERS_MAX).toWellFormed()}…` : line
}
