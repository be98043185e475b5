/** Judges a text sentence by sentence: what it speaks of beyond the answer, and words that are not known here. */
import type { Field } from './fields.ts'
import { at, type ProseFinding } from './finding.ts'
import { memory } from './forms.ts'
import { isKnown, readingOf, type WordReading } from './reading.ts'
import type { Token } from './tokens.ts'
import { ordersIn, unknownIn, type Sentence, type SentenceWord } from './verbs.ts'

export function sentenceFindings(tokens: readonly Token[]): readonly ProseFinding[] {
  const read = memory(readingOf)
  const sentences = sentencesIn(tokens, read)
  return sentences.flatMap((sentence, index) => [
    ...fieldFindings(sentence, sentences[index - 1]),
    ...found(sentence, unknownIn(sentence), 'orders', 'it holds words that are not known here'),
    ...found(sentence, ordersIn(sentence), 'orders', 'it tells the agent to do more than to write'),
  ])
}

function sentencesIn(tokens: readonly Token[], read: (word: string) => WordReading): readonly Sentence[] {
  const sentences: SentenceWord[][] = []
  for (const token of tokens) {
    if (token.begins || sentences.length === 0) sentences.push([])
    const isLast = /[,;:][)"'”’*_`]*$/u.test(token.raw)
    const words = wordsOf(token, read)
    const { line } = token
    sentences.at(-1)?.push(...words.map((word, index) => ({ ...word, line, endsClause: isLast && index === words.length - 1 })))
  }
  return sentences
}

/** A word with hyphens or capitals inside is known by itself or by its parts. Numbers, and shapes that are found elsewhere, are no words. */
function wordsOf({ joined, parts, odd }: Token, read: (word: string) => WordReading): readonly WordReading[] {
  if (joined === '' || odd !== null) return []
  const whole = read(joined)
  const words = isKnown(whole) ? [whole] : parts.map(read)
  return words.filter(({ word }) => !NAMELESS.test(word))
}

/** Numbers, single letters, Roman numerals and letters of formats. */
const NAMELESS = /^\d+$|^.$|^[ivxlcdm]{1,6}$|^[ymdhs]{1,4}$|^\d{1,4}[a-z]{1,2}$/

/** A sentence that points back is read together with the one before it. */
function fieldFindings(sentence: Sentence, before: Sentence | undefined): readonly ProseFinding[] {
  const isNear = (sentence[0]?.line ?? 0) - (before?.at(-1)?.line ?? 0) <= 1
  const earlier = before !== undefined && isNear && pointsBack(sentence) ? before : []
  const spoken = new Set([...sentence, ...earlier].flatMap(({ fields }) => fields))
  return [...spoken].flatMap((field) => found(sentence, strangeBeside(field, sentence), field.power, `it speaks of ${field.what}`))
}

/** What is not fine beside one word of the field, with that word; none where all is. */
function strangeBeside(field: Field, sentence: Sentence): Sentence {
  const strange = sentence.filter((word) => !isFine(field, word))
  const own = new Set(strange.filter(({ fields }) => fields.includes(field)).map(({ stem }) => stem))
  return own.size <= 1 && strange.every(({ fields }) => fields.includes(field)) ? [] : strange
}

/** Further on, such a word points to what its own sentence names. */
const pointsBack = (sentence: Sentence): boolean => sentence.slice(0, 3).some(({ word }) => POINTING.has(word))
const POINTING: ReadonlySet<string> = new Set(['them', 'they', 'their', 'these', 'those', 'both'])

const isFine = (field: Field, { forms, classes, fields }: SentenceWord): boolean =>
  forms.some((form) => field.fine.has(form)) || (fields.length === 0 && [...classes].some((each) => field.classes.has(each)))

/** From where the sentence begins to the last word that is meant: what follows in the same sentence does not change the finding. */
function found(sentence: Sentence, meant: Sentence, power: ProseFinding['power'], why: string): readonly ProseFinding[] {
  const [first, last] = [sentence[0], meant.at(-1)]
  return first === undefined || last === undefined ? [] : [at(last.line, power, why, first.line)]
}
