/** What a batch gives away of the tasks that candidates are measured by. */
import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject, Sample, Task, TaskRole } from '../../contract/index.ts'
import { findAll } from './find-all.ts'
import { exposedBy } from './exposed.ts'

const PROMPT = 'Sort these numbers in ascending order: 100, 98, 29'
const taskOf = (prompt: string, role: TaskRole = 'gate', name = 't'): Task => ({ name, prompt, role })
const asked = (content: Json): JsonObject => ({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content },
  ],
})
const sampleOf = (exchange: JsonObject, more: Partial<Sample> = {}): Sample => ({
  record_ids: ['report', 'exchange'],
  exchanges: [exchange],
  score: 0,
  feedback: null,
  ...more,
})
const isExposed = (sample: Sample, task: Task = taskOf(PROMPT)): boolean => exposedBy([sample], [task]).length > 0

describe('a held-out task is given away', () => {
  it.each<readonly [string, Sample]>([
    ['by its name', sampleOf({}, { task: { name: 't' } })],
    ['by its prompt', sampleOf(asked(PROMPT))],
    ['by its prompt within more', sampleOf(asked(`Please help me. ${PROMPT}, and say why.`))],
    [
      'by its prompt in another case and with other spacing',
      sampleOf(asked(`  sort THESE\n\tnumbers in\u00a0ascending   order: 100, 98, 29\n`)),
    ],
    [
      'in a part of a message',
      sampleOf(
        asked([
          { type: 'text', text: 'See:' },
          { type: 'text', text: PROMPT },
        ]),
      ),
    ],
    ['in an answer', sampleOf({ response: { choices: [{ message: { content: `You said: ${PROMPT}` } }] } })],
    ['in what a tool was given', sampleOf({ input: [{ type: 'function_call', arguments: { text: PROMPT } }] })],
    ['in the feedback', sampleOf({}, { feedback: `It failed at: ${PROMPT}` })],
    ['deep in the feedback', sampleOf({}, { feedback: { notes: [[{ of: PROMPT }]] } })],
    ['in a later exchange', sampleOf({}, { exchanges: [asked('hello'), asked(PROMPT)] })],
  ])('%s', (_how, sample) => {
    expect(isExposed(sample)).toBe(true)
    expect(isExposed(sample, taskOf(PROMPT, 'regression'))).toBe(true)
  })

  it.each<readonly [string, Sample]>([
    ['by another task’s name', sampleOf({}, { task: { name: 'u' } })],
    ['by part of its prompt', sampleOf(asked(PROMPT.slice(0, -1)))],
    ['by one much like it', sampleOf(asked(PROMPT.replace('29', '30')))],
    [
      'by its words in two texts',
      sampleOf(
        asked([
          { type: 'text', text: PROMPT.slice(0, 25) },
          { type: 'text', text: PROMPT.slice(25) },
        ]),
      ),
    ],
    ['by the name of a field', sampleOf({ [PROMPT]: 1 })],
    ['by nothing at all', sampleOf({})],
  ])('but not %s', (_how, sample) => {
    expect(isExposed(sample)).toBe(false)
  })

  it('only where it is held out', () => {
    for (const role of ['train', 'health'] as const)
      expect(isExposed(sampleOf(asked(PROMPT), { task: { name: 't' } }), taskOf(PROMPT, role))).toBe(false)
  })

  it('when it is short, only by a user who said just that', () => {
    const short = taskOf('What is 2 + 2?')
    expect(isExposed(sampleOf(asked(' what is  2 + 2? ')), short)).toBe(true)
    expect(isExposed(sampleOf({ input: 'What is 2 + 2?' }), short)).toBe(true)
    expect(isExposed(sampleOf({ input: [{ role: 'user', content: [{ type: 'input_text', text: 'What is 2 + 2?' }] }] }), short)).toBe(true)
    const others = [asked('What is 2 + 2? And 3?'), { messages: [{ role: 'assistant', content: 'What is 2 + 2?' }] }]
    for (const exchange of others) expect(isExposed(sampleOf(exchange), short)).toBe(false)
  })

  it('each by itself, in the order of the tasks', () => {
    const tasks = ['c', 'a', 'b'].map((name) => taskOf(`Sort these numbers in ascending order: ${name}1, ${name}2`, 'gate', name))
    const samples = [tasks[2], tasks[0]].map((task) => sampleOf(asked(task?.prompt ?? '')))
    expect(exposedBy(samples, tasks)).toEqual(['c', 'b'])
  })
})

describe('a hostile batch', () => {
  it('may be nested deeper than any call stack', () => {
    let nested: Json = PROMPT
    for (let n = 0; n < 200_000; n += 1) nested = [nested]
    expect(isExposed(sampleOf({ nested }))).toBe(true)
  })

  it('may be of any shape', () => {
    const odd = [
      { messages: 7 },
      { messages: [null, 'x', { role: 'user' }] },
      { input: [[]] },
      { messages: [{ role: 'user', content: [7, { type: 'text' }] }] },
    ]
    for (const exchange of odd) expect(isExposed(sampleOf(exchange), taskOf('hi'))).toBe(false)
  })
})

describe('finding many texts at once', () => {
  it('finds what a search for each one finds', () => {
    const letters = fc.string({ unit: fc.constantFrom('a', 'b', ' '), maxLength: 40 })
    const wanted = fc.uniqueArray(fc.string({ unit: fc.constantFrom('a', 'b', ' '), minLength: 4, maxLength: 12 }), { maxLength: 20 })
    fc.assert(
      fc.property(wanted, fc.array(letters, { maxLength: 10 }), (all, texts) => {
        const expected = all.filter((each) => texts.some((text) => text.includes(each)))
        expect([...findAll(all, 4, texts)].sort()).toEqual(expected.sort())
      }),
    )
  })

  it('searches for none of many that begin alike in a text that holds their beginning alone', () => {
    const head = 'Read this carefully before you begin. '
    const wanted = Array.from({ length: 500 }, (_, n) => `${head}${n} of many`)
    const text = head.repeat(1000)
    let searches = 0
    const watched = Object.assign(Object(text), { includes: () => ((searches += 1), false) })
    findAll(wanted, 20, [watched])
    expect(searches).toBe(0)
  })
})
