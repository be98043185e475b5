/** Reads a text as a model does: words without markup, accents and disguise, and the shapes that are no words. */

export interface Token {
  /** The index of its line. */
  readonly line: number
  /** As it is written. */
  readonly raw: string
  /** Its letters and digits alone, without accents, in lower case; empty where it has none. */
  readonly joined: string
  /** Its parts, by hyphens, underscores and changes of case. */
  readonly parts: readonly string[]
  /** Whether a sentence, or a part of one, ends with it. */
  readonly ends: boolean
  /** How many sentences and paragraphs ended before it. */
  readonly passed: number
  /** Whether a sentence, an item of a list, a heading or a field of front matter begins with it. */
  readonly begins: boolean
  /** Why it is no word of prose, or null. */
  readonly odd: string | null
}

/** Longer tokens are no words; the patterns below never see them. */
const CHARACTERS_MAX = 40

const LINE_BREAK = /\r\n|[\n\r\v\f\u0085\u2028\u2029]/

export const linesOf = (text: string): readonly string[] => text.split(LINE_BREAK)

export function* tokensOf(lines: readonly string[]): Generator<Token> {
  let [passed, hasEnded, begins] = [0, true, true]
  // A text repeats its words.
  const known = new Map<string, WordReading>()
  for (const [line, text] of lines.entries()) {
    if (text.trim() === '' && hasEnded) passed += 1
    if (text.trim() === '' || RULER.test(text) || BEGINNING.test(text)) begins = true
    if (RULER.test(text)) continue
    for (const [raw] of withoutMarker(text).matchAll(/\S+/gu)) {
      const word = known.get(raw) ?? readWord(raw)
      known.set(raw, word)
      const { joined, parts, ends, stops, odd } = word
      yield { line, raw, joined, parts, ends, odd, passed, begins }
      hasEnded = stops
      begins = stops
      if (hasEnded) passed += 1
    }
    if (HEADING.test(text)) begins = true
  }
}

/** A line that separates parts of a text. */
const RULER = /^\s*(?:-{3,}|\*{3,}|_{3,}|={3,})\s*$/

const HEADING = /^\s*#{1,6}\s/
/** A heading, an item of a list, or a field of front matter. */
const BEGINNING = /^\s*(?:#{1,6}\s|[-*+•]\s|\d{1,3}[.)]\s|[a-z][a-z_-]{1,30}:\s)/

/** Headings, quotes, bullets and numbers begin a line of Markdown. */
const withoutMarker = (line: string): string => line.replace(/^\s*(?:#{1,6}\s+|>\s+|[-*+•]\s+|\d{1,3}[.)]\s+)/, '')

type WordReading = Pick<Token, 'joined' | 'parts' | 'ends' | 'odd'> & { readonly stops: boolean }

/** Most words of prose: letters, and what ends a sentence. */
const PLAIN = /^([A-Za-z]{1,20})([.,;:!?]?)$/

function readWord(raw: string): WordReading {
  const [, plain, ending = ''] = PLAIN.exec(raw) ?? []
  const tail = raw.slice(-5)
  const [ends, stops] = [/[.!?:;]["'”’)*_`]*$/.test(tail), /[.!?]["'”’)*_`]*$/.test(tail)]
  if (plain !== undefined && !/[a-z][A-Z]/.test(plain)) {
    const joined = plain.toLowerCase()
    return { joined, parts: [joined], ends: ENDING.has(ending), stops, odd: blobOf(plain) }
  }
  if (raw.length > CHARACTERS_MAX) return { joined: '', parts: [], ends, stops, odd: 'a text without spaces, which may be encoded' }
  const word = raw.normalize('NFKC').replace(WRAPPING_START, '').replace(WRAPPING_END, '')
  const parts = word
    .replaceAll(/(\p{Ll})(\p{Lu})/gu, '$1 $2')
    .split(/[^\p{L}\p{N}\p{M}'’]+/u)
    .map(folded)
    .filter((part) => part !== '')
  return { joined: folded(word), parts, ends, stops, odd: oddity(raw, word) }
}
const ENDING: ReadonlySet<string> = new Set(['.', ';', ':', '!', '?'])

/** What encloses or ends a word in prose and in Markdown. */
const WRAPPING_START = /^["'“‘„«(*_`]{1,4}/u
const WRAPPING_END = /["'”’“»)*_`.,;:!?…]{1,6}$/u

function folded(word: string): string {
  return word
    .normalize('NFKD')
    .toLowerCase()
    .replaceAll('ß', 'ss')
    .replaceAll(/[^\p{L}\p{N}]/gu, '')
}

/** Forms of prose; whatever is none of them is odd. */
const FORMS: readonly RegExp[] = [
  // A word, also with an apostrophe, hyphens, or the underscores of a name.
  /^\p{L}\p{M}*(?:['’_-]?[\p{L}\p{M}\d]){0,39}$/u,
  // A number, a share, a sum of money, a time, an ordinal, a range.
  /^[-+±~<>≤≥$€£]?\d{1,7}(?:[.,]\d{1,6}){0,1}(?:%|°[CF]?|st|nd|rd|th|s|x|[a-z]{1,2}|€)?$/u,
  /^\d{1,3}(?:,\d{3}){1,3}(?:\.\d{1,2})?$/,
  /^\d{1,4}[-–:/]\d{1,4}$/,
  // A format of dates and times, a date.
  /^[YMDHSymdhs]{1,4}(?:[-/.:][YMDHSymdhs]{1,4}){1,2}$/,
  /^\d{1,4}[-/]\d{1,2}[-/]\d{1,4}$/,
  // Signs between words.
  /^[-–—+=<>≤≥≠→&×÷±*/%•·✓…]{1}$/u,
  /^°[CF]?$/u,
  /^(?:--|\.\.\.)$/,
  /^(?:e\.g|i\.e|a\.m|p\.m|U\.S|U\.K|etc)$/,
  /^(?:and\/or|either\/or|he\/she|his\/her|s\/he|yes\/no|true\/false|pass\/fail|km\/h|m\/s|n\/a|input\/output)$/i,
]

function oddity(raw: string, word: string): string | null {
  if (word === '')
    return /[`~]{2}/.test(raw) ? 'a block of code' : /^["'“”‘’«»()*_`.,;:!?…]{1,4}$/u.test(raw) ? null : 'signs that are no prose'
  if (/`{2}|~{2}/.test(raw)) return 'a block of code'
  if (FORMS.some((form) => form.test(word))) return blobOf(word)
  if (/^-{1,2}[a-z]/i.test(word)) return 'an option of a command'
  if (/^@|\w@\w/.test(word)) return 'an address or an import'
  if (/:\/\/|^(?:\w+:)?\/|^~\/|\.\.?\/|\/|\\|\w\.\w|\w:\w/.test(word)) return 'an address or a path'
  if (/^\d/.test(word)) return 'a number in an unusual form'
  if (/[<>]|\[INST|\|/.test(word)) return 'markup, or a template of a chat format'
  return 'signs that are no prose'
}

/** Words of prose have vowels and no digits among their letters; encoded texts do not. */
function blobOf(word: string): string | null {
  if (/^\d{8}/.test(word)) return 'a long number'
  const digits = word.match(/\d/g)?.length ?? 0
  const isMixed = digits > 2 && /\p{L}/u.test(word) && !/^[-+±~<>≤≥$€£\d]/u.test(word)
  if (word.length > 28 || (isMixed && word.length > 8)) return 'a text that may be encoded'
  return /^0[xob]/i.test(word) || /\p{L}[^aeiouy\W\d_]{7}/iu.test(word) ? 'a text that may be encoded' : null
}
