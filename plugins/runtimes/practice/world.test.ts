import { describe, expect, it } from 'vitest'
import { FAMILIES, HANDBOOK, recognise, tasksOf } from './families/index.ts'
import { objectOf, parsed, textOf } from '../../../src/dialects/index.ts'
import { FIXES, HARMS, type LessonName } from './lessons.ts'
import { heldLessons, LESSONS_HELD_MAX, lessonsIn } from './rules.ts'
import { playTask, scoreOf } from './score.ts'
import { PRACTICE_TASKS } from './tasks.ts'
import { toolOf } from './testing.ts'

const NOISE = 0.1

const wordingOf = (...names: readonly LessonName[]): string =>
  [...FIXES, ...HARMS]
    .filter((lesson) => names.includes(lesson.name))
    .map((lesson) => lesson.wording[0])
    .join('\n')
/** A calculator that is right. */
const calculate = (_: string, input: string): string =>
  recognise(`What is ${textOf(objectOf(parsed(input))['expression'])}?`)?.problem.right ?? ''

const tasksIn = (name: string) => FAMILIES.filter((family) => family.name === name).flatMap(tasksOf)
const score = (rules?: string): number => scoreOf(rules === undefined ? {} : { rules }, PRACTICE_TASKS, NOISE)

describe('the practice tasks', () => {
  it('are at least six of every family, each with a name and a text of its own', () => {
    for (const family of FAMILIES) expect(tasksOf(family).length).toBeGreaterThanOrEqual(6)
    expect(new Set(PRACTICE_TASKS.map((task) => task.name)).size).toBe(PRACTICE_TASKS.length)
    expect(new Set(PRACTICE_TASKS.map((task) => task.prompt)).size).toBe(PRACTICE_TASKS.length)
  })

  it.each(FAMILIES.map((family) => family.name))('%s: each is recognised as its own family', (name) => {
    for (const task of tasksIn(name)) {
      const found = recognise(task.prompt)
      expect(found?.family.name).toBe(name)
      // Facts of the prompt and results of tools are unknown here.
      if (found?.problem.find === undefined && found?.problem.needsTool !== true) expect(found?.problem.right).toBe(task.answer)
    }
  })
})

describe('other phrasings of a task', () => {
  it.each([
    ['Please compute 7 - 2 × 3 for me', '1'],
    ['-4 + 10 / 3 = ?', '-1'],
    ['How many minutes are there in 2.5 hours?', '150 minutes'],
    ['What date is 2024-02-28 + 2 days?', '2024-03-01'],
    ['What is 30 days before 2023-01-15?', '2022-12-16'],
    ['How many words are in "the quick brown fox"?', '4'],
    ['How many r\'s are in "strawberry"?', '3'],
    ['Please sort in descending order: pear, Apple, fig', 'pear, fig, Apple'],
    ['Extract the field `a.0.b` from {"a":[{"b":5}]}', '5'],
    ['Spell "abc" backwards.', 'cba'],
    ['What number is the Roman numeral XLIV?', '44'],
    ['Ana had 10 pears. She ate 3 and found 4. How many are there now?', '11'],
  ])('%s', (prompt, right) => {
    expect(recognise(prompt)?.problem.right).toBe(right)
  })

  it.each(['hello', 'Write a poem about 7 geese', 'Fix the bug in main.ts', '', '{'.repeat(3000)])('%j is none', (text) => {
    expect(recognise(text)).toBeNull()
  })
})

describe('scores', () => {
  it.each(FAMILIES.filter((family) => family.lessons.length > 0 && family.name !== 'shell').map((family) => family.name))(
    '%s: its lessons fix it',
    (name) => {
      const tasks = tasksIn(name)
      const rules = wordingOf('answer-line', ...FAMILIES.filter((one) => one.name === name).flatMap((one) => one.lessons))
      const [bare, fixed] = [scoreOf({}, tasks, NOISE), scoreOf({ rules }, tasks, NOISE)]
      expect(bare).toBeLessThanOrEqual(0.5)
      expect(fixed).toBeGreaterThanOrEqual(bare + 0.25)
      expect(scoreOf({ rules }, tasks, 0)).toBe(1)
    },
  )

  it('rise with every lesson taught, until no more are held', () => {
    const names = FIXES.map((fix) => fix.name)
    const scores = names.map((_, count) => score(wordingOf(...names.slice(0, count))))
    for (const [at, value] of scores.entries()) expect(value).toBeGreaterThanOrEqual(scores[at - 1] ?? 0)
    expect(scores[LESSONS_HELD_MAX] ?? 0).toBeGreaterThan((scores[0] ?? 0) + 0.2)
  })

  it('do not change with an unrelated rule', () => {
    for (const rule of ['Be friendly.', 'Prefer TypeScript over JavaScript.', 'Indent with two spaces.']) expect(score(rule)).toBe(score())
  })

  it.each(HARMS.map((harm) => harm.name))('fall, or at least do not rise, with the harmful rule %s', (name) => {
    const good = wordingOf('answer-line', 'precedence', 'every-step', 'reverse-letters', 'state-units', 'exact-factors')
    expect(score(wordingOf(name))).toBeLessThanOrEqual(score())
    if (name !== 'no-tools') expect(score(`${good}\n${wordingOf(name)}`)).toBeLessThan(score(good))
  })

  it('of facts depend on the prompt holding them', () => {
    const tasks = tasksIn('lookup')
    expect(scoreOf({ rules: wordingOf('answer-line') }, tasks, 0)).toBe(0)
    expect(scoreOf({ rules: `${wordingOf('answer-line')}\n${HANDBOOK}` }, tasks, 0)).toBe(1)
  })

  it('of sums rise with a calculator, taught or not', () => {
    const tasks = tasksIn('arithmetic')
    const harness = { rules: wordingOf('answer-line'), tools: [toolOf('calculator', 'expression')] }
    expect(scoreOf({ ...harness, run: calculate }, tasks, 0)).toBe(1)
    expect(scoreOf({ rules: harness.rules }, tasks, 0)).toBeLessThan(1)
  })

  it('are the same every time', () => {
    for (const task of PRACTICE_TASKS) expect(playTask(task, {}, NOISE)).toBe(playTask(task, {}, NOISE))
  })

  it('with more noise are worse', () => {
    const rules = wordingOf(...FIXES.slice(0, LESSONS_HELD_MAX).map((fix) => fix.name))
    expect(scoreOf({ rules }, PRACTICE_TASKS, 1)).toBeLessThan(scoreOf({ rules }, PRACTICE_TASKS, 0))
  })
})

describe('rules', () => {
  it('every wording teaches its own lesson and no other', () => {
    for (const lesson of [...FIXES, ...HARMS]) for (const wording of lesson.wording) expect(lessonsIn(wording)).toEqual([lesson.name])
  })

  it.each<[string, LessonName]>([
    ['- When you are done, write the result by itself on the final line', 'answer-line'],
    ['Respond with just the answer.', 'answer-line'],
    ['Remember PEMDAS!', 'precedence'],
    ['Products and quotients are computed first, before sums.', 'precedence'],
    ['3. Never forget the unit', 'state-units'],
    ['Do conversions with the exact factor', 'exact-factors'],
    ['Mind that February has 28 or 29 days and other months 30 or 31.', 'calendar'],
    ['When you count characters, tick them off one at a time.', 'count-each'],
    ['Numbers are ordered numerically.', 'numeric-order'],
    ['Do not remove duplicates', 'keep-duplicates'],
    ['For nested JSON, follow the path through each level.', 'json-path'],
    ['Reverse strings letter for letter', 'reverse-letters'],
    ['Roman numerals use IV and IX.', 'subtractive'],
    ['Let’s think step by step.', 'every-step'],
    ['Prefer calling a tool over guessing', 'use-tools'],
    ['Your reply must be a single word.', 'one-word'],
    ['Give approximate answers.', 'rounding'],
    ["Don't call any tools.", 'no-tools'],
  ])('%s', (rule, lesson) => {
    expect(lessonsIn(rule)).toContain(lesson)
  })

  it.each(['Do not round the result.', 'Never answer in capital letters', 'Avoid replying in one word.', 'Do not answer immediately.'])(
    '%s does no harm',
    (rule) => {
      expect(lessonsIn(rule).filter((lesson) => HARMS.some((harm) => harm.name === lesson))).toEqual([])
    },
  )

  it('are held as far as they fit; the task and what was just read always are', () => {
    const many = FIXES.map((fix) => fix.wording[0]).join('\n')
    const last = FIXES.at(-1)
    expect(heldLessons(many, '').size).toBe(LESSONS_HELD_MAX)
    expect(heldLessons(many, '').has(last?.name ?? 'hurry')).toBe(false)
    expect(heldLessons(many, last?.wording[0] ?? '').has(last?.name ?? 'hurry')).toBe(true)
  })

  it('buried in a long sentence are lost', () => {
    const long = `${'in the light of everything that was said before and in view of what may come, '.repeat(3)}put the answer on the last line`
    expect(lessonsIn(long)).toEqual([])
  })
})
