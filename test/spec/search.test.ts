/** Searching records, and the first words of each in the list. */
import { beforeAll, describe, expect, it } from 'vitest'
import type { JsonObject } from '../../src/contract/index.ts'
import { until } from '../support/wait.ts'
import { sharedWorld, world, type Answer, type World } from '../support/world.ts'
import { expectRefusal, inference, named, reportEnvelope, rowsOf } from './support/helpers.ts'

const said = (id: string, input: string, output: string, more: JsonObject = {}): JsonObject =>
  inference(id, {
    messages: [{ role: 'user', content: input }],
    response: { object: 'chat.completion', model: 'small', choices: [{ message: { role: 'assistant', content: output } }], ...more },
  })

const here = sharedWorld()
beforeAll(() => fill(here))

async function fill(place: World): Promise<void> {
  const records = [
    said('a', 'Where is my order?', 'It was refunded.', { usage: { cost: 0.002 } }),
    said('b', 'Hello', 'Hi', { model: 'large' }),
    said('c', 'The order again', 'It was'),
    reportEnvelope('r', { references: ['a', 'b'], score: 0.25, feedback: 'far too short' }),
  ]
  await place.post('/svc/records/batch', { records }, { ...named('shop'), 'x-svc-tag-user': 'ann' })
}

const search = (query: string, place: World = here): Promise<Answer> => place.get(`/svc/scenarios/shop/search?${query}`)
const idsOf = (answer: Answer): readonly unknown[] => rowsOf(answer, 'records').map((row) => row['agent_record_id'])

describe('a search', () => {
  it.each([
    ['text=order', ['c', 'a']],
    ['text=refunded', ['a']],
    ['text=%22my%20order%22', ['a']],
    ['text=ORDER%20-again', ['a']],
    ['text=refund*', ['a']],
    ['text=%22too%20short%22', ['r']],
    ['text=nothing', []],
  ])('for %s finds the records that say so [search.words]', async (query, ids) => {
    expect(idsOf(await search(query))).toEqual(ids)
  })

  it.each([
    ['request_type=report', ['r']],
    ['model=large', ['b']],
    ['status=complete', ['c', 'b', 'a']],
    ['status=broken_off', []],
    ['tag=user:ann&text=order', ['c', 'a']],
    ['tag=user:bob', []],
    ['max_score=0.3&request_type=inference', ['b', 'a']],
    ['min_score=0.3', []],
    ['quotes=a', ['r']],
    ['release_id=none', []],
    ['since=1&text=hello', ['b']],
    ['until=1', []],
  ])('with %s is narrowed to %j [search.fields]', async (query, ids) => {
    expect(idsOf(await search(query))).toEqual(ids)
  })

  it('has a page, its excerpts, and where the next page begins [search.pages]', async () => {
    const first = await search('limit=2')
    expect(Object.keys(first.json)).toEqual(['scenario', 'records', 'next_before_sequence', 'waiting'])
    expect(first.json).toMatchObject({ scenario: 'shop', next_before_sequence: 3, waiting: 0 })
    expect(first.headers['cache-control']).toBe('no-store')
    const last = await search('limit=2&before_sequence=3')
    expect(idsOf(last)).toEqual(['b', 'a'])
    expect(last.json['next_before_sequence']).toBeNull()
    expect(rowsOf(last, 'records')[1]).toMatchObject({
      agent_record_id: 'a',
      excerpt: { input: 'Where is my order?', output: 'It was refunded.', tags: { user: 'ann' }, score: 0.25, cost: 0.002 },
    })
  })

  it.each([
    'text=',
    'text=%20-%22%22',
    `text=${'word%20'.repeat(33)}`,
    `text=${'w'.repeat(501)}`,
    'request_type=all',
    'status=failed',
    'tag=user',
    'tag=:ann',
    'tag=user:',
    'tag=user:ann&'.repeat(65),
    'min_score=high',
    'max_score=',
    'since=yesterday',
    'until=Infinity',
    'limit=0',
    'limit=101',
    'before_sequence=-1',
  ])('for %s is refused [search.refused]', async (query) => {
    expectRefusal(await search(query), 400, 'invalid_query')
  })

  it('is never a question in the words of a database [search.words]', async () => {
    for (const text of [
      'input:order',
      'order" OR "hello',
      'NEAR(order hello)',
      "'; DROP TABLE words; --",
      '*',
      '(',
      '{input} : order',
      'order NOT',
    ])
      expect([200, 400], text).toContain((await search(`text=${encodeURIComponent(text)}`)).status)
    expect(idsOf(await search('text=order'))).toEqual(['c', 'a'])
  })

  it('of a scenario that does not exist is 404, and creates none', async () => {
    expectRefusal(await here.get('/svc/scenarios/none/search'), 404, 'unknown_scenario')
  })
})

describe('the list', () => {
  it('has the first words where they are asked for [history.excerpts]', async () => {
    const rows = rowsOf(await here.get('/svc/scenarios/shop/records?excerpts=yes'), 'records')
    expect(rows.map(({ excerpt }) => excerpt)).toMatchObject([
      { input: 'Where is my order?', score: 0.25 },
      { input: 'Hello', output: 'Hi' },
      { input: 'The order again', output: 'It was' },
      { input: 'far too short', output: '' },
    ])
    for (const query of ['', '?excerpts=no'])
      expect(rowsOf(await here.get(`/svc/scenarios/shop/records${query}`), 'records').some((row) => 'excerpt' in row)).toBe(false)
    expectRefusal(await here.get('/svc/scenarios/shop/records?excerpts=maybe'), 400, 'invalid_query')
  })
})

describe('over SQLite', () => {
  const stored = sharedWorld({ backend: 'sqlite' })
  beforeAll(() => fill(stored))

  it('finds the same, also what comes in later and after a restart', async () => {
    await until(async () => (await search('', stored)).json['waiting'] === 0)
    expect(idsOf(await search('text=order&tag=user:ann&max_score=0.3', stored))).toEqual(['a'])
    await stored.restart()
    await stored.post('/svc/records', said('d', 'A new order', ''), named('shop'))
    await until(async () => idsOf(await search('text=order', stored)).length === 3)
    expect(idsOf(await search('text=order', stored))).toEqual(['d', 'c', 'a'])
  })
})

it('where the store keeps no index is refused, and the list has no first words [search.unsupported] [history.excerpts]', async () => {
  const without = await world({ backend: 'sqlite', settings: { 'storage.record_settings.search': 'false' } })
  try {
    await fill(without)
    expectRefusal(await search('text=order', without), 501, 'search_unsupported')
    const rows = rowsOf(await without.get('/svc/scenarios/shop/records?excerpts=yes'), 'records')
    expect(rows.map((row) => 'excerpt' in row)).toEqual([false, false, false, false])
  } finally {
    await without.close()
  }
})
