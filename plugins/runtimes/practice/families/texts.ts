/** Tasks about texts: counting, reversing, sorting, JSON fields, facts and commands. */
import type { Json } from '../../../../src/contract/index.ts'
import { isList, isObject, parsed, written } from '../../../../src/dialects/index.ts'
import { drawInteger, drawOne } from '../draw.ts'
import { isDeeperThan } from '../../../../src/kit/index.ts'
import { sentences } from '../rules.ts'
import type { Family, Problem } from './family.ts'

const LETTERS =
  /how many (?:times does )?(?:the )?(?:letter )?["'“]?([a-z])["'”]?(?:'?s)? (?:are|is|appear|occur|does)?[^"'“]*["'“]([^"'”]+)["'”]/i
const WORDS = /how many words[^"“:]*(?:["“]([^"”]+)["”]|:\s*(.+))/i
const COUNTED = ['strawberry', 'mississippi', 'bookkeeper', 'committee', 'parallelogram', 'tennessee', 'millennium', 'occurrence']

/** Counting letters and words. The bare model is off by one. */
export const counting: Family = {
  name: 'counting',
  topic: /\bcount/i,
  lessons: ['count-each'],
  read(text) {
    const letters = LETTERS.exec(text)
    if (letters !== null) return counted(lettersIn(letters[2] ?? '', letters[1] ?? ''))
    const words = WORDS.exec(text)
    if (words === null) return null
    return counted((words[1] ?? words[2] ?? '').split(/\s+/).filter((word) => word !== '').length)
  },
  task(seed, index) {
    const word = COUNTED[index] ?? 'banana'
    const letter = word.charAt(drawInteger(0, word.length - 1, seed, 'letter'))
    return { prompt: `How many times does the letter "${letter}" appear in "${word}"?`, answer: String(lettersIn(word, letter)) }
  },
}

const lettersIn = (word: string, letter: string): number => word.toLowerCase().split(letter.toLowerCase()).length - 1

const counted = (count: number): Problem => ({
  right: String(count),
  slips: [{ lesson: 'count-each', wrong: String(count > 1 ? count - 1 : count + 1) }],
})

const REVERSE = /\b(?:reverse|backwards?)\b[^"'“:]*(?:["'“]([^"'”]+)["'”]|:\s*(.+))/i
const BACKWARDS = /["'“]([^"'”]+)["'”][^"'“]*\bbackwards?\b/i
const REVERSED = [
  'quiet river',
  'amber lantern',
  'stone harbor',
  'velvet signal',
  'north meadow',
  'paper kite',
  'winter garden',
  'hollow drum',
]

/** Reversing text. The bare model reverses the words instead of the letters. */
export const reversing: Family = {
  name: 'reversing',
  topic: /revers|backward/i,
  lessons: ['reverse-letters'],
  read(text) {
    const found = REVERSE.exec(text) ?? BACKWARDS.exec(text)
    const subject = (found?.[1] ?? found?.[2] ?? '').trim()
    if (subject === '') return null
    const right = reversed(subject)
    const words = subject.split(/\s+/).toReversed().join(' ')
    const wrong = words === subject ? right.slice(1) + right.slice(0, 1) : words
    return { right, slips: wrong === right ? [] : [{ lesson: 'reverse-letters', wrong }] }
  },
  task(_, index) {
    const subject = REVERSED[index] ?? 'quiet river'
    return { prompt: `Reverse the text "${subject}".`, answer: reversed(subject) }
  },
}

const reversed = (text: string): string => Array.from(text).toReversed().join('')

const SORT = /\b(?:sort|order|arrange)\b[^:]*:\s*([^\n]+)/i
const DOWN = /descending|largest first|high(?:est)? to low|biggest first|reverse order/i

/** Sorting a list. The bare model sorts numbers as text and drops duplicates. */
export const sorting: Family = {
  name: 'sorting',
  topic: /\bsort|\border(?:ing)?\b|\blists?\b/i,
  lessons: ['numeric-order', 'keep-duplicates'],
  read(text) {
    const list = (SORT.exec(text)?.[1] ?? '').replace(/[.?!]\s*$/, '').split(/\s*,\s*|\s+and\s+/)
    const items = list.map((item) => item.trim()).filter((item) => item !== '')
    if (items.length < 2) return null
    const turn = (sorted: readonly string[]): string => (DOWN.test(text) ? sorted.toReversed() : sorted).join(', ')
    const right = turn(ordered(items))
    const slips = [
      { lesson: 'numeric-order', wrong: turn(items.toSorted()) },
      { lesson: 'keep-duplicates', wrong: turn([...new Set(ordered(items))]) },
    ] as const
    return { right, slips: slips.filter((slip) => slip.wrong !== right) }
  },
  task(seed) {
    const numbers = ['a', 'b', 'c', 'd', 'e'].map((name) => drawInteger(2, 130, seed, name))
    const items = [...numbers, numbers[drawInteger(0, 4, seed, 'again')] ?? 7].map(String)
    return { prompt: `Sort these numbers in ascending order: ${items.join(', ')}`, answer: ordered(items).join(', ') }
  },
}

function ordered(items: readonly string[]): readonly string[] {
  const isNumeric = items.every((item) => Number.isFinite(Number(item)))
  return items.toSorted((a, b) => (isNumeric ? Number(a) - Number(b) : byLetters(a, b)))
}

const byLetters = (a: string, b: string): number => (a.toLowerCase() < b.toLowerCase() ? -1 : 1)

const FIELD = /\b(?:field|value|key|property|path)\b[^"'`\n]{0,60}?["'`]?([A-Za-z_][\w.-]{0,200}\w)["'`]?\s+(?:in|of|from|at)\b/i
const DEPTH_MAX = 32

/** Reading a field out of JSON. The bare model takes the first field of that name at any level. */
export const jsonField: Family = {
  name: 'json-field',
  topic: /json|\bfields?\b/i,
  lessons: ['json-path'],
  read(text) {
    const from = text.indexOf('{')
    const to = text.lastIndexOf('}')
    const path = FIELD.exec(text.slice(0, from === -1 ? undefined : from) + text.slice(to + 1))?.[1]
    const value = from === -1 ? undefined : parsed(text.slice(from, to + 1))
    if (path === undefined || value === undefined || isDeeperThan(value, DEPTH_MAX)) return null
    const names = path.split('.')
    const right = follow(value, names)
    if (right === undefined) return null
    const first = firstNamed(value, names.at(-1) ?? '')
    const slip = first === undefined || written(first) === written(right) ? Object.values(isObject(value) ? value : {})[0] : first
    const wrong = written(slip ?? null)
    return { right: written(right), slips: wrong === written(right) ? [] : [{ lesson: 'json-path', wrong }] }
  },
  task(seed) {
    const outer = drawOne(['ada', 'grace', 'linus', 'edsger', 'barbara', 'alan'], seed, 'outer')
    const inner = drawOne(['ottawa', 'lagos', 'quito', 'oslo', 'hanoi'], seed, 'inner')
    const value = { name: outer, count: drawInteger(10, 99, seed, 'n'), owner: { name: `${outer}-team`, home: { name: inner } } }
    const path = drawOne(['owner.home.name', 'owner.name'], seed, 'path')
    const answer = path === 'owner.name' ? `${outer}-team` : inner
    return { prompt: `Give the value of the field "${path}" in this JSON: ${JSON.stringify(value)}`, answer }
  },
}

function follow(value: Json, names: readonly string[]): Json | undefined {
  let at: Json | undefined = value
  for (const name of names) {
    if (isList(at)) at = at[Number(name)]
    else at = isObject(at) ? at[name] : undefined
  }
  return at
}

function firstNamed(value: Json, name: string): Json | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (isObject(value) && value[name] !== undefined) return value[name]
  for (const member of Object.values<Json>(value)) {
    const found = firstNamed(member, name)
    if (found !== undefined) return found
  }
  return undefined
}

const FACT_ASKED = /\bhandbook\b[^?]{0,60}?\bwhat is (?:the )?([^?]{1,200})\?/i
const SMALL_WORDS = new Set(['the', 'of', 'a', 'an', 'for', 'in', 'our', 'is', 'to'])

/** The facts of the invented handbook, in the order of the tasks. */
const FACTS = [
  ['port of the billing service', '4517'],
  ['owner of the search index', 'team-kestrel'],
  ['region of the archive bucket', 'eu-north-3'],
  ['branch of nightly builds', 'dusk'],
  ['timeout of the import job', '95'],
  ['name of the staging cluster', 'heron'],
  ['queue of failed mails', 'mail-retry'],
  ['color of the release badge', 'teal'],
] as const

/** A skill text that holds every fact. */
export const HANDBOOK: string = ['# Team handbook', ...FACTS.map(([subject, value]) => `The ${subject} is ${value}.`)].join('\n')

/** Facts from a rule or a skill in the prompt. Without one the model guesses. */
export const lookup: Family = {
  name: 'lookup',
  topic: /handbook|team facts/i,
  lessons: [],
  read(text) {
    const subject = FACT_ASKED.exec(text)?.[1]
    if (subject === undefined) return null
    const guess = String(drawInteger(1000, 9999, text, 'guess'))
    return { right: guess, slips: [], find: (known) => findFact(known, wordsOf(subject)) }
  },
  task(_, index) {
    const [subject, answer] = FACTS[index] ?? FACTS[0]
    return { prompt: `According to the team handbook, what is the ${subject}?`, answer }
  },
}

/** Stands for any one word in a fact. */
const ANY_NAME = '<name>'

function findFact(known: string, wanted: readonly string[]): string | null {
  for (const sentence of sentences(known)) {
    // The question itself holds all of its own words.
    if (sentence.endsWith('?')) continue
    const value = /(?:\bis|\bare|=|:)\s+([^=:]+?)\s*[.;]?$/.exec(sentence)?.[1]
    if (value === undefined) continue
    const words = new Set(wordsOf(sentence))
    const missing = wanted.filter((word) => !words.has(word))
    if (missing.length === 0) return value
    // A pattern holds for any name.
    if (missing.length === 1 && sentence.includes(ANY_NAME)) return value.replaceAll(ANY_NAME, missing[0] ?? '')
  }
  return null
}

const wordsOf = (text: string): readonly string[] =>
  text
    .toLowerCase()
    .split(/[^\p{L}\p{N}-]+/u)
    .filter((word) => word !== '' && !SMALL_WORDS.has(word))

/** Running a command. The bare model often makes up the output instead of running it. */
export const shell: Family = {
  name: 'shell',
  topic: /\bshell\b|\bbash\b|\bcommands?\b|terminal/i,
  lessons: ['use-tools'],
  read(text) {
    const command = /\b(?:run|execute|use)\b[^`\n]*?`([^`\n]+)`/i.exec(text)?.[1]?.trim()
    if (command === undefined || command === '') return null
    const guess = String(drawInteger(100, 999, command, 'guess'))
    return { right: guess, slips: [{ lesson: 'use-tools', wrong: guess }], command, needsTool: true }
  },
  task(seed) {
    const [low, high] = [drawInteger(2, 40, seed, 'low'), drawInteger(41, 99, seed, 'high')]
    return { prompt: `Run the command \`expr ${low} + ${high}\` and report its output.`, answer: String(low + high) }
  },
}
