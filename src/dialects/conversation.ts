/** A conversation in no provider's words: what every format is read into, and what answers are written from. */
import type { ChatMessage, ChatTool, Json, JsonObject } from '../contract/index.ts'

export interface Conversation {
  /** In the order they were said, system text first. */
  readonly turns: readonly Turn[]
  readonly tools: readonly Tool[]
  readonly choice: ToolChoice
  /** Whether the answer may hold several calls; null when the request does not say. */
  readonly hasParallelCalls: boolean | null
  /** The most tokens the answer may have; null when the request sets no limit. */
  readonly tokensMax: number | null
  readonly stops: readonly string[]
  /** Set when the answer must be JSON; the schema is null for 'any object'. */
  readonly format: { readonly schema: JsonObject | null } | null
  /** temperature, top_p, top_k: those that the request names. */
  readonly sampling: JsonObject
}

export interface Turn {
  /** system, developer, user, assistant, tool, or what else a client wrote. */
  readonly role: string
  readonly parts: readonly Part[]
}

export type Part =
  | { readonly kind: 'text' | 'refusal'; readonly text: string }
  /** Null: the provider withholds it. */
  | { readonly kind: 'thinking'; readonly text: string | null }
  /** A picture, as a data address or as the address it lies at. */
  | { readonly kind: 'image'; readonly address: string; readonly type: string; readonly where: string }
  | CallPart
  | ResultPart
  /** Of a type not known here. `where` names it for a refusal. */
  | { readonly kind: 'other'; readonly type: string; readonly value: Json; readonly where: string }

export interface CallPart {
  readonly kind: 'call'
  readonly id: string | null
  readonly name: string
  /** JSON, JSON as text, or the free text of a custom tool. */
  readonly input: Json
  readonly isCustom: boolean
}
export interface ResultPart {
  readonly kind: 'result'
  readonly callId: string | null
  readonly isError: boolean
  readonly parts: readonly Part[]
  /** As it was sent. */
  readonly value: Json
}

export interface Tool {
  readonly name: string
  readonly description: string
  readonly parameters: JsonObject
  /** A hosted tool runs at the provider: no model of ours can call it. */
  readonly shape: 'function' | 'custom' | 'hosted'
  /** The group the tool was offered in; its calls must name it. */
  readonly namespace: string | null
}

export type ToolChoice = { readonly kind: 'auto' | 'none' | 'required' } | { readonly kind: 'named'; readonly name: string }

/** One of the answers: several where several choices were asked for. */
export interface AnswerTurn extends Turn {
  /** Why it ended, in the provider's word. */
  readonly stop: string | null
}

/** What a model is asked. */
export interface ModelQuestion {
  readonly model: string
  readonly messages: readonly ChatMessage[]
  readonly tools: readonly ChatTool[]
  /** Null: as many as the model likes, where the format lets it. */
  readonly tokensMax: number | null
}

/** Reads exchanges of a format, as far as a browser needs it too. */
export interface DialectReader {
  /** What the format is called where people read it. */
  readonly title: string
  /** Whether a stored exchange is of this format. */
  isExchange(request: JsonObject, answer: JsonObject): boolean
  read(request: JsonObject): Conversation
  /** Members that hold instructions apart from the messages. They are read into the first turn. */
  readonly instructions: readonly string[]
  /** The turns as people are shown them, where that is not how a model reads them. */
  readonly shownTurns?: (request: JsonObject) => readonly Turn[]
  /** Empty for what is no answer of this format. */
  readAnswer(answer: JsonObject): readonly AnswerTurn[]
  /** Where an answer counts its tokens. */
  readonly usage: string
  /** The path at which a model is asked, below its address. */
  askPath(model: string): string
}

/** An answer as models inside this process give it. */
export interface ModelReply {
  /** What the answer's ids are made of. */
  readonly id: string
  readonly model: string
  /** Whole seconds since the epoch. */
  readonly createdSeconds: number
  readonly text: string
  readonly calls: readonly ReplyCall[]
  readonly ending: { readonly kind: 'end' | 'length' | 'call' | 'refusal' } | { readonly kind: 'stop'; readonly sequence: string }
  readonly usage: { readonly input: number; readonly output: number }
  /** The chat completion that the reply was read from, where there is one: the chat format gives it on as it is. */
  readonly completion?: JsonObject
}

export interface ReplyCall {
  /** Null: one that the format makes up. */
  readonly id: string | null
  readonly name: string
  /** JSON text, or the free text of a custom tool. */
  readonly input: string
  readonly shape: 'function' | 'custom'
  readonly namespace: string | null
}

const CALL_ID_CHARACTERS = 24

export const callId = ({ id }: ReplyCall, replyId: string, at: number, prefix = 'call'): string =>
  id ?? `${prefix}_${replyId.slice(0, CALL_ID_CHARACTERS)}${at || ''}`

/** How a stream cuts a text; put together, the pieces are the text again. */
export type Pieces = (text: string) => readonly string[]

export const isInstruction = (role: string): boolean => role === 'system' || role === 'developer'

export const textsIn = (parts: readonly Part[]): readonly string[] =>
  parts.flatMap((part) => (part.kind === 'text' || part.kind === 'refusal' ? [part.text] : []))

export const callsIn = (parts: readonly Part[]): readonly CallPart[] => parts.filter((part) => part.kind === 'call')

/** The text of a result; what has no text is its JSON. */
export function resultText({ parts, value }: ResultPart): string {
  if (Array.isArray(value) || typeof value === 'string') return textsIn(parts).join('\n')
  return value === null ? '' : JSON.stringify(value)
}

/** Results of tools come in the user's turn in some formats: here they are turns of their own, before whatever else the user says. */
export function withResultsApart(turns: readonly Turn[]): readonly Turn[] {
  return turns.flatMap((turn) => {
    const results = turn.parts.filter((part) => part.kind === 'result')
    if (turn.role === 'tool' || results.length === 0) return [turn]
    const rest = turn.parts.filter((part) => part.kind !== 'result')
    return [...results.map((part) => ({ role: 'tool', parts: [part] })), ...(rest.length === 0 ? [] : [{ role: turn.role, parts: rest }])]
  })
}

/** Neighbours of one role become one. */
export function joinNeighbours<T extends { readonly role: string }>(turns: readonly T[], join: (last: T, next: T) => T): readonly T[] {
  const all: T[] = []
  for (const turn of turns) {
    const last = all.at(-1)
    if (last?.role === turn.role) all[all.length - 1] = join(last, turn)
    else all.push(turn)
  }
  return all
}
