/** Tasks about numbers: arithmetic, Roman numerals, units, dates and short word problems. */
import { drawInteger, drawOne } from '../draw.ts'
import type { Family, Problem } from './family.ts'

const EXPRESSION = /(?<!\d)-?\d{1,9}(?:\s{0,4}[-+*/×÷x]\s{0,4}\d{1,9})+(?!\d)/
const CALCULATION_ASKED = /\b(?:calculate|compute|evaluate|what is|what's|how much is|work out|solve)\b|=\s*\?/i
const TERMS_MAX = 40

/** Integer arithmetic with several operators. The bare model works from left to right. */
export const arithmetic: Family = {
  name: 'arithmetic',
  topic: /arithmetic|calculat|math|operator|precedence/i,
  lessons: ['precedence', 'use-tools'],
  read(text) {
    const found = EXPRESSION.exec(text)?.[0]
    if (found === undefined || !CALCULATION_ASKED.test(text)) return null
    const terms = termsOf(found)
    if (terms.length > TERMS_MAX) return null
    const right = String(inOrder(terms))
    const wrong = String(leftToRight(terms))
    // Where the order makes no difference, a weak model is off by one instead.
    const slip = wrong === right ? String(inOrder(terms) + 1) : wrong
    return { right, slips: [{ lesson: 'precedence', wrong: slip }], expression: terms.join(' ') }
  },
  task(seed) {
    const [a, b, c, d] = ['a', 'b', 'c', 'd'].map((name) => drawInteger(2, 19, seed, name))
    const expression = drawOne([`${a} + ${b} * ${c} - ${d}`, `${a} * ${b} + ${c} * ${d}`, `${a} - ${b} * ${c} + ${d}`], seed, 'shape')
    return { prompt: `What is ${expression}?`, answer: String(inOrder(termsOf(expression))) }
  },
}

type Term = number | '+' | '-' | '*' | '/'
const SIGNS: Readonly<Record<string, Term>> = { '×': '*', x: '*', '÷': '/', '+': '+', '-': '-', '*': '*', '/': '/' }

const termsOf = (expression: string): readonly Term[] =>
  (expression.match(/(?<![\d\s])-\d+|^-\d+|\d+|[-+*/×÷x]/g) ?? []).map((term) => SIGNS[term] ?? Number(term))

function inOrder(terms: readonly Term[]): number {
  const sums: Term[] = []
  for (let at = 0; at < terms.length; at += 1) {
    const term = terms[at]
    if (term === '*' || term === '/') {
      sums.push(apply(Number(sums.pop()), term, Number(terms[at + 1])))
      at += 1
    } else if (term !== undefined) sums.push(term)
  }
  return leftToRight(sums)
}

function leftToRight(terms: readonly Term[]): number {
  let value = Number(terms[0])
  for (let at = 1; at + 1 < terms.length; at += 2) value = apply(value, terms[at], Number(terms[at + 1]))
  return value
}

/** Division rounds toward zero, as in shells and integer calculators; division by zero is zero, so that the model never fails. */
function apply(left: number, sign: Term | undefined, right: number): number {
  if (sign === '+') return left + right
  if (sign === '-') return left - right
  if (sign === '*') return left * right
  return right === 0 ? 0 : Math.trunc(left / right)
}

const NUMERALS = new Map(
  Object.entries({ M: 1000, CM: 900, D: 500, CD: 400, C: 100, XC: 90, L: 50, XL: 40, X: 10, IX: 9, V: 5, IV: 4, I: 1 }),
)
const ADDITIVE = new Map([...NUMERALS].filter(([numeral]) => numeral.length === 1))
const ROMAN_SAMPLES = [9, 14, 49, 94, 400, 444, 1994, 2029]

/** Roman numerals. The bare model only ever adds: IIII for IV. */
export const roman: Family = {
  name: 'roman',
  topic: /roman|numeral/i,
  lessons: ['subtractive'],
  read(text) {
    if (!/\broman\b/i.test(text)) return null
    const number = Number(/\b(\d{1,4})\b/.exec(text)?.[1] ?? 0)
    if (number > 0 && number < 4000) return subtracted(spell(number, NUMERALS), spell(number, ADDITIVE))
    const numeral = /\b([MDCLXVI]{2,15})\b/.exec(text)?.[1]
    if (numeral === undefined) return null
    const values = numeral.split('').map((sign) => NUMERALS.get(sign) ?? 0)
    const sum = values.reduce((total, value, at) => total + (value < (values[at + 1] ?? 0) ? -value : value), 0)
    return subtracted(String(sum), String(values.reduce((total, value) => total + value, 0)))
  },
  task(_, index) {
    const number = ROMAN_SAMPLES[index] ?? 4
    return { prompt: `Write ${number} as a Roman numeral.`, answer: spell(number, NUMERALS) }
  },
}

const subtracted = (right: string, wrong: string): Problem => ({
  right,
  slips: wrong === right ? [] : [{ lesson: 'subtractive', wrong }],
})

function spell(number: number, numerals: ReadonlyMap<string, number>): string {
  let rest = number
  let text = ''
  for (const [numeral, value] of numerals) {
    text += numeral.repeat(Math.floor(rest / value))
    rest %= value
  }
  return text
}

interface Conversion {
  readonly from: RegExp
  readonly to: RegExp
  readonly names: readonly [string, string]
  readonly factor: number
  readonly rough: number
}

const CONVERSIONS: readonly [Conversion, ...Conversion[]] = [
  { from: /kilomet(?:er|re)s?|km/, to: /met(?:er|re)s?|m/, names: ['kilometers', 'meters'], factor: 1000, rough: 100 },
  { from: /hours?|h/, to: /minutes?|min/, names: ['hours', 'minutes'], factor: 60, rough: 100 },
  { from: /minutes?|min/, to: /seconds?|s/, names: ['minutes', 'seconds'], factor: 60, rough: 100 },
  { from: /days?/, to: /hours?|h/, names: ['days', 'hours'], factor: 24, rough: 25 },
  { from: /feet|foot|ft/, to: /inch(?:es)?|in/, names: ['feet', 'inches'], factor: 12, rough: 10 },
  { from: /pounds?|lbs?/, to: /ounces?|oz/, names: ['pounds', 'ounces'], factor: 16, rough: 15 },
  { from: /kilograms?|kg/, to: /grams?|g/, names: ['kilograms', 'grams'], factor: 1000, rough: 100 },
  { from: /weeks?/, to: /days?/, names: ['weeks', 'days'], factor: 7, rough: 5 },
]

/** Unit conversion. The bare model forgets the unit, or converts with a rough factor. */
export const units: Family = {
  name: 'units',
  topic: /\bunits?\b|conver(?:t|sion)|measure/i,
  lessons: ['state-units', 'exact-factors'],
  read(text) {
    for (const conversion of CONVERSIONS) {
      const amount = amountIn(text, conversion)
      if (amount === null) continue
      const unit = conversion.names[1]
      const right = tidy(amount * conversion.factor)
      const rough = { lesson: 'exact-factors', wrong: `${tidy(amount * conversion.rough)} ${unit}` } as const
      return { right: `${right} ${unit}`, slips: [rough, { lesson: 'state-units', wrong: right }] }
    }
    return null
  },
  task(seed) {
    const { names, factor } = drawOne(CONVERSIONS, seed, 'pair')
    const amount = drawInteger(2, 48, seed, 'amount')
    return { prompt: `Convert ${amount} ${names[0]} to ${names[1]}.`, answer: `${amount * factor} ${names[1]}` }
  },
}

function amountIn(text: string, { from, to }: Conversion): number | null {
  const number = String.raw`(\d+(?:\.\d+)?)`
  const forward = new RegExp(String.raw`\b${number}\s*(?:${from.source})\b\s+(?:in|to|into|as)\s+(?:${to.source})\b`, 'i')
  const backward = new RegExp(String.raw`how many (?:${to.source})\b[^.?!]*?\b${number}\s*(?:${from.source})\b`, 'i')
  const amount = forward.exec(text)?.[1] ?? backward.exec(text)?.[1]
  return amount === undefined ? null : Number(amount)
}

const tidy = (value: number): string => String(Number(value.toFixed(6)))

const DAY_MS = 86_400_000
const DAYS_MAX = 100_000
const DATE = String.raw`\b(?<year>\d{4})-(?<month>\d{2})-(?<day>\d{2})`
const LATER = new RegExp(String.raw`\b(?<days>\d{1,6})\s+days?\s+(?<sign>after|before|later than|from|earlier than)\s+${DATE}`, 'i')
const PLUS = new RegExp(String.raw`${DATE}\s*(?<sign>\+|-|plus|minus)\s*(?<days>\d{1,6})\s+days?`, 'i')

/** Date arithmetic. The bare model gives every month thirty days. */
export const dates: Family = {
  name: 'dates',
  topic: /\bdates?\b|calendar|\bdays?\b/i,
  lessons: ['calendar'],
  read(text) {
    const { groups } = LATER.exec(text) ?? PLUS.exec(text) ?? {}
    if (groups === undefined) return null
    const [year, month, day] = [Number(groups['year']), Number(groups['month']), Number(groups['day'])]
    const days = /before|earlier|-|minus/i.test(groups['sign'] ?? '') ? -Number(groups['days']) : Number(groups['days'])
    if (month < 1 || month > 12 || day < 1 || day > 31 || Math.abs(days) > DAYS_MAX) return null
    const right = byCalendar(year, month, day, days)
    const guess = byThirties(year, month, day, days)
    return { right, slips: [{ lesson: 'calendar', wrong: guess === right ? byCalendar(year, month, day, days + 1) : guess }] }
  },
  task(seed) {
    const [year, month, day] = [drawInteger(2019, 2031, seed, 'year'), drawInteger(1, 12, seed, 'month'), drawInteger(1, 28, seed, 'day')]
    const days = drawInteger(31, 95, seed, 'days')
    const date = `${year}-${pad(month)}-${pad(day)}`
    return { prompt: `Which date is ${days} days after ${date}? Use the form YYYY-MM-DD.`, answer: byCalendar(year, month, day, days) }
  },
}

const byCalendar = (year: number, month: number, day: number, days: number): string =>
  new Date(Date.UTC(year, month - 1, day) + days * DAY_MS).toISOString().slice(0, 10)

function byThirties(year: number, month: number, day: number, days: number): string {
  const total = year * 360 + (month - 1) * 30 + (day - 1) + days
  return `${Math.floor(total / 360)}-${pad((Math.floor(total / 30) % 12) + 1)}-${pad((total % 30) + 1)}`
}

const pad = (number: number): string => String(number).padStart(2, '0')

const START = /\b(?:has|have|had|starts? with|owns?)\s+(\d{1,9})\b/i
const GAIN = 'buys?|bought|gets?|got|finds?|found|receives?|received|picks?|picked|earns?|earned|wins?|won|adds?|added'
const LOSS = 'gives?|gave|loses?|lost|eats?|ate|sells?|sold|uses?|used|spends?|spent|drops?|dropped|breaks?|broke|throws?|threw'
const CHANGE = new RegExp(String.raw`\b(?:(${GAIN})|${LOSS})\b[^.,;?\d]*?(\d{1,9})`, 'gi')

/** Short word problems: a person has some things, then gets and loses more. The bare model stops reading after the first change. */
export const story: Family = {
  name: 'story',
  topic: /word problem|story|quantit/i,
  lessons: ['every-step'],
  read(text) {
    const start = START.exec(text)
    if (start === null || !/how many|how much/i.test(text)) return null
    const changes = [...text.slice(start.index + start[0].length).matchAll(CHANGE)].map(([, gain, amount]) =>
      gain === undefined ? -Number(amount) : Number(amount),
    )
    const [first] = changes
    if (first === undefined) return null
    const begin = Number(start[1])
    const right = changes.reduce((sum, change) => sum + change, begin)
    const halfway = changes.length > 1 ? begin + first : right - 1
    return { right: String(right), slips: halfway === right ? [] : [{ lesson: 'every-step', wrong: String(halfway) }] }
  },
  task(seed) {
    const who = drawOne(['Mira', 'Tomas', 'Aiko', 'Jonas', 'Leila', 'Pavel'], seed, 'who')
    const thing = drawOne(['apples', 'marbles', 'stamps', 'coins', 'books'], seed, 'thing')
    const amount = (low: number): number => drawInteger(low, low * 2 + 3, seed, String(low))
    const [start, more, less, last] = [amount(20), amount(5), amount(3), amount(2)]
    const events = `buys ${more} more, then loses ${less} and gives ${last} away`
    const prompt = `${who} has ${start} ${thing}. ${who} ${events}. How many ${thing} are left?`
    return { prompt, answer: String(start + more - less - last) }
  },
}
