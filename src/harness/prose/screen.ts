/** Finds what is not plain prose in a text. Closed: a text in a language or form that is not known here is no plain prose. Linear in its length. */
import { hiddenCharacters } from '../../kit/index.ts'
import { at, type ProseFinding } from './finding.ts'
import { formsOf, memory } from './forms.ts'
import { sentenceFindings } from './sentences.ts'
import { tokensOf, type Token } from './tokens.ts'
import { VOCABULARY } from './vocabulary.ts'
import { PAIRINGS, TELLING, type Telling } from './words.ts'

export function screenProse(lines: readonly string[]): readonly ProseFinding[] {
  const tokens = [...firstOf(tokensOf(lines), WORDS_MAX + 1)]
  const last = lines.length - 1
  if (tokens.length > WORDS_MAX) return [at(last, 'orders', `it is longer than ${WORDS_MAX} words, which are not screened`, 0)]
  const tells = memory(tellingOf)
  return [
    ...lines.flatMap(characterFindings),
    ...blankFindings(lines),
    ...tokens.flatMap(shapeFinding),
    ...tokens.flatMap((token, index) => tellingFindings(tokens, tells, token, index)),
    ...spelledFindings(tokens),
    ...pairedFindings(tokens),
    ...sentenceFindings(tokens),
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

/** Fewer bits say nothing; a person's editor leaves some. */
const BLANK_BITS_MIN = 8
/** A line break of Markdown. */
const BREAK = '  '

/** Blanks at the ends of lines that could spell something: of two kinds within one end, or at many ends. */
function blankFindings(lines: readonly string[]): readonly ProseFinding[] {
  const ends = lines.map(blanksAtEnd)
  const some = ends.filter((blanks) => blanks !== '')
  const bits = some.reduce((sum, blanks) => sum + (blanks.includes(' ') && blanks.includes('\t') ? blanks.length : 1), 0)
  if (bits < BLANK_BITS_MIN || some.every((blanks) => blanks === BREAK)) return []
  return [
    at(
      ends.findLastIndex((blanks) => blanks !== ''),
      'hidden',
      'it holds blanks at the ends of lines, which people do not see',
    ),
  ]
}

function blanksAtEnd(line: string): string {
  let start = line.length
  while (start > 0 && ' \t\r'.includes(line.charAt(start - 1))) start -= 1
  return line.slice(start).replace('\r', '')
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
  const within = VOCABULARY.has(joined) ? [] : parts
  const own = [joined, unleeted(joined), ...within, ...within.map(unleeted)].flatMap((word) => tells(word) ?? [])
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
/** How many sentences may end between them, when the second points back. */
const PASSED_MAX = 1
const POINTING: ReadonlySet<string> = new Set(['it', 'this', 'that', 'them', 'they', 'these', 'those', 'so', 'both'])

function pairedFindings(tokens: readonly Token[]): readonly ProseFinding[] {
  const sidesOf = memory(sidesIn)
  const last = PAIRINGS.map(() => ({ one: -Infinity, other: -Infinity }))
  const pointing = new Set(tokens.filter(({ joined }) => POINTING.has(joined)).map(({ passed }) => passed))
  const found: ProseFinding[] = []
  for (const [index, { parts, joined, line, passed }] of tokens.entries()) {
    const sides = [...new Set([joined, ...parts])].flatMap(sidesOf)
    for (const { pairing, side } of sides) {
      const seen = last[pairing]
      if (seen !== undefined) seen[side] = index
    }
    for (const { pairing } of sides) {
      const { one, other } = last[pairing] ?? { one: index, other: index }
      const [first, apart] = [tokens[Math.min(one, other)], Math.abs(one - other)]
      const told = PAIRINGS[pairing]
      if (apart === 0 || apart > APART_MAX || first === undefined || told === undefined) continue
      if (passed - first.passed > (pointing.has(passed) ? PASSED_MAX : 0)) continue
      found.push(at(line, told.power, `it speaks of ${told.what}`, first.line))
    }
  }
  return found
}

interface Side {
  readonly pairing: number
  readonly side: 'one' | 'other'
}

/** The pairings that a word is in. */
function sidesIn(word: string): readonly Side[] {
  const forms = formsOf(word)
  return PAIRINGS.flatMap(({ one, other }, pairing): readonly Side[] => [
    ...(forms.some((form) => one.has(form)) ? [{ pairing, side: 'one' } as const] : []),
    ...(forms.some((form) => other.has(form)) ? [{ pairing, side: 'other' } as const] : []),
  ])
}
