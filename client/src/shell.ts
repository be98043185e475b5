/** Words and lines for a person's shell. */
import { showHiddenLine } from './hidden.ts'
import { TOKEN_VARIABLE } from './names.ts'

/** curl reads the token from its input: among its arguments everyone on the machine could read it. */
export const curlLine = (rest: string, hasToken: boolean): string =>
  hasToken ? `printf 'authorization: Bearer %s\\n' "$${TOKEN_VARIABLE}" | curl -sS -H @- ${rest}` : `curl -sS ${rest}`

/** One word for a shell, whatever is in it. */
export const quoted = (word: string): string => `'${word.replaceAll("'", `'\\''`)}'`

/** The same for a line that is shown: a character that a terminal would obey or hide is written by its bytes. */
export function pasted(word: string): string {
  if (showHiddenLine(word) === word) return quoted(word)
  const text = Array.from(word, (each) => (showHiddenLine(each) === each && each !== '\\' ? each : bytesOf(each))).join('')
  return `"$(printf %b ${quoted(text)})"`
}

const bytesOf = (character: string): string => [...Buffer.from(character)].map((byte) => `\\0${byte.toString(8).padStart(3, '0')}`).join('')
