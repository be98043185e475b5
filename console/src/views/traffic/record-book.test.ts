/** The list of records: any length, newest first, live, and cheap. */
import type { RecordRow } from '@svc-ai/client'
import { describe, expect, it } from 'vitest'
import { RecordBook } from './record-book.ts'
import { Scores } from './scores.ts'
import { fakeScenario, type FakeScenario } from './testing/fake-scenario.ts'
import { SessionBook } from './sessions.ts'
import { foundRecords, recordsOfType, SourceBook } from './source-book.ts'

async function opened(count: number) {
  const scenario = fakeScenario()
  scenario.add(count)
  const book = new RecordBook(scenario.ask)
  await book.follow()
  return { scenario, book }
}
async function openedType(type: RecordRow['request_type'], fill: (scenario: FakeScenario) => void) {
  const scenario = fakeScenario()
  fill(scenario)
  const book = new SourceBook(recordsOfType(scenario.ask, type))
  await book.follow()
  return { scenario, book }
}
const sequencesOf = (book: RecordBook | SourceBook, first: number, end: number) =>
  Array.from({ length: end - first }, (_, at) => book.at(first + at)?.sequence ?? null)

describe('the list of all records', () => {
  it('begins with the newest and knows how many there are after one question', async () => {
    const { scenario, book } = await opened(100_000)
    expect([book.count, scenario.questions, sequencesOf(book, 0, 2)]).toEqual([100_000, 1, [100_000, 99_999]])
  })

  it('goes anywhere with one question, two at the edge of a page, and none where it was before', async () => {
    const { scenario, book } = await opened(100_000)
    await book.want(50_010, 50_050)
    expect(sequencesOf(book, 50_010, 50_012)).toEqual([49_990, 49_989])
    expect(scenario.questions).toBe(2)
    await book.want(50_080, 50_120)
    expect(scenario.questions).toBe(3)
    await book.want(50_010, 50_050)
    expect(scenario.questions).toBe(3)
  })

  it('asks once for a page that is on its way', async () => {
    const { scenario, book } = await opened(1000)
    await Promise.all([book.want(500, 520), book.want(500, 520)])
    expect(scenario.questions).toBe(2)
  })

  it('asks again for a page that did not come', async () => {
    const scenario = fakeScenario()
    scenario.add(1000)
    let fails = false
    const book = new RecordBook((query) => (fails ? Promise.reject(new Error('gone')) : scenario.ask(query)))
    await book.follow()
    fails = true
    await expect(book.want(500, 520)).rejects.toThrow('gone')
    fails = false
    await book.want(500, 520)
    expect(book.at(500)?.sequence).toBe(500)
  })

  it('counts what is new and lists it when asked to; what was on the screen stays where it was until then', async () => {
    const { scenario, book } = await opened(250)
    scenario.add(30)
    await book.follow()
    expect([book.count, book.unseen, book.at(0)?.sequence]).toEqual([250, 30, 250])
    book.showUnseen()
    expect([book.count, book.unseen, sequencesOf(book, 0, 31)]).toEqual([280, 0, Array.from({ length: 31 }, (_, at) => 280 - at)])
  })

  it('keeps up with more than it reads row by row', async () => {
    const { scenario, book } = await opened(10)
    scenario.add(5000)
    await book.follow()
    book.showUnseen()
    expect([book.count, book.at(0)?.sequence]).toEqual([5010, 5010])
    expect(scenario.questions).toBeLessThan(15)
    await book.want(2000, 2001)
    expect(book.at(2000)?.sequence).toBe(3010)
  })

  it('begins anew when the scenario was made anew under its name', async () => {
    const { scenario, book } = await opened(300)
    scenario.reset()
    scenario.add(3)
    await book.follow()
    expect([book.count, book.unseen, book.at(0)?.agent_record_id]).toEqual([3, 0, '1-3'])
  })

  it('of nothing is empty, and lists the first records when they come', async () => {
    const { scenario, book } = await opened(0)
    expect([book.count, book.at(0), book.indexOf(1)]).toEqual([0, null, null])
    await book.want(0, 20)
    scenario.add(2)
    await book.follow()
    expect(sequencesOf(book, 0, 2)).toEqual([2, 1])
  })

  it('remembers what was looked at last, and no more than that', async () => {
    const { book } = await opened(20_000)
    for (let first = 0; first < 20_000; first += 100) await book.want(first, first + 1)
    expect(book.at(19_900)).not.toBeNull()
    expect(book.at(0)).toBeNull()
  })

  it('knows the place of a sequence, and the sequence of a place that was never looked at', async () => {
    const { book } = await opened(300)
    expect([book.at(299), book.sequenceAt(299), book.sequenceAt(300), book.sequenceAt(-1)]).toEqual([null, 1, null, null])
    expect([book.indexOf(300), book.indexOf(1), book.indexOf(0), book.indexOf(301)]).toEqual([0, 299, null, null])
  })
})

describe('the list of one type', () => {
  it('reads older pages as one goes down, to the end', async () => {
    const { scenario, book } = await openedType('report', ({ add }) => {
      for (let at = 0; at < 300; at += 1) add(1, at % 2 === 0 ? {} : { request_type: 'report' })
    })
    expect([book.count, book.at(0)?.sequence, book.at(100)]).toEqual([101, 300, null])
    await Promise.all([book.want(90, 101), book.want(90, 101)])
    expect([book.count, book.at(149)?.sequence, scenario.questions]).toEqual([150, 2, 2])
    await book.want(140, 150)
    expect(scenario.questions).toBe(2)
  })

  it('holds back what is new until asked, and begins anew with its scenario', async () => {
    const { scenario, book } = await openedType('train', ({ add }) => add(1, { request_type: 'train' }))
    scenario.add(250, { request_type: 'train' })
    await book.follow()
    expect([book.count, book.unseen]).toEqual([1, 250])
    book.showUnseen()
    expect([book.count, book.at(0)?.sequence, book.indexOf(1)]).toEqual([251, 251, 250])
    scenario.reset()
    await book.follow()
    expect(book.count).toBe(0)
  })
})

it('a list of one type forgets what is old, and reads it again when one scrolls there', async () => {
  const { book } = await openedType('inference', ({ add }) => add(250))
  await book.want(0, 101)
  book.keep(30)
  expect([book.rows.length, book.count, book.at(29)?.sequence]).toEqual([30, 31, 221])
  await book.want(0, 31)
  expect(book.at(30)?.sequence).toBe(220)
})

const openedSearch = async (fill: (scenario: FakeScenario) => void) => {
  const scenario = fakeScenario()
  fill(scenario)
  const book = new SourceBook(foundRecords(scenario.find, { text: 'x' }))
  await book.follow()
  return { scenario, book }
}

describe('the list of what was found', () => {
  it('goes on over pages that are empty, to the end', async () => {
    const { scenario, book } = await openedSearch(({ add, holdBack }) => {
      add(250)
      holdBack(3)
    })
    expect([book.count, book.at(0)?.sequence]).toEqual([101, 250])
    await book.want(90, 101)
    await book.want(190, 201)
    expect([book.count, book.at(249)?.sequence]).toEqual([250, 1])
    scenario.add(2)
    await book.follow()
    expect([book.count, book.unseen]).toEqual([250, 2])
  })

  it('begins anew when the newest is found no longer', async () => {
    const { scenario, book } = await openedSearch(({ add }) => add(3))
    scenario.reset()
    scenario.add(2)
    await book.follow()
    expect(sequencesOf(book, 0, 3)).toEqual([2, 1, null])
  })

  it('has one row for each session, with how many exchanges it has', async () => {
    const scenario = fakeScenario()
    for (let at = 0; at < 300; at += 1) scenario.add(1, { summary: { latency_ms: 1, session: at < 290 ? 'long' : `s${at % 5}` } })
    scenario.add(1)
    const all = new SourceBook(foundRecords(scenario.find, {}))
    const book = new SessionBook(all)
    await book.follow()
    await book.want(0, 20)
    expect([book.count, book.at(0)?.sequence, book.at(1)?.sequence, book.at(6)?.sequence]).toEqual([7, 301, 300, 290])
    expect([0, 1, 6].map((index) => book.sizeOf(book.at(index) ?? expect.unreachable()))).toEqual([1, 2, 290])
    expect([book.indexOf(290), book.indexOf(289)]).toEqual([6, null])
  })
})

describe('scores', () => {
  it('are those of the newest report that quotes the exchange', async () => {
    const scenario = fakeScenario()
    scenario.add(3)
    scenario.add(1, { request_type: 'report', score: 1, references: ['0-1', '0-2'] })
    scenario.add(1, { request_type: 'report', score: 0, references: ['0-2'] })
    scenario.add(1, { score: 0.5 })
    const scores = new Scores()
    const { records } = await scenario.ask({})
    scores.note(records.toReversed())
    expect(records.map((row) => scores.of(row))).toEqual([1, 0, null, 1, 0, 0.5])
  })

  it('are asked for where they are missing, once', async () => {
    const scenario = fakeScenario()
    scenario.add(500)
    scenario.add(1, { request_type: 'report', score: 1, references: ['0-7'] })
    const scores = new Scores()
    const { records } = await scenario.ask({ order: 'newest', before_sequence: 20, limit: 19 })
    await scores.want(records, scenario.ask)
    await scores.want(records, scenario.ask)
    expect(scenario.questions).toBe(2)
    expect(records.map((row) => scores.of(row)).filter((score) => score !== null)).toEqual([1])
  })
})
