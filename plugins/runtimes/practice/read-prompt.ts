/** A request of any format as a prompt, or the refusal its provider would have given. */
import type { JsonObject } from '../../../src/contract/index.ts'
import {
  callsIn,
  isInstruction,
  resultText,
  textsIn,
  withResultsApart,
  written,
  type DialectSpec,
  type Part,
  type RequestFault,
  type Turn,
} from '../../../src/dialects/index.ts'
import { piecesBetween } from './skills.ts'
import type { Prompt, PromptTurn, UserTurn } from './prompt.ts'

export function readPrompt(dialect: DialectSpec, body: JsonObject, model: string): Prompt | RequestFault {
  const fault = dialect.faultIn(body, model)
  if (fault !== null) return fault
  const { turns, tools, choice, tokensMax, stops, format } = dialect.reader.read(body)
  const callable = tools.filter(({ shape }) => shape !== 'hosted')
  return { model, turns: withResultsApart(turns).flatMap(promptTurns), tools: callable, choice, tokensMax, stops, format }
}

export const isFault = (read: Prompt | RequestFault): read is RequestFault => 'message' in read

function promptTurns({ role, parts }: Turn): readonly PromptTurn[] {
  const texts = textsIn(parts)
  if (isInstruction(role)) return texts.length > 0 ? [{ role: 'instruction', texts }] : []
  if (role === 'tool')
    return parts.flatMap((part) =>
      part.kind === 'result' ? [{ role, callId: part.callId ?? '', text: resultText(part), failed: part.isError }] : [],
    )
  if (role !== 'assistant') return userTurns(texts, parts.filter(isMedia).length)
  const calls = callsIn(parts).map(({ id, name, input }) => ({ id: id ?? '', name, input: written(input) }))
  return texts.length === 0 && calls.length === 0 && parts.length > 0 ? [] : [{ role, texts, calls }]
}

const MEDIA = new Set(['image', 'image_url', 'input_image', 'document', 'file', 'input_file', 'input_audio'])

const isMedia = (part: Part): boolean => part.kind === 'image' || (part.kind === 'other' && MEDIA.has(part.type))

/**
 * Reminders that agents put between the user's own words are instructions, not the task.
 * Agents of the Claude family mark them with this element, in user turns and beside tool results alike.
 */
const remindersIn = (text: string): readonly string[] => piecesBetween(text, '<system-reminder>', '</system-reminder>')

function userTurns(said: readonly string[], images: number): readonly PromptTurn[] {
  const reminders = said.flatMap(remindersIn)
  const texts = said.map(withoutReminders).filter((text) => text !== '')
  const user: readonly UserTurn[] = texts.length > 0 || images > 0 ? [{ role: 'user', texts, images }] : []
  return reminders.length > 0 ? [{ role: 'instruction', texts: reminders }, ...user] : user
}

const withoutReminders = (text: string): string =>
  remindersIn(text)
    .reduce((rest, reminder) => rest.replace(reminder, () => ''), text)
    .trim()
