/** Text that strangers stored, made fit for a terminal: nothing in it moves the cursor, changes a colour or turns the direction of a line. */

/** Kept apart for each use, since a regular expression with a `g` remembers where it was. */
const unsafe = (): RegExp => /[\p{Cc}\p{Zl}\p{Zp}\p{Bidi_Control}]/gu

/** One line, with everything that is no plain character spelt out. */
export function shown(text: string): string {
  return text.replaceAll(unsafe(), spelt)
}

/** Words of a stranger in one line: breaks and runs of blanks are one blank. */
export function oneLine(text: string): string {
  return shown(text.replaceAll(/\s+/g, ' ').trim())
}

export function shownLines(text: string): string {
  return text.split(/\r?\n/).map(shown).join('\n')
}

/** JSON that means the same, without the characters that JSON leaves as they are and a terminal acts on. */
export function jsonText(value: unknown, indent?: number): string {
  return JSON.stringify(value, null, indent).replaceAll(unsafe(), (character) => (character === '\n' ? character : escaped(character)))
}

/** JSON that somebody else wrote, in one line: blanks between its parts may be any, and inside its texts no break stands raw. */
export function jsonLine(json: string): string {
  return json.replaceAll(unsafe(), (character) => (/[\t\n\r]/.test(character) ? ' ' : escaped(character))).trim()
}

const spelt = (character: string): string => (character === '\t' ? ' ' : escaped(character))

const escaped = (character: string): string => `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`

const WIDE =
  /[\p{Script=Han}\p{Script=Hangul}\p{Script=Hiragana}\p{Script=Katakana}\p{Emoji_Presentation}\u3000-\u303f\uff01-\uff60\uffe0-\uffe6]/u
const graphemes = new Intl.Segmenter('en')

export function widthOf(text: string): number {
  if (/^[\x20-\x7e]*$/.test(text)) return text.length
  return [...graphemes.segment(text)].reduce((sum, { segment }) => sum + cellsOf(segment), 0)
}

const cellsOf = (grapheme: string): number => (WIDE.test(grapheme) ? 2 : 1)

export function cut(text: string, width: number): string {
  if (widthOf(text) <= width) return text
  let kept = ''
  let left = width - 1
  for (const { segment } of graphemes.segment(text)) {
    left -= cellsOf(segment)
    if (left < 0) break
    kept += segment
  }
  return `${kept}…`
}

export function shellWord(text: string): string {
  const word = shown(text)
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
