/** The parts of a message's content, in the spelling of any provider: texts, and how many images or files came along. */
import type { Json } from '../../../../src/contract/index.ts'
import { piecesBetween } from '../between.ts'
import { isObject, listOf, textOf } from '../json.ts'
import type { AssistantTurn, Call, InstructionTurn, UserTurn } from '../prompt.ts'

export interface Content {
  readonly texts: readonly string[]
  readonly images: number
}

const TEXT_PARTS = new Set(['text', 'input_text', 'output_text', 'refusal', 'summary_text'])
const IMAGE_PARTS = new Set(['image', 'image_url', 'input_image', 'document', 'file', 'input_file', 'input_audio'])

export function readContent(content: Json | undefined): Content {
  if (typeof content === 'string') return { texts: content === '' ? [] : [content], images: 0 }
  const texts: string[] = []
  let images = 0
  for (const part of listOf(content)) {
    if (typeof part === 'string') texts.push(part)
    if (!isObject(part)) continue
    const type = textOf(part['type'])
    const text = textOf(part['text']) || textOf(part['refusal'])
    if (text !== '' && (type === '' || TEXT_PARTS.has(type))) texts.push(text)
    if (IMAGE_PARTS.has(type)) images += 1
  }
  return { texts, images }
}

export const joined = (content: Json | undefined): string => readContent(content).texts.join('\n')

/**
 * Reminders that agents put between the user's own words are instructions, not the task.
 * Agents of the Claude family mark them with this element, in user turns and beside tool results alike.
 */
const remindersIn = (text: string): readonly string[] => piecesBetween(text, '<system-reminder>', '</system-reminder>')

export function userTurns(content: Content): readonly (InstructionTurn | UserTurn)[] {
  const reminders = content.texts.flatMap(remindersIn)
  const texts = content.texts
    .map((text) =>
      remindersIn(text)
        .reduce((rest, reminder) => rest.replace(reminder, () => ''), text)
        .trim(),
    )
    .filter((text) => text !== '')
  const turns: (InstructionTurn | UserTurn)[] = []
  if (reminders.length > 0) turns.push({ role: 'instruction', texts: reminders })
  if (texts.length > 0 || content.images > 0) turns.push({ role: 'user', texts, images: content.images })
  return turns
}

export const instructionTurns = (content: Content): readonly InstructionTurn[] =>
  content.texts.length > 0 ? [{ role: 'instruction', texts: content.texts }] : []

export const assistantTurn = (content: Content, calls: readonly Call[]): AssistantTurn => ({
  role: 'assistant',
  texts: content.texts,
  calls,
})

export const isInstructionRole = (role: string): boolean => role === 'system' || role === 'developer'
