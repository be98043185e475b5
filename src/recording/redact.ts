/** A payload without personal data, as JSON that is otherwise what it was. */
import { TAG_VALUE_CHARACTERS_MAX, type Redactor } from '../contract/index.ts'
import { changeJson } from './json-texts.ts'

/** The answer once more, token by token: it would spell what was taken out of the text. */
const TOKENS = new Set(['logprobs', 'logprobsResult', 'prompt_logprobs', 'token_ids', 'prompt_token_ids', 'training'])

/** What an answer says in one piece: a stream that breaks off cuts none of these. Any other text may end in the middle. */
const SAID_WHOLE = new Set(
  'id object model role type name status cause finish_reason stop_reason stop_sequence finishReason service_tier system_fingerprint call_id item_id responseId modelVersion'.split(
    ' ',
  ),
)

/** Where nothing that was begun is left open: a line, a sentence, or a text of JSON has ended. */
const BOUNDARY = /[\n"\u3002\uff01\uff1f]|[.!?]\s/g

/** The same payload always gives the same one. Tags and quoted receipts are what records are found by: they stay. */
export function redactPayload(payload: string, redactor: Redactor, isBrokenOff = false): string {
  const redact = careful(redactor)
  // JSON in texts, such as the arguments of tools. It nests no deeper than the text has digits in binary: each level escapes the escapes of the next.
  const clean = (text: string): string => {
    const isJson = text.includes('\\') && /^\s*[[{"]/.test(text)
    return redact(isJson ? changeJson(text, { text: clean }) : text)
  }
  const redacted = changeJson(payload, {
    text: (text, path, key) => {
      if (isAddress(text, path)) return text
      const isCut = isBrokenOff && path[1] === 'response' && key !== null && !SAID_WHOLE.has(key)
      return clean(isCut ? upToBoundary(text) : text)
    },
  })
  if (redacted === payload) return payload
  return changeJson(redacted, { text: (text) => text, isDropped: (key, path) => path[1] === 'response' && TOKENS.has(key) })
}

/** Half of an address or a key is not known for one, so what a stream broke off in is not kept. */
function upToBoundary(text: string): string {
  let end = 0
  for (const { 0: found, index } of text.matchAll(BOUNDARY)) end = index + found.length
  return text.slice(0, end)
}

/** The message of its error may quote the record, and what is no text would break the JSON. */
function careful(redactor: Redactor): (text: string) => string {
  const redact = redactor.open()
  return (text) => {
    let left: unknown
    try {
      left = redact(text)
    } catch (error) {
      const name = error instanceof Error ? error.name : typeof error
      // oxlint-disable-next-line preserve-caught-error -- its message must not get into the log
      throw new Error(`the redactor threw a ${name}, whose message is not logged, since it may quote the record`)
    }
    if (typeof left === 'string') return left
    throw new Error(`the redactor answered with ${typeof left} in place of a text`)
  }
}

/** The first step of a path is the payload itself. Anything longer or deeper under those names is none. */
const isAddress = (text: string, path: readonly string[]): boolean => {
  const [, first, second] = path
  if (text.length > TAG_VALUE_CHARACTERS_MAX) return false
  if (path.length === 2) return first === 'metadata_tags' || first === 'references'
  return path.length === 3 && first === 'metadata' && second === 'tags'
}
