/** What is known of a word: its classes, and the fields beyond the answer that it belongs to. */
import { FIELDS, type Field } from './fields.ts'
import { comparedOf, inflectionsOf } from './forms.ts'
import { VOCABULARY, type WordClass } from './vocabulary.ts'

export interface WordReading {
  readonly word: string
  /** The word, and what it may be a form of. */
  readonly forms: readonly string[]
  readonly classes: ReadonlySet<WordClass>
  readonly fields: readonly Field[]
  /** The form that its fields list. */
  readonly stem: string
}

/** A word that a field or the vocabulary lists as it stands is no form of a word of another field. */
export function readingOf(word: string): WordReading {
  const isListed = VOCABULARY.has(word) || FIELDS.some(({ words }) => words.has(word))
  const [inflected, compared] = [inflectionsOf(word), isListed ? [] : comparedOf(word)]
  const forms = isListed ? [word] : [...inflected, ...compared]
  const isCompared = compared.some((form) => VOCABULARY.get(form)?.has('quality') === true)
  return {
    word,
    forms: [...inflected, ...compared],
    classes: new Set<WordClass>([
      ...inflected.flatMap((form) => [...(VOCABULARY.get(form) ?? [])]),
      ...(isCompared ? ['quality' as const] : []),
    ]),
    fields: FIELDS.filter(({ words }) => forms.some((form) => words.has(form))),
    stem: forms.find((form) => FIELDS.some(({ words }) => words.has(form))) ?? word,
  }
}

export const isKnown = ({ classes, fields }: WordReading): boolean => classes.size > 0 || fields.length > 0
