/** What the answer of a model says, in whichever format it was asked. */
import type { ChatTurn, JsonObject } from '../contract/index.ts'
import { callsIn } from './conversation.ts'
import type { DialectSpec } from './dialect.ts'
import { countOf, objectOf, written } from './values.ts'

export interface ModelAnswer extends ChatTurn {
  readonly inputTokens: number
  readonly outputTokens: number
}

/** Null when it is no answer of this format. */
export function readModelAnswer({ reader, answer: members }: DialectSpec, body: JsonObject): ModelAnswer | null {
  const [first] = reader.readAnswer(body)
  if (first === undefined) return null
  const usage = objectOf(body[members.usage])
  const sum = (names: readonly string[]): number => names.reduce((total, name) => total + countOf(usage[name]), 0)
  return {
    text: first.parts.map((part) => (part.kind === 'text' ? part.text : '')).join(''),
    calls: callsIn(first.parts).map(({ id, name, input }) => ({ id: id ?? '', name, arguments: written(input) })),
    inputTokens: sum(members.inputTokens),
    outputTokens: sum(members.outputTokens),
  }
}
