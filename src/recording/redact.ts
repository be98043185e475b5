/** A payload without personal data, as JSON that is otherwise what it was. */
import type { Redactor } from '../contract/index.ts'
import { changeJson } from './json-texts.ts'

/** JSON in texts, such as the arguments of tools, is read as deep as this. */
const NESTED_MAX = 4

/** The answer once more, token by token: it would spell what was taken out of the text. */
const TOKENS = new Set(['logprobs', 'logprobsResult', 'prompt_logprobs', 'token_ids', 'prompt_token_ids', 'training'])

/** The same payload always gives the same one. Tags and quoted receipts are what records are found by: they stay. */
export function redactPayload(payload: string, redactor: Redactor): string {
  const redact = redactor.open()
  const clean = (text: string, depth: number): string => {
    const isJson = depth < NESTED_MAX && text.includes('\\') && /^\s{0,20}[[{"]/.test(text)
    return redact(isJson ? changeJson(text, { text: (inner) => clean(inner, depth + 1) }) : text)
  }
  const redacted = changeJson(payload, { text: (text, path) => (isAddress(path) ? text : clean(text, 0)) })
  if (redacted === payload) return payload
  return changeJson(redacted, { text: (text) => text, isDropped: (key, path) => path[1] === 'response' && TOKENS.has(key) })
}

/** The first step of a path is the payload itself. */
const isAddress = ([, first, second]: readonly string[]): boolean =>
  first === 'metadata_tags' || first === 'references' || (first === 'metadata' && second === 'tags')
