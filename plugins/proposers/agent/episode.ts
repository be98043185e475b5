/** Describes a trial for the proposing agent, using what the logs of all agents have in common. */
import { isObject, type Json, type JsonObject, type Trial } from '../../../src/contract/index.ts'

const TEXT_CHARACTERS_MAX = 4000
const CALLS_SHOWN_MAX = 30
const CALL_CHARACTERS_MAX = 300
const STDERR_CHARACTERS_MAX = 2000
/** Only the last events are read. */
const EVENTS_READ_MAX = 500
const DEPTH_MAX = 6

export function describeTrial({ score, failure, episode }: Trial): string {
  const result = { score, ...(failure !== null && { failure }) }
  if (episode === null) return JSON.stringify(result)
  const { trajectory, stdout, stderr, exitCode, ended } = episode
  const events = trajectory.slice(-EVENTS_READ_MAX).flatMap((event) => partsOf(event, DEPTH_MAX))
  return JSON.stringify(
    {
      ...result,
      exit_code: exitCode,
      ...(ended !== undefined && { ended }),
      final_text: (events.map(spokenIn).findLast((text) => text !== '') ?? stdout.trim()).slice(-TEXT_CHARACTERS_MAX).toWellFormed(),
      tool_calls: events.flatMap(callIn).slice(-CALLS_SHOWN_MAX),
      stderr: stderr.trim().slice(-STDERR_CHARACTERS_MAX).toWellFormed(),
    },
    null,
    1,
  )
}

/** The event and all objects in it, in order. */
function partsOf(value: Json, depth: number): readonly JsonObject[] {
  if (depth === 0 || typeof value !== 'object' || value === null) return []
  const inside = Object.values(value).flatMap((member: Json) => partsOf(member, depth - 1))
  return isObject(value) ? [value, ...inside] : inside
}

function spokenIn({ role, type, content, text }: JsonObject): string {
  if (role !== 'assistant' && type !== 'assistant/message') return ''
  if (typeof content === 'string') return content.trim()
  const parts = Array.isArray(content) ? content.filter(isObject) : [{ type: 'text', text: text ?? '' }]
  const texts = parts.map((part) => (part['type'] === 'text' || part['type'] === 'output_text' ? part['text'] : ''))
  return texts
    .filter((each) => typeof each === 'string')
    .join('\n')
    .trim()
}

/** Any object with a name and arguments. */
function callIn({ name, input, arguments: given, args }: JsonObject): readonly string[] {
  const called = input ?? given ?? args
  if (typeof name !== 'string' || called === undefined) return []
  return [`${name} ${typeof called === 'string' ? called : JSON.stringify(called)}`.slice(0, CALL_CHARACTERS_MAX).toWellFormed()]
}
