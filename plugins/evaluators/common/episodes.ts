/** What every evaluator asks of an episode first: whether it came to an end of its own, and what the agent said last. */
import { isObject, type Episode, type Json, type JsonObject } from '../../../src/contract/index.ts'

/**
 * The score of an episode that did not end by itself; undefined for one that did, whatever its exit code. Running into a limit is the
 * harness's own doing, so it may never pay; a command that could not be started is nobody's.
 */
export function scoreOfEnd({ ended }: Episode): number | null | undefined {
  if (ended === undefined) return undefined
  return ended === 'start' ? null : 0
}

/**
 * The last text of the agent, from its log where the log has one, else what it printed. One text alone counts, and the log's before the
 * printed one: tools and extensions print too, and whoever says two things may not be given the better of them.
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

/** Agents of an agent keep logs of their own, which may be read after its; but it speaks after them. */
const isEarlier = (one: Spoken, other: Spoken): boolean => one.time !== null && other.time !== null && one.time < other.time

function spokenIn(event: JsonObject): readonly Spoken[] {
  // Claude's word for the log of an agent within the session.
  if (event['isSidechain'] === true) return []
  const message = assistantMessage(event)
  const text = message === null ? '' : textOf(message)
  return text.trim() === '' ? [] : [{ time: timeOf(event), text }]
}

/** Where the logs of the agents keep a message: the event itself, or one of these members of it. */
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

/** Thoughts and calls are parts too, and not what was said. */
function partText(part: Json): readonly string[] {
  if (!isObject(part) || typeof part['text'] !== 'string') return []
  return part['type'] === 'text' || part['type'] === 'output_text' ? [part['text']] : []
}

/** Array.isArray says nothing of lists that may not be written to. */
const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value)

function timeOf({ timestamp, time }: JsonObject): number | null {
  const at = timestamp ?? time
  const milliseconds = typeof at === 'string' ? Date.parse(at) : at
  return typeof milliseconds === 'number' && Number.isFinite(milliseconds) ? milliseconds : null
}
