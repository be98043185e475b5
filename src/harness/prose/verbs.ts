/**
 * What a sentence tells the agent to do. Verbs are closed: where one may stand, an unknown word is no plain prose, and neither is a verb that
 * acts on things. Elsewhere an unknown word is a name of a thing.
 */
import { isKnown, type WordReading } from './reading.ts'
import type { WordClass } from './vocabulary.ts'

export interface SentenceWord extends WordReading {
  readonly line: number
  /** A comma, colon or semicolon follows. */
  readonly endsClause: boolean
}
export type Sentence = readonly SentenceWord[]

const words = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/))

/** An order follows these. */
const BEFORE_ORDER =
  words(`please then to not never always must should shall you we but also instead just simply do dont shouldnt mustnt lets
  let immediately first`)
/** A verb follows these. */
const BEFORE_VERB = new Set([
  ...BEFORE_ORDER,
  ...words('will would can could may might cannot they i does did doesnt cant wont who which that'),
])
/** A verb or another noun follows these, and clauses. */
const JOINING = words('and or nor')
/** An object follows a verb: these begin one. */
const DETERMINERS = words('the a an all any each every this these those it them your our their its no some both everything')
/** After a noun, rather than after a verb without an object. */
const PREPOSITIONS = words('of in on at by for from with without per as and or than is are has have')
/** These say how something is. */
const STATING = words('is are was has have can cannot may will takes costs comes starts ends begins lasts')
const BEING = words('is are was be been being get gets')

/** A sentence with more unknown words than this is another language. */
const UNKNOWN_SHARE_MAX = 0.4
const UNKNOWN_RUN_MAX = 2

/** The unknown words, where they may be more than names of things. */
export function unknownIn(sentence: Sentence): Sentence {
  const unknown = sentence.filter((word) => !isKnown(word))
  if (unknown.length === 0 || sentence.length === 1) return []
  const isOtherLanguage = unknown.length / sentence.length > UNKNOWN_SHARE_MAX || longestRun(sentence) > UNKNOWN_RUN_MAX
  if (isOtherLanguage || sentence.some(takesWhatIsNamed)) return unknown
  return sentence.filter((word, index) => !isKnown(word) && (isVerbAt(sentence, index) || isDoneAt(sentence, index)))
}

function longestRun(sentence: Sentence): number {
  let [run, longest] = [0, 0]
  for (const word of sentence) {
    run = isKnown(word) ? 0 : run + 1
    longest = Math.max(longest, run)
  }
  return longest
}

/** Beside code, and after a verb of taking, an unknown name may be that of a package or a program. */
const takesWhatIsNamed = ({ forms, classes }: SentenceWord): boolean =>
  forms.some((form) => TAKING.has(form)) || (classes.has('code') && classes.size === 1)
const TAKING = words('use add extend require take bring prefer call need')

function isVerbAt(sentence: Sentence, index: number): boolean {
  return isOrderAt(sentence, index) || BEFORE_VERB.has(sentence[index - 1]?.word ?? '') || DETERMINERS.has(sentence[index + 1]?.word ?? '')
}

function isOrderAt(sentence: Sentence, index: number): boolean {
  const [before, next] = [sentence[index - 1], sentence[index + 1]]
  if (before === undefined) return !isSubject(sentence)
  if (BEFORE_ORDER.has(before.word)) return true
  if (!JOINING.has(before.word) && !before.endsClause) return false
  return next !== undefined && !PREPOSITIONS.has(next.word) && !(sentence[index]?.endsClause ?? false)
}

/** What the sentence begins with is what it is about. */
function isSubject(sentence: Sentence): boolean {
  const verb = sentence.findIndex(({ word }) => STATING.has(word))
  return verb !== -1 && sentence.slice(1, verb).every(({ word, classes }) => !classes.has('function') || word === 'and' || word === 'or')
}

/** "Is dispatched": the passive of a verb that is not known. */
function isDoneAt(sentence: Sentence, index: number): boolean {
  const [before, earlier] = [sentence[index - 1]?.word ?? '', sentence[index - 2]?.word ?? '']
  return /(?:ed|en)$/.test(sentence[index]?.word ?? '') && (BEING.has(before) || BEING.has(earlier))
}

/** Classes whose words are done to a text, a number or code, or said to a person. */
const OF_TEXTS: readonly WordClass[] = ['acts', 'tone', 'math', 'code', 'function']

/** The verbs that act on things, where an order stands. */
export function ordersIn(sentence: Sentence): Sentence {
  const isOfThings = sentence.some(isThing) && !sentence.some(isOfCode)
  return sentence.filter((word, index) => {
    const next = sentence[index + 1]?.word ?? ''
    if (word.word === 'do') return DONE.has(next)
    if (word.classes.size === 0 || !isOrderAt(sentence, index)) return false
    if (HANDLING.has(word.word) && isOfThings) return true
    const isText = OF_TEXTS.some((each) => word.classes.has(each))
    return isText ? isOfThings && word.classes.has('things') : DETERMINERS.has(next)
  })
}
/** What is done to goods and rooms. */
const HANDLING = words('sell exchange serve deliver repair wash rent lend book order open close replace move pack cancel reserve')
const DONE = words('it as what so this that them these those everything anything whatever')
const isThing = ({ classes, fields }: SentenceWord): boolean => fields.length === 0 && classes.size === 1 && classes.has('things')
const isOfCode = ({ classes }: SentenceWord): boolean => classes.size === 1 && classes.has('code')
