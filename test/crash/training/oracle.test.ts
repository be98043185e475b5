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
/** Judged without an earlier reading of the rows, so that only the rule in question speaks. */
const broken = (change: Partial<Seen>, ledgers = {}): readonly string[] =>
  judge(story([]), snapshot(change, ledgers)).map(({ rule }) => rule)
/** Judged against an earlier reading of all rows. */
const again = (rows: readonly Row[]): readonly string[] => judge(story(), snapshot({ rows })).map(({ rule }) => rule)
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
    expect(judge(book, { ...all, ledgers: spoiled }).map(({ rule }) => rule)).toEqual(['ledger'])
  })
})

describe('what the oracle reports at any moment', () => {
  it('a record consumed twice by one trainer, and an instruction consumed by two', () => {
    expect(broken({ rows: changed(4, { consumed: ['t2', 'x1'] }) })).toEqual(['consumed twice'])
    expect(broken({ rows: changed(4, { component: 'beta', consumed: ['t2', 't1'] }) })).toEqual(['consumed twice'])
  })

  it('a step that consumed what is not stored, or what was refused', () => {
    expect(broken({ rows: changed(4, { consumed: ['t2', 'stranger'] }) })).toEqual(['from nowhere'])
    const book = story([])
    const sent = book.life(NAME).sent.get('t2')
    if (sent !== undefined) sent.fate = 'refused'
    expect(judge(book, snapshot()).map(({ rule }) => rule)).toEqual(['from nowhere'])
  })

  it('an acknowledged instruction that is gone, with the row that names it', () => {
    expect(broken({ records: RECORDS.filter(({ id }) => id !== 't2') })).toEqual(['lost', 'from nowhere'])
  })

  it('a promote that was answered and is not in the chain', () => {
    expect(broken({ rows: changed(3, { target: 'r1' }), current: [3] })).toContain('lost')
  })

  it('a row that changed, and one that is gone', () => {
    expect(again(changed(4, { result: 'skipped' }))).toEqual(['row changed'])
    expect(again(ROWS.slice(0, 5))).toEqual(['row changed'])
  })

  it('a gap in the steps, and a chain without its creation', () => {
    expect(broken({ rows: ROWS.map((row) => (row.step === 5 ? rowOf({ ...row, step: 6 }) : row)) })).toEqual(['gap'])
    expect(broken({ rows: changed(0, { operation: 'train', consumed: ['x4', 'p4'] }) })).toContain('gap')
  })

  it('a release that cannot be read', () => {
    const all = snapshot()
    const ledgers = new Map([...all.ledgers].filter(([key]) => key !== ledgerKey('r3', '')))
    expect(judge(story(), { ...all, ledgers }).map(({ rule }) => rule)).toEqual(['unreadable'])
  })

  it('a ledger that lacks what was consumed, holds what was not, or does not go on from its parent', () => {
    expect(broken({}, { r2: LEARNED, r3: LEARNED })).toEqual(['ledger', 'ledger'])
    expect(broken({}, { r1: ['unit x1 p1'], r2: ['unit x1 p1', 'request t1'], r3: ['unit x1 p1', 'request t1'] })).toEqual([
      'ledger',
      'ledger',
    ])
    expect(broken({}, { r2: [...LEARNED, 'request t1', 'unit x4 p4'], r3: [...LEARNED, 'request t1', 'unit x4 p4'] })).toEqual([
      'ledger',
      'ledger',
    ])
    expect(broken({}, { r2: ['request t1'], r3: ['request t1'] })).toEqual(['ledger'])
  })

  it('a promote or a rollback that serves something else than its target', () => {
    expect(broken({}, { r3: LEARNED })).toEqual(['ledger'])
    expect(broken({}, { r5: LEARNED })).toEqual(['ledger'])
  })

  it('a report that was used up and that no step learned from', () => {
    expect(broken({ rows: changed(2, { consumed: ['t1', 'p3', 'p4'] }) })).toEqual(['ledger'])
  })

  it('a scenario that is gone, and one that no client made', () => {
    expect(judge(story(), { ...snapshot(), scenarios: [] }).map(({ rule }) => rule)).toEqual(['scenario'])
    expect(judge(new Book(), snapshot()).map(({ rule }) => rule)).toEqual(['scenario'])
  })

  it('an answer that no client may get', () => {
    const book = story()
    book.surprises.push('a promote was answered with 500')
    expect(judge(book, snapshot()).map(({ rule }) => rule)).toEqual(['answer'])
  })
})

describe('what the oracle reports at rest', () => {
  it('an instruction that no step took, a full batch that no step took, and a scenario that is not loaded', () => {
    expect(unrested({ records: [...RECORDS, instruction('t3')] })).toEqual(['unfinished'])
    expect(unrested({ records: [...RECORDS, report('p5', 'x5')] })).toEqual(['unfinished'])
    expect(unrested({ mode: null })).toEqual(['unfinished'])
  })

  it('a head, a catalog or a status that shows another step than the rows', () => {
    expect(unrested({ head: 'r3' })).toEqual(['head'])
    expect(unrested({ current: [3] })).toEqual(['head'])
    expect(unrested({ current: [3, 5] })).toEqual(['head'])
    expect(unrested({ statusStep: 4 })).toEqual(['head'])
  })

  it('a pointer that stayed behind, and a held release without a ref until it is promoted', () => {
    expect(unrested({ pointer: 'r3' })).toEqual(['pointer'])
    expect(unrested({}, [])).toEqual([])
    const rows = changed(3, { operation: 'rollback', target: 'r1' })
    expect(unrested({ rows }, [])).toEqual(['hold'])
  })
})

describe('a creation or a removal without an answer', () => {
  it('is what the list says it is', () => {
    const book = story()
    book.life(NAME).fate = 'removing'
    book.settle([NAME])
    expect(judge(book, snapshot())).toEqual([])
    book.life(NAME).fate = 'removing'
    book.settle([])
    expect(judge(book, { ...snapshot(), scenarios: [] })).toEqual([])
  })
})
