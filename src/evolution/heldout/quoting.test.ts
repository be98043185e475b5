/** Which samples are kept from a proposer so that held-out tasks stay held out, and that no report takes a task out of play. */
import { describe, expect, it } from 'vitest'
import type { Json, JsonObject, Sample, Task, TaskRole } from '../../contract/index.ts'
import { metric, RULE, SAMPLE, taskNamed, testBench } from '../testing/bench.ts'
import { quotingIn } from './quoting.ts'

const PROMPT = 'Sort these numbers in ascending order: 100, 98, 29, 7, 512, 64'
const taskOf = (prompt: string, role: TaskRole = 'gate', name = 't'): Task => ({ name, prompt, role })
const asked = (content: Json): JsonObject => ({
  messages: [
    { role: 'system', content: 'Be brief.' },
    { role: 'user', content },
  ],
})
const tagged = (content: string, tags: JsonObject): JsonObject => ({ ...asked(content), metadata: { tags } })
const sampleOf = (exchange: JsonObject, more: Partial<Sample> = {}): Sample => ({
  record_ids: ['report', 'exchange'],
  exchanges: [exchange],
  score: 0,
  feedback: null,
  ...more,
})
const parts = (...texts: readonly string[]): Json => texts.map((text) => ({ type: 'text', text }))
const isKept = (sample: Sample, task: Task = taskOf(PROMPT)): boolean => quotingIn([sample], [task]).has(sample)

describe('a sample is kept from the proposer when it holds a held-out prompt', () => {
  it.each<readonly [string, Sample]>([
    ['as a user’s text', sampleOf(asked(PROMPT))],
    ['within more', sampleOf(asked(`Please help me. ${PROMPT}, and say why.`))],
    [
      'in another case and with other spacing',
      sampleOf(asked(`  sort THESE\n\tnumbers in\u00a0ascending   order: 100, 98, 29, 7, 512, 64\n`)),
    ],
    ['with other punctuation', sampleOf(asked('Sort - these - numbers (in ascending order) 100/98/29/7/512/64'))],
    ['with hidden characters in its words', sampleOf(asked(Array.from(PROMPT).join('\u200b')))],
    ['in full-width letters', sampleOf(asked(PROMPT.replaceAll(/[a-z]/g, (sign) => String.fromCharCode(sign.charCodeAt(0) + 0xfee0))))],
    ['with Cyrillic letters among its own', sampleOf(asked(PROMPT.replaceAll('e', '\u0435').replaceAll('o', '\u043e')))],
    ['in a part of a message', sampleOf(asked(parts('See:', PROMPT)))],
    ['in two parts of a message', sampleOf(asked(parts(PROMPT.slice(0, 25), PROMPT.slice(25))))],
    ['one word a part', sampleOf(asked(parts(...PROMPT.split(' '))))],
    ['in an answer', sampleOf({ response: { choices: [{ message: { content: `You said: ${PROMPT}` } }] } })],
    ['in what a tool was given', sampleOf({ input: [{ type: 'function_call', arguments: { text: PROMPT } }] })],
    ['in the feedback', sampleOf({}, { feedback: `It failed at: ${PROMPT}` })],
    ['deep in the feedback', sampleOf({}, { feedback: { notes: [[{ of: PROMPT }]] } })],
    ['in two pieces of the feedback', sampleOf({}, { feedback: [PROMPT.slice(0, 30), PROMPT.slice(30)] })],
    ['in the name of a field', sampleOf({ [PROMPT]: 1 })],
    ['in a later exchange', sampleOf({}, { exchanges: [asked('hello'), asked(PROMPT)] })],
  ])('%s', (_how, sample) => {
    for (const role of ['gate', 'regression', 'health', 'sealed'] as const) expect(isKept(sample, taskOf(PROMPT, role))).toBe(true)
  })

  it.each<readonly [string, Sample]>([
    ['that names the task', sampleOf({}, { task: { name: 't' }, feedback: 'task t failed again' })],
    ['that quotes how such tasks begin', sampleOf(asked('Sort these numbers in ascending order: 3, 1, 2'))],
    ['with a part of the prompt', sampleOf(asked(PROMPT.slice(0, -12)))],
    ['with one much like it', sampleOf(asked(PROMPT.replace('29', '30').replace('512', '513')))],
    ['with nothing in it', sampleOf({})],
  ])('but not one %s', (_how, sample) => {
    expect(isKept(sample)).toBe(false)
  })

  it('and is shown where the task is there for proposers', () => {
    expect(isKept(sampleOf(asked(PROMPT)), taskOf(PROMPT, 'train'))).toBe(false)
  })

  it('that is short, only as all that a user said', () => {
    const short = taskOf('What is 2 + 2?')
    expect(isKept(sampleOf(asked(' what is  2 + 2? ')), short)).toBe(true)
    expect(isKept(sampleOf({ input: 'What is 2 + 2?' }), short)).toBe(true)
    const others = [asked('What is 2 + 2? And 3?'), { messages: [{ role: 'assistant', content: 'What is 2 + 2?' }] }]
    for (const exchange of others) expect(isKept(sampleOf(exchange), short)).toBe(false)
  })

  it('together with others of the batch, and only those that bring a piece', () => {
    const pieces = [PROMPT.slice(0, 40), PROMPT.slice(20, 53), PROMPT.slice(31)].map((text) => sampleOf(asked(text)))
    const other = sampleOf(asked('Sort my mail.'))
    expect([...quotingIn([...pieces, other], [taskOf(PROMPT)])]).toEqual(pieces)
    expect(quotingIn(pieces.slice(1), [taskOf(PROMPT)]).size).toBe(0)
  })
})

describe('a hostile batch', () => {
  it('may be nested deeper than any call stack', () => {
    let nested: Json = PROMPT
    for (let n = 0; n < 200_000; n += 1) nested = [nested]
    expect(isKept(sampleOf({ nested }))).toBe(true)
  })

  it('may be of any shape', () => {
    const odd = [
      { messages: 7 },
      { messages: [null, 'x', { role: 'user' }] },
      { input: [[]] },
      { messages: [{ role: 'user', content: [7, { type: 'text' }] }] },
    ]
    for (const exchange of odd) expect(isKept(sampleOf(exchange), taskOf('hi'))).toBe(false)
  })
})

describe('burning tasks [trust.tasks-stay]', () => {
  const tasks = Array.from({ length: 8 }, (_, n) =>
    taskNamed(`gate-${n}`, { prompt: `Question ${n}: ${'abcdefgh'[n]} is how far from ${n * 37} miles?` }),
  )
  const every = (make: (task: Task, n: number) => Sample): readonly Sample[] => tasks.map(make)

  it.each<readonly [string, readonly Sample[]]>([
    ['one client that quotes every prompt', every(({ prompt }) => sampleOf(tagged(prompt, { client: 'loud' })))],
    ['many clients that quote one each', every(({ prompt }, n) => sampleOf(tagged(prompt, { client: `client-${n}` })))],
    ['one client under many sessions', every(({ prompt }, n) => sampleOf(tagged(prompt, { client: 'loud', session: `s${n}` })))],
    ['a client without a name', every(({ prompt }) => sampleOf(asked(prompt)))],
    ['one report that quotes them all', [sampleOf({}, { feedback: tasks.map(({ prompt }) => prompt).join('\n') })]],
    ['reports that name every task', every(({ name }) => sampleOf({}, { task: { name }, feedback: name }))],
    [
      'reports that quote in halves',
      every(({ prompt }) => sampleOf({}, { feedback: prompt.slice(0, 20) })).concat(
        every(({ prompt }) => sampleOf({}, { feedback: prompt.slice(9) })),
      ),
    ],
    ['answers that quote them', every(({ prompt }) => sampleOf({ response: { choices: [{ message: { content: prompt } }] } }))],
    ['tool results that quote them', every(({ prompt }) => sampleOf({ messages: [{ role: 'tool', tool_call_id: 'x', content: prompt }] }))],
    ['passing reports that quote them', every(({ prompt }) => sampleOf(asked(prompt), { score: 1 }))],
  ])('%s: retires none, and shows none', async (_who, samples) => {
    const shown: string[] = []
    const settings = { promote_failures: true }
    const bench = await testBench({
      tasks,
      settings,
      propose: (brief) => (shown.push(JSON.stringify([brief.samples, brief.tasks])), { mutations: [RULE] }),
    })
    const result = await bench.step({ samples: [...samples, { ...SAMPLE, score: 1 }] })
    expect(metric(result, 'not_run_tasks')).toBeUndefined()
    expect(metric(result, 'evaluation_task_count')).toBeGreaterThanOrEqual(tasks.length)
    expect(bench.played.filter((one) => one.includes('Question')).length).toBe(2 * tasks.length)
    for (const { prompt } of tasks) expect(shown.join('')).not.toContain(prompt)
    expect(await bench.step({ samples: [] })).toMatchObject({ metrics: { evaluation_task_count: metric(result, 'evaluation_task_count') } })
  })
})
