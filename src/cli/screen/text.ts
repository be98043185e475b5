/** Text that strangers stored, made fit for a terminal: nothing in it moves the cursor, changes a colour or turns the direction of a line. */

import { hiddenAsJson, showHiddenLine } from '../../kit/index.ts'

/** Words of a stranger in one line: breaks and runs of blanks are one blank. */
export const oneLine = (text: string): string => showHiddenLine(text.replaceAll(/[ \t\r\n]+/g, ' ').trim())

export const shownLines = (text: string): string => text.split(/\r?\n/).map(showHiddenLine).join('\n')

/** JSON that means the same, without the characters that JSON leaves as they are and a terminal acts on. */
export const jsonText = (value: unknown, indent?: number): string => hiddenAsJson(JSON.stringify(value, null, indent))

/** JSON that somebody else wrote, in one line: blanks between its parts may be any, and inside its texts no break stands raw. */
export const jsonLine = (json: string): string => hiddenAsJson(json.replaceAll(/[\t\n\r]/g, ' ')).trim()

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
let segmenter: Intl.Segmenter | undefined
/** Made on first use: it takes longer than the rest of a start's output. */
const graphemesOf = (text: string): Intl.Segments => (segmenter ??= new Intl.Segmenter('en')).segment(text)

export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return [...graphemesOf(text)].reduce((sum, { segment }) => sum + cellsOf(segment), 0)
}

const cellsOf = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1)

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const { segment } of graphemesOf(text)) {
    left -= cellsOf(segment)
    if (left < 0) break
    kept += segment
  }
  return `${kept}…`
}

export function shellWord(text: string): string {
  const word = showHiddenLine(text)
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", String.raw`'\''`)}'`
}

export type Tone = 'strong' | 'quiet' | 'good' | 'warning' | 'bad'

const CODE: Readonly<Record<Tone, number>> = { strong: 1, quiet: 2, good: 32, warning: 33, bad: 31 }

export function paint(text: string, tone: Tone | undefined, screen: { readonly colours: boolean }): string {
  return tone === undefined || text === '' || !screen.colours ? text : `\u001B[${CODE[tone]}m${text}\u001B[0m`
}

const SPARKS = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'] as const

/** One mark per number, from the lowest to the highest of them. */
export function sparkline(numbers: readonly number[]): string {
  const low = Math.min(...numbers)
  const span = Math.max(...numbers) - low
  return numbers.map((number) => SPARKS[span === 0 ? 3 : Math.round(((number - low) / span) * (SPARKS.length - 1))]).join('')
}
