/** Forms of English words. */

/** The word, and what it may be a form of. */
export const formsOf = (word: string): readonly string[] => stemsOf(word, ENDINGS)

/** Without endings that make another word of it: a computer is not what computes. */
export const inflectionsOf = (word: string): readonly string[] => stemsOf(word, INFLECTIONS)

/** What it may be the comparative or the superlative of. */
export const comparedOf = (word: string): readonly string[] => stemsOf(word, COMPARISONS)

function stemsOf(word: string, endings: readonly string[]): readonly string[] {
  const forms = [word]
  for (const ending of endings) {
    const stem = word.endsWith(ending) ? word.slice(0, -ending.length) : ''
    if (stem.length < 2) continue
    forms.push(stem, `${stem}e`, `${stem}y`)
    if (stem.at(-1) === stem.at(-2)) forms.push(stem.slice(0, -1))
  }
  return forms
}
const INFLECTIONS = ['s', 'es', 'ies', 'd', 'ed', 'ied', 'ing', 'ly']
const COMPARISONS = ['er', 'est', 'ier', 'iest']
const ENDINGS = [...INFLECTIONS, ...COMPARISONS, 'ers', 'ation', 'able', 'ness']

/** A text repeats its words. */
export function memory<T>(answer: (word: string) => T): (word: string) => T {
  const known = new Map<string, { readonly value: T }>()
  return (word) => {
    const found = known.get(word) ?? { value: answer(word) }
    known.set(word, found)
    return found.value
  }
}
