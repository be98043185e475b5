/** Wraps text of others as a block of a prompt whose end the text cannot forge, so that it reads as data. */
import { randomBytes } from 'node:crypto'
import { showHidden } from '@svc-ai/client/hidden'

const TOKEN_BYTES = 8
/** A longer text would push the instructions out of a model's sight. */
const FENCED_CHARACTERS_MAX = 120_000

/** The random token is made after the text, so the text cannot contain the end marker. */
export function fence(label: string, text: string): string {
  const shown = asData(text, FENCED_CHARACTERS_MAX)
  const token = randomBytes(TOKEN_BYTES).toString('hex')
  return `<<<begin ${label} ${token}>>>\n${shown}\n<<<end ${label} ${token}>>>`
}

/** The text as data: hidden characters by number, no token of a chat format, at most so many characters. A longer one loses its middle. */
export function asData(text: string, charactersMax: number): string {
  // Cut first too: hidden characters take long to find in an endless text.
  return shortened(defused(showHidden(shortened(text, charactersMax).toWellFormed())), charactersMax)
}

const CUT = '\n[…]\n'

function shortened(text: string, charactersMax: number): string {
  if (text.length <= charactersMax) return text
  const half = Math.floor((charactersMax - CUT.length) / 2)
  return `${text.slice(0, half)}${CUT}${text.slice(-half)}`.toWellFormed()
}

const ELEMENTS =
  's|bos|eos|pad|unk|system|user|assistant|human|developer|tool|tool_calls?|tool_responses?|tool_results?|function_calls?|function_results?|' +
  'invoke|think(?:ing)?|system-reminder|instructions?|(?:start|end)_of_turn|(?:begin|end)_of_(?:text|sentence)|im_(?:start|end|sep)|extra_id_\\d+'

/** Tokens of chat templates, of any inference server. A space inside makes them plain text. */
const TEMPLATE_TOKENS: readonly (readonly [RegExp, string])[] = [
  [/<(?=[|\uff5c])/g, '< '],
  [/(?<=[|\uff5c])>/g, ' >'],
  [/\[(\/?[A-Z][A-Z_]{2,30})\]/g, '[ $1 ]'],
  [/\[(\/?INST)\]/gi, '[ $1 ]'],
  [/<(<\/?[A-Z]{2,20}>)>/gi, '< $1 >'],
  [new RegExp(`<(/?(?:[a-z]+:)?(?:${ELEMENTS})\\b[^<>\\n]{0,200})>`, 'gi'), '< $1 >'],
  [/^([ \t]*(?:human|assistant|system|user|developer|tool))([ \t]*):/gim, '$1$2 :'],
  [/^([ \t]*)(#{1,6}[ \t]*(?:instructions?|response|system|input|user|assistant)\b)/gim, '$1\\$2'],
]

const defused = (text: string): string => TEMPLATE_TOKENS.reduce((safe, [token, words]) => safe.replace(token, words), text)
