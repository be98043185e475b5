/** Words as a search compares them, and what a person asks for with them. Texts and questions go through the same function, so that they meet. */

/** Scripts that put no space between words: each character counts as a word, and several in a row as a phrase. */
const UNSPACED = String.raw`\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}\p{Script=Myanmar}`
const WORD = new RegExp(String.raw`[${UNSPACED}]\p{M}*|(?:(?![${UNSPACED}])[\p{L}\p{N}\p{M}])+`, 'gu')
/** What is longer is no word that anyone types. */
const WORD_CHARACTERS_MAX = 64
const ACCENTS = /[\u0300-\u036f]/g

/** Lower case, without accents. Everything but letters and digits ends a word. */
export function searchWords(text: string): readonly string[] {
  const plain = text.toLowerCase().normalize('NFKD').replaceAll(ACCENTS, '').normalize('NFC')
  return (plain.match(WORD) ?? []).map((word) => word.slice(0, WORD_CHARACTERS_MAX).toWellFormed())
}

interface SearchTerm {
  /** In this order, one directly after the other. Never empty. */
  readonly words: readonly string[]
  /** The last of them may go on. */
  readonly isBeginning: boolean
  /** What must not occur. */
  readonly isExcluded: boolean
}

/** `one two` are two terms, `"one two"` and `one-two` a phrase each, `on*` a beginning, `-one` must not occur. */
export function searchTerms(text: string): readonly SearchTerm[] {
  return [...text.matchAll(/(-?)(?:"([^"]*)"?|([^\s"]+))/g)].flatMap(([, minus = '', phrase, plain]) => {
    const said = phrase ?? plain ?? ''
    const words = searchWords(said)
    if (words.length === 0) return []
    return [{ words, isBeginning: phrase === undefined && said.endsWith('*'), isExcluded: minus !== '' }]
  })
}

/** Whether a text of these words has what is asked for, and nothing that is excluded. Each list is a field, and no phrase goes over its end. */
export function hasTerms(fields: readonly (readonly string[])[], terms: readonly SearchTerm[]): boolean {
  return terms.every((term) => fields.some((words) => holds(words, term)) !== term.isExcluded)
}

function holds(words: readonly string[], { words: asked, isBeginning }: SearchTerm): boolean {
  const last = asked.length - 1
  const isSame = (word: string | undefined, at: number): boolean =>
    isBeginning && at === last ? word?.startsWith(asked[at] ?? '') === true : word === asked[at]
  return words.some((_, start) => asked.every((_word, at) => isSame(words[start + at], at)))
}
