/** The oracle of the training ordeal can fail: each way in which training may break its promises is reported. */
import { describe, expect, it } from 'vitest'
import { Book, ledgerKey, type Row, type Seen, type SeenRecord, type Snapshot } from './book.ts'
import { judge, judgeRest } from './oracle.ts'

const NAME = 'mixed'
const rowOf = (row: Partial<Row> & Pick<Row, 'step'>): Row => {
  const whole = { operation: 'train', result: 'published', release: null, parent: null, component: '', target: null, consumed: [], ...row }
  return { ...whole, printed: JSON.stringify(whole) }
}
const exchange = (id: string): SeenRecord => ({ id, type: 'inference', references: [] })
const report = (id: string, ...references: readonly string[]): SeenRecord => ({ id, type: 'report', references })
const instruction = (id: string): SeenRecord => ({ id, type: 'train', references: [] })

/** A batch of two reports is published, a report that shares an exchange is set aside with an instruction that is held, promoted, and left by a rollback. */
const ROWS: readonly Row[] = [
  rowOf({ step: 0, operation: 'create', release: 'r0' }),
  rowOf({ step: 1, release: 'r1', parent: 'r0', consumed: ['x1', 'p1', 'x2', 'p2'] }),
  rowOf({ step: 2, result: 'pending', release: 'r2', parent: 'r1', consumed: ['t1', 'p3'] }),
  rowOf({ step: 3, operation: 'promote', release: 'r3', parent: 'r1', target: 'r2' }),
  rowOf({ step: 4, result: 'failed', consumed: ['t2'] }),
  rowOf({ step: 5, operation: 'rollback', release: 'r5', parent: 'r3', target: 'r0' }),
]
const RECORDS = [
  exchange('x1'),
  report('p1', 'x1'),
  exchange('x2'),
  report('p2', 'x2'),
  report('p3', 'x1'),
  instruction('t1'),
  instruction('t2'),
  exchange('x4'),
  report('p4', 'x4'),
]
const LEARNED = ['unit x1 p1', 'unit x2 p2']
const LEDGERS: Readonly<Record<string, readonly string[]>> = {
  r0: [],
  r1: LEARNED,
  r2: [...LEARNED, 'request t1'],
  r3: [...LEARNED, 'request t1'],
  r5: [],
}

function story(rows = ROWS): Book {
  const book = new Book()
  for (const { id, type } of RECORDS) book.acknowledge(book.send(NAME, id, type, {}))
  book.move(NAME, { step: 3, target: 'r2' })
  book.life(NAME).fate = 'kept'
  book.life(NAME).rows = rows
  return book
}

const SEEN: Seen = {
  name: NAME,
  mode: 'hybrid',
  head: 'r5',
  current: [5],
  statusStep: 5,
  rows: ROWS,
  records: RECORDS,
  pointer: 'r5',
}

function snapshot(
  change: Partial<Seen> = {},
  ledgers: Readonly<Record<string, readonly string[]>> = {},
  held: readonly string[] = ['r2'],
): Snapshot {
  const all = Object.entries({ ...LEDGERS, ...ledgers }).map(([release, lines]) => [ledgerKey(release, ''), lines] as const)
  return { scenarios: [{ ...SEEN, ...change }], held: new Set(held), ledgers: new Map(all) }
}
const changed = (step: number, change: Partial<Row>): readonly Row[] =>
  ROWS.map((row) => (row.step === step ? rowOf({ ...row, ...change }) : row))
const rulesOf = (book: Book, seen: Snapshot): readonly string[] => judge(book, seen).map(({ rule }) => rule)
/** Judged without an earlier reading of the rows, so that only the rule in question speaks. */
const broken = (change: Partial<Seen>, ledgers = {}): readonly string[] => rulesOf(story([]), snapshot(change, ledgers))
/** Judged against an earlier reading of all rows. */
const again = (rows: readonly Row[]): readonly string[] => rulesOf(story(), snapshot({ rows }))
const unrested = (change: Partial<Seen>, held?: readonly string[]): readonly string[] =>
  judgeRest(snapshot(change, {}, held)).map(({ rule }) => rule)

describe('what the oracle accepts', () => {
  it('a history in which everything was learned from once, at rest with less than a batch waiting', () => {
    expect(judge(story(), snapshot())).toEqual([])
    expect(judgeRest(snapshot())).toEqual([])
  })

  it('instructions that wait in auto, and reports that wait in manual', () => {
    expect(unrested({ mode: 'auto', records: [...RECORDS, instruction('t3')] })).toEqual([])
    expect(unrested({ mode: 'manual', records: [...RECORDS, report('p5', 'x5'), report('p6', 'x6')] })).toEqual([])
  })

  it('components that each learn from the same report', () => {
    const [created] = ROWS.slice(0, 1)
    const steps = ['alpha', 'beta'].map((component, at) =>
      rowOf({ step: at + 1, component, release: `c${at + 1}`, parent: at === 0 ? 'r0' : 'c1', consumed: ['x1', 'p1'] }),
    )
    const seen = { ...SEEN, name: 'pair', rows: created === undefined ? [] : [created, ...steps] }
    const lines = {
      'r0/alpha': [],
      'r0/beta': [],
      'c1/alpha': ['unit x1 p1'],
      'c1/beta': [],
      'c2/alpha': ['unit x1 p1'],
      'c2/beta': ['unit x1 p1'],
    }
    const book = new Book()
    book.life('pair').fate = 'kept'
    const all = { scenarios: [seen], held: new Set<string>(), ledgers: new Map(Object.entries(lines)) }
    expect(judge(book, all)).toEqual([])
    const spoiled = new Map(Object.entries({ ...lines, 'c2/alpha': [] }))
    expect(rulesOf(book, { ...all, ledgers: spoiled })).toEqual(['ledger'])
  })
})

describe('what the oracle reports at any moment', () => {
  const request = ['request t1']
  const more = [...LEARNED, ...request, 'unit x4 p4']
  it.each<[string, () => readonly string[], readonly string[]]>([
    ['a record consumed twice by one trainer', () => broken({ rows: changed(4, { consumed: ['t2', 'x1'] }) }), ['consumed twice']],
    [
      'an instruction consumed by two',
      () => broken({ rows: changed(4, { component: 'beta', consumed: ['t2', 't1'] }) }),
      ['consumed twice'],
    ],
    ['a step that consumed what is not stored', () => broken({ rows: changed(4, { consumed: ['t2', 'stranger'] }) }), ['from nowhere']],
    [
      'an acknowledged instruction that is gone',
      () => broken({ records: RECORDS.filter(({ id }) => id !== 't2') }),
      ['lost', 'from nowhere'],
    ],
    ['a row that changed', () => again(changed(4, { result: 'skipped' })), ['row changed']],
    ['a row that is gone', () => again(ROWS.slice(0, 5)), ['row changed']],
    ['a gap in the steps', () => broken({ rows: changed(5, { step: 6 }) }), ['gap']],
    ['a ledger that lacks an instruction', () => broken({}, { r2: LEARNED, r3: LEARNED }), ['ledger', 'ledger']],
    [
      'a ledger that lacks a unit',
      () => broken({}, { r1: ['unit x1 p1'], r2: ['unit x1 p1', ...request], r3: ['unit x1 p1', ...request] }),
      ['ledger', 'ledger'],
    ],
    ['a ledger that holds what was not consumed', () => broken({}, { r2: more, r3: more }), ['ledger', 'ledger']],
    ["a ledger that does not go on from its parent's", () => broken({}, { r2: request, r3: request }), ['ledger']],
    ['a promote that serves something else than its target', () => broken({}, { r3: LEARNED }), ['ledger']],
    ['a rollback that serves something else than its target', () => broken({}, { r5: LEARNED }), ['ledger']],
    [
      'a report that was used up and that no step learned from',
      () => broken({ rows: changed(2, { consumed: ['t1', 'p3', 'p4'] }) }),
      ['ledger'],
    ],
    ['a scenario that is gone', () => rulesOf(story(), { ...snapshot(), scenarios: [] }), ['scenario']],
    ['a scenario that no client made', () => rulesOf(new Book(), snapshot()), ['scenario']],
  ])('%s', (_what, found, rules) => {
    expect(found()).toEqual(rules)
  })

  it('a step that consumed what was refused', () => {
    const book = story([])
    const sent = book.life(NAME).sent.get('t2')
    if (sent !== undefined) sent.fate = 'refused'
    expect(rulesOf(book, snapshot())).toEqual(['from nowhere'])
  })

  it('a promote that was answered and is not in the chain', () => {
    expect(broken({ rows: changed(3, { target: 'r1' }), current: [3] })).toContain('lost')
  })

  it('a chain without its creation', () => {
    expect(broken({ rows: changed(0, { operation: 'train', consumed: ['x4', 'p4'] }) })).toContain('gap')
  })

  it('a release that cannot be read', () => {
    const all = snapshot()
    const ledgers = new Map([...all.ledgers].filter(([key]) => key !== ledgerKey('r3', '')))
    expect(rulesOf(story(), { ...all, ledgers })).toEqual(['unreadable'])
  })

  it('an answer that no client may get', () => {
    const book = story()
    book.surprises.push('a promote was answered with 500')
    expect(rulesOf(book, snapshot())).toEqual(['answer'])
  })
})

describe('what the oracle reports at rest', () => {
  it.each<[string, Partial<Seen>, string]>([
    ['an instruction that no step took', { records: [...RECORDS, instruction('t3')] }, 'unfinished'],
    ['a full batch that no step took', { records: [...RECORDS, report('p5', 'x5')] }, 'unfinished'],
    ['a scenario that is not loaded', { mode: null }, 'unfinished'],
    ['a head that shows another step than the rows', { head: 'r3' }, 'head'],
    ['a catalog that shows another step than the rows', { current: [3] }, 'head'],
    ['a catalog that shows two steps', { current: [3, 5] }, 'head'],
    ['a status that shows another step than the rows', { statusStep: 4 }, 'head'],
    ['a pointer that stayed behind', { pointer: 'r3' }, 'pointer'],
  ])('%s', (_what, change, rule) => {
    expect(unrested(change)).toEqual([rule])
  })

  it('a held release without a ref until it is promoted', () => {
    expect(unrested({}, [])).toEqual([])
    expect(unrested({ rows: changed(3, { operation: 'rollback', target: 'r1' }) }, [])).toEqual(['hold'])
  })
})

it('a creation or a removal without an answer is what the list says it is', () => {
  const book = story()
  book.life(NAME).fate = 'removing'
  book.settle([NAME])
  expect(judge(book, snapshot())).toEqual([])
  book.life(NAME).fate = 'removing'
  book.settle([])
  expect(judge(book, { ...snapshot(), scenarios: [] })).toEqual([])
})
