/** The oracle of the evolution ordeal can fail: each way in which evolution may break its promises is reported. */
import { describe, expect, it } from 'vitest'
import type { Entry, JsonObject, Mutation, RequestType } from '../../../src/contract/index.ts'
import { Book } from './seen.ts'
import { judge, judgeEnd, judgeInbox } from './oracle.ts'
import type { Lying, Row, Seen } from './seen.ts'

const NAME = 'careful'
const rule = (id: string): Entry => ({ id, name: 'rules', config: { text: `rule ${id}` } })
const adds = (id: string): Mutation => ({ op: 'create', id, options: { name: 'rules', config: { text: `rule ${id}` } } })
const rowOf = (row: Partial<Row> & Pick<Row, 'step'>): Row => {
  const whole = { operation: 'train', result: 'rejected', release: null, consumed: [], mutations: [], metrics: {}, ...row }
  return { ...whole, printed: JSON.stringify(whole) }
}
const evidence = (decided_before: number, selected_before: number, selected: boolean): JsonObject => ({
  selected,
  evidence: { decided_before, selected_before },
  step_record: 's',
})

/** A report is published, a proposal is turned down, another one is refused, and an instruction is published. */
const ROWS: readonly Row[] = [
  rowOf({ step: 0, operation: 'create', result: 'published', release: 'r0' }),
  rowOf({ step: 1, result: 'published', release: 'r1', consumed: ['x1', 'p1'], mutations: [adds('a')], metrics: evidence(0, 0, true) }),
  rowOf({ step: 2, consumed: ['x2', 'p2'], mutations: [adds('b')], metrics: { ...evidence(1, 1, false), proposal: { id: 'i1' } } }),
  rowOf({ step: 3, result: 'skipped', consumed: ['x3', 'p3'], metrics: { proposal: { id: 'i2' }, step_record: 's' } }),
  rowOf({
    step: 4,
    result: 'published',
    release: 'r4',
    consumed: ['t1'],
    mutations: [adds('c')],
    metrics: { selected: true, training_request: { id: 't1' }, step_record: 's' },
  }),
]
const TYPES: Readonly<Record<string, RequestType>> = { x: 'inference', p: 'report', t: 'train' }
const RECORDS = new Map(['x1', 'p1', 'x2', 'p2', 'x3', 'p3', 't1'].map((id) => [id, TYPES[id.slice(0, 1)] ?? 'inference']))
const SEEN: Seen = {
  name: NAME,
  rows: ROWS,
  records: RECORDS,
  head: 'r4',
  trees: new Map([
    ['r0', []],
    ['r1', [rule('a')]],
    ['r4', [rule('a'), rule('c')]],
  ]),
  stepRecords: new Map(ROWS.map(({ step }) => [step, step === 0 ? 'not_recorded without files' : 'retained with files'])),
}
const settled = { settled: { step: 2, selected: false } }
const INBOX: readonly Lying[] = [
  { id: 'i1', place: 'settled', file: settled },
  { id: 'i2', place: 'refused', file: {} },
  { id: 'i3', place: 'pending', file: {} },
]

function story(rows: readonly Row[] = []): Book {
  const book = new Book()
  const sent = ['p1', 'p2', 'p3', 't1'].map((id) => ({ id, route: '/svc/report', body: {}, isKept: true }) as const)
  book.lives[NAME].sent.push(...sent)
  book.lives[NAME].admitted.push('i1', 'i2', 'i3')
  book.lives[NAME].rows = rows
  return book
}
const changed = (step: number, change: Partial<Row>): readonly Row[] =>
  ROWS.map((row) => (row.step === step ? rowOf({ ...row, ...change }) : row))
const broken = (change: Partial<Seen>): readonly string[] => judge(story(), { ...SEEN, ...change }).map(({ rule: broke }) => broke)
const ended = (change: Partial<Seen>, inbox = INBOX): readonly string[] =>
  judgeEnd(story(), [{ ...SEEN, ...change }], inbox).map(({ rule: broke }) => broke)

it('a story in which every promise was kept is accepted', () => {
  expect(judge(story(ROWS), SEEN)).toEqual([])
  expect(judgeInbox(story(), INBOX)).toEqual([])
  expect(judgeEnd(story(), [SEEN], INBOX)).toEqual([])
})

describe('at every moment', () => {
  it('an answer that no client may get is reported', () => {
    const book = story()
    book.surprises.push('503')
    expect(judge(book, SEEN)).toMatchObject([{ rule: 'answer' }])
  })

  it.each<readonly [string, Partial<Seen>, string]>([
    ['an acknowledged report that is not stored', { records: new Map([...RECORDS].filter(([id]) => id !== 't1')) }, 'lost'],
    ['a record that two rows consumed', { rows: changed(4, { consumed: ['t1', 'p1'] }) }, 'consumed twice'],
    ['a record that no client sent', { rows: changed(4, { consumed: ['t1', 'x9'] }) }, 'from nowhere'],
    ['a row that is missing', { rows: ROWS.filter(({ step }) => step !== 3) }, 'gap'],
    ['a step that broke', { rows: changed(3, { metrics: { error: 'no room', step_record: 's' } }) }, 'failed'],
    ['an episode without a score', { rows: changed(3, { metrics: { episode_failures: 1, step_record: 's' } }) }, 'failed'],
    ['a proposal that two rows took up', { rows: changed(3, { metrics: { proposal: { id: 'i1' }, step_record: 's' } }) }, 'proposal'],
    ['a count of decisions that went backwards', { rows: changed(2, { metrics: evidence(0, 0, false) }) }, 'counts'],
    ['a selection that is not counted', { rows: changed(2, { metrics: evidence(1, 0, false) }) }, 'counts'],
    ['a release that cannot be read', { trees: new Map([...SEEN.trees].filter(([release]) => release !== 'r0')) }, 'tree'],
    ['a release with a change that its row does not name', { rows: changed(4, { mutations: [adds('d')] }) }, 'tree'],
    ['a change that was made twice', { trees: new Map([...SEEN.trees, ['r1', [rule('a'), rule('c')]]]) }, 'tree'],
    ['a step whose files are gone', { stepRecords: new Map([...SEEN.stepRecords, [4, 'missing without files']]) }, 'step record'],
  ])('%s is reported', (_what, change, rules) => {
    expect(broken(change)).toContain(rules)
  })

  it('a row that was read before and is another now, or gone, is reported', () => {
    expect(judge(story(changed(3, { consumed: ['p3'] })), SEEN)).toMatchObject([{ rule: 'row changed' }])
    expect(judge(story(ROWS), { ...SEEN, rows: ROWS.slice(0, 4) })).toMatchObject([{ rule: 'row changed' }])
  })

  it('an admitted proposal that lies nowhere, or cannot be read, is reported', () => {
    expect(judgeInbox(story(), INBOX.slice(1))).toMatchObject([{ rule: 'lost' }])
    expect(judgeInbox(story(), [...INBOX, { id: 'i4', place: 'claimed', file: null }])).toMatchObject([{ rule: 'proposal' }])
  })
})

describe('at the end', () => {
  it('a report that no row consumed is reported', () => {
    expect(ended({ rows: changed(4, { consumed: [] }) })).toEqual(['unfinished'])
  })

  it('a head that is not what was published last is reported', () => {
    expect(ended({ head: 'r1' })).toEqual(['head'])
  })

  it.each<readonly [string, readonly Lying[]]>([
    ['in two places', [...INBOX, { id: 'i3', place: 'refused', file: {} }]],
    ['still claimed', [...INBOX.slice(0, 2), { id: 'i3', place: 'claimed', file: {} }]],
    ['settled without a row', [...INBOX.slice(0, 2), { id: 'i3', place: 'settled', file: settled }]],
    ['pending, and a row decided on it', [...INBOX.slice(1), { id: 'i1', place: 'pending', file: {} }]],
    [
      'settled otherwise than its row says',
      [...INBOX.slice(1), { id: 'i1', place: 'settled', file: { settled: { step: 2, selected: true } } }],
    ],
  ])('a proposal that is %s is reported', (_what, inbox) => {
    expect(ended({}, inbox)).toEqual(['proposal'])
  })
})
