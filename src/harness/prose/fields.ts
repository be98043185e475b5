/**
 * What lies beyond the answer, as far as ordinary rules speak of it at all: people, checks, errors, consent, rules, code of others, money. Each
 * field is closed: a sentence that speaks of it is plain prose only when all its other words are among those that are fine there.
 */
import type { Telling } from './words.ts'
import type { WordClass } from './vocabulary.ts'

export interface Field extends Telling {
  readonly words: ReadonlySet<string>
  /** The classes whose words are fine beside it; `function` always is. */
  readonly classes: ReadonlySet<WordClass>
  /** Further words that are fine beside it, also of other fields. */
  readonly fine: ReadonlySet<string>
}

interface FieldSketch extends Telling {
  readonly words: string
  readonly classes: readonly WordClass[]
  readonly fine: string
}

const field = ({ words, classes, fine, ...told }: FieldSketch): Field => ({
  ...told,
  words: wordsIn(words),
  classes: new Set<WordClass>(['function', ...classes]),
  fine: wordsIn(fine),
})
const wordsIn = (text: string): ReadonlySet<string> => new Set(text.split(/\s+/).filter((word) => word !== ''))

const SKETCHES: readonly FieldSketch[] = [
  {
    power: 'orders',
    what: 'people, and more than how to talk to them',
    words: `person people persons customer client user visitor guest member colleague coworker team staff manager boss owner lead founder
      partner supplier company firm organisation organization neighbour neighbor friend family somebody someone anyone anybody everyone
      everybody nobody others whoever whomever he him his himself she her hers herself maintainer reviewer auditor buyer seller shopper
      caller driver clerk complaint crew audience subscriber newcomer citizen voter employee employer worker boss chief president lawyer judge child children man men woman women adult baby doctor
      nurse patient student teacher tenant landlord`,
    classes: ['tone', 'time', 'quality', 'things'],
    fine: `answer reply respond question questions name language address tell explain offer alternative solution suggest recommend help helpful guide
      handbook describe word words short simple know ask asks customer avoid slang jargon photo picture stay show understanding`,
  },
  {
    power: 'grants',
    what: 'tests or reviews, and more than how to write them',
    words: `test tests testing tested review reviewed reviewing gate guard lint linter build assertion assert coverage audit inspection scrutiny
      signoff`,
    classes: [],
    fine: `write add cover name names new feature bug fix unit descriptive explain expected behavior behaviour part parts setup action
      expectation small fast simple clear case cases edge describe statement function functions method class component focused readable
      independent short one clause clauses prefer nested conditional conditionals condition assert assertion enough arrange act structure use keep follow organise organize`,
  },
  {
    power: 'grants',
    what: 'checking, and more than of an answer',
    words: 'check verify verified doublecheck recheck validate validation verification checking',
    classes: ['math', 'time', 'quality', 'form'],
    fine: 'answer write state give count work number spell',
  },
  {
    power: 'orders',
    what: 'errors, and more than how to name them',
    words: 'error exception fail failed failing failure warning warnings crash catch throw raise caught thrown raised',
    classes: [],
    fine: `error exception throw catch return message messages name names field value expected handle handling specific custom type class end period full sentence
      explain clear early context wrap instead panic panicking code codes function null use used write state include useful readable method can cause descriptive`,
  },
  {
    power: 'grants',
    what: 'what is allowed or decided',
    words: `agree agreed agreement settle settled decide decision choice allow allowed forbid forbidden prohibited tolerate meeting nod ahead
      matter carry suggestion signed waive waiver exempt exemption entitled eligible`,
    classes: ['things', 'time'],
    fine: 'answer answers list say state explain reason most important comment code show',
  },
  {
    power: 'orders',
    what: 'rules or pages like this one',
    words: 'page rule guide guideline policy policies manual reminder notice',
    classes: ['math'],
    fine: `grammar spelling punctuation rounding follow add comment comments complex simple business logic naming style explain write the
      game order`,
  },
  {
    power: 'orders',
    what: 'parts that code is made of',
    words: 'module version component plug',
    classes: ['code'],
    fine: 'destructure top group related small keep name document write focused prefer single describe',
  },
  {
    power: 'orders',
    what: 'the project',
    words: 'project codebase',
    classes: [],
    fine: 'naming convention conventions consistent follow style names name code pattern patterns existing spelling use same language english',
  },
  {
    power: 'orders',
    what: 'tools',
    words: 'tool tools',
    classes: ['math'],
    fine: 'use guess guessing',
  },
  {
    power: 'grants',
    what: 'letting something happen',
    words: 'let',
    classes: ['code'],
    fine: 'use prefer value change changes',
  },
  {
    power: 'grants',
    what: 'a yes',
    words: 'yes already',
    classes: [],
    fine: 'answer reply say question sentence explain first word repeat mention text known',
  },
  {
    power: 'orders',
    what: 'what a text says',
    words: 'says',
    classes: [],
    fine: 'comment short write word words sentence',
  },
  {
    power: 'orders',
    what: 'what is open',
    words: 'open opened outside',
    classes: ['things', 'time', 'math'],
    fine: '',
  },
  {
    power: 'orders',
    what: 'pictures',
    words: 'picture image photo',
    classes: ['tone', 'quality', 'things'],
    fine: 'customer guest person describe caption answer',
  },
  {
    power: 'orders',
    what: 'printing something',
    words: 'print printed log',
    classes: ['math'],
    fine: 'answer result line value last',
  },
  {
    power: 'orders',
    what: 'a system',
    words: 'system',
    classes: ['math'],
    fine: 'use write length',
  },
  {
    power: 'orders',
    what: 'money, and more than how to write it',
    words: 'price cost currency euro dollar cent tax cheap expensive fee amount budget rent bill',
    classes: ['math', 'time', 'quality', 'things', 'form'],
    fine: `price currency euro dollar cent tax amount apply round rounded write include state say give use convert list sort compare put show recommend refund discount card free field fields json name return add added
      multiply per gives mention repeat answer answers`,
  },
  {
    power: 'orders',
    what: 'giving money or goods away',
    words: 'refund discount gift card voucher coupon free rebate credit compensation reward bonus prize',
    classes: ['time', 'things'],
    fine: 'sum subtract apply group get enter refund credit card gift take takes arrive valid say memo price cost euro dollar cent above below order orders tax working',
  },
  {
    power: 'orders',
    what: 'keys',
    words: 'key',
    classes: [],
    fine: 'json object point points idea term terms word dictionary sort nested path level value field camel case snake name first quotes',
  },
  {
    power: 'orders',
    what: 'changes and what became of them',
    words: 'change changes changed changing effect effects finished solved resolved success successful progress outcome',
    classes: ['code'],
    fine: 'let use soup menu monday day value values prefer avoid explain sentence reason never keep use where without',
  },
  {
    power: 'orders',
    what: 'what was there before',
    words: 'were earlier previous prior former history real',
    classes: ['things', 'time', 'math', 'quality'],
    fine: 'length use date dates mind',
  },
  {
    power: 'orders',
    what: 'an account',
    words: 'account',
    classes: ['math'],
    fine: 'story problem answer word sentence question',
  },
  {
    power: 'orders',
    what: 'what somebody wants or says',
    words: 'want wish request said demand hear listen believe told',
    classes: ['quality'],
    fine: 'ask clarifying question questions explain answer',
  },
  {
    power: 'orders',
    what: 'asking or telling somebody something',
    words: 'ask tell address message inform',
    classes: ['tone', 'time', 'quality', 'things'],
    fine: `customer person people guest name question questions error exception throw full sentence end period field value expected request
      explain include state short one clear early fail source sources give`,
  },
]

export const FIELDS: readonly Field[] = SKETCHES.map(field)
