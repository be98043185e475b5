/** An exchange of any format as steps: what the person said, what the agent said and called, and what its tools answered. */
import type { Json, JsonObject } from '../contract/index.ts'
import { objectOf, ownWords, readerOf, resultText, textsIn, withResultsApart, type Part, type Turn } from '../dialects/index.ts'

export type SessionStep =
  | { readonly by: 'person'; readonly text: string }
  | { readonly by: 'agent'; readonly text: string }
  | { readonly by: 'call'; readonly id: string | null; readonly name: string; readonly input: Json }
  | { readonly by: 'result'; readonly callId: string | null; readonly text: string; readonly isError: boolean }

export interface ExchangeSteps {
  /** System text is left out. */
  readonly asked: readonly SessionStep[]
  readonly answered: readonly SessionStep[]
  /** Whether the model was offered tools. Agents also ask it for titles and the like, without any. */
  readonly hasTools: boolean
  /** Where the agent works, as it tells its model; null where it does not. */
  readonly folder: string | null
}

export function stepsIn(payload: JsonObject): ExchangeSteps {
  const reader = readerOf(payload)
  const [answer] = reader.readAnswer(objectOf(payload['response']))
  const { turns, tools } = reader.read(payload)
  return {
    asked: withResultsApart(turns).flatMap(stepsOf),
    answered: answer === undefined ? [] : stepsOf(answer),
    hasTools: tools.length > 0,
    folder: folderIn(turns),
  }
}

const FOLDER = /(?:<cwd>|\b(?:primary |current )?working directory:|"cwd":\s?")\s?(\/[^\s<>"'`]{1,500})/i
const TURNS_LOOKED_AT = 4

function folderIn(turns: readonly Turn[]): string | null {
  for (const text of turns.slice(0, TURNS_LOOKED_AT).flatMap(({ parts }) => textsIn(parts))) {
    const [, folder] = FOLDER.exec(shortened(text)) ?? []
    if (folder !== undefined) return folder.replace(/(?<![/.,])[/.,]+$/, '') || null
  }
  return null
}

function stepsOf({ role, parts }: Turn): readonly SessionStep[] {
  if (role === 'user')
    return said(
      'person',
      textsIn(parts).map((text) => ownWords(shortened(text))),
    )
  if (role === 'assistant') return [...said('agent', textsIn(parts)), ...parts.flatMap(callStep)]
  return role === 'tool' ? parts.flatMap(resultStep) : []
}

function said(by: 'person' | 'agent', texts: readonly string[]): readonly SessionStep[] {
  const text = shortened(texts.filter((each) => each.trim() !== '').join('\n')).trim()
  return text === '' ? [] : [{ by, text }]
}

const callStep = (part: Part): readonly SessionStep[] =>
  part.kind === 'call' ? [{ by: 'call', id: part.id, name: part.name, input: part.input }] : []

const resultStep = (part: Part): readonly SessionStep[] =>
  part.kind === 'result' ? [{ by: 'result', callId: part.callId, text: shortened(resultText(part)), isError: part.isError }] : []

const CHARACTERS_MAX = 512 * 1024

/** Without its middle where it is too long: what a text is about stands at its beginning, and how a run ended at its end. */
const shortened = (text: string): string =>
  text.length <= CHARACTERS_MAX ? text : `${text.slice(0, CHARACTERS_MAX / 2)}\n[…]\n${text.slice(-CHARACTERS_MAX / 2)}`
