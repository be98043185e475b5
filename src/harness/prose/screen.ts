/** Finds what is not plain prose in a text. Closed: a text in a language or form that is not known here is no plain prose. Linear in its length. */
import type { Power } from '../../contract/index.ts'
import { hiddenCharacters } from '../../kit/index.ts'
import { tokensOf, type Token } from './tokens.ts'
import { VOCABULARY } from './vocabulary.ts'
import { PAIRINGS, TELLING, type Telling } from './words.ts'

export interface ProseFinding {
  readonly power: Power
  /** Completes "it holds …" or "it speaks of …", as a clause of its own. */
  readonly why: string
  /** The lines that it is found in, the last included. */
  readonly from: number
  readonly to: number
}

export function screenProse(lines: readonly string[]): readonly ProseFinding[] {
  const tokens = [...firstOf(tokensOf(lines), WORDS_MAX + 1)]
  const last = lines.length - 1
  if (tokens.length > WORDS_MAX) return [at(last, 'orders', `it is longer than ${WORDS_MAX} words, which are not screened`, 0)]
  const tells = memory(tellingOf)
  return [
    ...lines.flatMap(characterFindings),
    ...tokens.flatMap(shapeFinding),
    ...tokens.flatMap((token, index) => tellingFindings(tokens, tells, token, index)),
    ...spelledFindings(tokens),
    ...pairedFindings(tokens),
    ...unknownFindings(tokens),
  ]
}

/** More than any file of rules has; the rest would not be read by a person either. */
const WORDS_MAX = 16_384

function* firstOf<T>(all: Iterable<T>, most: number): Generator<T> {
  let left = most
  for (const one of all) {
    if (left === 0) return
    left -= 1
    yield one
  }
}

const at = (line: number, power: Power, why: string, from = line): ProseFinding => ({ power, why, from, to: line })

/** Letters of other alphabets are read by a model, and not by the lists here. */
const OTHER_SCRIPT = /(?![\p{Script=Latin}\p{Script=Common}\p{Script=Inherited}])\p{L}/u
/** Letters that only look like Latin ones in plain type: full width, mathematical, enclosed. */
const OTHER_FORM = /[\uff01-\uff5e\u{1d400}-\u{1d7ff}\u{1f100}-\u{1f1ff}\u2460-\u24ff\u2100-\u214f\ufb00-\ufb06]/u
/** More marks on one letter than any language has. */
const STACKED = /\p{M}{3}/u

function characterFindings(line: string, index: number): readonly ProseFinding[] {
  if (line === '') return []
  const [hidden] = hiddenCharacters(line)
  return [
    ...(hidden === undefined ? [] : [at(index, 'hidden', `it holds ${hidden.code}, ${hidden.name}, which people do not see as it is`)]),
    ...(OTHER_FORM.test(line) || STACKED.test(line) ? [at(index, 'hidden', 'it holds letters in an unusual form')] : []),
    ...(OTHER_SCRIPT.test(line) ? [at(index, 'orders', 'it is written in an alphabet that is not screened')] : []),
  ]
}

const shapeFinding = ({ odd, line }: Token): readonly ProseFinding[] => (odd === null ? [] : [at(line, 'orders', `it holds ${odd}`)])

/** A word in its own form, joined from its parts, without the digits that stand for letters, and together with the next one. */
function tellingFindings(
  tokens: readonly Token[],
  tells: TellingOf,
  { line, joined, parts }: Token,
  index: number,
): readonly ProseFinding[] {
  const next = tokens[index + 1]
  const own = [joined, unleeted(joined), ...parts, ...parts.map(unleeted)].flatMap((word) => tells(word) ?? [])
  const [found] = own
  if (found !== undefined) return [at(line, found.power, `it speaks of ${found.what}`)]
  const both =
    next === undefined || joined.length + next.joined.length < SPLIT_CHARACTERS_MIN ? null : splitTelling(`${joined}${next.joined}`)
  return both === null || next === undefined ? [] : [at(next.line, both.power, `it speaks of ${both.what}`, line)]
}

const splitTelling = (word: string): Telling | null => TELLING.get(word) ?? TELLING.get(word.replace(/(?:s|ed|ing)$/, '')) ?? null

/** Shorter words are too often made of two others. */
const SPLIT_CHARACTERS_MIN = 4

const LEET: Readonly<Record<string, string>> = { 0: 'o', 1: 'l', 3: 'e', 4: 'a', 5: 's', 7: 't', 8: 'b', 9: 'g' }
const unleeted = (word: string): string =>
  /\d/.test(word) && /\p{L}/u.test(word) ? word.replaceAll(/\d/g, (digit) => LEET[digit] ?? digit) : word

type TellingOf = (word: string) => Telling | null

function tellingOf(word: string): Telling | null {
  for (const form of formsOf(word)) {
    const found = TELLING.get(form)
    if (found !== undefined) return found
  }
  return null
}

/** The word, and what it may be a form of. */
function formsOf(word: string): readonly string[] {
  const forms = [word]
  for (const ending of ENDINGS) {
    const stem = word.endsWith(ending) ? word.slice(0, -ending.length) : ''
    if (stem.length < 2) continue
    forms.push(stem, `${stem}e`, `${stem}y`)
    if (stem.at(-1) === stem.at(-2)) forms.push(stem.slice(0, -1))
  }
  return forms
}
const ENDINGS = ['s', 'es', 'ies', 'd', 'ed', 'ied', 'ing', 'ly', 'er', 'ers', 'est', 'ation', 'able', 'ness']

/** Letters that stand apart are one word to a model: "c u r l". */
function spelledFindings(tokens: readonly Token[]): readonly ProseFinding[] {
  const found: ProseFinding[] = []
  let run: Token[] = []
  const end = (): void => {
    const [first, last] = [run[0], run.at(-1)]
    const word = run.map(({ joined }) => joined).join('')
    if (first !== undefined && last !== undefined && run.length > 2 && holdsTelling(word))
      found.push(at(last.line, 'orders', 'it holds a word whose letters stand apart', first.line))
    run = []
  }
  for (const token of tokens) {
    const isLetter = token.joined.length === 1 || token.parts.every((part) => part.length === 1)
    if (isLetter && run.length < SPELLED_MAX) run.push(token)
    else end()
  }
  end()
  return found
}
const SPELLED_MAX = 200

/** Some word of the list begins somewhere in these letters. */
function holdsTelling(letters: string): boolean {
  for (let from = 0; from < letters.length; from += 1)
    for (let length = 2; length <= LONGEST && from + length <= letters.length; length += 1)
      if (TELLING.has(letters.slice(from, from + length))) return true
  return false
}
const LONGEST = 16

/** How many words may stand between the two of a pairing. */
const APART_MAX = 12
/** How many sentences may end between them. */
const PASSED_MAX = 1

function pairedFindings(tokens: readonly Token[]): readonly ProseFinding[] {
  const forms = memory((word) => formsOf(word))
  return PAIRINGS.flatMap(({ one, other, power, what }) => {
    const found: ProseFinding[] = []
    const isIn = memory((word) => [forms(word).some((form) => one.has(form)), forms(word).some((form) => other.has(form))])
    let [lastOne, lastOther] = [-Infinity, -Infinity]
    for (const [index, { parts, joined, line, passed }] of tokens.entries()) {
      const kinds = [joined, ...parts].map(isIn)
      if (kinds.some(([isOne]) => isOne)) lastOne = index
      if (kinds.some(([, isOther]) => isOther)) lastOther = index
      const [first, apart] = [tokens[Math.min(lastOne, lastOther)], Math.abs(lastOne - lastOther)]
      if (Math.max(lastOne, lastOther) !== index || apart === 0 || apart > APART_MAX || first === undefined) continue
      if (passed - first.passed <= PASSED_MAX) found.push(at(line, power, `it speaks of ${what}`, first.line))
    }
    return found
  })
}

/** A text repeats its words. */
function memory<T>(answer: (word: string) => T): (word: string) => T {
  const known = new Map<string, T>()
  return (word) => {
    const found = known.get(word) ?? answer(word)
    known.set(word, found)
    return found
  }
}

/** Words in a row that are not in the vocabulary, before the text counts as another language. */
const UNKNOWN_RUN_MAX = 2
/** The share of such words in a sentence. */
const UNKNOWN_SHARE_MAX = 0.4

/** Text without full stops is judged in parts. */
const SENTENCE_WORDS_MAX = 40

function unknownFindings(tokens: readonly Token[]): readonly ProseFinding[] {
  const isPlain = memory(isPlainWord)
  const found: ProseFinding[] = []
  let [run, unknown, known, from] = [0, 0, 0, -1]
  const why = 'it is not written in plain English'
  const end = (line: number): void => {
    if (unknown > 1 && unknown / (unknown + known) > UNKNOWN_SHARE_MAX) found.push(at(line, 'orders', why, from))
    ;[unknown, known, from] = [0, 0, -1]
  }
  for (const { joined, parts, line, ends, odd } of tokens) {
    if (from === -1) from = line
    const isNeutral = joined === '' || /^\d+$/.test(joined) || odd !== null
    if (!isNeutral) {
      const isKnown = isPlain(joined) || parts.every(isPlain)
      run = isKnown ? 0 : run + 1
      if (isKnown) known += 1
      else unknown += 1
      if (run > UNKNOWN_RUN_MAX) found.push(at(line, 'orders', why, from))
    }
    if (ends || unknown + known >= SENTENCE_WORDS_MAX) end(line)
  }
  if (from !== -1) end(tokens.at(-1)?.line ?? 0)
  return found
}

/** Single letters and Roman numerals are names of things. */
const isPlainWord = (word: string): boolean =>
  word.length < 2 || /^[ivxlcdm]{1,6}$|^[ymdhs]{1,4}$|^\d+$/.test(word) || formsOf(word).some((form) => VOCABULARY.has(form))
