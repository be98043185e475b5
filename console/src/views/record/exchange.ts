/** A stored exchange as a conversation: what was asked, what was answered, how it ended; whatever is missing or misshapen is left out. */
import { dataAt, isData, listAt, pretty, textAt, type Data } from '../../data/json.ts'
import { callPart, partsOf, resultPart, type Part } from './parts.ts'

export interface Turn {
  /** As the format says it: system, developer, user, assistant, tool. */
  readonly role: string
  readonly parts: readonly Part[]
}
interface Answer extends Turn {
  readonly stop: string | null
}
export interface Exchange {
  readonly format: 'chat completions' | 'messages' | 'responses' | null
  readonly asked: readonly Turn[]
  /** More than one where several choices were asked for. */
  readonly answers: readonly Answer[]
  readonly tools: readonly { readonly name: string; readonly description: string | null }[]
  /** The settings of the request that are one word or number. */
  readonly settings: readonly Fact[]
  readonly usage: readonly Fact[]
  readonly isStreamed: boolean
  /** Why it is not whole; null when it is. */
  readonly trouble: string | null
}
type Fact = readonly [name: string, value: string]

export function exchangeOf(payload: Data): Exchange {
  const response = payload['response']
  const answer = isData(response) ? response : {}
  return {
    format: formatOf(payload, answer),
    asked: askedIn(payload),
    answers: isData(response) ? answersIn(response) : textAnswer(response),
    tools: listAt(payload, 'tools').filter(isData).map(toolOf),
    settings: settingsIn(payload),
    usage: usageIn(dataAt(answer, 'usage')),
    isStreamed: answer['stream'] === true,
    trouble: troubleIn(answer),
  }
}

function formatOf(payload: Data, answer: Data): Exchange['format'] {
  if (Array.isArray(answer['choices'])) return 'chat completions'
  if (Array.isArray(answer['output']) || answer['object'] === 'response' || payload['input'] !== undefined) return 'responses'
  return answer['type'] === 'message' || Array.isArray(answer['content']) ? 'messages' : null
}

function askedIn(payload: Data): readonly Turn[] {
  const system = [...partsOf(payload['system']), ...partsOf(payload['instructions'])]
  const { input } = payload
  const turns = typeof input === 'string' ? [{ role: 'user', parts: partsOf(input) }] : itemTurns(listAt(payload, 'input'))
  return [{ role: 'system', parts: system }, ...listAt(payload, 'messages').filter(isData).map(messageTurn), ...turns].filter(
    ({ parts }) => parts.length > 0,
  )
}

/** A message of the chat or of the messages format; their fields do not collide. */
function messageTurn(message: Data): Turn {
  const role = textAt(message, 'role') ?? 'unknown'
  if (role === 'tool' || role === 'function') {
    return { role: 'tool', parts: [resultPart(textAt(message, 'tool_call_id') ?? textAt(message, 'name'), message['content'], false, 0)] }
  }
  return { role, parts: [...thoughtsOf(message), ...partsOf(message['content']), ...refusalOf(message), ...callsOf(message)] }
}

function thoughtsOf(message: Data): readonly Part[] {
  const thought = textAt(message, 'reasoning_content') ?? textAt(message, 'reasoning')
  return thought === null ? [] : [{ kind: 'thinking', text: thought }]
}

function refusalOf(message: Data): readonly Part[] {
  const refusal = textAt(message, 'refusal')
  return refusal === null ? [] : [{ kind: 'refusal', text: refusal }]
}

/** The older `function_call` is one call without an id; a custom tool has its name and input under `custom`. */
function callsOf(message: Data): readonly Part[] {
  const older = message['function_call']
  const calls = listAt(message, 'tool_calls').filter(isData)
  const made = calls.map((call) =>
    callPart({ ...dataAt(call, 'custom'), ...dataAt(call, 'function'), id: call['id'], type: call['type'] }, 'id'),
  )
  return [...made, ...(isData(older) ? [callPart(older, 'id')] : [])]
}

/** Items of the responses format. What one side says in several items is one turn. */
function itemTurns(items: readonly unknown[]): readonly Turn[] {
  const turns: { role: string; parts: Part[] }[] = []
  for (const { role, parts } of items.map(itemTurn)) {
    const last = turns.at(-1)
    if (last?.role !== role) turns.push({ role, parts: [...parts] })
    else for (const part of parts) last.parts.push(part)
  }
  return turns
}

function itemTurn(item: unknown): Turn {
  if (!isData(item)) return { role: 'user', parts: partsOf(item) }
  const type = textAt(item, 'type') ?? 'message'
  if (type === 'message') return { role: textAt(item, 'role') ?? 'unknown', parts: partsOf(item['content']) }
  return { role: type.endsWith('_output') ? 'tool' : 'assistant', parts: partsOf(item) }
}

function answersIn(response: Data): readonly Answer[] {
  const choices = listAt(response, 'choices').filter(isData)
  if (choices.length > 0)
    return choices.map((choice) => ({ ...messageTurn(dataAt(choice, 'message')), stop: textAt(choice, 'finish_reason') }))
  if (Array.isArray(response['output']))
    return [{ role: 'assistant', parts: itemTurns(response['output']).flatMap(({ parts }) => parts), stop: statusOf(response) }]
  if (response['content'] !== undefined)
    return [{ ...messageTurn({ role: 'assistant', ...response }), stop: textAt(response, 'stop_reason') }]
  return Object.keys(response).length === 0
    ? []
    : [{ role: 'assistant', parts: [{ kind: 'other', type: 'response', json: pretty(response) }], stop: null }]
}

/** Of what was imported, an answer may be a mere text. */
const textAnswer = (response: unknown): readonly Answer[] =>
  typeof response === 'string' ? [{ role: 'assistant', parts: partsOf(response), stop: null }] : []

const statusOf = (response: Data): string | null => textAt(dataAt(response, 'incomplete_details'), 'reason') ?? textAt(response, 'status')

function toolOf(tool: Data): Exchange['tools'][number] {
  const about = { ...tool, ...dataAt(tool, 'custom'), ...dataAt(tool, 'function') }
  return { name: textAt(about, 'name') ?? textAt(tool, 'type') ?? 'unnamed', description: textAt(about, 'description') }
}

const SETTING_CHARACTERS_MAX = 200
/** As many as anybody reads. */
const FACTS_MAX = 40
const NOT_SETTINGS: ReadonlySet<string> = new Set(['system', 'instructions', 'input', 'response', 'score'])

function settingsIn(payload: Data): readonly Fact[] {
  const settings = Object.entries(payload).filter(([name, value]) => isSetting(value) && !NOT_SETTINGS.has(name))
  return settings.slice(0, FACTS_MAX).map(([name, value]) => [name, String(value)])
}

const isSetting = (value: unknown): boolean =>
  typeof value === 'number' || typeof value === 'boolean' || (typeof value === 'string' && value.length <= SETTING_CHARACTERS_MAX)

/** Counts, those of one level below too: what was cached and what was thought is told there. */
function usageIn(usage: Data): readonly Fact[] {
  const counts = Object.entries(usage).flatMap(([name, value]) => (isData(value) ? Object.entries(value) : [[name, value] as const]))
  const numbers = counts.filter(([, count]) => typeof count === 'number')
  return numbers.slice(0, FACTS_MAX).map(([name, count]) => [name, String(count)])
}

function troubleIn(answer: Data): string | null {
  const { error } = answer
  const words = textAt(answer, 'cause') ?? (isData(error) ? (textAt(error, 'message') ?? pretty(error)) : textAt(answer, 'error'))
  return words ?? (answer['complete'] === false ? 'The answer broke off.' : null)
}
