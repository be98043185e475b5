/** Chat completions: chunks of deltas, ended by `[DONE]`; the receipt is one more chunk with empty choices before it. */
import { isObject, type Json, type JsonObject } from '../../contract/index.ts'
import { readEvent, writeEvent } from '../../kit/index.ts'
import { parseExactly } from '../digits.ts'
import { failureOf, grownList, numberAt, readObject, receiptFields, type StreamReader } from '../stream.ts'
import { listOf } from '../values.ts'

/** Members of a chunk that are not members of the answer: choices are put together apart, padding says nothing. */
const NOT_OF_THE_ANSWER = new Set(['choices', 'obfuscation'])
/** Members of a delta that are said once; every other text is said in pieces and joined. */
const SAID_ONCE = new Set(['role', 'id', 'type', 'name', 'finish_reason'])

interface Choice {
  readonly message: Record<string, Json>
  readonly toolCalls: Map<number, Record<string, Json>>
  readonly rest: Record<string, Json>
}

export class ChatReader implements StreamReader {
  readonly #head: Record<string, Json> = {}
  readonly #choices = new Map<number, Choice>()
  failure: string | null = null

  take(frame: Buffer): boolean {
    const chunk = readObject(frame, parseExactly)
    if (chunk === null) return readEvent(frame)?.data.trim() === '[DONE]'
    this.#takeHead(chunk)
    for (const choice of listOf(chunk['choices'])) if (isObject(choice)) this.#takeChoice(choice)
    return false
  }

  /** The newest word counts (usage grows from chunk to chunk); nothing and empty text never hide what was said. */
  #takeHead(chunk: JsonObject): void {
    for (const [key, value] of Object.entries(chunk)) {
      if (NOT_OF_THE_ANSWER.has(key)) continue
      if ((value !== null && value !== '') || !(key in this.#head)) this.#head[key] = value
    }
    if ((chunk['error'] ?? null) !== null) this.failure = failureOf(chunk['error'])
  }

  #takeChoice(part: JsonObject): void {
    const choice = this.#choiceAt(numberAt(part, 'index') ?? 0)
    for (const [key, value] of Object.entries(part)) {
      if (key === 'delta' && isObject(value)) takeDelta(choice, value)
      else if (key !== 'index' && key !== 'delta') joinMember(choice.rest, key, value)
    }
  }

  #choiceAt(index: number): Choice {
    const choice = this.#choices.get(index) ?? { message: {}, toolCalls: new Map(), rest: {} }
    this.#choices.set(index, choice)
    return choice
  }

  answer(): JsonObject {
    const choices = inOrder(this.#choices).map(([index, choice]) => finishChoice(index, choice))
    return { ...this.#head, object: 'chat.completion', choices }
  }

  ending(terminal: Buffer, receipt: string): Buffer {
    const chunk = { ...identityOf(this.#head), object: 'chat.completion.chunk', choices: [], ...receiptFields(receipt) }
    return Buffer.concat([writeEvent(null, JSON.stringify(chunk)), terminal])
  }

  failing(message: string, code: string): Buffer {
    return writeEvent(null, JSON.stringify({ error: { message, type: 'api_error', code } }))
  }
}

function identityOf(head: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(head).filter(([key]) => key === 'id' || key === 'created' || key === 'model'))
}

function finishChoice(index: number, choice: Choice): JsonObject {
  const calls = inOrder(choice.toolCalls).map(([, call]) => call)
  const message = { role: 'assistant', content: null, ...choice.message, ...(calls.length > 0 && { tool_calls: calls }) }
  return { index, message, ...choice.rest }
}

function takeDelta(choice: Choice, delta: JsonObject): void {
  for (const [key, value] of Object.entries(delta)) {
    if (key !== 'tool_calls') joinMember(choice.message, key, value)
    else for (const call of listOf(value)) if (isObject(call)) takeToolCall(choice.toolCalls, call)
  }
}

/** A tool call arrives in pieces under its index: id and name once, its arguments in parts. */
function takeToolCall(calls: Map<number, Record<string, Json>>, part: JsonObject): void {
  const index = numberAt(part, 'index') ?? calls.size
  const call = calls.get(index) ?? {}
  calls.set(index, call)
  for (const [key, value] of Object.entries(part)) if (key !== 'index') joinMember(call, key, value)
}

/** Texts and lists grow, objects grow member by member, everything else is replaced; null never hides what was said. */
function joinMember(whole: Record<string, Json>, key: string, value: Json): void {
  const before = whole[key] ?? null
  if (typeof value === 'string' && typeof before === 'string') whole[key] = SAID_ONCE.has(key) ? value || before : before + value
  else if (Array.isArray(value)) whole[key] = grownList(before, value)
  else if (isObject(value) && isObject(before) && !JSON.isRawJSON(value)) {
    const grown: Record<string, Json> = { ...before }
    for (const [name, member] of Object.entries(value)) joinMember(grown, name, member)
    whole[key] = grown
  } else if (value !== null || !(key in whole)) whole[key] = value
}

function inOrder<T>(map: ReadonlyMap<number, T>): [number, T][] {
  return [...map].sort(([a], [b]) => a - b)
}
