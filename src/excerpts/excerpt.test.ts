/** What a list shows of a record, and what a search finds it by. */
import { describe, expect, it } from 'vitest'
import type { JsonObject, RecordRow } from '../contract/index.ts'
import { excerptOf, factsOfQuery, factsOfRecord, shownExcerpt } from './index.ts'
import { exchangeOf, TALK_FORMATS, type TalkTurn } from '../sessions/testing/talks.ts'

const read = (payload: unknown, type: RecordRow['request_type'] = 'inference') => excerptOf(type, Buffer.from(JSON.stringify(payload)))
const chat = (content: unknown, more: JsonObject = {}) => ({ messages: [{ role: 'user', content }], ...more })

describe('an exchange', () => {
  const TALK: readonly TalkTurn[] = [
    { person: 'Where is my order?' },
    { agent: 'Which one?' },
    { person: 'Number 7' },
    { agent: 'It left.' },
  ]
  it.each(TALK_FORMATS)('of the format %s: what was asked last, and the answer', (format) => {
    expect(read(exchangeOf(TALK, format, { session: 's', user: 'u' }))).toMatchObject({
      input: 'Number 7',
      output: 'It left.',
      tags: { session: 's', user: 'u' },
    })
  })

  it.each(TALK_FORMATS)('of the format %s that answers a tool: its result, and the next call', (format) => {
    const said: readonly TalkTurn[] = [
      { person: 'List it' },
      { call: 'bash', input: { command: 'ls' }, result: 'a.txt' },
      { call: 'read', input: { path: 'a.txt' } },
    ]
    const { input, output } = read(exchangeOf(said, format))
    expect([input, output]).toEqual(['a.txt', expect.stringMatching(/^read .*a\.txt/)])
  })

  it('shows the words of the person, not what the agent put before them', () => {
    const content = [
      { type: 'text', text: '<system-reminder>Be brief.</system-reminder>' },
      { type: 'text', text: 'Fix the test' },
    ]
    expect(read({ system: 'You are…', ...chat(content), max_tokens: 1 }).input).toBe('Fix the test')
  })

  it('names the model that answered, the cost that its provider counted, and an answer that broke off', () => {
    expect(
      read(chat('hi', { model: 'asked', response: { object: 'chat.completion', choices: [], usage: { cost: 0.25 }, complete: false } })),
    ).toMatchObject({ model: 'asked', cost: 0.25, isComplete: false })
    expect(read(chat('hi', { response: { object: 'chat.completion', choices: [], model: 'm', usage: { cost: -1 } } }))).toMatchObject({
      model: 'm',
      cost: null,
      isComplete: true,
    })
  })

  it('in a format of its own is read by its texts', () => {
    expect(read({ question: 'why?', depth: 3, reply: 'because' }).input).toBe('why?\nbecause')
    expect(read({ prompt: 'p', response: 'r' })).toMatchObject({ output: 'r' })
  })
})

it('a report is read by its feedback, an instruction by its text', () => {
  expect(read({ feedback: 'too long' }, 'report').input).toBe('too long')
  expect(read({ feedback: { why: 'too long' } }, 'report').input).toContain('too long')
  expect(read({ text: 'be brief' }, 'train').input).toBe('be brief')
})

describe('whatever was stored', () => {
  it.each([
    ['no JSON', '{"a":'],
    ['no object', '[1]'],
    ['deeper than a walk can go', `${'{"a":'.repeat(200_000)}1${'}'.repeat(200_000)}`],
    ['misshapen', '{"messages":{"role":7},"metadata":{"tags":[1]},"response":3}'],
  ])('%s is read without harm', (_, text) => {
    expect(excerptOf('inference', Buffer.from(text))).toMatchObject({ tags: {} })
  })

  it('is bounded, and no character is cut in half', () => {
    const tags = Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`t${at}`, '😀'.repeat(5000)]))
    const found = read(chat('😀'.repeat(100_000), { metadata: { tags } }))
    expect(found.input.length).toBeLessThanOrEqual(4096)
    expect(Object.keys(found.tags)).toHaveLength(64)
    expect(JSON.stringify(found).isWellFormed()).toBe(true)
    const shown = shownExcerpt(found)
    expect(Array.from(shown.input)).toHaveLength(160)
    expect(shown.input.isWellFormed()).toBe(true)
  })

  it('is shown on one line', () => {
    expect(shownExcerpt(read(chat(' one\n\n two\tthree'))).input).toBe('one two three')
  })
})

it('what is asked for is among the facts of the record that has it', () => {
  const row: RecordRow = {
    sequence: 1,
    agent_record_id: 'a',
    request_type: 'inference',
    created_at: 1,
    references: [],
    artifact_ref: 'r1',
    score: null,
    summary: { latency_ms: 1, model: 'm', complete: false },
  }
  const facts = factsOfRecord(row, read(chat('hi', { metadata: { tags: { user: 'u' } } })))
  const asked = factsOfQuery({
    type: 'inference',
    release: 'r1',
    model: 'm',
    status: 'broken_off',
    tags: [['user', 'u']],
    before: 9,
    limit: 1,
  })
  expect(asked).toHaveLength(5)
  expect(asked.filter((fact) => !facts.includes(fact))).toEqual([])
  expect(factsOfQuery({ quotes: 'x', before: 9, limit: 1 }).some((fact) => facts.includes(fact))).toBe(false)
})
