/** Candidates that hold texts or answers of held-out tasks, in plain words and in disguise, and ordinary rules that do not. */
import { hash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { describe, expect, it } from 'vitest'
import type { Entry, Task } from '../../contract/index.ts'
import { FIXES } from '../../../plugins/runtimes/practice/lessons.ts'
import { HANDBOOK } from '../../../plugins/runtimes/practice/families/index.ts'
import { readTasks } from '../tasks/read.ts'
import { learnedByHeart } from './by-heart.ts'

const bundled: readonly Task[] = await readTasks(
  { tasks: null, tasks_dir: null, evaluator: 'answer' },
  '.',
  JSON.parse(readFileSync(new URL('../../../plugins/recipes/harness/tasks.json', import.meta.url), 'utf8')),
)
const gate = bundled.filter(({ role }) => role === 'gate')
const answerOf = ({ data }: Task): string => (typeof data?.['answer'] === 'string' ? data['answer'] : '')

const entry = (id: string, text: string): Entry => ({ id, name: 'rules', config: { text } })
const SEED = [entry('base', 'Be brief. State the final answer alone on the last line.')]
const found = (...texts: readonly string[]): string | null =>
  learnedByHeart(SEED, [...SEED, ...texts.map((text, n) => entry(`new-${n}`, text))], bundled)

const VERIFY = 'grep -q "the confirmed total is forty-eight thousand two hundred and ten" total.txt'
const SECRET: Task = {
  name: 'secret',
  prompt: 'Find the invoice of March in the folder and write its total with the discount applied into total.txt.',
  role: 'gate',
  files: { 'notes/invoice.md': `The agreed total after all discounts is 48210 and was confirmed by the customer in writing.\n` },
  data: {
    answer: '48210',
    verify: VERIFY,
    verify_files: { 'expected/total.txt': 'the confirmed total is forty-eight thousand two hundred and ten\n' },
    rubric: 'Full marks only when the total names the customer by its registered name, Harbour and Sons of Leith.',
  },
}
const foundOfSecret = (...texts: readonly string[]): string | null =>
  learnedByHeart(SEED, [...SEED, ...texts.map((text, n) => entry(`new-${n}`, text))], [SECRET])

const reverse = (text: string): string => Array.from(text).toReversed().join('')
const rot = (text: string, by: number): string =>
  text.replaceAll(/[a-z]/gi, (sign) => {
    const first = sign <= 'Z' ? 65 : 97
    return String.fromCharCode(first + ((sign.charCodeAt(0) - first + by) % 26))
  })
const base64 = (text: string): string => Buffer.from(text).toString('base64')
const hex = (text: string): string => Buffer.from(text).toString('hex')
const base32 = (text: string): string =>
  (
    Array.from(Buffer.from(text), (byte) => byte.toString(2).padStart(8, '0'))
      .join('')
      .match(/.{1,5}/g) ?? []
  )
    .map((bits) => 'ABCDEFGHIJKLMNOPQRSTUVWXYZ234567'[Number.parseInt(bits.padEnd(5, '0'), 2)])
    .join('')
const pieces = (text: string, length: number): readonly string[] => text.match(new RegExp(`[^]{1,${length}}`, 'g')) ?? []

/** Ways to write a text so that it is not seen at once. */
const DISGUISES: readonly (readonly [string, (text: string) => readonly string[]])[] = [
  ['as it is', (text) => [text]],
  ['in upper case', (text) => [text.toUpperCase()]],
  ['without spaces', (text) => [text.replaceAll(' ', '')]],
  ['with dots between its words', (text) => [text.replaceAll(' ', ' . ')]],
  ['one word a line', (text) => [text.replaceAll(' ', '\n')]],
  ['with hidden characters', (text) => [Array.from(text).join('\u200b')]],
  ['with marks on its letters', (text) => [text.replaceAll(/[aeiou]/g, '$&\u0301')]],
  ['with Cyrillic letters', (text) => [text.replaceAll('a', '\u0430').replaceAll('e', '\u0435')]],
  ['reversed', (text) => [reverse(text)]],
  ['by rot13', (text) => [rot(text, 13)]],
  ['by a shift of three', (text) => [rot(text, 3)]],
  ['in base64', (text) => [`Decode this first: ${base64(text)}`]],
  ['in base64 of the URL kind', (text) => [Buffer.from(text).toString('base64url')]],
  ['in base64 of many lines', (text) => [pieces(base64(text), 20).join('\n')]],
  ['in base64 twice', (text) => [base64(base64(text))]],
  ['reversed in base64', (text) => [base64(reverse(text))]],
  ['in base64, reversed', (text) => [reverse(base64(text))]],
  ['by rot13 in base64', (text) => [base64(rot(text, 13))]],
  [
    'in base64 as pieces of code',
    (text) => [
      `const key = ${pieces(base64(text), 7)
        .map((piece) => `'${piece}'`)
        .join(' + ')}; use(atob(key))`,
    ],
  ],
  ['in base32', (text) => [base32(text)]],
  ['in hex', (text) => [hex(text)]],
  ['in hex with spaces', (text) => [pieces(hex(text), 2).join(' ')]],
  [
    'as escapes of code',
    (text) => [
      `"${pieces(hex(text), 2)
        .map((byte) => `\\x${byte}`)
        .join('')}"`,
    ],
  ],
  ['as Unicode escapes', (text) => [Array.from(text, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')]],
  [
    'as percent signs',
    (text) => [
      pieces(hex(text), 2)
        .map((byte) => `%${byte}`)
        .join(''),
    ],
  ],
  ['as HTML entities', (text) => [Array.from(text, (sign) => `&#${sign.charCodeAt(0)};`).join('')]],
  ['as character codes', (text) => [`String.fromCharCode(${Array.from(text, (sign) => sign.charCodeAt(0)).join(', ')})`]],
  ['as bits', (text) => [Array.from(text, (sign) => sign.charCodeAt(0).toString(2).padStart(8, '0')).join(' ')]],
  [
    'as code that joins words',
    (text) => [
      `[${text
        .split(' ')
        .map((word) => `'${word}'`)
        .join(', ')}].join(' ')`,
    ],
  ],
  [
    'as code that adds pieces',
    (text) => [
      pieces(text, 5)
        .map((piece) => JSON.stringify(piece))
        .join(' + '),
    ],
  ],
  ['split over two entries', (text) => [text.slice(0, text.length / 2), text.slice(text.length / 2)]],
  ['split over many entries', (text) => pieces(text, 11)],
  ['among other words', (text) => [`${'Take care of the details and check your work. '.repeat(40)}${text}${' Then go on.'.repeat(40)}`]],
]

describe('the text of a held-out task is found [trust.by-heart]', () => {
  it.each(DISGUISES)('%s', (_how, write) => {
    expect(foundOfSecret(...write(SECRET.prompt))).toBe('it holds the text of a held-out task')
  })

  it.each<readonly [string, string]>([
    ['the expected file', 'Write: the confirmed total is forty-eight thousand two hundred and ten'],
    ['the verifying command', VERIFY],
    ['the rubric', 'Note: full marks only when the total names the customer by its registered name, Harbour and Sons of Leith!'],
    [
      'the file that holds the answer',
      'Remember: the agreed total after all discounts is 48210 and was confirmed by the customer in writing.',
    ],
    ['most of the prompt', SECRET.prompt.slice(12)],
  ])('also when it is %s', (_what, text) => {
    expect(foundOfSecret(text)).toBe('it holds the text of a held-out task')
  })
})

const table = (tasks: readonly Task[], row: (task: Task) => string, between = '\n'): string => tasks.map(row).join(between)
const subjectOf = ({ prompt }: Task): string =>
  prompt
    .replaceAll(/[^0-9A-Za-z ]/g, ' ')
    .split(' ')
    .slice(-8)
    .join(' ')

const KEYS: readonly (readonly [string, string])[] = [
  ['prompts with answers', table(gate, (task) => `${task.prompt} -> ${answerOf(task)}`)],
  ['ends of prompts with answers', table(gate, (task) => `${subjectOf(task)}: ${answerOf(task)}`)],
  ['names with answers', table(gate, (task) => `${task.name} = ${answerOf(task)}`)],
  [
    'a map in code',
    `const key = {${table(gate, (task) => `${JSON.stringify(subjectOf(task))}: ${JSON.stringify(answerOf(task))}`, ', ')}}`,
  ],
  [
    'a switch in code',
    table(gate, (task) => `if (prompt.includes(${JSON.stringify(subjectOf(task))})) return ${JSON.stringify(answerOf(task))}`),
  ],
  ['answers first', table(gate, (task) => `say ${answerOf(task)} when it is about ${subjectOf(task)}`)],
  ['answers in order', table(gate, answerOf, ', ')],
  ['numbered answers in order', gate.map((task, n) => `${n + 1}. ${answerOf(task)}`).join('\n')],
  [
    'hashes of prompts with answers, in no order',
    gate
      .map((task) => `if (h === '${hash('sha256', task.prompt).slice(0, 6)}') return '${answerOf(task)}'`)
      .sort()
      .join('\n'),
  ],
  ['answers sorted', gate.map(answerOf).sort().join(' ')],
  [
    'a third of the key',
    table(
      gate.filter((_, n) => n % 3 === 0),
      (task) => `${subjectOf(task)}: ${answerOf(task)}`,
    ),
  ],
  ['the key among other words', `${'Check your work. '.repeat(200)}${table(gate, (task) => `${subjectOf(task)}: ${answerOf(task)}`)}`],
]

describe('a key of answers is found', () => {
  it.each(KEYS)('%s', (_what, text) => {
    expect(found(text)).not.toBeNull()
  })

  it.each(
    DISGUISES.filter(
      ([how]) =>
        ![
          'without spaces',
          'one word a line',
          'split over many entries',
          'with dots between its words',
          'with hidden characters',
          'with marks on its letters',
          'with Cyrillic letters',
          'as code that adds pieces',
          'split over two entries',
        ].includes(how),
    ),
  )('%s', (_how, write) => {
    expect(found(...write(table(gate, (task) => `${subjectOf(task)}: ${answerOf(task)}`)))).not.toBeNull()
  })

  it('that grows from step to step', () => {
    const rows = gate.map((task) => `${subjectOf(task)}: ${answerOf(task)}`)
    const before = [...SEED, entry('key', rows.slice(0, 9).join('\n'))]
    expect(learnedByHeart(SEED, before, bundled)).toBeNull()
    expect(learnedByHeart(before, [...before, entry('more', rows.slice(9, 13).join('\n'))], bundled)).toBe(
      'it holds answers of held-out tasks',
    )
  })
})

describe('ordinary changes', () => {
  it.each<readonly [string, string]>([
    ...FIXES.flatMap(({ name, wording }) => wording.map((text, n) => [`${name} ${n}`, text] as const)),
    ['all of them together', FIXES.flatMap(({ wording }) => wording).join('\n')],
    ['knowledge that a few tasks ask for', HANDBOOK],
    ['a rule with an example of its own', 'Sort numbers by value: "Sort these numbers in ascending order: 3, 1, 2" gives 1, 2, 3.'],
    ['a rule that names a kind of task', 'When you are asked to run a command and report its output, run it and quote the last line.'],
    ['short answers alone', 'Answer yes or no. If unsure say 42, and never more than 101 words.'],
    ['the numbers up to thirty', Array.from({ length: 31 }, (_, n) => n).join(', ')],
    ['months', 'Months have 31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30 and 31 days.'],
    ['Roman numerals', 'I is 1, V is 5, X is 10, L is 50, C is 100, D is 500 and M is 1000.'],
    ['code', 'export const run = (text) => text.split("").reverse().join("") // reverse a text letter by letter'],
    ['a long text', 'Read the whole task before you begin, and check the result against every point of it. '.repeat(500)],
  ])('are not taken for it: %s', (_what, text) => {
    expect(found(text)).toBeNull()
  })

  it('may keep what the served tree holds already', () => {
    const before = [...SEED, entry('quote', SECRET.prompt)]
    expect(learnedByHeart(before, [...before, entry('more', 'Be kind.')], [SECRET])).toBeNull()
    expect(learnedByHeart(before, SEED, [SECRET])).toBeNull()
  })

  it('may hold what a task for proposers holds', () => {
    const shown: Task = { ...SECRET, name: 'shown', role: 'train' }
    expect(learnedByHeart(SEED, [...SEED, entry('quote', SECRET.prompt)], [SECRET, shown])).toBeNull()
  })
})
