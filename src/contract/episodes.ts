/** What all evaluators need: how an episode ended, and the agent's last text. */
import type { Episode } from './evolution.ts'
import { isObject, type Json, type JsonObject } from './json.ts'

/** The score of an episode that was ended: 0 at a limit, null when it did not start. Undefined when the command ended by itself. */
export function scoreOfEnd({ ended }: Episode): number | null | undefined {
  if (ended === undefined) return undefined
  return ended === 'start' ? null : 0
}

/**
 * The agent's last text, from its log if there is one, else from stdout. Exactly one text counts, so that an agent cannot give two answers;
 * the log comes first, since tools and extensions print too.
 */
export function finalText({ trajectory, stdout }: Episode): string {
  const said = trajectory.flatMap(spokenIn)
  const [first = { time: null, text: stdout }, ...others] = said
  return others.reduce((last, next) => (isEarlier(next, last) ? last : { ...next, time: next.time ?? last.time }), first).text
}

interface Spoken {
  readonly time: number | null
  readonly text: string
}

/** Subagents have their own logs, which may be read after the agent's, although they are older. */
const isEarlier = (one: Spoken, other: Spoken): boolean => one.time !== null && other.time !== null && one.time < other.time

function spokenIn(event: JsonObject): readonly Spoken[] {
  // Claude's mark for a subagent's log.
  if (event['isSidechain'] === true) return []
  const message = assistantMessage(event)
  const text = message === null ? '' : textOf(message)
  return text.trim() === '' ? [] : [{ time: timeOf(event), text }]
}

/** The message is the event itself or one of these members, depending on the agent. */
function assistantMessage(event: JsonObject): JsonObject | null {
  const { message, payload, data } = event
  const places = [event, message, payload, data, isObject(data) ? data['message'] : undefined].filter(isObject)
  const spoken = places.find(({ role }) => role === 'assistant')
  if (spoken !== undefined) return spoken
  if (event['source'] === 'agent') return event
  return event['type'] === 'assistant/message' ? (places.findLast(hasText) ?? null) : null
}

const hasText = (place: JsonObject): boolean => textOf(place) !== ''

function textOf({ content, text, message }: JsonObject): string {
  if (isList(content)) return content.flatMap(partText).join('\n')
  return [content, text, message].find((each) => typeof each === 'string') ?? ''
}

/** Leaves out reasoning and tool calls. */
function partText(part: Json): readonly string[] {
  if (!isObject(part) || typeof part['text'] !== 'string') return []
  return part['type'] === 'text' || part['type'] === 'output_text' ? [part['text']] : []
}

/** Array.isArray does not narrow readonly arrays. */
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function timeOf({ timestamp, time }: JsonObject): number | null {
  const at = timestamp ?? time
  const milliseconds = typeof at === 'string' ? Date.parse(at) : at
  return typeof milliseconds === 'number' && Number.isFinite(milliseconds) ? milliseconds : null
}
