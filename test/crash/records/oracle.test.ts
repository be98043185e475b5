/** The crash test's oracle can fail: each way in which a store may break its promises is reported. */
import { describe, expect, it } from 'vitest'
import type { JsonObject } from '../../../src/contract/index.ts'
import { answerOf, requestOf, textOf } from './exchanges.ts'
import { History, type Sent } from './history.ts'
import { judge, settleRecords, settleScenarios, type SeenRow, type SeenScenario, type Snapshot } from './oracle.ts'

const whole = (mark: string): JsonObject => ({ ...requestOf('chat', false, mark), response: answerOf('chat', mark) })
const streamOf = (mark: string, text: string, complete: boolean): JsonObject => ({
  ...requestOf('chat', true, mark),
  response: { choices: [{ message: { content: text } }], stream: true, complete },
})

function sent(history: History, mark: string, more: Partial<Sent> = {}): Sent {
  const plain = { mark, scenario: 's', payload: whole(mark), type: 'inference', streamed: null, batch: null, id: null } as const
  return history.send({ ...plain, fate: 'open', isAcknowledged: false, ...more })
}

/** Two exchanges, a stream, a report on the first, a batch of two, and one without an answer. */
function story(): { readonly history: History; readonly seen: SeenScenario } {
  const history = new History()
  history.acknowledge(sent(history, 'a'), 'id-a')
  history.acknowledge(sent(history, 'b'), 'id-b')
  history.acknowledge(sent(history, 'c', { payload: requestOf('chat', true, 'c'), streamed: 'chat' }), 'id-c')
  const report = { score: 1, references: ['id-a'], metadata: { mark: 'd' } }
  history.acknowledge(sent(history, 'd', { type: 'report', payload: report }), 'id-d')
  for (const mark of ['e', 'f']) history.acknowledge(sent(history, mark, { batch: 'batch', id: `id-${mark}` }), `id-${mark}`)
  sent(history, 'unheard')
  const payloads = {
    'id-a': whole('a'),
    'id-b': whole('b'),
    'id-c': streamOf('c', textOf('c'), true),
    'id-d': report,
    'id-e': whole('e'),
    'id-f': whole('f'),
  }
  return { history, seen: scenario(Object.entries(payloads)) }
}

function scenario(records: readonly (readonly [string, JsonObject])[]): SeenScenario {
  const rows = records.map(([agent_record_id, payload], index): SeenRow => ({
    sequence: index + 1,
    agent_record_id,
    request_type: 'score' in payload ? 'report' : 'inference',
    references: 'score' in payload ? ['id-a'] : [],
  }))
  return { name: 's', rows, payloads: new Map(records), releases: [{ step: 0, operation: 'create' }] }
}

const snapshot = (...scenarios: readonly SeenScenario[]): Snapshot => ({ scenarios, archives: [], archivedRefs: [] })
const broken = (history: History, seen: Snapshot): readonly string[] => judge(history, seen).map(({ rule }) => rule)
const without = (seen: SeenScenario, id: string): SeenScenario => scenario([...seen.payloads].filter(([other]) => other !== id))
const withRecord = (seen: SeenScenario, id: string, payload: JsonObject): SeenScenario =>
  scenario([...[...seen.payloads].filter(([other]) => other !== id), [id, payload]])

const afterGap = (row: SeenRow): SeenRow => (row.sequence < 3 ? row : { ...row, sequence: row.sequence + 1 })
const last = (row: SeenRow): SeenRow => ({ ...row, sequence: 7 })

describe('what the oracle accepts', () => {
  it('a store that holds what was acknowledged, with and without what was not answered', () => {
    const { history, seen } = story()
    expect(judge(history, snapshot(seen))).toEqual([])
    expect(judge(history, snapshot(withRecord(seen, 'id-x', whole('unheard'))))).toEqual([])
  })

  it('a stream whose client left, stored as far as it came', () => {
    const { history, seen } = story()
    sent(history, 'left', { payload: requestOf('chat', true, 'left'), streamed: 'chat' })
    const begun = textOf('left').slice(0, 6)
    expect(judge(history, snapshot(withRecord(seen, 'id-x', streamOf('left', begun, false))))).toEqual([])
    expect(broken(history, snapshot(withRecord(seen, 'id-x', streamOf('left', 'other', false))))).toEqual(['altered'])
  })
})

describe('what the oracle reports', () => {
  it.each<[string, (seen: SeenScenario) => SeenScenario, readonly string[]]>([
    ['an acknowledged record that is gone', (seen) => without(seen, 'id-b'), ['lost']],
    ['a report that quotes a record that is gone', (seen) => without(seen, 'id-a'), ['lost', 'lost']],
    [
      'a body that is not what was sent',
      (seen) => withRecord(seen, 'id-b', { ...whole('b'), response: answerOf('chat', 'a') }),
      ['altered'],
    ],
    ['an acknowledged stream that is cut', (seen) => withRecord(seen, 'id-c', streamOf('c', '', false)), ['altered']],
    ['a gap in the sequence', (seen) => ({ ...seen, rows: seen.rows.map(afterGap) }), ['gap']],
    ['a record listed twice', (seen) => ({ ...seen, rows: [...seen.rows, ...seen.rows.slice(1, 2).map(last)] }), ['duplicate']],
    ['a record stored under two ids', (seen) => withRecord(seen, 'id-x', whole('a')), ['duplicate']],
    ['half a batch', (seen) => without(seen, 'id-f'), ['lost', 'torn batch']],
    ['a record that no client sent', (seen) => withRecord(seen, 'id-x', whole('stranger')), ['from nowhere']],
    ['a chain that lost its beginning', (seen) => ({ ...seen, releases: [{ step: 1, operation: 'train' }] }), ['release chain']],
  ])('%s', (_what, change, rules) => {
    const { history, seen } = story()
    expect(broken(history, snapshot(change(seen)))).toEqual(rules)
  })

  it('a record that was not there after an earlier crash', () => {
    const { history, seen } = story()
    settleRecords(history, snapshot(seen))
    expect(broken(history, snapshot(withRecord(seen, 'id-x', whole('unheard'))))).toEqual(['from nowhere'])
  })

  it('a record found after one crash and lost in the next', () => {
    const { history, seen } = story()
    settleRecords(history, snapshot(withRecord(seen, 'id-x', whole('unheard'))))
    expect(broken(history, snapshot(seen))).toEqual(['lost'])
  })

  it('a scenario that is gone, and one that came back', () => {
    const { history, seen } = story()
    expect(broken(history, snapshot())).toEqual(['lost'])
    history.setAside('s', [])
    expect(broken(history, snapshot(seen))).toContain('scenario')
  })

  it('an archive that is missing, holds less than was kept, or belongs to no removal', () => {
    const { history, seen } = story()
    history.setAside('s', ['archived/s.sqlite3'])
    const archive = { file: 'archived/s.sqlite3', payloads: seen.payloads }
    const set = (...archives: Snapshot['archives']): readonly string[] => broken(history, { scenarios: [], archives, archivedRefs: [] })
    expect(set(archive)).toEqual([])
    expect(set()).toContain('archive')
    expect(set({ ...archive, payloads: without(seen, 'id-b').payloads })).toEqual(['lost'])
    expect(set(archive, { file: 'archived/stray.sqlite3', payloads: new Map() })).toEqual(['archive'])
  })

  it('a removal without an answer that left no archive', () => {
    const { history } = story()
    history.scenarios.set('s', 'removing')
    settleScenarios(history, [])
    expect(broken(history, snapshot())).toContain('archive')
  })

  it('an answer that no client may get', () => {
    const { history, seen } = story()
    history.surprises.push('a was answered with 500')
    expect(broken(history, snapshot(seen))).toEqual(['answer'])
  })
})
