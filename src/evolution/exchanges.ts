/** The users' texts and the answer of a recorded exchange, in any of the formats. */
import type { Json, JsonObject } from '../contract/index.ts'
import { objectOf, objectsOf, textOf } from './values.ts'

/** Tool results, which some formats send in the user role, are left out. */
export function userTexts({ messages, input }: JsonObject): readonly string[] {
  if (typeof input === 'string') return [input]
  const users = objectsOf(messages ?? input).filter(({ role }) => role === 'user')
  return nonBlank(users.map(({ content }) => saidIn(content)))
}

export function answerText({ response }: JsonObject): string {
  const { choices, output, content } = objectOf(response)
  const messages = Array.isArray(choices) ? objectsOf(choices).map(({ message }) => objectOf(message)) : objectsOf(output)
  return messages.length === 0 ? saidIn(content) : nonBlank(messages.map((message) => saidIn(message['content']))).join('\n')
}

const nonBlank = (texts: readonly string[]): readonly string[] => texts.filter((text) => text.trim() !== '')

const TEXT_PARTS = new Set(['text', 'input_text', 'output_text'])

function saidIn(content: Json | undefined): string {
  if (typeof content === 'string') return content
  const parts = objectsOf(content).filter(({ type }) => TEXT_PARTS.has(textOf(type)))
  return parts.map(({ text }) => textOf(text)).join('\n')
}
